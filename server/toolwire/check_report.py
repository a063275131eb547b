"""What `toolwire check` tells a person: what failed at length, and how much there is of everything."""

from __future__ import annotations

import sys
from textwrap import fill, indent
from typing import TYPE_CHECKING

from .show import Style, counted, printable, table, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_client.contract import Report, Verdict
    from toolwire_schemas.cases import Case

_SHOWN = 300

_MARKS = {"pass": "pass", "fail": "FAIL", "warn": "warn", "known gap": "gap", "not applicable": "n/a"}


def cases_table(cases: Sequence[Case]) -> str:
    """Return a table of *cases*."""
    rows = [(case.id, case.severity, case.behaviour) for case in cases]
    return table(("case", "severity", "behaviour"), rows, width(), Style(sys.stdout))


def as_text(report: Report, style: Style, *, verbose: bool = False) -> str:
    """Return *report* as a person reads it: what failed at length, then what there is of everything.

    The exchanges behind warnings are shown if *verbose*.
    """
    from toolwire_client.contract.report import is_bad, worst_first

    found: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in filter(is_bad, worst_first(report.verdicts)):
        found.setdefault((verdict.case, verdict.outcome, verdict.expected), []).append(verdict)
    blocks = [_told(alike, style, verbose=verbose) for alike in found.values()]
    blocks += [_areas(report, style), _reasons(report), _summary(report, style)]
    return "\n\n".join(filter(None, blocks))


def _told(alike: Sequence[Verdict], style: Style, *, verbose: bool) -> str:
    """What failed, once for all revisions and framings in which it did."""
    verdict = alike[0]
    where = "; ".join(", ".join(filter(None, (one.revision, one.framing))) for one in alike)
    head = f"{_MARKS[verdict.outcome]}  {verdict.case}" + (f"  ({where})" if where else "")
    lines = [
        f"  {verdict.behaviour}",
        f"  {verdict.severity}, {verdict.source}",
        f"  expected  {verdict.expected}",
        f"  came      {indent(verdict.came, ' ' * 12).lstrip()}",
    ]
    exchange = verdict.exchange if verbose or verdict.outcome == "fail" else ()
    mark = style.red if verdict.outcome == "fail" else style.bold
    return "\n".join([mark(head), *map(printable, lines), *(style.dim(_line(line)) for line in exchange)])


def _line(line: str) -> str:
    # What was sent is shown whole, so that it can be sent again.
    cut = line if line.startswith("-> ") or len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
    return printable(f"    {cut}")


def _areas(report: Report, style: Style) -> str:
    """One row for each area of cases: how many of each verdict."""
    areas: dict[str, list[str]] = {}
    for verdict in report.verdicts:
        areas.setdefault(verdict.case.partition("/")[0], []).append(verdict.outcome)
    rows = [(area, *(str(outcomes.count(outcome) or "") for outcome in _MARKS)) for area, outcomes in areas.items()]
    return table(("area", *_MARKS), rows, width(), style)


def _reasons(report: Report) -> str:
    """Why cases do not apply, and which gaps are known."""
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for verdict in report.verdicts:
        if verdict.reason:
            reasons.setdefault((_MARKS[verdict.outcome], verdict.reason), {})[verdict.case] = None
    lines = [f"{mark:<4}  {printable(reason)}: {', '.join(cases)}" for (mark, reason), cases in reasons.items()]
    below = " " * 6
    return "\n".join(fill(line, width(), subsequent_indent=below, break_on_hyphens=False) for line in lines)


def _summary(report: Report, style: Style) -> str:
    counts = report.counts()
    told = ", ".join(f"{number} {outcome}" for outcome, number in counts.items() if number)
    spoken = f"MCP {', '.join(report.revisions)}; {' and '.join(report.framings)}" if report.revisions else "nothing"
    name = printable(report.server) or "The server"
    lines = [f"{name} speaks {spoken}; {counted(report.tools, 'tool')}. {told}, in {report.seconds:.1f} s."]
    if report.seed is not None:
        lines.append(f"The same arguments are generated again with --seed {report.seed}.")
    lines += [f"The gap {gap} is there no more: take it out of the baseline." for gap in report.outdated]
    return "\n".join(style.bold(line) for line in lines)
