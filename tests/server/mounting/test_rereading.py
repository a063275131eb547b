"""`Rereading`: when the lists of a mounted server are read again after changes."""

from __future__ import annotations

import threading

from toolwire.mounting.mount_lists import Rereading


class GatedReadings:
    """Readings that note when they start, and end when a test opens their gate."""

    def __init__(self) -> None:
        self.count = 0
        self.has_started = threading.Event()
        self.gate = threading.Event()

    def read(self) -> None:
        self.count += 1
        self.has_started.set()
        assert self.gate.wait(60)


def test_changes_during_a_reading_are_read_once_after_it() -> None:
    readings = GatedReadings()
    rereading = Rereading(readings.read)
    rereading.schedule()
    assert readings.has_started.wait(60)

    rereading.schedule()
    planned = rereading.latest
    rereading.schedule()

    assert planned is not None
    assert rereading.latest is planned
    assert readings.count == 1
    readings.gate.set()
    planned.result(60)
    assert readings.count == 2
