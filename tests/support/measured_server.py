"""A server to measure: `python measured_server.py FAULT`. Its faults come after the handshake.

It has the tools `look` (reads), `search` (reads, from other systems) and `change`; each call of a
tool adds its name to the file `$CALLS`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

READS = {"readOnlyHint": True}
TOOLS = [
    {"name": "change", "inputSchema": {"type": "object"}},
    {
        "name": "search",
        "inputSchema": {"type": "object"},
        "annotations": {**READS, "openWorldHint": True},
    },
    {"name": "look", "inputSchema": {"type": "object"}, "annotations": READS},
]
INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "measured", "version": "1"},
}


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def call(params: dict[str, Any], calls: int) -> dict[str, Any]:
    """Return the result of a call, the *calls*-th of this process."""
    with open(os.environ["CALLS"], "a", encoding="utf-8") as file:
        file.write(f"{params['name']}\n")
    match fault:
        case "dies" if calls == 3:
            os._exit(7)
        case "silent" if calls == 3:
            time.sleep(60)
        case "endless" if calls == 3:
            while True:
                sys.stdout.write("x" * 1_000_000)
        case "fails":
            return {"content": [{"type": "text", "text": "no disk"}], "isError": True}
        case "fails later":
            return {"content": [], "isError": calls > 1}
        case "talks":
            send({"method": "notifications/message", "params": {"level": "info", "data": calls}})
    return {"content": [{"type": "text", "text": "done"}]}


def main() -> None:
    calls = 0
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        match message["method"]:
            case "initialize":
                result: dict[str, Any] = INITIALIZED
            case "tools/list":
                result = {"tools": [] if fault == "no tools" else TOOLS}
            case "tools/call":
                calls += 1
                result = call(message["params"], calls)
            case _:
                result = {}
        send({"id": message["id"], "result": result})


if __name__ == "__main__":
    fault = " ".join(sys.argv[1:])
    main()
