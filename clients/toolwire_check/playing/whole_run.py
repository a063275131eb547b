"""Judge a whole conversation, in which many cases were played, by the expectations on a run.

Strategy. Each fault is reported once. A part of the conversation in which a `should` case failed is
left out, since that case reports its fault; and a breach that only parts of `should` cases show is
no `must`.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..judging.conversation import Event, Noise, Received
from ..judging.expectations import Breach, Scene, Step, judge
from ..report import Verdict, is_bad
from .verdicts import judge_play

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .plan import Play

_MAX_EVENTS_SHOWN = 8

_RULES_THAT_FAIL_CASES = ("answers-asked",)
"""Rules whose breach fails a case as well: a case that waits for an answer does not get it if its
id is another.
"""


class Part(msgspec.Struct, frozen=True):
    """The events from *start* up to *end*, in which a case was played, and the *verdict* on it."""

    start: int
    end: int
    verdict: Verdict


class RunBreach(NamedTuple):
    """A breach of the whole run, and the *events* up to it."""

    breach: Breach
    events: Sequence[Event]


def find_breach_of_run(
    steps: Sequence[Step],
    events: Sequence[Event],
    parts: Sequence[Part],
    lists: Mapping[str, list[Any]],
) -> RunBreach | None:
    """Return the first expectation in *steps* that the *events* of a conversation with these
    *parts* do not meet.
    """
    for step in steps:
        for severity, ignored_parts in _list_readings(step, parts):
            scene = Scene(_without_output(events, ignored_parts), lists)
            breach = judge(step, scene)
            if breach is not None:
                severity = severity or step.get("severity", "")
                breach = msgspec.structs.replace(breach, severity=severity)
                return RunBreach(breach, _find_shortest_start(step, scene))
    return None


class RunJudge:
    """Judges each conversation of a check by *plays*, the cases for the whole run by their places.

    It keeps only the gravest breach of each, so that no conversation has to be kept. Threads may
    share it.
    """

    def __init__(self, plays: Mapping[int, Play], tools: Sequence[Any]) -> None:
        self._plays = plays
        self._lists = {"tools": list(tools)}
        self._failures: dict[int, Verdict] = {}
        self._lock = threading.Lock()

    def judge(
        self, events: Sequence[Event], revision: str, *, parts: Sequence[Part], only_noise: bool
    ) -> None:
        """Judge the *events* of a finished conversation in *revision*, in which the cases of
        *parts* were played. If *only_noise*, its messages are judged elsewhere.
        """
        with self._lock:
            for place, play in self._plays.items():
                if only_noise and play.case.steps != [{"quiet": True}]:
                    continue
                if play.revision in ("", revision):
                    self._judge_play(place, play, events, () if only_noise else parts)

    def _judge_play(
        self, place: int, play: Play, events: Sequence[Event], parts: Sequence[Part]
    ) -> None:
        known = self._failures.get(place)
        if known is not None and known.outcome == "fail":
            return
        found = find_breach_of_run(play.case.steps, events, parts, self._lists)
        if found is None:
            return
        if known is None or not found.breach.severity:  # it is graver than the known one
            last_events = found.events[-_MAX_EVENTS_SHOWN:]
            self._failures[place] = judge_play(play, found.breach, last_events, 0.0)

    def list_verdicts(self) -> dict[int, Verdict]:
        """Return the verdict on each of the plays, after all conversations."""
        verdicts = {}
        for place, play in self._plays.items():
            verdicts[place] = self._failures.get(place) or judge_play(play, None, [], 0.0)
        return verdicts


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
