"""What a tool returned, as the MCP result of its call.

Strategy. A tool whose output schema is published answers with data: structured content, and the same as
JSON text for hosts that show only text. Every other tool is judged by the value: a str is text, content
blocks are themselves, bytes and pictures become blocks, and what remains is data as well. Data that is no
object travels as `{"result": ...}`, in schema and answer alike, because MCP before 2026-07-28 allows only
objects. The text is that of the bare value: `3`, `[1,2]`, `null`, and strings unquoted.

A dict counts as a content block only if the tool published no output schema and the dict has a known
`type`, all members that type requires, of the right types, and no member that MCP does not know. One
member more and it is data: wrongly shown data is mended by returning `Text(...)`, lost data by nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.codec import encode

from .content import Content, File, base64_of
from .figures import picture
from .media_types import media_type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from .returns import Returns

Block = dict[str, Any]
Result = dict[str, Any]


def presenter(returns: Returns) -> Callable[[Any], Result]:
    """The function that makes the MCP result from what the tool returned. It raises `OutputError`."""
    builtins = returns.builtins
    if returns.output_schema is None:
        return lambda value: _by_looks(value, builtins)
    if returns.wraps:
        return lambda value: _wrapped(builtins(value))
    return lambda value: _object(builtins(value))


def _wrapped(data: Any) -> Result:
    return {"content": [_as_text(data)], "structuredContent": {"result": data}, "isError": False}


def _object(data: Any) -> Result:
    return {"content": [_as_text(data)], "structuredContent": data, "isError": False}


def _as_text(data: Any) -> Block:
    kind = type(data)
    # The commonest answers are spelled here; str() of an int is its JSON, of any size up to Python's limit.
    if kind is str:
        text = data
    elif kind is int and -_LARGE < data < _LARGE:
        text = str(data)
    else:
        text = encode(data).decode()
    return {"type": "text", "text": text}


_LARGE = 2**64


def _by_looks(value: Any, builtins: Callable[[Any], Any]) -> Result:
    if type(value) is str:
        return {"content": [{"type": "text", "text": value}], "isError": False}
    blocks = _blocks(value, builtins)
    if blocks is not None:
        return {"content": blocks, "isError": False}
    data = builtins(value)
    if isinstance(value, str):  # a subclass of str: an Enum, markup
        return {"content": [_as_text(data)], "isError": False}
    return _object(data) if isinstance(data, dict) else _wrapped(data)


def _blocks(value: Any, builtins: Callable[[Any], Any]) -> list[Block] | None:
    """The content blocks in *value*, None if there are none and it is plain data."""
    if not isinstance(value, list | tuple):
        block = _block(value)
        return None if block is None else [block]
    blocks = [_block(item) for item in value]
    if all(block is None for block in blocks):
        return None
    return [block or _as_text(builtins(item)) for block, item in zip(blocks, value, strict=True)]


def _block(value: Any) -> Block | None:
    if isinstance(value, _DATA):
        return value if type(value) is dict and is_block(value) else None
    if isinstance(value, Content):
        return value.block()
    if isinstance(value, bytes | bytearray | memoryview):
        return _media(bytes(value))
    image = picture(value)
    return None if image is None else image.block()


_DATA = (str, int, float, dict, list, tuple, type(None))


def _media(data: bytes) -> Block:
    media_type = media_type_of(data) or "application/octet-stream"
    family = media_type.partition("/")[0]
    if family in ("image", "audio"):
        return {"type": family, "data": base64_of(data), "mimeType": media_type}
    return File(data, media_type=media_type).block()


# MCP's content blocks: the members each must have, and those it may have beside `annotations` and `_meta`.
_MUST: dict[str, dict[str, type]] = {
    "text": {"text": str},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "resource": {"resource": dict},
    "resource_link": {"uri": str, "name": str},
}
_MAY: dict[str, dict[str, type]] = {
    "resource_link": {"title": str, "description": str, "mimeType": str, "size": int, "icons": list},
}
_ALWAYS: dict[str, type] = {"type": str, "annotations": dict, "_meta": dict}


def is_block(value: Block) -> bool:
    """True for a dict that can only be meant as an MCP content block."""
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in _MUST:
        return False
    must = _MUST[kind]
    known = must | _MAY.get(kind, {}) | _ALWAYS
    fits = all(name in known and isinstance(member, known[name]) for name, member in value.items())
    return fits and all(name in value for name in must) and (kind != "resource" or _is_resource(value["resource"]))


def _is_resource(resource: dict[str, Any]) -> bool:
    return isinstance(resource.get("uri"), str) and isinstance(resource.get("text", resource.get("blob")), str)
