"""Read, write and apply baselines: files with the known gaps of a server, so that only new failures count."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from .report import Verdict, is_bad

if TYPE_CHECKING:
    from collections.abc import Sequence

_TO_SAY = "not looked into yet"


class BadBaseline(ValueError):
    """The file is not a baseline. The text says where, and what would be right."""


class Gap(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A known gap: a case (or a pattern such as `malformed/*`), optionally in one revision or framing only."""

    case: str
    reason: str
    revision: str = ""
    framing: str = ""

    def covers(self, verdict: Verdict) -> bool:
        """Whether *verdict* reports this gap."""
        return (
            fnmatchcase(verdict.case, self.case)
            and self.revision in ("", verdict.revision)
            and self.framing in ("", verdict.framing)
        )

    def __str__(self) -> str:
        return " ".join(filter(None, (self.case, self.revision, self.framing)))


class _File(msgspec.Struct, forbid_unknown_fields=True):
    gaps: list[Gap]


def read(text: str) -> list[Gap]:
    """Return the gaps in the text of a file.

    Raises:
        BadBaseline: if it is malformed.
    """
    try:
        gaps = msgspec.json.decode(text, type=_File).gaps
    except msgspec.DecodeError as error:
        raise BadBaseline(f'{error}; write {{"gaps": [{{"case": "...", "reason": "..."}}]}}') from None
    for number, gap in enumerate(gaps):
        if not gap.reason.strip():
            raise BadBaseline(f"gaps[{number}] ({gap.case}) has no reason: say why it is known")
    return gaps


def write(verdicts: Sequence[Verdict], known: Sequence[Gap] = ()) -> str:
    """Return the text of a file with all gaps in *verdicts*; the reasons of *known* gaps are kept."""
    kept = [gap for gap in known if any(gap.covers(verdict) for verdict in verdicts if _is_gap(verdict))]
    new = {verdict.case: Gap(verdict.case, _TO_SAY) for verdict in verdicts if is_bad(verdict)}
    gaps = [*kept, *(gap for gap in new.values())]
    return json.dumps({"gaps": msgspec.to_builtins(gaps)}, indent=2, ensure_ascii=False) + "\n"


def apply(verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> tuple[list[Verdict], list[str]]:
    """Return *verdicts* with known gaps marked, and the gaps that are closed now."""
    judged = [_judged(verdict, gaps) for verdict in verdicts]
    outdated = [
        str(gap)
        for gap in gaps
        if any(gap.covers(verdict) and verdict.outcome == "pass" for verdict in verdicts)
        and not any(gap.covers(verdict) and _is_gap(verdict) for verdict in judged)
    ]
    return judged, outdated


def _judged(verdict: Verdict, gaps: Sequence[Gap]) -> Verdict:
    known = next((gap for gap in gaps if gap.covers(verdict)), None)
    if known is None or not is_bad(verdict):
        return verdict
    return msgspec.structs.replace(verdict, outcome="known gap", reason=known.reason)


def _is_gap(verdict: Verdict) -> bool:
    return is_bad(verdict) or verdict.outcome == "known gap"
