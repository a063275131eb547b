"""The arguments of calls that a server wants repeated in HTTP headers. No I/O.

A property of a tool's input schema says so by `x-mcp-header`: its value is sent as
`Mcp-Param-<name>`, too. Tools with invalid annotations must be left out of the list (MCP
2026-07-28, transports, custom headers).
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.subschemas import walk
from toolwire_schemas.output import make_printable

from .http_messages import UNREADABLE, encode_value

if TYPE_CHECKING:
    from .http_messages import Outgoing

_ANNOTATION = "x-mcp-header"
_LOG = logging.getLogger("toolwire_client")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TYPES = ("string", "integer", "boolean")
"""Those that have one text in all languages; the specification allows no other."""

Names = dict[tuple[str, ...], str]
"""The names of headers, by the path of the argument."""


class _Tool(msgspec.Struct, rename="camel"):
    name: str
    input_schema: Any = None


_Members = dict[str, msgspec.Raw]
"""An object whose members stay as they were written: numbers keep their digits."""


class _Params(msgspec.Struct):
    name: str
    arguments: dict[str, Any] = {}


class _Call(msgspec.Struct):
    params: _Params


class ParameterHeaders:
    """Knows the headers of the tools that a server has listed.

    With *keeps_all*, lists keep the tools whose annotations are invalid.
    """

    def __init__(self, *, keeps_all: bool = False) -> None:
        self._keeps_all = keeps_all
        self._names: dict[str, Names] = {}
        self._reported: set[str] = set()

    def read_list(self, line: bytes) -> bytes:
        """Learn from the response to `tools/list` in *line*; return it without the tools whose
        annotations are invalid. The log names each once.
        """
        if not self._names and _ANNOTATION.encode() not in line:  # as nearly always
            return line
        try:
            response = msgspec.json.decode(line, type=_Members)
            result = msgspec.json.decode(response["result"], type=_Members)
            tools = msgspec.json.decode(result["tools"], type=list[msgspec.Raw])
            listed = msgspec.json.decode(result["tools"], type=list[_Tool])
        except (*UNREADABLE, KeyError):
            return line
        kept, dropped = [], set()
        for tool, source in zip(listed, tools, strict=True):
            names = find_names(tool.input_schema)
            self._names.pop(tool.name, None)
            if names is None:
                dropped.add(tool.name)
                continue
            kept.append(source)
            if names:
                self._names[tool.name] = names
        if not dropped or self._keeps_all:
            return line
        self._report(dropped)
        result["tools"] = msgspec.Raw(msgspec.json.encode(kept))
        response["result"] = msgspec.Raw(msgspec.json.encode(result))
        return msgspec.json.encode(response)

    def _report(self, dropped: set[str]) -> None:
        new = dropped - self._reported
        if not new:
            return
        self._reported |= new
        names = make_printable(", ".join(sorted(new)))
        _LOG.warning(
            "left out tools of the server whose %s annotations are invalid: %s", _ANNOTATION, names
        )

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


def find_names(schema: Any) -> Names | None:
    """Return the headers that a tool with this input *schema* wants; `None` if an annotation is
    invalid: only properties, and properties of these, may have one, and no two the same name.
    """
    if not isinstance(schema, dict):
        return {}
    annotated = sum(_ANNOTATION in part for _, part in walk(schema, ""))
    if not annotated:
        return {}
    names = _collect_names(schema)
    distinct = {name.lower() for name in names.values()}
    return names if len(distinct) == annotated else None


def _collect_names(schema: dict[str, Any]) -> Names:
    """Return the valid names of headers in *schema*."""
    names: Names = {}
    waiting: list[tuple[tuple[str, ...], dict[str, Any]]] = [((), schema)]
    while waiting:  # schemas of others may be deep
        path, outer = waiting.pop()
        properties = outer.get("properties")
        if not isinstance(properties, dict):
            continue
        for key, inner in properties.items():
            if not isinstance(inner, dict):
                continue
            name = inner.get(_ANNOTATION)
            if isinstance(name, str) and _TOKEN.fullmatch(name) and inner.get("type") in _TYPES:
                names[*path, key] = name
            waiting.append(((*path, key), inner))
    return names


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
