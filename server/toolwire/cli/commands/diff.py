"""`toolwire diff`: compares two lists of tools and says whom the changes break.

Each list is read from a file or from a server that is started for it.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_dialects.compare import LEVELS, BadList, Change, Level, between, verdict
from toolwire_dialects.compare.words import WHOM, sentence
from toolwire_schemas.wire.codec import DecodingError, decode

from ...errors import Failed, UsageError
from ..open_client import connected, limit_of, own_command, words_of
from ..options import HTML, MARKDOWN, Option
from ..printing.layout import format_count, format_table
from ..printing.output import format_json, print_data, print_report
from ..printing.output_files import check_folders, write_pages
from . import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_schemas.deadline import Deadline

    from ..options import Words

COMMAND = Command(
    usage=("toolwire diff OLD NEW [OPTIONS]",),
    details=(
        "OLD and NEW are each a saved list (FILE.json as `list --json` writes it, or - for standard"
        " input), a target (FILE.py, FILE.yaml, a folder or a module) or the command of any MCP"
        " server, in one argument: a program, or several words. The output says how each was read."
        " The verdict is that of SemVer: major, minor or patch. Whether one schema accepts all that"
        " another accepts is proved, or refuted by an example; if neither is possible it is"
        " unknown, which counts as major. The exit status is 1 if a change reaches --fail-on, and 2"
        " if a list cannot be read."
    ),
    options=(
        Option(
            "--fail-on major|minor|patch|never", "exit with 1 from this verdict on (default: major)"
        ),
        Option("--allow-unknown", "do not count changes as major whose effect is unknown"),
        Option("--json", "print the changes as JSON (`toolwire schema show tool-changes`)"),
        HTML,
        MARKDOWN,
        Option("--timeout SECONDS", "time limit, including the start of the servers"),
    ),
    examples=(
        "toolwire list tools.py --json > tools.json",
        "toolwire diff tools.json tools.py",
        'toolwire diff "npx -y some-mcp-server@1" "npx -y some-mcp-server@2" --markdown -',
    ),
)

Kind = Literal["saved", "target", "command"]

_KINDS: dict[Kind, str] = {"saved": "a saved list", "target": "a target", "command": "a command"}


class Listed(msgspec.Struct, frozen=True):
    """One of the lists: the argument, how it was read, and the number of its tools."""

    name: str
    kind: Kind
    tools: int


class DiffReport(msgspec.Struct, frozen=True):
    """The output of `--json` (the schema `tool-changes`)."""

    verdict: Level
    old: Listed
    new: Listed
    changes: list[Change]


_TARGETS = (".py", ".yaml", ".yml")


def run(words: Words) -> int:
    """Print the changes, and return 1 if one reaches `--fail-on`."""
    names = _names(words)
    kinds = [kind_of(name) for name in names]
    limit = limit_of(words)
    lists = [_entries(name, kind, limit) for name, kind in zip(names, kinds, strict=True)]
    try:
        changes = between(*lists)
    except BadList as error:
        raise Failed(f"{error} (old: {names[0]}, new: {names[1]})", 2) from None
    old, new = (
        Listed(name, kind, len(tools))
        for name, kind, tools in zip(names, kinds, lists, strict=True)
    )
    report = DiffReport(verdict(changes), old, new, changes)
    if _write(report, words.options):
        pass
    elif words.options.get("json"):
        print_data(format_json(report))
    else:
        print_report(_as_text(report))
    return _status(changes, words.options)


def _names(words: Words) -> list[str]:
    names = [*words.words, *(words.command or ())]
    if len(names) != 2:
        more = "; put quotes round a command of several words" if len(names) > 2 else ""
        raise UsageError(f"name the old tools and the new ones: toolwire diff OLD NEW{more}")
    if names == ["-", "-"]:
        raise UsageError("only one of the lists can come from standard input")
    check_folders(words.options, "html", "markdown")
    return names


def kind_of(name: str) -> Kind:
    """Return how *name* is read: by the file of that name, else by its spelling."""
    exists = os.path.exists(name)
    if name == "-":
        return "saved"
    if not exists and len(name.split()) > 1:
        return "command"
    if os.path.isdir(name) or name.endswith(_TARGETS):
        return "target"
    if name.endswith(".json"):
        return "saved"
    if shutil.which(name) is not None:
        return "command"
    return "saved" if exists else "target"


def _entries(name: str, kind: Kind, limit: Deadline) -> list[Any]:
    if kind == "saved":
        return _saved(name)
    command = words_of(name) if kind == "command" else own_command([name])
    try:
        with connected(command, is_ours=kind == "target", limit=limit) as client:
            return client.list_entries(timeout_seconds=limit.left())
    except Failed as failure:  # 1 is for changes
        sentence = str(failure)
        raise Failed(sentence and f"{name}: {sentence}", 2) from None


def _saved(name: str) -> list[Any]:
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        value = decode(text.removeprefix(b"\xef\xbb\xbf"))
    except DecodingError as error:
        raise UsageError(
            f"{name} is not JSON: {error}; `toolwire list --json` writes a list to save"
        ) from None
    page = value.get("result", value) if isinstance(value, dict) else value
    tools = page.get("tools") if isinstance(page, dict) else page
    if not isinstance(tools, list):
        lists = "a result of tools/list, a message with one, or a list of tools"
        raise UsageError(
            f"{name} holds no tools: it has to be {lists}, as `toolwire list --json` prints"
        )
    if isinstance(page, dict) and page.get("nextCursor"):
        raise UsageError(
            f"{name} is only the first page of a list: it has a nextCursor; save all of it"
        )
    return tools


def _status(changes: Sequence[Change], options: dict[str, Any]) -> int:
    limit = options.get("fail_on", "major")
    if limit == "never":
        return 0
    unknown: Level = "minor" if options.get("allow_unknown") else "major"
    levels = {unknown if change.level == "unknown" else change.level for change in changes}
    return 1 if levels.intersection(LEVELS[LEVELS.index(limit) :]) else 0


def _write(report: DiffReport, options: dict[str, Any]) -> bool:
    """Write the report as `--html` and `--markdown` ask; return whether that was to standard
    output.
    """
    if options.keys().isdisjoint(("html", "markdown")):
        return False
    from toolwire_check.pages.diff_page import diff_markdown, diff_page

    return write_pages(
        options,
        html=lambda: diff_page(report.changes, old=_source(report.old), new=_source(report.new)),
        markdown=lambda: diff_markdown(report.changes),
    )


def _as_text(report: DiffReport) -> str:
    lines = [f"old: {_source(report.old)}", f"new: {_source(report.new)}"]
    if report.changes:
        rows = [
            (change.level, change.where, str(change), WHOM[change.concerns])
            for change in report.changes
        ]
        lines += ["", format_table(("", "where", "what changed", "whom it concerns"), rows)]
    return "\n".join([*lines, "", sentence(report.changes)])


def _source(listed: Listed) -> str:
    name = "standard input" if listed.name == "-" else listed.name
    return f"{name}, {_KINDS[listed.kind]} with {format_count(listed.tools, 'tool')}"
