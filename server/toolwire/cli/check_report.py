"""Formats the report of `toolwire check`: failures in detail, then counts."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from textwrap import fill, indent
from typing import TYPE_CHECKING

from toolwire_schemas.output import printable

from .output import Style, counted, table, width

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


def as_text(report: Report, style: Style, *, again: str = "", verbose: bool = False) -> str:
    """Return *report* as text: failures in detail, then counts.

    Messages of warnings are shown if *verbose*. *again* are the options and target of this check, for the command that
    replays a failure.
    """
    from toolwire_client.contract.report import is_bad, worst_first

    if not report.revisions:
        return _not_talking(report, style)
    found: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in filter(is_bad, worst_first(report.verdicts)):
        found.setdefault((verdict.case, verdict.outcome, verdict.expected), []).append(verdict)
    blocks = [_told(alike, style, again, verbose=verbose) for alike in found.values()]
    blocks += [_areas(report, style), _reasons(report), _summary(report, style)]
    return "\n\n".join(filter(None, blocks))


def replayed(report: Report, style: Style) -> str:
    """Return each verdict of a replay, with all messages."""
    if not report.revisions:
        return _not_talking(report, style)
    return "\n\n".join(_told([verdict], style, "", verbose=True, is_whole=True) for verdict in report.verdicts)


def _not_talking(report: Report, style: Style) -> str:
    """Three lines about a server that cannot be tested: what it did, its last words, what to try."""
    failed = report.failed()[0]
    what, _, words = failed.came.partition("; the end of its stderr: ")
    said = [line.strip() for line in words.splitlines() if line.strip()] or ["nothing was written to stderr"]
    last = next((line for line in reversed(said) if "error" in line.lower()), said[-1])  # Node ends with its version
    run_it = f"run it by hand: {shlex.join(report.command)}"
    lines = [
        style.red(f"FAIL  {failed.case}: {printable(what)}"),
        f"  stderr  {printable(last[:_SHOWN])}",
        f"  try     {_MORE_TIME + run_it if '--start-timeout' in what else printable(run_it)}",
    ]
    return "\n".join(lines)


_MORE_TIME = "--start-timeout SECONDS if it only takes long to start; else "


def _told(alike: Sequence[Verdict], style: Style, again: str, *, verbose: bool, is_whole: bool = False) -> str:
    """One failure, with all revisions and framings in which it occurred."""
    verdict = alike[0]
    where = "; ".join(", ".join(filter(None, (one.revision, one.framing))) for one in alike)
    head = f"{_MARKS[verdict.outcome]}  {verdict.case}" + (f"  ({where})" if where else "")
    lines = [f"  {verdict.behaviour}", f"  {verdict.severity}, {'of Toolwire, not of ' * verdict.ours}{verdict.source}"]
    if verdict.expected:
        lines += [f"  expected  {verdict.expected}", f"  came      {indent(verdict.came, ' ' * 12).lstrip()}"]
    if verdict.reason:
        lines.append(f"  {verdict.reason}")
    is_shown = verbose or verdict.outcome == "fail"
    if is_shown and again and verdict.framing:
        lines.append(f"  again     toolwire check {_replay(verdict)} {again}")
    exchange = verdict.exchange if is_shown else ()
    mark = style.red if verdict.outcome == "fail" else style.bold
    shown = (style.dim(_line(line, is_whole=is_whole)) for line in exchange)
    return "\n".join([mark(head), *map(printable, lines), *shown])


def _replay(verdict: Verdict) -> str:
    """The options that play the case of *verdict* again, after the others that it takes."""
    from toolwire_client.contract.cases.handshake import is_modern

    words = [f"--replay {case}" for case in (*verdict.after, verdict.case)]
    if verdict.revision:
        words.append(f"--era {'modern' if is_modern(verdict.revision) else 'legacy'}")
    return " ".join([*words, f"--framing {verdict.framing}"])


def _line(line: str, *, is_whole: bool) -> str:
    # Sent messages are shown whole, so that they can be sent again.
    cut = line if is_whole or line.startswith("-> ") or len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
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
    folded = Counter(verdict.reason for verdict in report.verdicts if verdict.sdk)
    for verdict in report.verdicts:
        if verdict.reason and not verdict.sdk:
            reasons.setdefault((_MARKS[verdict.outcome], verdict.reason), {})[verdict.case] = None
    lines = [f"{mark:<4}  {printable(reason)}: {', '.join(cases)}" for (mark, reason), cases in reasons.items()]
    lines += [f"gap   {counted(number, 'finding')}: {reason}; --sdk shows all" for reason, number in folded.items()]
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
    lines += [f"The gap {gap} is closed: remove it from the baseline." for gap in report.outdated]
    return "\n".join(style.bold(line) for line in lines)
