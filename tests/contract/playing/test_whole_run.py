"""Judging a whole run: faults that a single case reports are not reported twice."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire_check.judging.conversation import CaseConversation
from toolwire_check.playing.plan import Play
from toolwire_check.playing.whole_run import Part, RunJudge, find_breach_of_run
from toolwire_check.report import Verdict
from toolwire_schemas.cases import Case
from toolwire_schemas.wire import codec

QUIET = {"quiet": True}
ANSWERS_ASKED = {"rule": "answers-asked"}
EVERY_RESULT_TYPED = {
    "every": {"properties": {"result": {"required": ["resultType"]}}},
    "among": {"required": ["result"]},
}


def make_conversation(*output: Any) -> CaseConversation:
    conversation = CaseConversation()
    for piece in output:
        data = piece if isinstance(piece, bytes) else codec.encode(piece) + b"\n"
        conversation.record_output(data)
    return conversation


def answer(identity: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "result": {}}


def part(severity: str, outcome: Any, start: int = 0, end: int = 1) -> Part:
    return Part(
        start, end, Verdict("a/case", "It does.", "https://example.com/", severity, outcome)
    )


@pytest.mark.parametrize(
    ("step", "output", "severity", "outcome", "expected"),
    [
        (QUIET, b"x\n", "must", "pass", ""),
        (QUIET, b"x\n", "must", "fail", ""),
        (QUIET, b"x\n", "should", "pass", "should"),
        (QUIET, b"x\n", "advice", "pass", "should"),
        (QUIET, b"x\n", "should", "warn", None),
        (ANSWERS_ASKED, answer(7), "must", "fail", None),
        (ANSWERS_ASKED, answer(7), "must", "pass", ""),
        (EVERY_RESULT_TYPED, answer(7), "must", "fail", ""),
        (EVERY_RESULT_TYPED, answer(7), "should", "warn", None),
    ],
)
def test_breach_is_at_most_as_grave_as_the_case_that_provokes_it(
    step: Any, output: Any, severity: str, outcome: str, expected: str | None
) -> None:
    events = make_conversation(output).events
    found = find_breach_of_run([step], events, [part(severity, outcome)], {})
    assert (None if found is None else found.breach.severity) == expected


def test_breach_outside_of_a_mild_case_keeps_its_severity() -> None:
    events = make_conversation(b"x\n", b"y\n").events
    found = find_breach_of_run([QUIET], events, [part("should", "warn")], {})
    assert found is not None
    assert (found.breach.severity, "'y'" in found.breach.came, "'x'" in found.breach.came) == (
        "",
        True,
        False,
    )


def test_late_answer_to_a_request_of_a_failed_case_is_no_breach() -> None:
    conversation = make_conversation()
    conversation.record_input(codec.encode({"jsonrpc": "2.0", "id": 7, "method": "ping"}))
    conversation.record_output(codec.encode(answer(7)) + b"\n")
    assert (
        find_breach_of_run([ANSWERS_ASKED], conversation.events, [part("should", "warn")], {})
        is None
    )


def play_of_run(step: dict[str, Any], revision: str = "") -> Play:
    case = Case("a/run", "It does.", "https://example.com/", "must", [step], process="run")
    return Play(case, revision)


GRAVE = (b"x\n", part("must", "pass"))
MILD = (b"x\n", part("should", "pass"))


@pytest.mark.parametrize(
    ("conversations", "outcome"),
    [
        ([], "pass"),
        ([(b"", part("must", "pass"))], "pass"),
        ([MILD], "warn"),
        ([GRAVE], "fail"),
        ([MILD, GRAVE], "fail"),
        ([GRAVE, MILD], "fail"),
    ],
)
def test_verdict_on_a_run_is_that_of_its_gravest_breach(
    conversations: list[tuple[bytes, Part]], outcome: str
) -> None:
    judge = RunJudge({3: play_of_run(QUIET)}, [])
    for output, each in conversations:
        judge.judge(make_conversation(output).events, "", parts=[each], only_noise=False)
    assert {place: one.outcome for place, one in judge.list_verdicts().items()} == {3: outcome}


@pytest.mark.parametrize(
    ("step", "revision", "only_noise", "outcome"),
    [
        (QUIET, "", True, "fail"),
        (QUIET, "2025-11-25", True, "fail"),
        (QUIET, "2026-07-28", True, "pass"),
        (ANSWERS_ASKED, "", True, "pass"),
        (ANSWERS_ASKED, "", False, "fail"),
    ],
)
def test_conversation_is_judged_by_plays_of_its_revision(
    step: dict[str, Any], revision: str, only_noise: bool, outcome: str
) -> None:
    judge = RunJudge({0: play_of_run(step, revision)}, [])
    events = make_conversation(b"x\n", answer(7)).events
    judge.judge(events, "2025-11-25", parts=[], only_noise=only_noise)
    assert judge.list_verdicts()[0].outcome == outcome
