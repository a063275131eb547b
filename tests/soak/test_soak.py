"""The soak test, for a few seconds instead of minutes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

PATIENCE_SECONDS = 120


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="what a process takes is read from /proc"
)
def test_five_thousand_calls_of_all_kinds_are_answered_once_and_leave_nothing_behind() -> None:
    # Half of them are for warming up: less would tell little about memory.
    command = [
        sys.executable,
        str(Path(__file__).with_name("soak.py")),
        "--calls",
        "5000",
        "--warm-up",
        "1250",
    ]

    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stdout
