"""Generated calls of servers that fail with some arguments only: these are found and shrunk."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from support import SUPPORT
from toolwire_check import CheckSettings, Fuzzing, Verdict, check
from toolwire_schemas.cases import load_cases

pytestmark = pytest.mark.process

SERVER = SUPPORT / "fuzzed_server.py"
LINES = CheckSettings(framings=("lines",))


def fuzz_server(
    *command: str,
    examples: int = 40,
    seed: int = 3,
    settings: CheckSettings = LINES,
    timeout_seconds: float = 10.0,
) -> dict[str, Verdict]:
    """The verdicts on the server, by their case."""
    server = command or (sys.executable, "-IS", str(SERVER), "none")
    report = check(
        server,
        cases=[],
        settings=settings,
        fuzzing=Fuzzing(examples, seed),
        timeout_seconds=timeout_seconds,
    )
    return {found.case: found for found in report.verdicts}


def with_fault(fault: str, **options: Any) -> dict[str, Verdict]:
    return fuzz_server(sys.executable, "-IS", str(SERVER), fault, **options)


def arguments(verdict: Verdict) -> Any:
    """What the tool was called with in the exchange that is shown."""
    calls = [line for line in verdict.exchange if '"tools/call"' in line and line.startswith("-> ")]
    return json.loads(calls[-1].removeprefix("-> "))["params"]["arguments"]


def test_server_without_a_fault_passes_fuzzing() -> None:
    found = with_fault("none", examples=100)
    assert (found["fuzz/valid/count"].outcome, found["fuzz/invalid/count"].outcome) == (
        "pass",
        "pass",
    )


# Each fault with the verdict that finds it, a part of what it says came, and the smallest arguments
# that show it.
FAULTS = [
    ("has another type", "valid", "structuredContent.letters", {"text": "0000"}),
    ("has no structure", "valid", "without structuredContent", {"text": ""}),
    ("answers twice", "valid", "a second answer to", {"text": "", "times": 0}),
    ("accepts everything", "invalid", "they were accepted", {}),
    ("gives no reason", "invalid", "without a reason", {}),
    ("has an internal error", "invalid", "another code than -32602", {}),
    ("dies afterwards", "invalid", "no answer: the server ended with status 0", {}),
]


@pytest.mark.parametrize(
    ("fault", "kind", "came", "smallest"), FAULTS, ids=[fault for fault, *_ in FAULTS]
)
def test_fault_is_shown_with_the_smallest_arguments(
    fault: str, kind: str, came: str, smallest: Any
) -> None:
    verdict = with_fault(fault)[f"fuzz/{kind}/count"]
    assert verdict.outcome == "fail"
    assert came in verdict.came
    assert arguments(verdict) == smallest


def test_crash_is_reported_with_status_stderr_and_seed() -> None:
    verdict = with_fault("crashes")["fuzz/valid/count"]
    ended = (
        "the server ended with status 3; the end of its stderr: UnicodeEncodeError: out of range"
    )
    assert verdict.came == f"no answer: {ended}"
    text = arguments(verdict)["text"]
    assert len(text) == 1
    assert not text.isascii()
    # All that was said to the process since it started: what has to be sent to see it again.
    sent = [json.loads(line[3:])["method"] for line in verdict.exchange if line.startswith("-> ")]
    assert sent == ["initialize", "notifications/initialized", "tools/call"]


def test_call_without_an_answer_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwire_check.fuzz._SHRINK_SECONDS", 300.0)
    verdict = with_fault("hangs", timeout_seconds=0.6)["fuzz/valid/count"]
    assert (verdict.outcome, verdict.came) == ("fail", "no answer: nothing in 1.8 s")
    assert arguments(verdict) == {"text": "", "times": 0}


def test_conversion_of_an_invalid_value_counts_as_acceptance() -> None:
    # Few changes of a value make such a string. The first seed did; with another version of
    # Hypothesis it may be another one.
    tried = (
        with_fault("converts", examples=100, seed=seed)["fuzz/invalid/count"]
        for seed in (11, *range(20))
    )
    verdict = next(found for found in tried if found.outcome == "fail")
    assert verdict.expected.endswith("is not an integer")
    assert arguments(verdict)["times"] == "1.5"


def test_json_in_strings_and_optional_nulls_may_be_accepted() -> None:
    tried = (
        with_fault("reads", examples=100, seed=seed)["fuzz/invalid/count"] for seed in range(20)
    )
    verdict = next(found for found in tried if found.reason)
    assert (verdict.outcome, verdict.came) == ("pass", "")
    assert verdict.reason.startswith("no violation: it reads JSON in strings, or leaves out null")


def test_crash_is_reported_before_accepted_arguments() -> None:
    verdict = with_fault("accepts and crashes")["fuzz/invalid/count"]
    assert verdict.came == "no answer: the server ended with status 3"
    assert arguments(verdict) == {"text": None}


def test_fault_that_does_not_happen_again_has_a_note() -> None:
    verdict = with_fault("fails now and then")["fuzz/valid/count"]
    assert verdict.outcome == "fail"
    assert verdict.came.endswith("; not so when the same was sent to a fresh process alone")


def test_same_seed_gives_the_same_verdicts_and_exchanges() -> None:
    first, second = (with_fault("has another type", seed=7)["fuzz/valid/count"] for _ in range(2))
    assert (first.came, first.exchange) == (second.came, second.exchange)


def test_only_read_only_tools_are_called_by_default() -> None:
    found = with_fault("none", examples=5)
    assert found["fuzz/valid/wipe"].outcome == "not applicable"
    assert "readOnlyHint" in found["fuzz/valid/wipe"].reason


def test_other_tools_are_called_if_the_settings_allow_them() -> None:
    named = with_fault(
        "none", examples=5, settings=CheckSettings(framings=("lines",), calls={"wipe": {}})
    )
    every = with_fault(
        "none", examples=5, settings=CheckSettings(framings=("lines",), any_tool=True)
    )
    assert "not applicable" not in (
        named["fuzz/valid/wipe"].outcome,
        every["fuzz/valid/wipe"].outcome,
    )


def test_output_of_a_tool_is_noise_and_no_fault_of_arguments() -> None:
    report = check(
        [sys.executable, "-IS", str(SERVER), "prints"],
        cases=[case for case in load_cases() if case.id == "stdout/only-messages"],
        settings=LINES,
        fuzzing=Fuzzing(40, 1),
    )
    assert [(found.case, found.outcome) for found in report.list_failures("advice")] == [
        ("stdout/only-messages", "fail")
    ]
    assert "warning: nothing to count" in report.list_failures()[0].came
    assert "pass" in [
        found.outcome for found in report.verdicts if found.case == "fuzz/valid/count"
    ]


def test_accepted_unknown_argument_is_only_a_warning() -> None:
    verdict = with_fault("takes unknown arguments", examples=100)["fuzz/invalid/count"]
    (case,) = (case for case in load_cases() if case.id == "calls/unknown-argument")
    assert (verdict.outcome, verdict.severity) == ("warn", case.severity)
    assert "is unknown" in verdict.expected


def test_accepted_wrong_type_is_reported_before_an_unknown_argument() -> None:
    verdict = with_fault("accepts everything", examples=100)["fuzz/invalid/count"]
    assert (verdict.outcome, verdict.severity) == ("fail", "must")
