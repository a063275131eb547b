"""Which cases are played, in which revisions and framings, and why the others are not; and the
verdicts. No I/O.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.cases import Case, cases

from ..report import SEVERITIES, Verdict, is_bad
from .conversation import format_exchange
from .expectations import Breach
from .handshake import is_modern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolwire_schemas.cases import Framing, Process

    from ..report import Outcome
    from .conversation import Event
    from .server_facts import Facts

_FIRST = "lifecycle/answers"
_LACKS = {
    "legacy": "the server knows no handshake (initialize)",
    "modern": "the server does not speak 2026-07-28",
}


class Play(msgspec.Struct, frozen=True):
    """One case, to be played in one revision and framing; not at all if there is a *reason* against
    it.
    """

    case: Case
    revision: str = ""
    framing: Framing | None = None
    reason: str = ""

    @property
    def process(self) -> Process:
        """In which process it is played.

        A server that speaks both eras may take a message that names no revision for the start of a
        legacy conversation, and so be of no more use for cases of the modern one.
        """
        is_bare = is_modern(self.revision) and any(map(_names_no_revision, self.case.steps))
        return "opened" if is_bare and self.case.process == "shared" else self.case.process


def _names_no_revision(step: dict[str, Any]) -> bool:
    return bool({"raw", "bytes"} & step.keys()) and "${meta}" not in str(step)


def select_cases(
    cases: Iterable[Case], only: Sequence[str] = (), skip: Sequence[str] = ()
) -> list[Case]:
    """Return those of *cases* whose id one of the patterns in *only* matches, if there are any, and
    none in *skip*.
    """
    return [
        case
        for case in cases
        if (not only or any(fnmatchcase(case.id, pattern) for pattern in only))
        and not any(fnmatchcase(case.id, pattern) for pattern in skip)
    ]


def plan_plays(cases: Iterable[Case], facts: Facts) -> list[Play]:
    """Return how *cases* are to be played with the server of these *facts*."""
    return [play for case in cases for play in _plays(case, facts)]


def _plays(case: Case, facts: Facts) -> list[Play]:
    revisions, reason = _revisions(case, facts)
    framings = [framing for framing in facts.framings if framing in case.framings]
    lacking = [facts.lacks.get(need, "") for need in case.needs if need not in facts.values]
    if facts.trouble:
        reason = "the server cannot be talked to"
    elif lacking:
        reason = lacking[0]
    elif not reason and not framings and case.process != "run":
        reason = f"the server does not speak in {' or '.join(case.framings)}, or was not asked to"
    if reason:
        return [Play(case, reason=reason)]
    if case.process == "run":
        return [Play(case, revisions[0] if case.era in _LACKS else "")]
    return [Play(case, revision, framing) for framing in framings for revision in revisions]


def _revisions(case: Case, facts: Facts) -> tuple[list[str], str]:
    """In which revisions to play *case*, and why in none."""
    if case.revisions:
        eras = set(map(is_modern, facts.revisions))
        found = [revision for revision in case.revisions if is_modern(revision) in eras]
        return (
            found,
            "" if found else f"the server does not speak the era of {' or '.join(case.revisions)}",
        )
    if case.era == "plain":
        return [""], ""
    if case.era in _LACKS:
        found = [
            revision
            for revision in facts.revisions
            if is_modern(revision) == (case.era == "modern")
        ]
        return found, "" if found else _LACKS[case.era]
    return facts.revisions if case.era == "each" else facts.revisions[:1], ""


def make_verdict(play: Play, outcome: Outcome, **about: Any) -> Verdict:
    """Return a verdict on *play*."""
    case = play.case
    about = {
        "severity": case.severity,
        "revision": play.revision,
        "framing": play.framing or "",
        **about,
    }
    return Verdict(
        case=case.id,
        behaviour=case.behaviour,
        source=case.source,
        ours=case.ours,
        outcome=outcome,
        **about,
    )


def judge_play(
    play: Play, unmet: Breach | None, events: Sequence[Event], seconds: float
) -> Verdict:
    """Return the verdict on *play*: passed if *unmet* is `None`."""
    if unmet is None:
        return make_verdict(play, "pass", seconds=seconds)
    severity = unmet.severity or play.case.severity
    return make_verdict(
        play,
        "fail" if severity == "must" else "warn",
        severity=severity,
        expected=unmet.expected,
        came=unmet.came,
        exchange=format_exchange(events),
        seconds=seconds,
    )


def judge_silent_server(
    plays: Sequence[Play], trouble: str, events: Sequence[Event]
) -> list[Verdict]:
    """Return the verdicts on a server that does not answer: one case fails, whichever were
    chosen.
    """
    first = next(case for case in cases() if case.id == _FIRST)
    failure = judge_play(
        Play(first), Breach("an answer to initialize or to server/discover", trouble), events, 0.0
    )
    others = [play for play in plays if play.case.id != _FIRST]
    return [failure, *(make_verdict(play, "not applicable", reason=play.reason) for play in others)]


def is_as_bad(one: Verdict, other: Verdict) -> bool:
    """Whether *one* is a failure at least as bad as *other*."""
    return is_bad(one) and SEVERITIES.index(one.severity) <= SEVERITIES.index(other.severity)


def note_predecessors(verdict: Verdict, others: list[str]) -> Verdict:
    """Return *verdict*, a failure, as one that needs the cases with these ids before it; if empty,
    as a flaky one.
    """
    when = (
        f"only after {', '.join(others)} in the same process"
        if others
        else "not again after the same cases"
    )
    came = f"{verdict.came}; {when}: alone the case passes"
    return msgspec.structs.replace(verdict, came=came, after=others)
