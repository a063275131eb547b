"""Whole checks over real pipes: of our own server, and of servers that make a check difficult."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import msgspec
import pytest
from support import SUPPORT
from support.sandbox_runs import need_sandbox
from toolwire.cli import example_tools
from toolwire_check import CheckSettings, Report, Verdict, check
from toolwire_check.playing.plan import select_cases
from toolwire_client import NotStarted
from toolwire_schemas.cases import Case, load_cases

pytestmark = pytest.mark.process

STUBBORN = str(SUPPORT / "stubborn_server.py")

# What our examples are by intent.
BY_INTENT = {
    "lifecycle/discover-first": "not applicable",  # who discovers us does not fall back
    # It lists all tools; those that search and run programs are checked with servers of their own.
    **{case.id: "not applicable" for case in load_cases() if case.area in ("programs", "search")},
}


DOCUMENTS = """
import subprocess, sys
from typing import Literal

from toolwire import prompt, resource, tool_api

@tool_api(read_only=True)
def start_process() -> int:
    "Start a process that ends with the server."
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid

@resource("notes://all")
def notes() -> list[str]:
    return ["tea"]

@resource("notes://note/{name}")
def note(name: str) -> str:
    return name

@prompt
def plan(day: Literal["today", "tomorrow"]) -> str:
    return f"Plan {day}."
"""


@pytest.mark.slow
@pytest.mark.parametrize("show", ["search", "code"])
def test_server_with_meta_tools_keeps_the_contract(tmp_path: Path, show: str) -> None:
    if show == "code":
        need_sandbox()
    tools = tmp_path / "documents.py"
    tools.write_text(DOCUMENTS, "utf-8")
    report = check(
        [sys.executable, "-m", "toolwire", "serve", str(tools), "--show", show],
        settings=CheckSettings(framings=("lines",)),
    )
    assert report.list_failures("advice") == []


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Report:
    documents = tmp_path_factory.mktemp("own") / "documents.py"
    documents.write_text(DOCUMENTS, "utf-8")
    return check(
        [
            sys.executable,
            "-P",
            "-m",
            "toolwire",
            "serve",
            str(example_tools.__file__),
            str(documents),
        ]
    )


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_our_server_passes_every_case_in_both_framings_and_eras(case: Case, own: Report) -> None:
    verdicts = [verdict for verdict in own.verdicts if verdict.case == case.id]
    assert verdicts
    for verdict in verdicts:
        expected = BY_INTENT.get(verdict.case, "pass")
        assert verdict.outcome == expected, "\n".join(
            [verdict.expected, verdict.came, verdict.reason, *verdict.exchange]
        )


def test_both_framings_and_every_revision_are_played_with_our_server(own: Report) -> None:
    played = {(verdict.framing, verdict.revision) for verdict in own.verdicts if verdict.framing}
    revisions = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "")
    assert played == {
        (framing, revision) for framing in ("lines", "headers") for revision in revisions
    }
    assert (own.server, own.revisions) == (
        "example_tools-documents 0.0.0",
        ["2026-07-28", "2025-11-25"],
    )


def hurry(case: Case) -> Case:
    """The same, without the time that slow machines have to end a process."""
    steps = [{"exit": {"within_seconds": 0.3}} if "exit" in step else step for step in case.steps]
    return msgspec.structs.replace(case, steps=steps)


def check_fault(fault: str, mark: str, *patterns: str, start_seconds: float = 20.0) -> Report:
    """What comes of a server with this *fault*, whose processes have the *mark* on their command
    lines.
    """
    return check(
        [sys.executable, STUBBORN, fault, mark],
        cases=map(hurry, select_cases(load_cases(), patterns)),
        settings=CheckSettings(start_seconds=start_seconds, framings=("lines",)),
        timeout_seconds=1.0,
    )


@pytest.fixture
def mark() -> str:
    """Seconds to sleep, no two tests the same, at any time."""
    return f"600.{os.getpid()}{time.monotonic_ns()}"


def only(report: Report, case: str) -> Verdict:
    (verdict,) = [verdict for verdict in report.verdicts if verdict.case == case]
    return verdict


def running_with(mark: str) -> list[str]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                command = Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in command.split(b"\0"):
                found.append(name)
    return found


@pytest.mark.parametrize(
    ("fault", "came"),
    [
        (
            "hangs",
            (
                "it answers neither initialize nor server/discover in 3 s (--start-timeout); "
                "the end of its stderr: listening on http://127.0.0.1:3000"
            ),
        ),
        (
            "refuses",
            (
                "it answers initialize with"
                ' {"jsonrpc":"2.0","id":"facts","error":{"code":-32601,"message":"no"}}'
            ),
        ),
        (
            "dies",
            "it ended with status 1; the end of its stderr: there is no key in the environment",
        ),
        ("floods", "lines on its standard output were not messages"),
    ],
)
def test_server_that_does_not_answer_is_one_failure(fault: str, came: str, mark: str) -> None:
    report = check_fault(fault, mark, "ids/*", start_seconds=20.0 if fault != "hangs" else 3.0)
    assert [verdict.case for verdict in report.list_failures()] == ["lifecycle/answers"]
    assert came in only(report, "lifecycle/answers").came
    assert '"id":"facts"' in only(report, "lifecycle/answers").exchange[0]
    assert only(report, "ids/zero").outcome == "not applicable"
    assert running_with(mark) == []


def test_command_that_is_no_program_is_an_error() -> None:
    with pytest.raises(NotStarted, match="there-is-no-such-program"):
        check(["there-is-no-such-program"])


def test_server_that_never_exits_fails_only_the_cases_about_its_exit(mark: str) -> None:
    report = check_fault("stays", mark, "ending/end-of-input", "ending/sigterm", "lifecycle/ping")
    assert only(report, "ending/end-of-input").came == "it is still running"
    assert only(report, "ending/sigterm").outcome == "fail"
    assert only(report, "lifecycle/ping").outcome == "pass"
    assert running_with(mark) == []


def test_failure_that_needs_an_earlier_case_names_it(mark: str) -> None:
    report = check_fault("resents a zero", mark, "ids/*")
    found = only(report, "ids/unicode")
    assert (found.outcome, found.after) == ("fail", ["ids/zero"])
    assert found.came.endswith("; only after ids/zero in the same process: alone the case passes")
    assert [verdict.case for verdict in report.list_failures()] == ["ids/unicode"]


def test_exchange_of_a_failure_starts_with_its_own_process(mark: str) -> None:
    report = check_fault("", mark, "ids/*")
    found = only(report, "ids/object")
    assert (found.outcome, found.after) == ("warn", [])
    sent = [line for line in found.exchange if line.startswith("-> ")]
    assert ["initialize" in sent[0], "initialized" in sent[1], '"id":{"a":1}' in sent[2]] == [
        True
    ] * 3
    assert not any('"id":1.5' in line for line in sent)


def test_replay_with_the_cases_before_it_reproduces_a_failure(mark: str) -> None:
    command = [sys.executable, STUBBORN, "resents a zero", mark]
    settings = CheckSettings(framings=("lines",))
    alone = check(
        command,
        cases=select_cases(load_cases(), ["ids/unicode"]),
        settings=settings,
        replays=True,
    )
    both = [*select_cases(load_cases(), ["ids/zero"]), *select_cases(load_cases(), ["ids/unicode"])]
    after = check(command, cases=both, settings=settings, replays=True)
    assert [verdict.outcome for verdict in alone.verdicts] == ["pass"]
    assert [verdict.outcome for verdict in after.verdicts] == ["pass", "fail"]
    assert '"method":"initialize"' in after.verdicts[0].exchange[0]


def test_breach_in_a_should_case_is_reported_by_that_case_only(
    mark: str,
) -> None:
    report = check_fault(
        "is cut off", mark, "ending/answers-first", "stdout/*", "jsonrpc/*", "lifecycle/ping"
    )
    assert any("(noise on stdout" in line for line in only(report, "ending/answers-first").exchange)
    grave = [verdict.case for verdict in report.list_failures()]
    assert (grave, only(report, "stdout/only-messages").outcome) == ([], "pass")


def test_log_messages_without_the_capability_fail_a_case(mark: str) -> None:
    report = check_fault("logs", mark, "logging/*", "tools/list")
    assert "notifications/message" in only(report, "logging/declared").came
    assert only(report, "tools/list").outcome == "pass"
    assert (
        only(check_fault("", mark, "logging/*", "tools/list"), "logging/declared").outcome == "pass"
    )


def test_orphaned_process_of_a_server_is_found_and_killed(mark: str) -> None:
    report = check_fault("leaves", mark, "ending/no-orphans")
    assert only(report, "ending/no-orphans").outcome == "warn"
    assert f"sleep {mark}" in only(report, "ending/no-orphans").came
    assert running_with(mark) == []


def test_server_that_stops_answering_is_restarted_for_the_next_case(mark: str) -> None:
    report = check_fault(
        "tires", mark, "ids/zero", "ids/negative", "ids/text-of-digits", "ids/unicode"
    )
    outcomes = [verdict.outcome for verdict in report.verdicts]
    assert "fail" in outcomes
    assert "pass" in outcomes
    assert "nothing in 1 s" in report.list_failures()[0].came
    assert running_with(mark) == []


def test_case_that_fails_for_lack_of_time_passes_if_its_repeat_does(mark: str) -> None:
    report = check_fault("is late with zero", mark, "ids/zero", "ids/negative")
    verdict = only(report, "ids/zero")
    assert (verdict.outcome, verdict.came) == ("pass", "")
    assert verdict.reason.startswith("at first it failed, which may have been for lack of time")
    assert only(report, "ids/negative").reason == ""
    assert running_with(mark) == []


def test_server_may_run_concurrent_calls_in_sequence(mark: str) -> None:
    report = check_fault("calls one after the other", mark, "concurrency/calls")
    assert only(report, "concurrency/calls").outcome == "pass"
    assert only(report, "concurrency/calls").reason == ""


def test_call_is_not_slow_if_every_request_is(mark: str) -> None:
    settings = CheckSettings(any_tool=True, framings=("lines",))
    command = [sys.executable, STUBBORN, "is slow with everything", mark]
    report = check(
        command,
        cases=select_cases(load_cases(), ["concurrency/while-a-call-runs"]),
        settings=settings,
    )
    assert (
        only(report, "concurrency/while-a-call-runs").reason
        == "no call that was tried takes 0.25 s"
    )


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (
            "",
            (
                "no tool says that it is read-only (annotations.readOnlyHint), and none was named"
                " with --call"
            ),
        ),
        ("asks too much", "no arguments were found that a would take; name some with --call"),
    ],
)
def test_reason_why_no_tool_is_called_is_reported(fault: str, reason: str, mark: str) -> None:
    verdict = only(check_fault(fault, mark, "calls/result"), "calls/result")
    assert (verdict.outcome, verdict.reason) == ("not applicable", reason)


SLOW_AT_FIRST = """
import time

def load() -> None:
    if not hasattr(time, "was_loaded"):
        time.was_loaded = True
        time.sleep(0.5)
"""


def test_tool_with_only_a_slow_first_call_is_not_slow(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(SLOW_AT_FIRST)

    report = check(
        [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "tools.py")],
        cases=select_cases(load_cases(), ["concurrency/while-a-call-runs"]),
        settings=CheckSettings(any_tool=True, framings=("lines",)),
    )

    assert {verdict.reason for verdict in report.verdicts} == {
        "no call that was tried takes 0.25 s"
    }
