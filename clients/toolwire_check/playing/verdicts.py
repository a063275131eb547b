"""Make verdicts on plays. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.cases import load_cases

from ..judging.conversation import format_exchange
from ..judging.expectations import Breach
from ..report import SEVERITIES, Verdict, is_bad
from .plan import Play

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..judging.conversation import Event
    from ..report import Outcome

_FIRST_CASE = "lifecycle/answers"
"""The case that fails if a server does not answer at all."""


def make_verdict(play: Play, outcome: Outcome, **about: Any) -> Verdict:
    """Return a verdict on *play*. *about* are other members of `Verdict`."""
    case = play.case
    about.setdefault("severity", case.severity)
    return Verdict(
        case=case.id,
        behaviour=case.behaviour,
        source=case.source,
        ours=case.ours,
        outcome=outcome,
        revision=play.revision,
        framing=play.framing or "",
        **about,
    )


def judge_play(
    play: Play, breach: Breach | None, events: Sequence[Event], seconds: float
) -> Verdict:
    """Return the verdict on *play*: passed if *breach* is `None`."""
    if breach is None:
        return make_verdict(play, "pass", seconds=seconds)
    severity = breach.severity or play.case.severity
    return make_verdict(
        play,
        "fail" if severity == "must" else "warn",
        severity=severity,
        expected=breach.expected,
        came=breach.came,
        exchange=format_exchange(events),
        seconds=seconds,
    )


def judge_silent_server(
    plays: Sequence[Play], trouble: str, events: Sequence[Event]
) -> list[Verdict]:
    """Return the verdicts on a server that does not answer.

    One case fails, even if it is not among the *plays*, so that the report is no success.
    """
    [first] = [case for case in load_cases() if case.id == _FIRST_CASE]
    breach = Breach("an answer to initialize or to server/discover", trouble)
    verdicts = [judge_play(Play(first), breach, events, 0.0)]
    for play in plays:
        if play.case.id != _FIRST_CASE:
            verdicts.append(make_verdict(play, "not applicable", reason=play.reason))
    return verdicts


def is_as_bad(one: Verdict, other: Verdict) -> bool:
    """Whether *one* is a failure at least as bad as *other*."""
    return is_bad(one) and SEVERITIES.index(one.severity) <= SEVERITIES.index(other.severity)


def note_predecessors(verdict: Verdict, others: list[str]) -> Verdict:
    """Return *verdict*, a failure, as one that needs the cases with these ids before it; if empty,
    as a flaky one.
    """
    when = "not again after the same cases"
    if others:
        when = f"only after {', '.join(others)} in the same process"
    came = f"{verdict.came}; {when}: alone the case passes"
    return msgspec.structs.replace(verdict, came=came, after=others)
