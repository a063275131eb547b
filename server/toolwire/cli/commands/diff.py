"""`toolwire diff`: compares two lists of tools and says whom the changes break.

Each list is read from a file or from a server that is started for it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.compare import LEVELS, BadList, between, verdict
from toolwire_schemas.wire.codec import DecodingError, decode

from ...errors import Failed, UsageError
from ..diff_report import Kind, Listed, Report, written
from ..open_client import connected, limit_of, own_command
from ..options import Option, one_of, seconds
from ..output import say
from . import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_client.waiting.deadline import Deadline

    from ..options import Words

COMMAND = Command(
    usage=("toolwire diff OLD NEW [OPTIONS]",),
    details="OLD and NEW are each a saved list (FILE.json as `list --json` writes it, or - for standard input), a "
    "target (FILE.py, FILE.yaml, a folder or a module) or the command of any MCP server, in one argument: a "
    "program, or several words. The output says how each was read. The verdict is that of SemVer: major, "
    "minor or patch. Whether one schema accepts all that another accepts is proved, or refuted by an "
    "example; if neither is possible it is unknown, which counts as major. The exit status is 1 if a change reaches "
    "--fail-on, and 2 if a list cannot be read.",
    options=(
        Option(
            "--fail-on",
            "exit with 1 from this verdict on: major (default), minor, patch or never",
            "VERDICT",
            one_of("major", "minor", "patch", "never"),
        ),
        Option("--allow-unknown", "do not count changes as major whose effect is unknown"),
        Option("--json", "print the changes as JSON (`toolwire schema show tool-changes`)"),
        Option("--markdown", "print the changes as Markdown, for release notes and reviews"),
        Option("--timeout", "time limit, including the start of the servers", "SECONDS", seconds),
    ),
    examples=(
        "toolwire list tools.py --json > tools.json",
        "toolwire diff tools.json tools.py",
        'toolwire diff "npx -y some-mcp-server@1" "npx -y some-mcp-server@2" --markdown',
    ),
)

_TARGETS = (".py", ".yaml", ".yml")
_PAIR = "name the old tools and the new ones: toolwire diff OLD NEW"
_LISTS = "a result of tools/list, a message with one, or a list of tools"


class Source(msgspec.Struct, frozen=True):
    """The source of a list: the argument, and how it is read."""

    name: str
    kind: Kind


def run(words: Words) -> int:
    """Print the changes, and return 1 if one reaches `--fail-on`."""
    options = words.options
    sources = [source(name) for name in _names(words)]
    limit = limit_of(words)
    lists = [_entries(source, limit) for source in sources]
    report = _report(sources, lists)
    say(written(report, options))
    return _status(report, options)


def _names(words: Words) -> list[str]:
    names = [*words.words, *(words.command or ())]
    if len(names) != 2:
        more = "; put quotes round a command of several words" if len(names) > 2 else ""
        raise UsageError(_PAIR + more)
    if names == ["-", "-"]:
        raise UsageError("only one of the lists can come from standard input")
    if words.options.get("json") and words.options.get("markdown"):
        raise UsageError("--json and --markdown contradict each other: leave one out")
    return names


def source(name: str) -> Source:
    """Return how *name* is read: by the file of that name, else by its spelling."""
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


def _entries(source: Source, limit: Deadline) -> list[Any]:
    if source.kind == "saved":
        return _saved(source.name)
    try:
        command = shlex.split(source.name) if source.kind == "command" else own_command([source.name])
    except ValueError as error:
        raise UsageError(f"in the command {source.name!r} there is {str(error).lower()}") from None
    try:
        with connected(command, is_ours=source.kind == "target", limit=limit) as client:
            return client.list_entries(timeout_seconds=limit.left())
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


def _status(report: Report, options: dict[str, Any]) -> int:
    limit = options.get("fail_on", "major")
    if limit == "never":
        return 0
    levels = {change.level for change in report.changes}
    if "unknown" in levels:
        levels.add("minor" if options.get("allow_unknown") else "major")
    return 1 if levels.intersection(LEVELS[LEVELS.index(limit) :]) - {"unknown"} else 0
