"""Texts that make a call again: on the command line, in Python and in TypeScript."""

from __future__ import annotations

import json
import shlex
from pprint import pformat
from typing import Any

from toolwire_schemas.wire.codec import encode


def snippets(
    name: str, arguments: dict[str, Any], target: str | None, command: list[str]
) -> dict[str, str]:
    """Return the texts that call the tool *name* of a *target*, or else of the server that
    *command* starts.
    """
    start, end = ([target], []) if target is not None else ([], ["--", *command])
    words = ["toolwire", "call", *start, name, _as_printable_json(arguments), *end]
    server = json.dumps(
        ["toolwire", "serve", target] if target is not None else command, ensure_ascii=False
    )
    called, given = json.dumps(name, ensure_ascii=False), json.dumps(arguments, ensure_ascii=False)
    python = pformat(arguments, width=100, sort_dicts=False).replace("\n", "\n    ")
    return {
        "command": " ".join(map(_quote, words)),
        "python": (
            "from toolwire_client import connect\n\n"
            f"with connect({server}) as client:\n"
            f"    result = client.call_tool({called}, {python})\n    print(result.text)\n"
        ),
        "typescript": (
            'import { Client } from "@toolwire/client";\n\nconst client = await'
            f" Client.connect({server});\nconsole.log(await client.call({called}, {given}));\nawait"
            " client.close();\n"
        ),
    }


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
