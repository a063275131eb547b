"""A process that is started before what talks to it is imported."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire.mounting.early_start import EarlyStart
from toolwire_client import NotStarted


class Process:
    def __init__(self) -> None:
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


class Launches:
    """Launches processes, of which the first *failures* do not start."""

    def __init__(self, failures: int = 0) -> None:
        self.made: list[Process] = []
        self._failures = failures

    def __call__(self) -> Any:
        if self._failures:
            self._failures -= 1
            raise NotStarted("no such program")
        self.made.append(Process())
        return self.made[-1]


def test_process_is_started_before_it_is_taken() -> None:
    launches = Launches()
    early = EarlyStart(launches)

    early.start()
    assert len(launches.made) == 1

    assert [early.take(), early.take()] == launches.made
    assert len(launches.made) == 2


def test_process_that_was_not_taken_is_closed() -> None:
    launches = Launches()
    early = EarlyStart(launches)
    early.start()

    early.close()

    assert [process.is_closed for process in launches.made] == [True]


def test_process_that_was_taken_is_left_to_its_taker() -> None:
    launches = Launches()
    early = EarlyStart(launches)
    early.start()
    early.take()

    early.close()

    assert [process.is_closed for process in launches.made] == [False]


def test_failure_of_an_early_start_is_raised_when_the_process_is_taken() -> None:
    early = EarlyStart(Launches(failures=2))

    early.start()

    with pytest.raises(NotStarted):
        early.take()
