"""A server of MCP 2026-07-28 whose tool `ask` asks the client for all that `what` names:
`python asking_server.py`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

FORM = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
URL = {"mode": "url", "message": "Log in", "url": "https://example.org/", "elicitationId": "e"}
ASKS: dict[str, dict[str, Any]] = {
    "sampling": {
        "method": "sampling/createMessage",
        "params": {"messages": [], "maxTokens": 12345678901234567890123},
    },
    "roots": {"method": "roots/list"},
    "url": {"method": "elicitation/create", "params": URL},
    "form": {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "Sure?", "requestedSchema": FORM},
    },
    "nothing": {"method": 5},
}
TOOL = {
    "name": "ask",
    "inputSchema": {"type": "object", "properties": {"what": {"type": "array", "items": {}}}},
}
UNCACHED = {"ttlMs": 0, "cacheScope": "private"}


def result(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "server/discover":
            return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **UNCACHED}
        case "tools/list":
            return {"tools": [TOOL], **UNCACHED}
        case "tools/call" if "inputResponses" in params:
            told = [params["requestState"], params["inputResponses"]]
            return {"content": [{"type": "text", "text": json.dumps(told)}]}
        case "tools/call":
            asked = {name: ASKS[name] for name in params["arguments"]["what"]}
            return {"resultType": "input_required", "requestState": "state", "inputRequests": asked}
    return None


for line in sys.stdin:
    request = json.loads(line)
    found = result(request["method"], request.get("params", {}))
    error = {"error": {"code": -32601, "message": f"no method {request['method']}"}}
    answer = error if found is None else {"result": {"resultType": "complete", **found}}
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
