"""A run as text."""

from __future__ import annotations

from toolwire_agent.agent import events
from toolwire_agent.run_text import run_text


def test_a_run_is_its_questions_calls_results_and_answer() -> None:
    text = run_text(
        [
            events.Started(model="arithmetic", protocol="StructuredProtocol, en"),
            events.QuestionAsked(content="How much?\nExactly."),
            events.ModelAsked(kept=0, messages=[]),
            events.ActionChosen(thought="", tool="add", params={"a": 1}),
            events.CallStarted(tool="add", params={"a": 1}),
            events.CallFinished(success=True, result={"sum": 2}),
            events.CallFinished(success=False, result="no"),
            events.Ended(status="answered", result="2"),
        ]
    )
    assert text.splitlines() == [
        "model:",
        "  arithmetic, StructuredProtocol, en",
        "question:",
        "  How much?",
        "  Exactly.",
        "call:",
        "  add(a=1)",
        "result:",
        '  {"sum":2}',
        "failure:",
        "  no",
        "answered:",
        "  2",
    ]
