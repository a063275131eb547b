"""The command `diff`: what changed between two lists of tools, whom that breaks, and what status says so.

Each list is saved in a file, or is what a server has that is started for it: one of ours for a target, or anybody's.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.changes import LEVELS, BadList, Change, Level, between, verdict
from toolwire_schemas.codec import DecodingError, decode
from toolwire_schemas.faults import shown

from .errors import Failed, UsageError
from .show import Style, printable, table, width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .options import Words

    Ask = Callable[[list[str], bool], list[Any]]

Kind = Literal["saved", "target", "command"]

_KINDS: dict[Kind, str] = {"saved": "a saved list", "target": "a target", "command": "a command"}
_TARGETS = (".py", ".yaml", ".yml")
_PAIR = "name the old tools and the new ones: toolwire diff OLD NEW"
_LISTS = "a result of tools/list, a message with one, or a list of tools"


class Source(msgspec.Struct, frozen=True):
    """Where a list is from: what was typed, and what that is taken for."""

    name: str
    kind: Kind


class Listed(msgspec.Struct, frozen=True):
    """The same, with the number of its tools."""

    name: str
    kind: Kind
    tools: int


class Report(msgspec.Struct, frozen=True):
    """What `--json` prints (the schema `tool-changes`)."""

    verdict: Level
    old: Listed
    new: Listed
    changes: list[Change]


def diff(
    words: Words, ask: Callable[[list[str], bool], list[Any]], own: Callable[[list[str]], list[str]]
) -> tuple[str, int]:
    """Return what there is to print, and the exit status.

    *ask* returns the tools of the server that a command starts, told whether it is one of ours; *own* makes the
    command that serves targets.

    Raises:
        UsageError: if the command line names no two lists.
        Failed: if one of them cannot be had.
    """
    names = [*words.words, *(words.command or ())]
    if len(names) != 2:
        more = "; put quotes round a command of several words" if len(names) > 2 else ""
        raise UsageError(_PAIR + more)
    if names == ["-", "-"]:
        raise UsageError("only one of the lists can come from standard input")
    if words.options.get("json") and words.options.get("markdown"):
        raise UsageError("--json and --markdown contradict each other: leave one out")
    sources = [source(name) for name in names]
    lists = [_entries(source, ask, own) for source in sources]
    report = _report(sources, lists)
    return _written(report, words.options), _status(report, words.options)


def source(name: str) -> Source:
    """Return what *name* is taken for: by what is there under that name, else by how it is written."""
    if name == "-":
        return Source(name, "saved")
    if os.path.exists(name):
        return Source(name, _kind_of_path(name))
    if len(name.split()) > 1:
        return Source(name, "command")
    if name.endswith(".json"):
        return Source(name, "saved")
    is_program = not name.endswith(_TARGETS) and shutil.which(name) is not None
    return Source(name, "command" if is_program else "target")


def _kind_of_path(path: str) -> Kind:
    if os.path.isdir(path) or path.endswith(_TARGETS):
        return "target"
    is_program = not path.endswith(".json") and shutil.which(path) is not None
    return "command" if is_program else "saved"


def _entries(source: Source, ask: Ask, own: Callable[[list[str]], list[str]]) -> list[Any]:
    if source.kind == "saved":
        return _saved(source.name)
    try:
        command = shlex.split(source.name) if source.kind == "command" else own([source.name])
    except ValueError as error:
        raise UsageError(f"in the command {source.name!r} there is {str(error).lower()}") from None
    try:
        return ask(command, source.kind == "target")
    except Failed as failure:  # 1 is for changes
        sentence = str(failure)
        raise Failed(sentence and f"{source.name}: {sentence}", 2) from None


def _saved(name: str) -> list[Any]:
    try:
        text = sys.stdin.buffer.read() if name == "-" else _read(name)
        value = decode(text.removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from None
    except DecodingError as error:
        raise UsageError(f"{name} is no JSON: {error}; `toolwire list --json` writes a list to save") from None
    found = value
    for member in ("result", "tools"):
        found = found[member] if isinstance(found, dict) and member in found else found
    if not isinstance(found, list):
        raise UsageError(f"{name} holds no tools: it has to be {_LISTS}, as `toolwire list --json` prints")
    if isinstance(value, dict) and _continues(value):
        raise UsageError(f"{name} is only the first page of a list: it has a nextCursor; save all of it")
    return found


def _continues(value: dict[str, Any]) -> bool:
    result = value.get("result", value)
    return isinstance(result, dict) and bool(result.get("nextCursor"))


def _read(name: str) -> bytes:
    with open(name, "rb") as file:
        return file.read()


def _report(sources: Sequence[Source], lists: Sequence[list[Any]]) -> Report:
    try:
        changes = between(*lists)
    except BadList as error:
        raise Failed(f"{error} (old: {sources[0].name}, new: {sources[1].name})", 2) from None
    old, new = (Listed(source.name, source.kind, len(entries)) for source, entries in zip(sources, lists, strict=True))
    return Report(verdict(changes), old, new, changes)


# --- the status ---


def _status(report: Report, options: dict[str, Any]) -> int:
    limit = options.get("fail_on", "major")
    if limit == "never":
        return 0
    levels = {change.level for change in report.changes}
    if "unknown" in levels:
        levels.add("minor" if options.get("allow_unknown") else "major")
    return 1 if levels.intersection(LEVELS[LEVELS.index(limit) :]) - {"unknown"} else 0


# --- what is printed ---


def _written(report: Report, options: dict[str, Any]) -> str:
    if options.get("json"):
        return msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
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
    """For a release's notes, or for who reviews a change."""
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
    """*text* as code, so that nothing in it means anything to Markdown: the tools may be anybody's."""
    text = printable(" ".join(text.split()))
    fence = "`" * (max(map(len, _runs(text)), default=0) + 1)
    space = " " if "`" in (text[:1], text[-1:]) else ""
    return f"{fence}{space}{text}{space}{fence}"


def _runs(text: str) -> list[str]:
    import re

    return re.findall("`+", text)
