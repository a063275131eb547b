"""Texts that make a call again: on the command line, in Python and in TypeScript."""

from __future__ import annotations

import json
import shlex
from pprint import pformat
from typing import Any

from toolwire_schemas.wire.codec import encode

_WIDTH = 100


def of(tool: str, arguments: dict[str, Any], schema: Any, *, target: str | None, command: list[str]) -> dict[str, str]:
    """Return the texts that call *tool*, which takes the input *schema*, of a *target*, or of what *command* starts."""
    server = ["toolwire", "serve", target] if target is not None else command
    return {
        "command": _command(tool, arguments, schema, target, command),
        "python": _python(tool, arguments, server),
        "typescript": _typescript(tool, arguments, server),
    }


def _command(tool: str, arguments: dict[str, Any], schema: Any, target: str | None, command: list[str]) -> str:
    words = [tool, encode(arguments).decode()] if arguments else [tool]
    short = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in arguments.items()]
    if short and _means(short, arguments, schema):
        words = [tool, *short]
    start, end = ([target], []) if target is not None else ([], ["--", *command])
    return shlex.join(["toolwire", "call", *start, *words, *end])


def _means(words: list[str], arguments: dict[str, Any], schema: Any) -> bool:
    """Return whether the command line reads *words* as *arguments*."""
    from ..errors import UsageError
    from ..loading.argument_text import read

    if any("=@" in word or word[:1] in "-{" or len(word) > _WIDTH for word in words):
        return False  # it would read a file, or an option
    try:
        return encode(read(words, schema if isinstance(schema, dict) else {})) == encode(arguments)
    except UsageError:
        return False


def _python(tool: str, arguments: dict[str, Any], server: list[str]) -> str:
    given = pformat(arguments, width=_WIDTH, sort_dicts=False).replace("\n", "\n    ")
    return (
        "from toolwire_client import connect\n\n"
        f"with connect({server!r}) as client:\n"
        f"    result = client.call_tool({tool!r}, {given})\n"
        "    print(result.text)\n"
    )


def _typescript(tool: str, arguments: dict[str, Any], server: list[str]) -> str:
    given = json.dumps(arguments, indent=2 if len(encode(arguments)) > _WIDTH else None)
    return (
        'import { Client } from "@toolwire/client";\n\n'
        f"const client = await Client.connect({json.dumps(server)});\n"
        f"console.log(await client.call({json.dumps(tool)}, {given}));\n"
        "await client.close();\n"
    )
