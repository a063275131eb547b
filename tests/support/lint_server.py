"""A server with tools that clients, hosts or model vendors refuse: `python lint_server.py
[CASE]`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

FINE = {
    "type": "object",
    "properties": {"x": {"type": "string", "description": "X."}},
    "required": ["x"],
}

CASES: dict[str, list[Any]] = {
    "errors": [
        {"name": "twice", "description": "One.", "inputSchema": FINE},
        {"name": "twice", "description": "Two.", "inputSchema": FINE},
        {"name": "null", "description": "Has a title of null.", "title": None, "inputSchema": FINE},
        {"name": "bare", "description": "Has no schema."},
        {
            "name": "choice",
            "description": "Has anyOf at its root.",
            "inputSchema": {**FINE, "anyOf": [{}]},
        },
        {"description": "Has no name.", "inputSchema": FINE},
        "no tool at all",
    ],
    "warnings": [
        {"name": "Toolkit.add", "description": "Has a dot.", "inputSchema": FINE},
        {"name": "silent", "inputSchema": FINE},
        {"name": "a" * 65, "description": "Has a long name.", "inputSchema": FINE},
        {
            "name": "steer\x1b[2Jing",
            "description": "Has letters that steer terminals.",
            "inputSchema": FINE,
        },
    ],
    "none": [],
}


def answer(request: dict[str, Any], result: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


def main(case: str) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        match request.get("method"):
            case "initialize":
                info = {"name": "bad", "version": "1"}
                version = request["params"]["protocolVersion"]
                answer(
                    request,
                    {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info},
                )
            case "tools/list":
                # Each tool on a page of its own.
                at = int(request.get("params", {}).get("cursor", 0))
                page: dict[str, Any] = {"tools": CASES[case][at : at + 1]}
                answer(
                    request,
                    page if at + 1 >= len(CASES[case]) else {**page, "nextCursor": str(at + 1)},
                )
            case _ if "id" in request:
                error = {"code": -32601, "message": "no such method"}
                print(
                    json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}), flush=True
                )


if __name__ == "__main__":
    main(sys.argv[1])
