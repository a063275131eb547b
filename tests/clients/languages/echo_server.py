"""A server whose tools are the entries in a file: `python echo_server.py entries.json`.

Each tool returns its arguments as they came, which makes it a mirror for values of any schema. It
is written against the bytes of MCP 2025-11-25, and of no later revision, so that clients have to
fall back.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def result_of(method: str, params: dict[str, Any], entries: list[Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            server = {"name": "echo", "version": "1"}
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": server,
            }
        case "tools/list":
            return {"tools": entries}
        case "tools/call":
            given = params.get("arguments", {})
            text = json.dumps(given)
            return {"content": [{"type": "text", "text": text}], "structuredContent": given}
        case "ping":
            return {}
    return None


def main() -> None:
    entries = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = result_of(message["method"], message.get("params", {}), entries)
        answer = (
            {"error": {"code": -32601, "message": "no such method"}}
            if result is None
            else {"result": result}
        )
        data = json.dumps(
            {"jsonrpc": "2.0", "id": message["id"], **answer}
        )  # ASCII, so halves of pairs survive
        sys.stdout.write(f"{data}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
