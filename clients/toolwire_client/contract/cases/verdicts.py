"""The verdict on a case that was played, or could not be, with the exchange that led to it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.cases import cases

from ..report import SEVERITIES, Verdict, is_bad
from .conversation import Acted, Noise, ProcessEnded, Received, Sent
from .expectations import Unmet
from .plan import Play

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..report import Outcome
    from .conversation import Event
    from .handshake import Obstacle

_FIRST = "lifecycle/answers"
_MAX_LINES = 40
_MAX_LETTERS = 2000


def not_opened(play: Play, obstacle: Obstacle, events: Sequence[Event]) -> Verdict:
    """Return the verdict on *play* if an *obstacle* prevented its conversation."""
    if obstacle.is_choice:
        return verdict_of(play, "not applicable", reason=obstacle.why)
    return judged(play, Unmet(f"a conversation in {play.revision} begins", obstacle.why), events, 0.0)


def judged(play: Play, unmet: Unmet | None, events: Sequence[Event], seconds: float) -> Verdict:
    """Return the verdict on *play*: passed if *unmet* is `None`."""
    if unmet is None:
        return verdict_of(play, "pass", seconds=seconds)
    severity = unmet.severity or play.case.severity
    verdict = verdict_of(
        play,
        "fail" if severity == "must" else "warn",
        expected=unmet.expected,
        came=unmet.came,
        exchange=exchange_lines(events),
        seconds=seconds,
    )
    return msgspec.structs.replace(verdict, severity=severity)


def is_as_bad(one: Verdict, other: Verdict) -> bool:
    """Whether *one* is a failure at least as bad as *other*."""
    return is_bad(one) and SEVERITIES.index(one.severity) <= SEVERITIES.index(other.severity)


def only_after(verdict: Verdict, others: list[str]) -> Verdict:
    """Return *verdict*, a failure, as one that needs the cases with these ids before it; if empty, as a flaky one."""
    when = f"only after {', '.join(others)} in the same process" if others else "not again after the same cases"
    came = f"{verdict.came}; {when}: alone the case passes"
    return msgspec.structs.replace(verdict, came=came, after=others)


def untalkable(plays: Sequence[Play], trouble: str, events: Sequence[Event]) -> list[Verdict]:
    """Return the verdicts on a server that does not answer: one case fails, whichever were chosen."""
    first = next(case for case in cases() if case.id == _FIRST)
    failure = judged(Play(first), Unmet("an answer to initialize or to server/discover", trouble), events, 0.0)
    others = [play for play in plays if play.case.id != _FIRST]
    return [failure, *(verdict_of(play, "not applicable", reason=play.reason) for play in others)]


def verdict_of(play: Play, outcome: Outcome, **about: Any) -> Verdict:
    """Return a verdict on *play*."""
    case = play.case
    return Verdict(
        case=case.id,
        behaviour=case.behaviour,
        source=case.source,
        ours=case.ours,
        severity=case.severity,
        outcome=outcome,
        revision=play.revision,
        framing=play.framing or "",
        **about,
    )


def exchange_lines(events: Sequence[Event], *, is_whole: bool = False) -> list[str]:
    """Return *events* as lines: `-> ` before what was sent, `<- ` before what came, `-- ` before what happened.

    The middle of a long exchange is left out, unless it has to be *is_whole*.
    """
    found = [line for event in events for line in _event_lines(event)]
    if is_whole or len(found) <= _MAX_LINES:
        return found
    half = _MAX_LINES // 2
    return [*found[:half], f"-- {len(found) - 2 * half} lines are left out here", *found[-half:]]


def _event_lines(event: Event) -> Iterator[str]:
    match event:
        case Sent(data=data, size=size):
            yield f"-> {_text(data, size)}"
        case Received(data=data):
            yield f"<- {_text(data, len(data))}"
        case Noise(data=data, why=why):
            yield f"<- {_text(data, len(data))}   (noise on stdout: {why})"
        case Acted(what=what):
            yield f"-- {what}"
        case ProcessEnded(how=how, stderr=stderr):
            yield f"-- it {how}"
            for line in stderr.splitlines()[-5:]:
                yield f"-- stderr: {line[:_MAX_LETTERS]}"


def _text(data: bytes, size: int) -> str:
    """*data* as it can be put into `printf '%b'` or a JSON file: what cannot be printed, as escapes of JSON."""
    # A letter has at most four bytes; the rest of a message of megabytes is not shown, and not looked at.
    text = data.rstrip(b"\n")[: 4 * _MAX_LETTERS + 4].decode(errors="backslashreplace")
    text = "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)
    return text if len(text) <= _MAX_LETTERS else f"{text[:_MAX_LETTERS]}… ({size:,} bytes)"
