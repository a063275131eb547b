"""Read, write and apply baselines: files with the known gaps of a server, so that only new failures
count.
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
        raise BadBaseline(
            f'{error}; write {{"gaps": [{{"case": "...", "reason": "..."}}]}}'
        ) from None
    for number, gap in enumerate(gaps):
        if not gap.reason.strip():
            raise BadBaseline(f"gaps[{number}] ({gap.case}) has no reason: say why it is known")
    return gaps


def write(verdicts: Sequence[Verdict], known: Sequence[Gap] = ()) -> str:
    """Return the text of a file with all gaps in *verdicts*; the reasons of *known* gaps are
    kept.
    """
    found = [verdict for verdict in verdicts if verdict.outcome in ("fail", "warn", "known gap")]
    kept = [gap for gap in known if any(map(gap.covers, found))]
    unknown = [
        verdict
        for verdict in found
        if is_bad(verdict) and not any(gap.covers(verdict) for gap in kept)
    ]
    new = {verdict.case: Gap(verdict.case, "not looked into yet") for verdict in unknown}
    gaps = msgspec.to_builtins([*kept, *new.values()])
    return json.dumps({"gaps": gaps}, indent=2, ensure_ascii=False) + "\n"


def apply(verdicts: Sequence[Verdict], gaps: Sequence[Gap]) -> tuple[list[Verdict], list[str]]:
    """Return *verdicts* with known gaps marked, and the gaps that are closed now."""
    outcomes = [
        (gap, {verdict.outcome for verdict in verdicts if gap.covers(verdict)}) for gap in gaps
    ]
    closed = [
        str(gap) for gap, found in outcomes if "pass" in found and not found & {"fail", "warn"}
    ]
    return [_judged(verdict, gaps) for verdict in verdicts], closed


def _judged(verdict: Verdict, gaps: Sequence[Gap]) -> Verdict:
    known = next((gap for gap in gaps if gap.covers(verdict)), None)
    if known is None or not is_bad(verdict):
        return verdict
    return msgspec.structs.replace(verdict, outcome="known gap", reason=known.reason)
