"""The exit status of a process in words."""

from __future__ import annotations

import pytest
from toolwire_tools.processes.exit_status import describe_exit, signal_from_shell


@pytest.mark.parametrize(
    ("status", "clause"),
    [
        (1, "ended with exit status 1"),
        (0, "ended with exit status 0"),
        (-2, "was killed by signal 2 (SIGINT)"),
        (-200, "was killed by signal 200"),
    ],
)
def test_a_status_is_a_number_or_a_signal_with_its_name(status: int, clause: str) -> None:
    assert describe_exit(status) == clause


@pytest.mark.parametrize(
    ("status", "meaning"),
    [(-9, -9), (0, 0), (128, 128), (129, -1), (137, -9), (192, -64), (193, 193), (255, 255)],
)
def test_a_shell_adds_128_to_the_signal_that_ended_its_child(status: int, meaning: int) -> None:
    assert signal_from_shell(status) == meaning
