"""The soak test of shared processes, for seconds instead of minutes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow]

PATIENCE_SECONDS = 300


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="what a process takes is read from /proc"
)
@pytest.mark.parametrize("options", [[], ["--wrap"], ["--kill-process"]])
def test_sessions_that_come_go_and_are_killed_get_their_own_answers(options: list[str]) -> None:
    soak = str(Path(__file__).with_name("shared.py"))
    done = subprocess.run(
        [sys.executable, soak, "--seconds", "20", "--sessions", "6", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout
