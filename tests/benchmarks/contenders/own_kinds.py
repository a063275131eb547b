"""The kinds of `kinds.py`, and those of Toolwire's own: each returns its argument in one way."""

from collections.abc import AsyncIterator, Iterator

import kinds
from toolwire_tools import Context, Text


def block(value: str) -> Text:
    return Text(value)


def with_context(value: int, context: Context) -> int:
    return value


def with_progress(value: int) -> Iterator[int]:
    yield value
    yield value


async def async_progress(value: int) -> AsyncIterator[int]:
    yield value
    yield value


__tools__ = [*kinds.__tools__, block, with_context, with_progress, async_progress]
