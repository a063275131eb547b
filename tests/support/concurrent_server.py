"""A legacy MCP server that runs its calls at once: `python concurrent_server.py`. Each tool does
what its name says.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

NAMES = ("echo", "pid", "hang", "sample", "count", "log", "large", "die")
writing = threading.Lock()
open_requests: dict[str, Any] = {}
cancelled: dict[Any, threading.Event] = {}
total = 0


def send(**message: Any) -> None:
    with writing:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(method: str, params: dict[str, Any]) -> Any:
    """Send a request to the host, and return what it answers."""
    id = f"asked-{len(open_requests)}"
    answered = threading.Event()
    open_requests[id] = answered, []
    send(id=id, method=method, params=params)
    answered.wait()
    return open_requests[id][1][0]


def run(id: Any, params: dict[str, Any]) -> str:
    global total
    arguments = params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    match params["name"]:
        case "pid":
            return str(os.getpid())
        case "hang":
            Path(arguments["begun"]).touch()
            if token is not None:
                send(
                    method="notifications/progress", params={"progressToken": token, "progress": 1}
                )
            cancelled[id].wait()
            Path(arguments["ended"]).touch()
        case "sample":
            return json.dumps(ask("sampling/createMessage", {"messages": [], "maxTokens": 1}))
        case "count":
            total += 1
            return str(total)
        case "log":
            send(method="notifications/message", params={"level": "info", "data": "logged"})
        case "large":
            return "x" * int(arguments["size"])
        case "die":
            os._exit(3)
    return json.dumps(arguments)


def call(id: Any, params: dict[str, Any]) -> None:
    cancelled[id] = threading.Event()
    text = run(id, params)
    if not cancelled[id].is_set():
        send(id=id, result={"content": [{"type": "text", "text": text}]})


def handle(message: dict[str, Any]) -> None:
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if method is None:
        answered, response = open_requests[str(id)]
        response.append(message)
        answered.set()
    elif method == "initialize":
        capabilities = {"tools": {}, "logging": {}}
        info = {"name": "concurrent", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": capabilities}
        send(id=id, result={**result, "serverInfo": info})
    elif method == "tools/list":
        schema = {"type": "object"}
        send(id=id, result={"tools": [{"name": name, "inputSchema": schema} for name in NAMES]})
    elif method == "tools/call":
        threading.Thread(target=call, args=(id, params), daemon=True).start()
    elif method == "notifications/cancelled":
        cancelled[params["requestId"]].set()
    elif method == "notifications/initialized":
        if "roots" in sys.argv:
            send(id="roots", method="roots/list")
    elif id is not None:
        send(id=id, result={})


open_requests["roots"] = threading.Event(), []
for line in sys.stdin:
    handle(json.loads(line))
