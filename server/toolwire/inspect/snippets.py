"""Texts that make a call again: on the command line, in Python and in TypeScript."""

from __future__ import annotations

import json
import os
import shlex
from pprint import pformat
from typing import TYPE_CHECKING, Any

from toolwire_dialects.name_mapping import Names
from toolwire_dialects.typed_clients.typescript import NAMING
from toolwire_schemas.wire.codec import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_CLIENT = "tools.ts"
"""The file of the generated client that the text in TypeScript imports."""


def write_snippets(
    name: str,
    arguments: dict[str, Any],
    target: str | None,
    command: list[str],
    tools: Sequence[dict[str, Any]] = (),
) -> dict[str, str]:
    """Return the texts that call the tool *name* of a *target*, or else of the server that
    *command* starts. *tools* are the entries of its list.

    A file that is a target is named absolutely where the text may be run in another folder.
    """
    start, end = ([target], []) if target is not None else ([], ["--", *command])
    words = ["toolwire", "call", *start, name, _as_printable_json(arguments), *end]
    server, source = command, ["--", *command]
    if target is not None:
        place = _make_absolute(target)
        server, source = ["toolwire", "serve", place], [place]
    generate = ["toolwire", "client", "typescript", "-o", _CLIENT, *source]
    return {
        "command": _write_line(words),
        "python": _write_python(name, arguments, server),
        "typescript": _write_typescript(name, arguments, generate, tools),
    }


def _write_python(name: str, arguments: dict[str, Any], server: list[str]) -> str:
    called, start = (json.dumps(value, ensure_ascii=False) for value in (name, server))
    given = pformat(arguments, width=100, sort_dicts=False).replace("\n", "\n    ")
    return (
        "from toolwire_client import connect\n\n"
        f"with connect({start}) as client:\n"
        f"    result = client.call_tool({called}, {given})\n    print(result.text)\n"
    )


def _write_typescript(
    name: str,
    arguments: dict[str, Any],
    generate: list[str],
    tools: Sequence[dict[str, Any]],
) -> str:
    entries = {entry["name"]: entry for entry in tools}
    call = f"await client.tools{_find_function(name, entries)}({_as_literal(arguments)})"
    if "outputSchema" not in entries.get(name, {}):
        call = f"({call}).text"
    return (
        f"// The client is made by: {_write_line(generate)}\n"
        f'import {{ connect }} from "./{_CLIENT}";\n\n'
        "const client = await connect();\n"
        f"console.log({call});\n"
        "await client.close();\n"
    )


def _find_function(name: str, names: Iterable[str]) -> str:
    """Return what the generated client calls the tool *name*, as a member."""
    called = Names([*names, name], NAMING.functions).theirs[name]
    if called.isascii() and called.isidentifier():
        return f".{called}"
    return f"[{json.dumps(called, ensure_ascii=False)}]"


def _as_literal(value: Any) -> str:
    """Return *value* in TypeScript: JSON, but for a name that would set the prototype."""
    if isinstance(value, list):
        return f"[{', '.join(map(_as_literal, value))}]"
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    members = []
    for name, inner in value.items():
        key = json.dumps(name, ensure_ascii=False)
        if name == "__proto__":
            key = f"[{key}]"
        members.append(f"{key}: {_as_literal(inner)}")
    return "{" + ", ".join(members) + "}"


def _make_absolute(target: str) -> str:
    """Return *target* with its file or folder, if it names one, as an absolute path."""
    if os.path.exists(target):
        return os.path.abspath(target)
    file, colon, name = target.rpartition(":")
    if file and os.path.exists(file):
        return f"{os.path.abspath(file)}{colon}{name}"
    return target


def _write_line(words: list[str]) -> str:
    return " ".join(map(_quote, words))


def _as_printable_json(arguments: dict[str, Any]) -> str:
    """Return *arguments* as JSON in which characters that are not printable are escapes, which
    every shell keeps.
    """
    text = encode(arguments).decode()
    parts = [letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text]
    return "".join(parts)


def _quote(word: str) -> str:
    """Return *word* for a shell, with control characters as escapes.

    A terminal acts on some of them when text is pasted: a new line runs the command, and an escape
    sequence ends the mode in which pasted text waits for Enter. Bash, Zsh, Ksh and all shells of
    POSIX 2024 know `$'...'`.
    """
    if word.isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_escape, word))}'"


def _escape(character: str) -> str:
    if character in ("'", "\\"):
        return "\\" + character
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
