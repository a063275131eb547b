"""Texts that make a call again: on the command line, in Python and in TypeScript."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from pprint import pformat
from typing import Any

from toolwire_schemas.wire.codec import encode

_WIDTH = 100


def snippets(
    name: str, arguments: dict[str, Any], schema: Any, target: str | None, command: list[str]
) -> dict[str, str]:
    """Return the texts that call the tool *name* of a *target*, or else of the server that *command* starts.

    *schema* is its input schema.
    """
    start, end = ([target], []) if target is not None else ([], ["--", *command])
    words = ["toolwire", "call", *start, name, *_words(arguments, schema), *end]
    server = json.dumps(["toolwire", "serve", target] if target is not None else command, ensure_ascii=False)
    called, given = json.dumps(name, ensure_ascii=False), json.dumps(arguments, ensure_ascii=False)
    python = pformat(arguments, width=_WIDTH, sort_dicts=False).replace("\n", "\n    ")
    return {
        "command": shlex.join(words),
        "python": "from toolwire_client import connect\n\n"
        f"with connect({server}) as client:\n"
        f"    result = client.call_tool({called}, {python})\n    print(result.text)\n",
        "typescript": 'import { Client } from "@toolwire/client";\n\n'
        f"const client = await Client.connect({server});\nconsole.log(await client.call({called}, {given}));\n"
        "await client.close();\n",
    }


def _words(arguments: dict[str, Any], schema: Any) -> list[str]:
    """Return the words of `toolwire call` for *arguments*: `name=value`, if that is read so, else JSON."""
    from ..errors import UsageError
    from ..loading.argument_text import read

    words = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in arguments.items()]
    # It would read a file, or take a word for an option.
    is_plain = not any("=@" in word or word[0] in "-{" or len(word) > _WIDTH for word in words)
    with suppress(UsageError):
        if is_plain and encode(read(words, schema if isinstance(schema, dict) else {})) == encode(arguments):
            return words
    return [encode(arguments).decode()]
