"""Steps of .ci/run: times, output of the background, failures."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from support.server_process import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.process


def run(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run *script* after the head that .ci/run has."""
    head = f"set -euo pipefail\n. {ROOT}/.ci/steps.sh\nwork={folder}\ntrap stop_all EXIT\n"
    return subprocess.run(
        ["bash", "-c", head + script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def without_times(text: str) -> list[str]:
    return [re.sub(r"\d+ s\b", "N s", line) for line in text.splitlines() if line]


def test_each_step_prints_its_name_and_its_time(tmp_path: Path) -> None:
    done = run(tmp_path, "step one echo first\nstep two echo second\n")

    assert done.returncode == 0
    assert without_times(done.stdout) == [
        "=== one",
        "first",
        "--- one: N s",
        "=== two",
        "second",
        "--- two: N s",
    ]


def test_output_of_the_background_is_printed_when_it_is_finished_and_last(tmp_path: Path) -> None:
    script = """
    peers() { echo summary of peers; }
    pythons() { step 3.13 echo passed; }
    start pythons pythons
    start "real peers" peers
    step types echo checked
    finish pythons
    finish "real peers"
    """
    done = run(tmp_path, script)

    assert done.returncode == 0
    assert without_times(done.stdout) == [
        "=== types",
        "checked",
        "--- types: N s",
        "=== in the background: pythons",
        "--- pythons: N s, waited for N s",
        "=== 3.13",
        "passed",
        "--- 3.13: N s",
        "=== in the background: real peers",
        "--- real peers: N s, waited for N s",
        "summary of peers",
    ]


@pytest.mark.parametrize("is_in_background", [True, False])
def test_a_step_that_fails_ends_the_run_with_its_status_and_its_output(
    tmp_path: Path, is_in_background: bool
) -> None:
    script = """
    part() { return "$1"; }
    job() {
        echo before
        part 7
        echo after
    }
    """
    script += "start job job\nfinish job\n" if is_in_background else "step job job\n"
    done = run(tmp_path, script + "echo next\n")

    assert done.returncode == 7
    assert "before" in done.stdout
    assert "after" not in done.stdout
    assert "next" not in done.stdout
    assert ("job failed with status 7" in done.stdout) is is_in_background


def test_the_background_ends_with_a_run_that_fails(tmp_path: Path) -> None:
    script = f"""
    mkfifo {tmp_path}/started
    job() {{ sleep 1000 & echo $! > {tmp_path}/number; echo > {tmp_path}/started; wait; }}
    start job job
    read -r < {tmp_path}/started || true
    step broken false
    """
    done = run(tmp_path, script)

    number = (tmp_path / "number").read_text().strip()
    assert done.returncode == 1
    wait_until(lambda: not Path(f"/proc/{number}").exists())


def test_two_jobs_run_at_the_same_time(tmp_path: Path) -> None:
    script = f"""
    mkfifo {tmp_path}/meeting
    writer() {{ echo met > {tmp_path}/meeting; }}
    reader() {{ cat {tmp_path}/meeting; }}
    start writer writer
    start reader reader
    finish writer
    finish reader
    """
    assert run(tmp_path, script).stdout.splitlines()[-1] == "met"
