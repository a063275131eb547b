"""A legacy MCP server that strict hosts refuse: `python strange_server.py`. Each tool does what its
name says.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "name": "shop.add item",
        "inputSchema": {"type": "object", "properties": {"filter[id]": {"type": "integer"}}},
    },
    {
        "name": "untitled",
        "title": None,
        "annotations": None,
        "inputSchema": {"properties": {"a": True}},
    },
    {
        "name": "either",
        "inputSchema": {
            "type": "object",
            "oneOf": [
                {"properties": {"a": {"type": ["string", "null"]}}},
                {"properties": {"b": {"type": "array"}}},
            ],
        },
    },
    {
        "name": "wrong",
        "inputSchema": {"type": "object", "required": 5, "anyOf": 5, "$ref": "#/x", "allOf": [5]},
    },
    *(
        {"name": name, "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
        for name in (
            "echo",
            "noise",
            "silent",
            "large",
            "crash",
            "orphan",
            "sample",
            "progress",
            "pid",
        )
    ),
]


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message: dict[str, Any] = json.loads(line)
    return message


def text(id: Any, content: str) -> None:
    send(id=id, result={"content": [{"type": "text", "text": content}]})


def call(id: Any, params: dict[str, Any]) -> None:
    token = params.get("_meta", {}).get("progressToken")
    match params["name"]:
        case "noise":
            print("Server is \x1b[2J ready", flush=True)
        case "silent":
            while not os.path.exists(params["arguments"]["until"]):
                time.sleep(0.01)
        case "large":
            text(id, "x" * params["arguments"]["n"])
            return
        case "crash":
            print("the end is near", file=sys.stderr, flush=True)
            os._exit(3)
        case "orphan":
            orphan = subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=2)
            text(id, str(orphan.pid))
            return
        case "sample":
            send(
                id=7,
                method="sampling/createMessage",
                params={"messages": [], "maxTokens": 5, "x": 1.50},
            )
            text(id, json.dumps(receive()))
            return
        case "progress":
            send(method="notifications/progress", params={"progressToken": token, "progress": 1})
        case "pid":
            text(id, str(os.getpid()))
            return
    text(id, json.dumps(params))


def answer(message: dict[str, Any]) -> None:
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if method == "initialize":
        capabilities = {"tools": {}, "sampling-like": {"x": 1}, "resources": {"subscribe": True}}
        info = {"name": "strange", "version": "7", "title": "Strange"}
        told = {
            "capabilities": capabilities,
            "serverInfo": info,
            "instructions": f"You are {json.dumps(params)}",
        }
        send(id=id, result={"protocolVersion": "2025-06-18", **told})
    elif method == "notifications/initialized":
        send(method="notifications/custom", params={"big": 12345678901234567890123})
        if "roots" in STATE.get("capabilities", {}):
            send(id="roots", method="roots/list")
    elif method == "tools/list":
        send(id=id, result={"tools": TOOLS})
    elif method == "tools/call":
        call(id, params)
    elif method == "custom/echo":
        sys.stdout.write(
            f'{{"id": {json.dumps(id)},   "jsonrpc":"2.0", "result": {json.dumps(message)}}}\n'
        )
        sys.stdout.flush()
    elif method == "custom/log":
        send(
            method="notifications/message",
            params={"level": "info", "data": {"x": 1.50, "n": 12345678901234567890123}},
        )
        send(id=id, result={})
    elif method == "custom/flood":
        for _ in range(params["n"]):
            send(method="notifications/flood", params={"text": "x" * 1000})
        send(id=id, result={})
        open(params["then"], "w").close()
    elif method == "custom/crash":
        os._exit(4)
    elif id is None or method is None:
        STATE["seen"] = [*STATE.get("seen", []), message]
    elif method == "custom/seen":
        send(id=id, result={"seen": STATE.get("seen", [])})
    else:
        send(id=id, error={"code": -32601, "message": f"no method {method}"})


STATE: dict[str, Any] = {}
while True:
    came = receive()
    if came.get("method") == "initialize":
        STATE["capabilities"] = came["params"]["capabilities"]
    answer(came)
