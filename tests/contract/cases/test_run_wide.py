"""What is expected of a whole run, and what of it a single case answers for."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire_check.cases.conversation import CaseConversation
from toolwire_check.cases.expectations import Part, find_breach_of_run
from toolwire_check.report import Verdict
from toolwire_schemas.wire import codec

QUIET = {"quiet": True}
ASKED = {"rule": "answers-asked"}
TYPED = {
    "every": {"properties": {"result": {"required": ["resultType"]}}},
    "among": {"required": ["result"]},
}


def said(*heard: Any) -> CaseConversation:
    conversation = CaseConversation()
    for thing in heard:
        conversation.record_output(
            thing if isinstance(thing, bytes) else codec.encode(thing) + b"\n"
        )
    return conversation


def answer(identity: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "result": {}}


def part(severity: str, outcome: Any, start: int = 0, end: int = 1) -> Part:
    return Part(
        start, end, Verdict("a/case", "It does.", "https://example.com/", severity, outcome)
    )


@pytest.mark.parametrize(
    ("step", "heard", "severity", "outcome", "expected"),
    [
        (QUIET, b"x\n", "must", "pass", ""),
        (QUIET, b"x\n", "must", "fail", ""),
        (QUIET, b"x\n", "should", "pass", "should"),
        (QUIET, b"x\n", "advice", "pass", "should"),
        (QUIET, b"x\n", "should", "warn", None),
        (ASKED, answer(7), "must", "fail", None),
        (ASKED, answer(7), "must", "pass", ""),
        (TYPED, answer(7), "must", "fail", ""),
        (TYPED, answer(7), "should", "warn", None),
    ],
)
def test_a_breach_is_no_graver_than_the_case_that_provokes_it(
    step: Any, heard: Any, severity: str, outcome: str, expected: str | None
) -> None:
    found = find_breach_of_run([step], said(heard).events, [part(severity, outcome)], {})
    assert (None if found is None else found[0].severity) == expected


def test_a_breach_elsewhere_in_the_conversation_is_as_grave_as_ever() -> None:
    found = find_breach_of_run([QUIET], said(b"x\n", b"y\n").events, [part("should", "warn")], {})
    assert found is not None
    assert (found[0].severity, "'y'" in found[0].came, "'x'" in found[0].came) == ("", True, False)


def test_a_late_answer_to_what_a_failed_case_asked_is_an_answer_to_something() -> None:
    conversation = said()
    conversation.record_input(codec.encode({"jsonrpc": "2.0", "id": 7, "method": "ping"}))
    conversation.record_output(codec.encode(answer(7)) + b"\n")
    assert find_breach_of_run([ASKED], conversation.events, [part("should", "warn")], {}) is None
