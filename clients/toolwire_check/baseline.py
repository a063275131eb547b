"""Read, write and apply baselines: files with the known gaps of a server, so that only new failures
count.

A gap covers each verdict on its case, in all revisions and framings that it does not exclude. It is
closed if one of these verdicts is a pass and none is a failure.
"""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from .report import Verdict, is_bad

if TYPE_CHECKING:
    from collections.abc import Sequence


class BadBaseline(ValueError):
    """The file is not a baseline. The text says where, and what would be right."""


class Gap(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A known gap: a case (or a pattern such as `malformed/*`), optionally in one revision or
    framing only.
    """

    case: str
    reason: str
    revision: str = ""
    framing: str = ""

    def covers(self, verdict: Verdict) -> bool:
        """Whether *verdict* reports this gap."""
        if not fnmatchcase(verdict.case, self.case):
            return False
        is_of_revision = self.revision in ("", verdict.revision)
        is_of_framing = self.framing in ("", verdict.framing)
        return is_of_revision and is_of_framing

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
        remedy = 'write {"gaps": [{"case": "...", "reason": "..."}]}'
        raise BadBaseline(f"{error}; {remedy}") from None
    for number, gap in enumerate(gaps):
        if not gap.reason.strip():
            raise BadBaseline(f"gaps[{number}] ({gap.case}) has no reason: say why it is known")
    return gaps


def write(verdicts: Sequence[Verdict], known: Sequence[Gap] = ()) -> str:
    """Return the text of a file with all gaps in *verdicts*; the reasons of *known* gaps are
    kept.
    """
    failures = []
    for verdict in verdicts:
        if verdict.outcome in ("fail", "warn", "known gap"):
            failures.append(verdict)
    gaps = [gap for gap in known if any(map(gap.covers, failures))]
    new_gaps: dict[str, Gap] = {}
    for verdict in failures:
        if is_bad(verdict) and _find_gap(verdict, gaps) is None:
            new_gaps[verdict.case] = Gap(verdict.case, "not looked into yet")
    document = {"gaps": msgspec.to_builtins([*gaps, *new_gaps.values()])}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def apply(verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> tuple[list[Verdict], list[str]]:
    """Return *verdicts* with known gaps marked, and the gaps that are closed now."""
    closed = [str(gap) for gap in gaps if _is_closed(gap, verdicts)]
    return [_mark_known(verdict, gaps) for verdict in verdicts], closed


def _is_closed(gap: Gap, verdicts: Sequence[Verdict]) -> bool:
    outcomes = {verdict.outcome for verdict in verdicts if gap.covers(verdict)}
    return "pass" in outcomes and not outcomes & {"fail", "warn"}


def _mark_known(verdict: Verdict, gaps: Sequence[Gap]) -> Verdict:
    gap = _find_gap(verdict, gaps)
    if gap is None or not is_bad(verdict):
        return verdict
    return msgspec.structs.replace(verdict, outcome="known gap", reason=gap.reason)


def _find_gap(verdict: Verdict, gaps: Sequence[Gap]) -> Gap | None:
    for gap in gaps:
        if gap.covers(verdict):
            return gap
    return None
