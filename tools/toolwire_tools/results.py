"""The value of a tool as the MCP result of its call.

Strategy. A tool whose output schema is published answers with data: structured content, and the
same as JSON text for hosts that show only text. Every other tool is judged by the value: a str is
text, content blocks are themselves, bytes and pictures become blocks, and what remains is data as
well. Data that is no object travels as `{"result": ...}`, in schema and answer alike, because MCP
before 2026-07-28 allows only objects. The text is that of the bare value: `3`, `[1,2]`, `null`, and
strings unquoted.

A dict counts as a content block only if the tool published no output schema and the dict has a
known `type`, all members that type requires, of the right types, and no member that MCP does not
know. One member more and it is data: data shown wrongly can be corrected by returning `Text(...)`,
lost data cannot.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire.codec import encode

from .content import Content, File, Text, as_image, detect_media_type, encode_base64
from .errors import Cancelled
from .schema.to_json import make_plain_result, to_jsonable
from .signature.return_value import as_text, make_object_result, wrap_result

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from .context.context import Caller

Block = dict[str, Any]
Result = dict[str, Any]


def make_result_by_looks(value: Any, builtins: Callable[[Any], Any]) -> Result:
    """Return the MCP result for the value of a tool without an output schema; *builtins* makes data
    of it.
    """
    if type(value) is str:
        return {"content": [{"type": "text", "text": value}], "isError": False}
    if _shows_itself(value):
        return make_result_by_looks(value.to_content(), builtins)
    if isinstance(value, Content):
        return {"content": [value.make_block()], "isError": False}
    blocks = _find_blocks(value, builtins)
    if blocks is not None:
        return {"content": blocks, "isError": False}
    data = builtins(value)
    if isinstance(data, str) and isinstance(
        value, str
    ):  # a subclass of str: markup, a member of a StrEnum
        return {"content": [{"type": "text", "text": data}], "isError": False}
    if isinstance(data, dict):
        return make_object_result(data)
    return wrap_result(data)


def find_blocks(value: Any) -> list[Block] | None:
    """Return the content blocks that *value* consists of; None if it is plain data. Raises
    `OutputError`.
    """
    return _find_blocks(value, make_plain_result)


def _find_blocks(value: Any, builtins: Callable[[Any], Any]) -> list[Block] | None:
    """Return the content blocks in *value*; None if it is plain data."""
    if type(value) not in (list, tuple):
        return _make_blocks(value, builtins)
    if (
        set(map(type, value)) <= _PLAIN
    ):  # checked at the speed of C, since a list of data may be long
        return None
    found = [_make_blocks(item, builtins) for item in value]
    if all(blocks is None for blocks in found):
        return None
    blocks: list[Block] = []
    for item, of_item in zip(value, found, strict=True):
        blocks += (
            of_item if of_item is not None else [{"type": "text", "text": as_text(builtins(item))}]
        )
    return blocks


def _make_blocks(value: Any, builtins: Callable[[Any], Any]) -> list[Block] | None:
    if isinstance(value, _DATA):
        if type(value) is dict and is_block(value):
            return [builtins(value)]
        return None
    if isinstance(value, Content):
        return [value.make_block()]
    if isinstance(value, bytes | bytearray | memoryview):
        return [_make_media(bytes(value))]
    if _shows_itself(value):
        blocks: list[Block] = make_result_by_looks(value.to_content(), builtins)["content"]
        return blocks
    image = as_image(value)
    if image is None:
        return None
    return [image.make_block()]


def _shows_itself(value: Any) -> bool:
    """True for an object whose `to_content()` gives what a tool might return."""
    return callable(getattr(type(value), "to_content", None))


_PLAIN = {str, int, float, bool, type(None)}
_DATA = (str, int, float, dict, list, tuple, type(None))


def _make_media(data: bytes) -> Block:
    media_type = detect_media_type(data) or "application/octet-stream"
    family = media_type.partition("/")[0]
    if family in ("image", "audio"):
        return {"type": family, "data": encode_base64(data), "mimeType": media_type}
    return File(data, media_type=media_type).make_block()


# MCP's content blocks: the members each must have, and those it may have in addition to
# `annotations` and `_meta`.
_MUST: dict[str, dict[str, type]] = {
    "text": {"text": str},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "resource": {"resource": dict},
    "resource_link": {"uri": str, "name": str},
}
_MAY: dict[str, dict[str, type]] = {
    "resource_link": {
        "title": str,
        "description": str,
        "mimeType": str,
        "size": int,
        "icons": list,
    },
}
_ALWAYS: dict[str, type] = {"type": str, "annotations": dict, "_meta": dict}


def is_block(value: Block) -> bool:
    """True for a dict that can only be meant as an MCP content block, and that every client
    takes.
    """
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in _MUST:
        return False
    known = _MUST[kind] | _MAY.get(kind, {}) | _ALWAYS
    if not _MUST[kind].keys() <= value.keys() <= known.keys():
        return False
    if not all(isinstance(member, known[name]) for name, member in value.items()):
        return False
    return (
        _is_base64(value.get("data", ""))
        and _is_resource(value.get("resource", {"uri": "", "text": ""}))
        and _are_annotations(value.get("annotations", {}))
    )


def _is_resource(resource: dict[str, Any]) -> bool:
    if not isinstance(resource.get("uri"), str):
        return False
    if "text" in resource:
        return isinstance(resource["text"], str)
    return _is_base64(resource.get("blob"))


def _is_base64(text: Any) -> bool:
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except (ValueError, TypeError):
        return False
    return isinstance(text, str)


def _are_annotations(given: dict[str, Any]) -> bool:
    try:
        Text("", audience=given.get("audience"), priority=given.get("priority"))
    except (ValueError, TypeError):
        return False
    return not isinstance(given.get("audience"), str)


# Generators: each item is reported as progress, and together they are the answer.


def consume_generator(items: Iterator[Any], caller: Caller, *, joins: bool) -> Any:
    """The answer of a generator: its non-None return value, else its items (strings joined if
    *joins*).
    """
    items_so_far: list[Any] = []
    try:
        while True:
            try:
                item = next(items)
            except StopIteration as end:
                if end.value is not None:
                    return end.value
                return _join(items_so_far, joins)
            _tell(item, items_so_far, caller)
    finally:
        if hasattr(items, "close"):  # map, filter and other iterators have none
            items.close()


async def consume_async_generator(items: AsyncIterator[Any], caller: Caller, *, joins: bool) -> Any:
    """As `consume_generator`, for an async generator."""
    items_so_far: list[Any] = []
    try:
        async for item in items:
            _tell(item, items_so_far, caller)
        return _join(items_so_far, joins)
    finally:
        if hasattr(items, "aclose"):
            await items.aclose()


def _tell(item: Any, items_so_far: list[Any], caller: Caller) -> None:
    items_so_far.append(item)
    caller.progress(len(items_so_far), None, _read_message(item))
    if caller.cancelled:
        raise Cancelled("the call was cancelled between two items")


def _read_message(item: Any) -> str | None:
    if isinstance(item, str):
        return item
    if isinstance(item, Content | bytes | bytearray):
        return None
    try:
        return encode(to_jsonable(item)).decode()
    except ValueError:  # progress is a courtesy; the answer will say what is wrong with the item
        return None


def _join(items_so_far: list[Any], joins: bool) -> Any:
    if joins and all(isinstance(item, str) for item in items_so_far):
        return "".join(items_so_far)
    return items_so_far
