"""Formats the changes that `toolwire diff` finds as text, JSON or Markdown."""

from __future__ import annotations

import re
import sys
from collections import Counter
from typing import Any, Literal

import msgspec
from toolwire_schemas.compare import LEVELS, Change, Level
from toolwire_schemas.json_schema.error_text import shown
from toolwire_schemas.output import printable

from .output import Style, as_json, table, width

Kind = Literal["saved", "target", "command"]

_KINDS: dict[Kind, str] = {"saved": "a saved list", "target": "a target", "command": "a command"}


class Listed(msgspec.Struct, frozen=True):
    """One of the lists: the argument, how it was read, and the number of its tools."""

    name: str
    kind: Kind
    tools: int


class Report(msgspec.Struct, frozen=True):
    """The output of `--json` (the schema `tool-changes`)."""

    verdict: Level
    old: Listed
    new: Listed
    changes: list[Change]


def written(report: Report, options: dict[str, Any]) -> str:
    """Return *report* in the form that *options* ask for."""
    if options.get("json"):
        return as_json(report)
    if options.get("markdown"):
        return _as_markdown(report)
    return _as_text(report)


def _as_text(report: Report) -> str:
    lines = [f"{which}: {_about(listed)}" for which, listed in (("old", report.old), ("new", report.new))]
    if report.changes:
        rows = [(change.level, _where(change), _what(change), _WHOM[change.concerns]) for change in report.changes]
        lines += ["", table(("", "where", "what changed", "whom it concerns"), rows, width(), Style(sys.stdout))]
    return "\n".join([*lines, "", _in_a_sentence(report)])


def _about(listed: Listed) -> str:
    name = "standard input" if listed.name == "-" else listed.name
    return f"{name}, {_KINDS[listed.kind]} with {listed.tools or 'no'} tool{'' if listed.tools == 1 else 's'}"


def _where(change: Change) -> str:
    return " ".join(filter(None, (change.tool, change.place))) or "all"


def _what(change: Change) -> str:
    if change.example is msgspec.UNSET:
        return change.text
    return f"{change.text}; {shown(change.example)} {_NOW[change.concerns]}"


_NOW = {"callers": "is not taken any more", "readers": "may be given now"}

_WHOM = {
    "callers": "who calls it",
    "readers": "who reads results",
    "approval": "who approves by hints",
    "models": "models",
    "people": "people",
}


def _in_a_sentence(report: Report) -> str:
    counts = Counter(change.level for change in report.changes)
    match report.verdict:
        case "none":
            return "none: nothing changed."
        case "major":
            told = f"major: {_counted(counts['major'])} break{'s' * (counts['major'] == 1)} somebody"
            return told + (f", and {counts['unknown']} more may." if counts["unknown"] else ".")
        case "unknown":
            return f"perhaps major: of {_counted(counts['unknown'])} it is unknown whether anybody is broken."
    return f"{report.verdict}: {_counted(len(report.changes))}, and none breaks anybody."


def _counted(number: int) -> str:
    return f"{number} change{'' if number == 1 else 's'}"


def _as_markdown(report: Report) -> str:
    """*report* as Markdown, for release notes and reviews."""
    level, _, told = _in_a_sentence(report).partition(":")
    lines = [f"**{level}**:{told}"]
    for level in reversed(LEVELS):
        found = [change for change in report.changes if change.level == level]
        if found:
            lines += ["", f"### {_HEADINGS[level]}", ""]
            lines += [
                f"- {_code(_where(change))}: {_code(_what(change))} ({_WHOM[change.concerns]})" for change in found
            ]
    return "\n".join(lines)


_HEADINGS = {"major": "Breaking", "unknown": "Perhaps breaking", "minor": "New", "patch": "Besides"}


def _code(text: str) -> str:
    """*text* as code, so that nothing in it is Markdown: the tools are foreign."""
    text = printable(" ".join(text.split()))
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if "`" in (text[:1], text[-1:]) else ""
    return f"{fence}{space}{text}{space}{fence}"
