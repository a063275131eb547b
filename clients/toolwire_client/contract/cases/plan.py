"""Which cases are played with this server, in which revisions and framings, and why are the others not? No I/O."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.cases import Case  # noqa: TC002 (the Struct reads its fields' types)

from .handshake import is_modern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from toolwire_schemas.cases import Framing, Process

    from .server_facts import Facts


class Play(msgspec.Struct, frozen=True):
    """One case, to be played in one revision and framing; not at all if there is a *reason* against it."""

    case: Case
    revision: str = ""
    framing: Framing | None = None
    reason: str = ""

    @property
    def process(self) -> Process:
        """In which process it is played.

        A server that speaks both eras may take a message that names no revision for the start of a legacy conversation,
        and so be of no more use for cases of the modern one.
        """
        is_bare = is_modern(self.revision) and any(map(_names_no_revision, self.case.steps))
        return "opened" if is_bare and self.case.process == "shared" else self.case.process


def _names_no_revision(step: dict[str, Any]) -> bool:
    return bool({"raw", "bytes"} & step.keys()) and "${meta}" not in str(step)


def chosen(cases: Iterable[Case], only: Sequence[str] = (), skip: Sequence[str] = ()) -> list[Case]:
    """Return those of *cases* whose id one of the patterns in *only* matches, if there are any, and none in *skip*."""
    return [
        case
        for case in cases
        if (not only or any(fnmatchcase(case.id, pattern) for pattern in only))
        and not any(fnmatchcase(case.id, pattern) for pattern in skip)
    ]


def plan(cases: Iterable[Case], facts: Facts) -> list[Play]:
    """Return how *cases* are to be played with the server of these *facts*."""
    return [play for case in cases for play in _plays(case, facts)]


def _plays(case: Case, facts: Facts) -> Iterator[Play]:
    if facts.trouble:
        yield Play(case, reason="the server cannot be talked to")
        return
    if lacking := [facts.lacks[need] for need in case.needs if need not in facts.values]:
        yield Play(case, reason=lacking[0])
        return
    revisions, reason = _revisions(case, facts)
    if case.process == "run" and not reason:
        yield Play(case, revisions[0] if case.era in ("legacy", "modern") else "")
        return
    framings = [framing for framing in facts.framings if framing in case.framings]
    if not reason and not framings:
        reason = f"the server does not speak in {' or '.join(case.framings)}, or was not asked to"
    if reason:
        yield Play(case, reason=reason)
        return
    for framing in framings:
        for revision in revisions:
            yield Play(case, revision, framing)


def _revisions(case: Case, facts: Facts) -> tuple[list[str], str]:
    """In which revisions to play *case*, and why in none."""
    legacy, modern = facts.revisions.get("legacy"), facts.revisions.get("modern")
    if case.revisions:
        spoken = [one for one in case.revisions if facts.revisions.get("modern" if is_modern(one) else "legacy")]
        named = " or ".join(case.revisions)
        return spoken, "" if spoken else f"the server does not speak the era of {named}"
    match case.era:
        case "plain":
            return [""], ""
        case "legacy":
            return ([legacy], "") if legacy else ([], "the server knows no handshake (initialize)")
        case "modern":
            return ([modern], "") if modern else ([], "the server does not speak 2026-07-28")
    spoken = [revision for revision in (modern, legacy) if revision]
    return (spoken if case.era == "each" else spoken[:1]), ""
