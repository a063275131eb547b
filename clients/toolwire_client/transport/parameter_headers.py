"""The arguments of calls that a server wants repeated in HTTP headers. No I/O.

A property of a tool's input schema says so by `x-mcp-header`: its value is sent as
`Mcp-Param-<name>`, too (MCP 2026-07-28, transports, custom headers).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from .http_messages import UNREADABLE, encode_value

if TYPE_CHECKING:
    from .http_messages import Outgoing

_ANNOTATION = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TYPES = ("string", "integer", "boolean")
"""Those that have one text in all languages; the specification allows no other."""

Names = dict[tuple[str, ...], str]
"""The names of headers, by the path of the argument."""


class _Tool(msgspec.Struct, rename="camel"):
    name: str
    input_schema: Any = None


class _Tools(msgspec.Struct):
    tools: list[_Tool]


class _ToolList(msgspec.Struct):
    result: _Tools


class _Params(msgspec.Struct):
    name: str
    arguments: dict[str, Any] = {}


class _Call(msgspec.Struct):
    params: _Params


class ParameterHeaders:
    """Knows the headers of the tools that a server has listed."""

    def __init__(self) -> None:
        self._names: dict[str, Names] = {}

    def read_list(self, line: bytes) -> None:
        """Learn from the response to `tools/list` in *line*."""
        if not self._names and _ANNOTATION.encode() not in line:  # as nearly always
            return
        try:
            listed = msgspec.json.decode(line, type=_ToolList).result.tools
        except UNREADABLE:
            return
        for tool in listed:
            names = find_names(tool.input_schema)
            self._names.pop(tool.name, None)
            if names:
                self._names[tool.name] = names

    def make_headers(self, message: Outgoing) -> dict[str, str]:
        """Return the headers for the arguments of the call in *message*."""
        if not self._names or message.method != "tools/call":
            return {}
        try:
            call = msgspec.json.decode(message.body, type=_Call).params
        except UNREADABLE:
            return {}
        headers = {}
        for path, name in self._names.get(call.name, {}).items():
            text = _as_text(_find_argument(call.arguments, path))
            if text is not None:
                headers[f"mcp-param-{name}"] = encode_value(text)
        return headers


def find_names(schema: Any) -> Names:
    """Return the headers that a tool with this input *schema* wants: those of properties, and of
    properties of these. It wants none if two have one name.
    """
    names: Names = {}
    _collect_names(schema, (), names)
    distinct = {name.lower() for name in names.values()}
    return names if len(distinct) == len(names) else {}


def _collect_names(schema: Any, path: tuple[str, ...], names: Names) -> None:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return
    for key, inner in properties.items():
        if not isinstance(inner, dict):
            continue
        name = inner.get(_ANNOTATION)
        if isinstance(name, str) and _TOKEN.fullmatch(name) and inner.get("type") in _TYPES:
            names[*path, key] = name
        _collect_names(inner, (*path, key), names)


def _find_argument(arguments: Any, path: tuple[str, ...]) -> Any:
    value = arguments
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _as_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int) else None
