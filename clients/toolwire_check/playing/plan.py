"""Plan a check: the cases to play, in which revisions and framings, and why the others are not
played. No I/O.

A case is played once in each revision and framing that both it and the server know. A case that
cannot be played at all gets one `Play` with the reason, so that the report says it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from ..facts.handshake import is_modern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolwire_schemas.cases import Case, Framing, Process

    from ..facts.server_facts import Facts
    from ..judging.expectations import Step

_WHY_NO_ERA = {
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
        process = self.case.process
        if process != "shared" or not is_modern(self.revision):
            return process
        if any(map(_names_no_revision, self.case.steps)):
            return "opened"
        return "shared"


def _names_no_revision(step: Step) -> bool:
    is_raw = "raw" in step or "bytes" in step  # `send` adds the revision
    return is_raw and "${meta}" not in str(step)


def select_cases(
    cases: Iterable[Case], only: Sequence[str] = (), skip: Sequence[str] = ()
) -> list[Case]:
    """Return those of *cases* whose id one of the patterns in *only* matches, if there are any, and
    none in *skip*.
    """
    selected = []
    for case in cases:
        is_wanted = not only or _matches_any(case.id, only)
        if is_wanted and not _matches_any(case.id, skip):
            selected.append(case)
    return selected


def _matches_any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def plan_plays(cases: Iterable[Case], facts: Facts) -> list[Play]:
    """Return how *cases* are to be played with the server of these *facts*."""
    plays = []
    for case in cases:
        reason = _find_obstacle(case, facts)
        if reason:
            plays.append(Play(case, reason=reason))
        else:
            plays += _plan_case(case, facts)
    return plays


def _plan_case(case: Case, facts: Facts) -> Iterable[Play]:
    revisions = _list_revisions(case, facts)
    if case.process == "run":  # it is judged once, in whatever framing the others are played
        is_of_one_era = case.era in _WHY_NO_ERA
        yield Play(case, revisions[0] if is_of_one_era else "")
        return
    for framing in _list_framings(case, facts):
        for revision in revisions:
            yield Play(case, revision, framing)


def _find_obstacle(case: Case, facts: Facts) -> str:
    """Return why *case* cannot be played; empty if it can."""
    if facts.trouble:
        return "the server cannot be talked to"
    for need in case.needs:
        if need not in facts.values:
            return facts.lacks.get(need, "")
    if not _list_revisions(case, facts):
        if case.revisions:
            return f"the server does not speak the era of {' or '.join(case.revisions)}"
        return _WHY_NO_ERA[case.era]
    if not _list_framings(case, facts) and case.process != "run":
        return f"the server does not speak in {' or '.join(case.framings)}, or was not asked to"
    return ""


def _list_framings(case: Case, facts: Facts) -> list[Framing]:
    return [framing for framing in facts.framings if framing in case.framings]


def _list_revisions(case: Case, facts: Facts) -> list[str]:
    """Return the revisions to play *case* in; `""` means that there is no handshake."""
    if case.revisions:  # the server may refuse one of them, although it speaks another of its era
        eras = {is_modern(revision) for revision in facts.revisions}
        return [revision for revision in case.revisions if is_modern(revision) in eras]
    match case.era:
        case "plain":
            return [""]
        case "legacy":
            return [revision for revision in facts.revisions if not is_modern(revision)]
        case "modern":
            return [revision for revision in facts.revisions if is_modern(revision)]
        case "each":
            return facts.revisions
        case "any":
            return facts.revisions[:1]
