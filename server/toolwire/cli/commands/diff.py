"""`toolwire diff`: compares two lists of tools and says whom the changes break.

Each list is read from a file or from a server that is started for it.
"""

from __future__ import annotations

import codecs
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_dialects.compare import LEVELS, BadList, Change, Level, compare_lists, judge_changes
from toolwire_dialects.compare.words import WHOM, format_verdict
from toolwire_schemas.wire.codec import DecodingError, decode

from ...errors import Failed, UsageError
from ..open_client import check_remote, connect_to, format_own_command, make_limit, split_command
from ..options import HTML, MARKDOWN, Option
from ..printing.layout import format_count, format_table
from ..printing.output_files import check_folders, write_pages
from ..printing.terminal import format_json, print_data, print_report
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
    old_name, new_name = _read_names(words)
    limit = make_limit(words)
    old_tools, old = _read_list(old_name, limit)
    new_tools, new = _read_list(new_name, limit)
    try:
        changes = compare_lists(old_tools, new_tools)
    except BadList as error:
        raise Failed(f"{error} (old: {old_name}, new: {new_name})", 2) from None
    report = DiffReport(judge_changes(changes), old, new, changes)
    has_printed = _write_pages(report, words.options, old_tools, new_tools)
    if has_printed:
        pass
    elif "json" in words.options:
        print_data(format_json(report))
    else:
        print_report(_format_report(report))
    return 1 if _reaches_limit(changes, words.options) else 0


def _read_names(words: Words) -> list[str]:
    names = [*words.words, *(words.command or ())]
    if len(names) != 2:
        advice = "name the old tools and the new ones: toolwire diff OLD NEW"
        if len(names) > 2:
            advice += "; put quotes round a command of several words"
        raise UsageError(advice)
    if names == ["-", "-"]:
        raise UsageError("only one of the lists can come from standard input")
    check_folders(words.options, "html", "markdown")
    return names


def _read_list(name: str, limit: Deadline) -> tuple[list[Any], Listed]:
    """Return the tools in the list *name*, and how it was read."""
    kind = choose_kind(name)
    tools = _read_tools(name, kind, limit)
    return tools, Listed(name, kind, len(tools))


def choose_kind(name: str) -> Kind:
    """Return how *name* is read: by the file of that name, else by its spelling."""
    exists = os.path.exists(name)
    if name == "-":
        return "saved"
    if not exists and (len(name.split()) > 1 or name.startswith(("http://", "https://"))):
        return "command"
    if os.path.isdir(name) or name.endswith(_TARGETS):
        return "target"
    if name.endswith(".json"):
        return "saved"
    if shutil.which(name) is not None:
        return "command"
    return "saved" if exists else "target"


def _read_tools(name: str, kind: Kind, limit: Deadline) -> list[Any]:
    if kind == "saved":
        return _read_saved(name)
    command = split_command(name) if kind == "command" else format_own_command([name])
    check_remote(command)
    try:
        is_ours = kind == "target"
        with connect_to(command, is_ours=is_ours, limit=limit, own_era="legacy") as client:
            return client.list_entries(timeout_seconds=limit.seconds_left)
    except Failed as failure:  # 1 is for changes
        sentence = str(failure)
        raise Failed(sentence and f"{name}: {sentence}", 2) from None


def _read_saved(name: str) -> list[Any]:
    text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    try:
        value = decode(text.removeprefix(codecs.BOM_UTF8))
    except DecodingError as error:
        raise UsageError(
            f"{name} is not JSON: {error}; `toolwire list --json` writes a list to save"
        ) from None
    if isinstance(value, dict):
        page = value.get("result", value)  # of a message
        if isinstance(page, dict) and page.get("nextCursor"):
            raise UsageError(
                f"{name} is only the first page of a list: it has a nextCursor; save all of it"
            )
        value = page.get("tools") if isinstance(page, dict) else page
    if not isinstance(value, list):
        raise UsageError(
            f"{name} holds no tools: it has to be a result of tools/list, a message with one, or a"
            " list of tools, as `toolwire list --json` prints"
        )
    return value


def _reaches_limit(changes: Sequence[Change], options: dict[str, Any]) -> bool:
    """Return whether a change reaches `--fail-on`."""
    limit = options.get("fail_on", "major")
    if limit == "never":
        return False
    failing_levels = LEVELS[LEVELS.index(limit) :]
    level_of_unknown: Level = "minor" if "allow_unknown" in options else "major"
    for change in changes:
        level = level_of_unknown if change.level == "unknown" else change.level
        if level in failing_levels:
            return True
    return False


def _write_pages(
    report: DiffReport, options: dict[str, Any], old_tools: list[Any], new_tools: list[Any]
) -> bool:
    """Write the report as `--html` and `--markdown` ask; return whether that was to standard
    output.
    """
    if options.keys().isdisjoint(("html", "markdown")):
        return False
    from toolwire_check.pages.diff_page import write_diff_markdown, write_diff_page

    return write_pages(
        options,
        html=lambda: write_diff_page(
            report.changes,
            old=_describe_list(report.old),
            new=_describe_list(report.new),
            old_tools=old_tools,
            new_tools=new_tools,
        ),
        markdown=lambda: write_diff_markdown(report.changes),
    )


def _format_report(report: DiffReport) -> str:
    lines = [f"old: {_describe_list(report.old)}", f"new: {_describe_list(report.new)}", ""]
    rows = []
    for change in report.changes:
        rows.append((change.level, change.where, str(change), WHOM[change.concerns]))
    if rows:
        lines += [format_table(("", "where", "what changed", "whom it concerns"), rows), ""]
    lines.append(format_verdict(report.changes))
    return "\n".join(lines)


def _describe_list(listed: Listed) -> str:
    name = "standard input" if listed.name == "-" else listed.name
    return f"{name}, {_KINDS[listed.kind]} with {format_count(listed.tools, 'tool')}"
