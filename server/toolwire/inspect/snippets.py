"""Texts that make a call again: on the command line, in Python and in TypeScript."""

from __future__ import annotations

import json
import shlex
from pprint import pformat
from typing import Any

from toolwire_schemas.wire.codec import encode


def snippets(name: str, arguments: dict[str, Any], target: str | None, command: list[str]) -> dict[str, str]:
    """Return the texts that call the tool *name* of a *target*, or else of the server that *command* starts."""
    start, end = ([target], []) if target is not None else ([], ["--", *command])
    words = ["toolwire", "call", *start, name, encode(arguments).decode(), *end]
    server = json.dumps(["toolwire", "serve", target] if target is not None else command, ensure_ascii=False)
    called, given = json.dumps(name, ensure_ascii=False), json.dumps(arguments, ensure_ascii=False)
    python = pformat(arguments, width=100, sort_dicts=False).replace("\n", "\n    ")
    return {
        "command": shlex.join(words),
        "python": "from toolwire_client import connect\n\n"
        f"with connect({server}) as client:\n"
        f"    result = client.call_tool({called}, {python})\n    print(result.text)\n",
        "typescript": 'import { Client } from "@toolwire/client";\n\n'
        f"const client = await Client.connect({server});\nconsole.log(await client.call({called}, {given}));\n"
        "await client.close();\n",
    }
