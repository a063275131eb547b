"""The times of a run: which spans its events end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from toolwire_agent.agent import events
from toolwire_agent.react.messages import ModelReply, Usage
from toolwire_agent.run_times import RunTimes

START = datetime(2026, 1, 2, tzinfo=UTC)


def spans_of(*recorded: events.Recorded) -> list[dict[str, Any]]:
    """Return the spans of events, each a second after the one before, times as seconds."""
    times = RunTimes()
    found = []
    for second, event in enumerate(recorded):
        at = START + timedelta(seconds=second)
        span = times.add(msgspec.structs.replace(event, at=at))
        if span is not None:
            members = {name: value for name, value in msgspec.structs.asdict(span).items() if value}
            members["start"] = int((span.start - START).total_seconds())
            members["end"] = int((span.end - START).total_seconds())
            found.append(members)
    return found


def test_replies_calls_and_answers_are_spans() -> None:
    usage = Usage(input_tokens=10, output_tokens=2, cached_tokens=4)
    found = spans_of(
        events.ModelAsked(kept=0, messages=[]),
        events.ModelReplied(reply=ModelReply(usage=usage)),
        events.ApprovalAsked(tool="add", params={}, reason=""),
        events.Approved(),
        events.CallStarted(call=0, tool="add", params={}),
        events.CallStarted(call=1, tool="find", params={}),
        events.CallFinished(call=0, success=True, result=1),
        events.CallFinished(call=1, success=False, result="no"),
    )
    assert found == [
        {"kind": "model", "name": "model", "start": 0, "end": 1, "read": 10, "written": 2}
        | {"cached": 4},
        {"kind": "question", "name": "user", "start": 2, "end": 3},
        {"kind": "call", "name": "add", "start": 4, "end": 6},
        {"kind": "call", "name": "find", "start": 5, "end": 7, "is_error": True},
    ]


def test_a_failure_of_the_model_is_an_error() -> None:
    found = spans_of(
        events.ModelAsked(kept=0, messages=[]), events.ModelFailed(reason="no network")
    )
    assert found == [{"kind": "model", "name": "model", "start": 0, "end": 1, "is_error": True}]


def test_events_without_a_time_or_a_start_end_no_span() -> None:
    times = RunTimes()
    assert times.add(events.ModelReplied(reply=ModelReply())) is None
    assert times.add(events.CallFinished(call=7, success=True, result=1)) is None
    assert times.add(events.CallStarted(call=7, tool="add", params={})) is None
    assert times.add(events.CallFinished(call=7, success=True, result=1)) is None
