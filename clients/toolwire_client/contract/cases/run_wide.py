"""Judge a conversation by the expectations on the whole run. No I/O.

Strategy. Each case judges what it provokes: parts of the conversation in which a `should` case failed are left out, and
a breach that only `should` cases provoke is no `must`. So each fault is reported once, under its own name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ..report import Verdict, is_bad
from .conversation import Event, Noise, Received
from .expectations import Scene, Unmet, judge

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_NAMED_BY_CASES = ("answers-asked",)
"""Rules whose breach fails a case as well: a case that waits for an answer does not get it if its id is another."""


class Part(msgspec.Struct, frozen=True):
    """The events from *start* up to *end*, in which a case was played, and the *verdict* on it."""

    start: int
    end: int
    verdict: Verdict


def breach(
    steps: Sequence[dict[str, Any]], events: Sequence[Event], parts: Sequence[Part], lists: Mapping[str, list[Any]]
) -> tuple[Unmet, Sequence[Event]] | None:
    """Return the first expectation in *steps* that the *events* of a conversation with these *parts* do not meet.

    With it come the events up to the breach.
    """
    for step in steps:
        for severity, left_out in _readings(step, parts):
            scene = Scene(_without(events, left_out), lists)
            if (unmet := judge(step, scene)) is not None:
                milder = msgspec.structs.replace(unmet, severity=severity or step.get("severity", ""))
                return milder, _shortest(step, scene)
    return None


def _readings(step: dict[str, Any], parts: Sequence[Part]) -> Iterator[tuple[str, list[Part]]]:
    """The severities to judge by, gravest first, each with what is left out of the conversation."""
    mild = [part for part in parts if part.verdict.severity != "must"]
    named = step.get("rule") in _NAMED_BY_CASES
    failed = [part for part in (parts if named else mild) if is_bad(part.verdict)]
    yield "", [*mild, *failed]
    if any(part not in failed for part in mild):
        yield "should", failed


def _without(events: Sequence[Event], parts: Sequence[Part]) -> Sequence[Event]:
    """*events* without what the server said in these *parts*; what was said to it stays, as late answers may come."""
    if not parts:
        return events
    gone = {place for part in parts for place in range(part.start, part.end)}
    return [event for place, event in enumerate(events) if place not in gone or not isinstance(event, Received | Noise)]


def _shortest(step: dict[str, Any], scene: Scene) -> Sequence[Event]:
    """The first part of what happened that does not meet what *step* expects of all of it."""
    events = scene.events
    low, high = 0, len(events)
    while low < high:
        middle = (low + high) // 2
        if judge(step, Scene(events[:middle], scene.lists)) is None:
            low = middle + 1
        else:
            high = middle
    return events[:low]
