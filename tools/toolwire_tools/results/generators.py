"""Generators as tools: each item is reported as progress, and together they are the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire.codec import encode

from ..content.blocks import Content
from ..context.context import Cancelled
from ..schema.to_json import to_jsonable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from ..context.context import Caller


def consume_generator(items: Iterator[Any], caller: Caller, *, joins: bool) -> Any:
    """The answer of a generator: its non-None return value, else its items (strings joined if *joins*).

    Raises:
        Cancelled: between two items, once the call is cancelled; the generator's `finally` has run by then.
    """
    items_so_far: list[Any] = []
    try:
        while True:
            try:
                item = next(items)
            except StopIteration as end:
                return end.value if end.value is not None else _together(items_so_far, joins)
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
        return _together(items_so_far, joins)
    finally:
        if hasattr(items, "aclose"):
            await items.aclose()


def _tell(item: Any, items_so_far: list[Any], caller: Caller) -> None:
    items_so_far.append(item)
    caller.progress(len(items_so_far), None, _message(item))
    if caller.cancelled:
        raise Cancelled("the call was cancelled between two items")


def _message(item: Any) -> str | None:
    if isinstance(item, str):
        return item
    if isinstance(item, Content | bytes | bytearray):
        return None
    try:
        return encode(to_jsonable(item)).decode()
    except ValueError:  # progress is a courtesy; the answer will say what is wrong with the item
        return None


def _together(items_so_far: list[Any], joins: bool) -> Any:
    return "".join(items_so_far) if joins and all(isinstance(item, str) for item in items_so_far) else items_so_far
