"""A legacy MCP server of another maker: `python foreign_server.py FOLDER`.

It lists what `FOLDER/lists.json` holds at that moment, by the kind of list (an object there is an
error), and appends each message to `FOLDER/journal`, one a line. `FOLDER/without` names a list that
it does not know. With `FOLDER/roots`, it asks for the folders of its host when it is ready and when
they change. It waits for the file `FOLDER/go` first if `FOLDER/wait` exists. Its tools do what
their names say; other names echo their arguments.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
METHODS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    with (FOLDER / "journal").open("a", encoding="utf-8") as journal:
        journal.write(line)
    message: dict[str, Any] = json.loads(line)
    return message


def lists() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "lists.json").read_text(encoding="utf-8"))
    return found


def initialize(id: Any, params: dict[str, Any]) -> None:
    while (FOLDER / "wait").exists() and not (FOLDER / "go").exists():
        time.sleep(0.01)
    names = {kind.replace("resourceTemplates", "resources") for kind in lists()}
    capabilities = {
        **{name: {"listChanged": True} for name in names},
        "logging": {},
        "completions": {},
    }
    info = {"name": "foreign", "version": "9"}
    send(
        id=id,
        result={"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info},
    )


def call(id: Any, params: dict[str, Any]) -> None:
    name, given = params["name"], params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    match name:
        case "die":
            print("the disk is full", file=sys.stderr, flush=True)
            os._exit(3)
        case "hang":
            return
        case "fail":
            send(id=id, error={"code": -32099, "message": "no luck", "data": {"why": [1]}})
            return
        case "malformed":
            send(id=id, result={"content": "no list"})
            return
        case "count":
            send(
                method="notifications/progress",
                params={"progressToken": token, "progress": 1, "total": 2},
            )
        case "log":
            send(
                method="notifications/message",
                params={"level": "warning", "logger": "them", "data": {"a": 1}},
            )
        case "noise":
            print("\x1b[2Jnot a message", flush=True)
        case "change":
            for what in ("tools", "resources", "prompts"):
                send(method=f"notifications/{what}/list_changed")
        case "flood":
            for _ in range(given["count"]):
                send(method="notifications/tools/list_changed")
        case "deep":
            given = json.loads("[" * 500 + "]" * 500)
        case "sample" | "roots" | "link":
            given = request_of_host(name)
        case "done":
            send(method="notifications/elicitation/complete", params={"elicitationId": "e"})
        case "ask":
            form = {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            }
            send(
                id="q",
                method="elicitation/create",
                params={"message": "Who?", "requestedSchema": form},
            )
            reply = receive()
            given = reply.get("result") or reply["error"]
    result = {
        "content": [{"type": "text", "text": json.dumps(given)}],
        "structuredContent": {"given": given},
    }
    send(id=id, result={**result, "_meta": {"their": 1}, "unknown": [2]})
    if name == "later":
        for number in range(given["count"]):
            send(method="notifications/message", params={"level": "error", "data": number})
        (FOLDER / "sent").touch()


REQUESTS: dict[str, Any] = {
    "sample": ("sampling/createMessage", {"messages": [], "maxTokens": 12345678901234567890123}),
    "roots": ("roots/list", None),
    "link": (
        "elicitation/create",
        {"mode": "url", "message": "Log in", "url": "https://example.org/", "elicitationId": "e"},
    ),
}


def send_request(name: str) -> None:
    method, params = REQUESTS[name]
    send(id=name, method=method, **({} if params is None else {"params": params}))


def request_of_host(name: str) -> Any:
    """Return the member `result` or `error` of the response of the host."""
    send_request(name)
    reply = receive()
    return {key: reply[key] for key in ("result", "error") if key in reply}


def without() -> str:
    """The method of a list that the server does not know."""
    path = FOLDER / "without"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def answer_list(id: Any, kind: str) -> None:
    entries = lists().get(kind, [])
    if isinstance(entries, dict):  # an error
        send(id=id, error=entries)
    else:
        send(id=id, result={kind: entries})


def answer(message: dict[str, Any]) -> None:
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    wants_roots = (FOLDER / "roots").exists()
    if wants_roots and method in ("notifications/initialized", "notifications/roots/list_changed"):
        send_request("roots")
    if id is None or method is None:
        return
    if method == "initialize":
        initialize(id, params)
    elif method in METHODS and method != without():
        answer_list(id, METHODS[method])
    elif method == "tools/call":
        call(id, params)
    elif method == "resources/read" and "missing" not in params["uri"]:
        send(id=id, result={"contents": [{"uri": params["uri"], "text": "held"}]})
    elif method == "prompts/get":
        content = {"type": "text", "text": json.dumps(params)}
        send(id=id, result={"messages": [{"role": "user", "content": content}]})
    elif method == "completion/complete":
        send(
            id=id,
            result={"completion": {"values": [params["ref"].get("name") or params["ref"]["uri"]]}},
        )
    elif method in ("logging/setLevel", "ping"):
        send(id=id, result={})
    else:
        send(id=id, error={"code": -32601, "message": f"no method {method}"})


while True:
    answer(receive())
