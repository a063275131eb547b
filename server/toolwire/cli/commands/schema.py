"""`toolwire schema`: lists, shows, exports or bundles the published schemas.

`schema reply` generates one more: that of a model's replies for the given tools.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.output import remove_emphasis
from toolwire_schemas.published import (
    UnknownSchema,
    bundle,
    iterate_files_to_export,
    list_names,
    load,
    read_text,
)

from ...errors import UsageError
from ..open_client import make_client
from ..options import ADOPT, SET, Option
from ..printing.layout import format_table
from ..printing.terminal import format_json, print_data
from . import Command

if TYPE_CHECKING:
    from ..options import Words

COMMAND = Command(
    usage=(
        "toolwire schema list",
        "toolwire schema show NAME",
        "toolwire schema export DIR [--cases]",
        "toolwire schema bundle [NAME...]",
        "toolwire schema reply TARGET... [--strict]",
        "toolwire schema reply [--strict] -- COMMAND",
    ),
    details=(
        "They are JSON Schema 2020-12. `export` writes all of them, and their types for TypeScript"
        " (toolwire.d.ts); with --cases also the contract cases, to DIR/cases. `bundle` prints one"
        " self-contained document of all schemas, or of the named ones and their references."
        " `reply` prints the schema of a model's replies for the tools of a TARGET, or of any MCP"
        " server that COMMAND starts: react-reply with a branch for each tool."
    ),
    options=(
        Option(
            "--cases",
            "with export: the contract cases too, and the page that says how to play them",
        ),
        Option(
            "--strict", "with reply: in the form of OpenAI's strict mode, an object at the root"
        ),
        SET,
        ADOPT,
    ),
    examples=(
        "toolwire schema show tools-call-result",
        "toolwire schema bundle tool-library > tool-library.json",
        "toolwire schema reply tools.py --strict",
    ),
)


def run(words: Words) -> int:
    """Print what was asked for."""
    print_data(_answer(words))
    return 0


def _check_options(words: Words, what: str) -> None:
    for option, its_command in (("strict", "reply"), ("cases", "export")):
        if words.options.get(option) and what != its_command:
            raise UsageError(f"--{option} goes with schema {its_command}")


def _answer(words: Words) -> str:
    what, *rest = [*words.words, *(words.command or ())] or [""]
    usages = {usage.split()[2]: usage for usage in reversed(COMMAND.usage)}
    if not what:
        raise UsageError(f"say what to do: {', '.join(reversed(usages))}; as in `schema show tool`")
    if what not in usages:
        raise UsageError(explain_unknown_name("command of schema", what, reversed(usages)))
    _check_options(words, what)
    try:
        match what, rest:
            case "list", []:
                return _list_schemas()
            case "show", [name]:
                return read_text(name).rstrip()
            case "export", [folder]:
                return _export(Path(folder), with_cases="cases" in words.options)
            case "bundle", _:
                return format_json(bundle(*rest))
            case "reply", [_, *_]:
                return format_json(_make_reply_schema(words, is_strict="strict" in words.options))
    except UnknownSchema as error:
        raise UsageError(str(error)) from None
    raise UsageError(f"usage: {usages[what]}")


def _list_schemas() -> str:
    rows = [
        (name, re.split(r"[.:] ", load(name)["description"])[0].rstrip("."))
        for name in list_names()
    ]
    return remove_emphasis(format_table(("schema", "what it describes"), rows))


def _export(folder: Path, *, with_cases: bool) -> str:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder: name one, new or not")
    files = dict(iterate_files_to_export(with_cases=with_cases))
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode())
    return f"Wrote {len(files)} files to {folder}."


def _make_reply_schema(words: Words, *, is_strict: bool) -> dict[str, Any]:
    from toolwire_agent.react import Tools, build_reply_schema

    with make_client(words, words.words[1:]) as client:
        entries = [tool.raw for tool in client.list_tools()]
    return build_reply_schema(Tools(entries), strict=is_strict)
