"""`toolwire schema`: lists, shows, exports or bundles the published schemas.

`schema reply` generates one more: that of a model's replies for the given tools.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import unknown_name
from toolwire_schemas.published import UnknownSchema, bundle, files_to_export, load, names, text

from ...errors import UsageError
from ..open_client import client_of
from ..options import SET, Option
from ..output import Style, say, table, width
from . import Command

if TYPE_CHECKING:
    from ..options import Words

COMMAND = Command(
    usage=(
        "toolwire schema list [--json]",
        "toolwire schema show NAME",
        "toolwire schema export DIR",
        "toolwire schema bundle [NAME...]",
        "toolwire schema reply TARGET... [--strict]",
        "toolwire schema reply [--strict] -- COMMAND",
    ),
    details="They are JSON Schema 2020-12. `export` writes all of them, and their types for TypeScript "
    "(toolwire.d.ts). `bundle` prints one self-contained document of all schemas, or of the named ones and "
    "their references. `reply` prints the schema of a model's replies for the tools of a TARGET, or of any MCP "
    "server that COMMAND starts: react-reply with a branch for each tool.",
    options=(
        Option("--json", "with list: print the names, ids, titles and descriptions as JSON"),
        Option("--strict", "with reply: in the form of OpenAI's strict mode, an object at the root"),
        SET,
    ),
    examples=(
        "toolwire schema show tools-call-result",
        "toolwire schema bundle tool-library > tool-library.json",
        "toolwire schema reply tools.py --strict",
    ),
)


def run(words: Words) -> int:
    """Print what was asked for."""
    say(_answer(words))
    return 0


def _answer(words: Words) -> str:
    what, *rest = [*words.words, *(words.command or ())] or [""]
    if not what:
        raise UsageError(
            "say what to do: schema list, schema show NAME, schema export DIR, schema bundle or schema reply TARGET"
        )
    if what not in _TAKES:
        raise UsageError(unknown_name("command of schema", what, _TAKES))
    least, most, wanted = _TAKES[what]
    if not least <= len(rest) <= most:
        raise UsageError(f"schema {what} takes {wanted}")
    if words.options.get("json") and what != "list":
        raise UsageError("--json goes with schema list; all else is JSON anyway")
    if words.options.get("strict") and what != "reply":
        raise UsageError("--strict goes with schema reply")
    try:
        match what:
            case "list":
                return _as_json() if words.options.get("json") else _as_table()
            case "show":
                return text(rest[0]).rstrip()
            case "export":
                return _export(Path(rest[0]))
            case "reply":
                return _json(_replies(words))
        return _json(bundle(*rest))
    except UnknownSchema as error:
        raise UsageError(str(error)) from None


# The minimum and maximum number of words of each, with a description.
_TAKES = {
    "list": (0, 0, "no name; schema show NAME shows one"),
    "show": (1, 1, "the name of one schema; schema list lists them"),
    "export": (1, 1, "the folder to write to"),
    "bundle": (0, sys.maxsize, ""),
    "reply": (1, sys.maxsize, "a target, or a server's command after `--`"),
}


def _as_table() -> str:
    rows = [(name, re.split(r"[.:] ", load(name)["description"])[0].rstrip(".")) for name in names()]
    return table(("schema", "what it describes"), rows, width(), Style(sys.stdout))


def _as_json() -> str:
    return _json([{"name": name, **_about(load(name))} for name in names()])


def _about(schema: dict[str, str]) -> dict[str, str]:
    return {member: schema[member] for member in ("$id", "title", "description")}


def _export(folder: Path) -> str:
    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files_to_export():
            (folder / name).write_bytes(content.encode())
            written += 1
    except FileExistsError:
        raise UsageError(f"{folder} is a file; name a folder") from None
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
    return f"Wrote {written} files to {folder}."


def _replies(words: Words) -> dict[str, Any]:
    """The schema of a model's replies for the tools of a target or server."""
    from toolwire_client.react import Tools, reply_schema

    with client_of(words, words.words[1:]) as client:
        entries = [tool.raw for tool in client.list_tools()]
    return reply_schema(Tools(entries), strict=words.options.get("strict", False))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
