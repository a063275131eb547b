"""The report of `check` as text for the terminal."""

from __future__ import annotations

import json
import shlex
from textwrap import fill, indent
from typing import TYPE_CHECKING

from toolwire_schemas.output import BOLD, DIM, RED, emphasize, make_printable

from .open_client import format_loading_options
from .printing.layout import find_width, format_count, format_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_check import Report, Verdict

    from .options import Words

_MAX_CHARS = 300
"""Characters of a message or a line that are shown of what the server sent."""

_MARKS = {
    "pass": "pass",
    "fail": "FAIL",
    "warn": "warn",
    "known gap": "gap",
    "not applicable": "n/a",
}


def format_report(report: Report, words: Words) -> str:
    """Return failures in detail, then counts; of a replay, each verdict with all messages."""
    if not report.revisions:
        return _format_failed_start(report)
    if "replay" in words.options:
        return "\n\n".join(_format_finding([verdict], words) for verdict in report.verdicts)
    blocks = [_format_finding(alike, words) for alike in report.list_findings()]
    blocks += [_format_areas(report), _format_reasons(report), _format_summary(report)]
    return "\n\n".join(filter(None, blocks))


def format_replay(verdict: Verdict, words: Words) -> str:
    """Return the command that plays the case of *verdict* again, after the others that it needs."""
    from toolwire_check.facts.handshake import is_modern

    options = words.options
    command = ["toolwire", "check"]
    for case in (*verdict.after, verdict.case):
        command += ["--replay", case]
    if verdict.revision:
        command += ["--era", "modern" if is_modern(verdict.revision) else "legacy"]
    command += ["--framing", verdict.framing]
    if "destructive" in options:
        command.append("--destructive")
    for name, arguments in options.get("call", ()):
        call = name
        if arguments is not None:
            call = f"{name}={json.dumps(arguments, ensure_ascii=False)}"
        command += ["--call", call]
    for key in ("timeout", "start_timeout"):
        if key in options:
            command += [f"--{key.replace('_', '-')}", f"{options[key]:g}"]
    command += format_loading_options(options)
    command += words.words
    if words.command is not None:
        command += ["--", *words.command]
    return shlex.join(command)


def _format_failed_start(report: Report) -> str:
    """Return three lines about a server that cannot be tested: what it did, the end of its stderr,
    what to try.
    """
    failed = report.list_failures()[0]
    what, _, stderr = failed.came.partition("; the end of its stderr: ")
    advice = f"run it by hand: {shlex.join(report.command)}"
    if "--start-timeout" in what:
        advice = f"--start-timeout SECONDS if it only takes long to start; else {advice}"
    lines = [
        emphasize(RED, f"FAIL  {failed.case}: {make_printable(what)}"),
        f"  stderr  {make_printable(_find_error(stderr)[:_MAX_CHARS])}",
        make_printable(f"  try     {advice}"),
    ]
    return "\n".join(lines)


def _find_error(stderr: str) -> str:
    """Return the last line about an error, or else the last one: Node ends with its version."""
    last = "nothing was written to stderr"
    last_error = ""
    for line in stderr.splitlines():
        last = line.strip() or last
        if "error" in line.lower():
            last_error = line.strip()
    return last_error or last


def _format_finding(alike: Sequence[Verdict], words: Words) -> str:
    """Return one failure, with all revisions and framings in which it occurred, or one case of a
    replay.
    """
    verdict = alike[0]
    is_replay = "replay" in words.options
    is_shown = is_replay or "verbose" in words.options or verdict.outcome == "fail"
    head = f"{_MARKS[verdict.outcome]}  {verdict.case}"
    places = "; ".join(one.where for one in alike)
    if places:
        head += f"  ({places})"
    emphasis = RED if verdict.outcome == "fail" else BOLD
    lines = _list_details(verdict)
    if is_shown and not is_replay:
        lines += _list_remedies(verdict, words)
    blocks = [emphasize(emphasis, head), *map(make_printable, lines)]
    if is_shown:
        for message in verdict.exchange:
            text = message if is_replay else _cut_message(message)
            blocks.append(emphasize(DIM, make_printable(f"    {text}")))
    return "\n".join(blocks)


def _list_details(verdict: Verdict) -> list[str]:
    lines = [
        f"  {verdict.behaviour}",
        f"  {verdict.severity}, {verdict.before_source}{verdict.source}",
    ]
    if verdict.expected:
        came = indent(verdict.came, " " * 12).lstrip()
        lines += [f"  expected  {verdict.expected}", f"  came      {came}"]
    if verdict.reason:
        lines.append(f"  {verdict.reason}")
    return lines


def _list_remedies(verdict: Verdict, words: Words) -> list[str]:
    from toolwire_schemas.cases.rules import name_rule

    lines = [f"  rule      toolwire check --rule {name_rule(verdict.case)}"]
    if verdict.framing:
        lines.append(f"  again     {format_replay(verdict, words)}")
    return lines


def _cut_message(message: str) -> str:
    # Sent messages are shown whole, so that they can be sent again.
    if message.startswith("-> ") or len(message) <= _MAX_CHARS:
        return message
    return f"{message[:_MAX_CHARS]}…"


def _format_areas(report: Report) -> str:
    """Return one row for each area of cases: how many of each verdict."""
    rows = []
    for area, counts in report.count_by_area().items():
        cells = [str(counts[outcome] or "") for outcome in report.count_outcomes()]
        rows.append([area, *cells])
    return format_table(("area", *_MARKS), rows)


def _format_reasons(report: Report) -> str:
    """Return why cases do not apply, and which gaps are known."""
    lines = []
    for (outcome, reason), cases in report.collect_reasons().items():
        lines.append(f"{_MARKS[outcome]:<4}  {make_printable(reason)}: {', '.join(cases)}")
    for reason, number in report.count_sdk_findings().items():
        lines.append(f"gap   {format_count(number, 'finding')}: {reason}; --sdk shows all")
    return "\n".join(map(_wrap_reason, lines))


def _wrap_reason(line: str) -> str:
    return fill(line, find_width(), subsequent_indent=" " * 6, break_on_hyphens=False)


def _format_summary(report: Report) -> str:
    name = make_printable(report.server) or "The server"
    spoken = "nothing"
    if report.revisions:
        spoken = f"MCP {', '.join(report.revisions)}; {' and '.join(report.framings)}"
    counts = report.count_outcomes().items()
    outcomes = ", ".join(f"{number} {outcome}" for outcome, number in counts if number)
    lines = [
        f"{name} speaks {spoken}; {format_count(report.tools, 'tool')}. {outcomes}, in"
        f" {report.seconds:.1f} s."
    ]
    if report.seed is not None:
        lines.append(f"The same arguments are generated again with --seed {report.seed}.")
    if report.costs:
        lines.append(
            f"The descriptions of its tools are {report.describe_tokens()}; --html has each, and"
            " times of calls."
        )
    for gap in report.outdated:
        lines.append(f"The gap {gap} is closed: remove it from the baseline.")
    return "\n".join(emphasize(BOLD, line) for line in lines)
