"""Killing every process with a mark in its environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.server_process import wait_until
from toolwire_tools.processes.process_group import kill_marked


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="marks are read in /proc")
def test_processes_that_replace_themselves_all_the_time_do_not_escape(tmp_path: Path) -> None:
    script = tmp_path / "again.sh"
    script.write_text('[ -e "$1" ] || : > "$1"; exec sh "$0" "$1"')

    for turn in range(50):
        begun = [tmp_path / f"{turn}-{number}" for number in range(3)]
        running = [
            subprocess.Popen(
                ["sh", str(script), str(file)],
                env={"PATH": os.environ["PATH"], "MARK": str(begun[0])},
            )
            for file in begun
        ]
        try:
            wait_until(lambda begun=begun: all(file.exists() for file in begun))
            kill_marked(os.fsencode(begun[0]))
            wait_until(
                lambda running=running: all(process.poll() is not None for process in running)
            )
        finally:
            for process in running:
                process.kill()
                process.wait()
