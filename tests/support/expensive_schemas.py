"""Short schemas that are expensive to check against, in sizes that can be multiplied."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]


def _doubling(size: int) -> Schema:
    pairs = {
        f"L{level}": {"allOf": [{"$ref": f"#/$defs/L{level - 1}"}] * 2}
        for level in range(1, size + 1)
    }
    definitions = {"L0": {"type": "object"}, **pairs}
    properties = {"a": {"type": "string"}}
    return {
        "type": "object",
        "properties": properties,
        "allOf": [{"$ref": f"#/$defs/L{size}"}],
        "$defs": definitions,
    }


def _doubling_below(size: int) -> Schema:
    pairs = {
        f"L{level}": {"anyOf": [{"$ref": f"#/$defs/L{level - 1}"}] * 2}
        for level in range(1, size + 1)
    }
    definitions = {"L0": {"type": "string", "maxLength": 1}, **pairs}
    return {
        "type": "object",
        "properties": {"a": {"$ref": f"#/$defs/L{size}"}},
        "$defs": definitions,
    }


def _pattern(size: int) -> Schema:
    evil = {"type": "string", "pattern": "^(a+)+$", "examples": ["a" * size + "b"]}
    return {
        "type": "object",
        "properties": {"a": evil},
        "required": ["a"],
        "patternProperties": {"^(b+)+$": {}},
    }


def _choices(size: int) -> Schema:
    choice = {"type": "string", "enum": [f"value {number}" for number in range(size)]}
    return {"type": "object", "properties": {"a": choice}, "required": ["a"]}


def _deep(size: int) -> Schema:
    schema: Schema = {"type": "string"}
    for _ in range(min(size, 240)):  # beyond that, the message is no JSON to us
        schema = {"type": "array", "items": schema}
    return {"type": "object", "properties": {"a": schema}, "required": ["a"]}


def _wide(size: int) -> Schema:
    properties = {
        f"p{number}": {"type": "string", "description": "Some text."} for number in range(size)
    }
    return {"type": "object", "properties": {"a": {"type": "string"}, **properties}}


def _required(size: int) -> Schema:
    return {**_wide(size), "required": [f"p{number}" for number in range(size)]}


def _pointers(size: int) -> Schema:
    parts = [{"type": "string", "maxLength": number} for number in range(size)]
    properties = {f"p{number}": {"$ref": f"#/$defs/parts/anyOf/{number}"} for number in range(size)}
    return {
        "type": "object",
        "properties": {"a": {"type": "string"}, **properties},
        "$defs": {"parts": {"anyOf": parts}},
    }


def _circle(size: int) -> Schema:
    circle = {
        f"C{number}": {"allOf": [{"$ref": f"#/$defs/C{(number + 1) % size}"}]}
        for number in range(size)
    }
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/C0"}}, "$defs": circle}


def _references(size: int) -> Schema:
    definitions = {f"D{number}": {"type": "string", "maxLength": number} for number in range(size)}
    properties = {f"r{number}": {"$ref": f"#/$defs/D{number}"} for number in range(size)}
    return {
        "type": "object",
        "properties": {"a": {"type": "string"}, **properties},
        "$defs": definitions,
    }


def _union(size: int) -> Schema:
    branches = [
        {"type": "object", "properties": {f"p{number}": {"type": "integer"}}}
        for number in range(size)
    ]
    return {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "string"}, *branches]}},
        "required": ["a"],
    }


def _unclear(size: int) -> Schema:
    amount = {
        "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\d+$"}],
        "$anchor": "amount",
    }
    return {
        "type": "object",
        "properties": {**_wide(size)["properties"], "a": amount},
        "required": ["a"],
    }


def _mixed(size: int) -> Schema:
    parts = {"b": _choices(size)["properties"]["a"], "c": _union(size // 4)["properties"]["a"]}
    made = _references(size)
    return {**made, "properties": {**made["properties"], **_wide(size)["properties"], **parts}}


SCHEMAS: dict[str, tuple[Callable[[int], Schema], int]] = {
    "doubling": (_doubling, 30),
    "doubling-below": (_doubling_below, 30),
    "pattern": (_pattern, 40),
    "choices": (_choices, 320),
    "deep": (_deep, 24),
    "wide": (_wide, 100),
    "circle": (_circle, 4),
    "required": (_required, 100),
    "pointers": (_pointers, 50),
    "references": (_references, 50),
    "union": (_union, 40),
    "unclear": (_unclear, 40),
    "mixed": (_mixed, 40),
}
"""How each is made of a size, and the size that was once too much, or a hundredth of that."""
KINDS = (*SCHEMAS, "tools")
FIVE_MEGABYTES = 730
"""How many times the size of `mixed` makes a schema of 5 MB."""


def tool(kind: str, times: int = 1) -> dict[str, Any]:
    """Return the entry of a tool with such a schema."""
    make, size = SCHEMAS[kind]
    schema = make(size * times)
    hints = {"readOnlyHint": True}
    return {
        "name": "t",
        "description": "Does it.",
        "inputSchema": schema,
        "outputSchema": schema,
        "annotations": hints,
    }


def entries(kind: str, times: int = 1) -> list[dict[str, Any]]:
    """Return a server's list: one tool `t` with such a schema, or of the kind `tools` many with a
    short one.
    """
    if kind != "tools":
        return [tool(kind, times)]
    return [
        {**tool("wide", 0), "name": name}
        for name in ("t", *(f"t.{number}" for number in range(10 * times)))
    ]


def serve(kind: str, times: int) -> None:
    """Answer like an MCP server that has this one tool."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        answer: dict[str, Any] = {"error": {"code": -32601, "message": "no such method"}}
        match request["method"]:
            case "initialize":
                info = {"name": "expensive", "version": "1"}
                begun = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": info,
                }
                answer = {"result": begun}
            case "tools/list":
                answer = {"result": {"tools": entries(kind, times)}}
            case "tools/call":
                given = request["params"].get("arguments", {})
                answer = {
                    "result": {
                        "content": [{"type": "text", "text": "done"}],
                        "structuredContent": given,
                    }
                }
            case "ping":
                answer = {"result": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
