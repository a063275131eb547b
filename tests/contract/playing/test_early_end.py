"""A check that ends before all cases are played reports the rest as not played."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.server_process import PATIENCE_SECONDS
from toolwire_check import Verdict, check
from toolwire_check.playing.early_end import EarlyEnd
from toolwire_schemas.cases import load_cases

pytestmark = pytest.mark.process


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    tools = tmp_path / "tools.py"
    tools.write_text("def add(a: int, b: int) -> int:\n    'Add.'\n    return a + b\n")
    return [sys.executable, "-m", "toolwire", "serve", str(tools)]


def test_no_case_is_played_once_the_time_is_over(command: list[str]) -> None:
    report = check(command, early_end=EarlyEnd(max_seconds=0))

    of_plays = [verdict for verdict in report.verdicts if verdict.reason.startswith("not played")]
    assert len(of_plays) > 100
    assert {verdict.reason for verdict in of_plays} == {"not played: the check has taken 0 seconds"}
    assert not report.list_failures("advice")


def test_what_was_played_before_an_interruption_keeps_its_verdict(command: list[str]) -> None:
    early_end = EarlyEnd()
    decided: list[Verdict] = []

    def interrupt_after_ten(verdict: Verdict, total: int) -> None:
        decided.append(verdict)
        if len(decided) == 10:
            early_end.interrupt()

    report = check(command, early_end=early_end, on_verdict=interrupt_after_ten, jobs=1)

    assert (
        decided[:10] == [verdict for verdict in decided if "interrupted" not in verdict.reason][:10]
    )
    left_out = [verdict for verdict in report.verdicts if "interrupted" in verdict.reason]
    assert len(left_out) > 100
    assert {verdict.outcome for verdict in left_out} == {"not applicable"}


def test_a_person_who_interrupts_gets_the_verdicts_so_far(command: list[str]) -> None:
    words = [sys.executable, "-m", "toolwire", "check", "--events", "--", *command]
    # A group of its own, as a shell gives it; a terminal interrupts the whole group.
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0
    ) as process:
        assert process.stdout is not None
        guard = threading.Timer(PATIENCE_SECONDS, process.kill)
        guard.start()
        lines = [process.stdout.readline() for _ in range(5)]
        os.killpg(process.pid, signal.SIGINT)
        lines += process.stdout.readlines()
        assert process.stderr is not None
        remark = process.stderr.read().decode()
        guard.cancel()

    assert process.returncode == -signal.SIGINT
    assert "interrupted: the cases that were not played" in remark
    report = json.loads(lines[-1])["report"]
    assert not [one for one in report["verdicts"] if one["outcome"] == "fail"]
    assert [one for one in report["verdicts"] if "interrupted" in one.get("reason", "")]


def test_a_quick_check_plays_what_a_server_must_do(command: list[str]) -> None:
    words = [sys.executable, "-m", "toolwire", "check", "--quick", "--only", "ids/*", "--json"]
    done = subprocess.run(
        [*words, "--", *command], capture_output=True, timeout=PATIENCE_SECONDS, check=False
    )

    played = {verdict["case"] for verdict in json.loads(done.stdout)["verdicts"]}
    severities = {case.id: case.severity for case in load_cases()}
    assert done.returncode == 0
    assert played
    assert {severities[case] for case in played} == {"must"}
