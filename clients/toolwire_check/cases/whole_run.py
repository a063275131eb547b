"""Judge a whole conversation, in which many cases were played, by the expectations on a run.

Strategy. Each fault is reported once. A part of the conversation in which a `should` case failed is
left out, since that case reports its fault; and a breach that only parts of `should` cases show is
no `must`.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import msgspec

from ..report import Verdict, is_bad
from .conversation import Event, Noise, Received
from .expectations import Breach, Scene, Step, judge

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_RULES_THAT_FAIL_CASES = ("answers-asked",)
"""Rules whose breach fails a case as well: a case that waits for an answer does not get it if its
id is another.
"""


class Part(msgspec.Struct, frozen=True):
    """The events from *start* up to *end*, in which a case was played, and the *verdict* on it."""

    start: int
    end: int
    verdict: Verdict


def find_breach_of_run(
    steps: Sequence[Step],
    events: Sequence[Event],
    parts: Sequence[Part],
    lists: Mapping[str, list[Any]],
) -> tuple[Breach, Sequence[Event]] | None:
    """Return the first expectation in *steps* that the *events* of a conversation with these
    *parts* do not meet.

    With it come the events up to the breach.
    """
    for step in steps:
        for severity, ignored_parts in _list_readings(step, parts):
            scene = Scene(_without_output(events, ignored_parts), lists)
            breach = judge(step, scene)
            if breach is not None:
                severity = severity or step.get("severity", "")
                breach = msgspec.structs.replace(breach, severity=severity)
                return breach, _find_shortest_start(step, scene)
    return None


def _list_readings(step: Step, parts: Sequence[Part]) -> Iterator[tuple[str, list[Part]]]:
    """Yield the severities to judge by, the gravest first, each with the parts to ignore."""
    mild_parts = [part for part in parts if part.verdict.severity != "must"]
    suspects: Sequence[Part] = mild_parts
    if step.get("rule") in _RULES_THAT_FAIL_CASES:
        suspects = parts
    failed_parts = [part for part in suspects if is_bad(part.verdict)]
    yield "", [*mild_parts, *failed_parts]
    if any(part not in failed_parts for part in mild_parts):
        yield "should", failed_parts


def _without_output(events: Sequence[Event], parts: Sequence[Part]) -> Sequence[Event]:
    """Return *events* without the server's output in these *parts*.

    Its input stays, since a later event may be a late answer to it.
    """
    if not parts:
        return events
    ignored: set[int] = set()
    for part in parts:
        ignored.update(range(part.start, part.end))
    left = []
    for place, event in enumerate(events):
        if place not in ignored or not isinstance(event, Received | Noise):
            left.append(event)
    return left


def _find_shortest_start(step: Step, scene: Scene) -> Sequence[Event]:
    """Return the fewest events from the start on that already break *step*."""

    def is_broken(size: int) -> bool:
        return judge(step, Scene(scene.events[:size], scene.lists)) is not None

    size = bisect_left(range(len(scene.events)), True, key=is_broken)
    return scene.events[:size]
