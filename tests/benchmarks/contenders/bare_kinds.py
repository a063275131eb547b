"""The bare loop with the tools of `kinds.py`: decodes and encodes with orjson, checks nothing.

Values become Python objects only where those of `kinds.py` do.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

Result = dict[str, Any]


@dataclass
class Point:
    x: int
    y: float
    label: str


def keep(value: Any) -> Any:
    return value


def point(value: Any) -> Point:
    return Point(**value)


def nothing(value: Any) -> None:
    return


def of_value(value: Any) -> Result:
    """The result for what travels as `{"result": value}`."""
    text = orjson.dumps(value).decode()
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"result": value},
        "isError": False,
    }


def of_word(value: str | datetime) -> Result:
    """The result for what JSON writes as a string: the text has no quotes."""
    text = orjson.dumps(value, option=orjson.OPT_UTC_Z).decode()[1:-1]
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"result": value},
        "isError": False,
    }


def of_object(value: Any) -> Result:
    text = orjson.dumps(value).decode()
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": value,
        "isError": False,
    }


def of_text(value: str) -> Result:
    return {"content": [{"type": "text", "text": value}], "isError": False}


def of_bytes(value: bytes) -> Result:
    resource = {
        "uri": "attachment:///data",
        "mimeType": "application/octet-stream",
        "blob": base64.b64encode(value).decode(),
    }
    return {"content": [{"type": "resource", "resource": resource}], "isError": False}


def of_items(value: int) -> Result:
    return of_value([value, value])


TOOLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Result]]] = {
    **dict.fromkeys(("integer", "decimal", "union", "numbers", "optional"), (keep, of_value)),
    **dict.fromkeys(("literal", "enum"), (keep, of_word)),
    **dict.fromkeys(("record", "model"), (point, of_object)),
    **dict.fromkeys(("with_context", "without_wait", "with_wait"), (keep, of_value)),
    **dict.fromkeys(("with_progress", "async_progress"), (keep, of_items)),
    **dict.fromkeys(("text", "block"), (keep, of_text)),
    "mapping": (keep, of_object),
    "moment": (datetime.fromisoformat, of_word),
    "data": (base64.b64decode, of_bytes),
    "nothing": (nothing, of_value),
}
"""What makes a tool's value of its argument, and its result of that value."""


def run(params: dict[str, Any]) -> Result:
    call, present = TOOLS[params["name"]]
    return present(call(params["arguments"]["value"]))


def progress(params: dict[str, Any]) -> bytes:
    """The notifications of a generator, one for each of its two items."""
    meta = params.get("_meta")
    if meta is None:
        return b""
    lines = []
    for number in (1, 2):
        noted = {
            "progressToken": meta["progressToken"],
            "progress": number,
            "message": str(params["arguments"]["value"]),
        }
        message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": noted}
        lines.append(orjson.dumps(message) + b"\n")
    return b"".join(lines)


def answer(id: int, result: Result) -> bytes:
    message = {"jsonrpc": "2.0", "id": id, "result": result}
    return orjson.dumps(message, option=orjson.OPT_UTC_Z) + b"\n"


def handshake(method: str) -> Result:
    if method == "tools/list":
        return {"tools": []}
    return {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "bare", "version": "0"},
    }


def main() -> None:
    write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush
    for line in sys.stdin.buffer:
        request = orjson.loads(line)
        if request["method"] == "tools/call":
            params = request["params"]
            write(progress(params) + answer(request["id"], run(params)))
        elif "id" in request:
            write(answer(request["id"], handshake(request["method"])))
        flush()


if __name__ == "__main__":
    main()
