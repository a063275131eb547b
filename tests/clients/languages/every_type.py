"""The server that clients of all languages are driven with: every kind of type, and every way a
call can go.

It is served as a file, so nothing here may know about the tests.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
from toolwire_tools import AsyncContext, Context, Image, ToolError, tool_api

PATIENCE_SECONDS = 60.0
_cancelled: list[str] = []
_news = threading.Condition()


class Colour(Enum):
    RED = "red"
    LIGHT_GREEN = "light green"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Point:
    """A place in the plane."""

    x: float
    y: float = 0.0


class Circle(msgspec.Struct, tag="circle"):
    """Everything that is equally far from a point."""

    centre: Point
    radius: float


class Square(msgspec.Struct, tag="square"):
    """Four equal sides."""

    side: float


@dataclass
class Tree:
    """A node with its branches, which are trees again."""

    name: str
    branches: list[Tree] = field(default_factory=list)
    parent: Tree | None = None


class Options(TypedDict):
    """Members that may be absent, and names that are words of many languages."""

    type: str
    default: NotRequired[int]
    func: NotRequired[bool | None]


Everything = TypedDict(
    "Everything",
    {
        "text": str,
        "whole": int,
        "number": float,
        "flag": bool,
        "nothing": None,
        "mode": Literal["fast", "slow", "as usual"],
        "colour": Colour,
        "level": Level,
        "one_or_two": Literal[1, 2],
        "words": list[str],
        "pair": tuple[int, str],
        "counts": dict[str, int],
        "matrix": list[list[float]],
        "place": Point,
        "places": dict[str, list[Point]],
        "shape": Circle | Square,
        "tree": Tree,
        "maybe": str | None,
        "either": int | str | list[int],
        "options": Options,
        "day": date,
        "anything": Any,
        "kebab-case": NotRequired[str],
        "später": NotRequired[int],
    },
)
"""A value of every kind."""


@tool_api(read_only=True, idempotent=True)
def add(a: int, b: int = 1) -> int:
    """Add two whole numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


@tool_api(read_only=True, title="Every type")
def every_type(
    value: Everything, times: Annotated[int, msgspec.Meta(ge=1, le=3)] = 1
) -> list[Everything]:
    """Return the value as it came, several times.

    Nothing in a description ends a comment: */ --]] ]=] # \""" ''' `;

    Args:
        value: One member of each kind.
        times: How many times.
    """
    return [value] * times


@tool_api
def echo(text: str = "", type: str = "", self_: int = 0) -> str:  # noqa: A002
    """Return the text as it came."""
    return text


@tool_api
def plant(depth: int) -> Tree:
    """Return a tree that has one branch on each of *depth* levels."""
    tree = Tree("leaf")
    for level in range(depth):
        tree = Tree(f"level {level}", [tree])
    return tree


@tool_api
def measure(shape: Circle | Square) -> float:
    """Return the size of a shape."""
    return shape.side**2 if isinstance(shape, Square) else 3 * shape.radius**2


@tool_api
def picture() -> Image:
    """Return one red pixel, which is no structured result."""
    return Image(b"\x89PNG", media_type="image/png")


@tool_api
def nothing() -> None:
    """Return nothing."""


@tool_api(structured=False)
def just_text(words: list[str]) -> str:
    """Return a text without a structured result."""
    return " ".join(words)


@tool_api
def fail(reason: str) -> int:
    """Fail with this reason."""
    raise ToolError(reason)


@tool_api
def count(to: int, context: Context) -> int:
    """Report each number as progress, then return the last."""
    for number in range(1, to + 1):
        context.progress(number, to, f"number {number}")
    return to


@tool_api
async def wait(name: str, context: AsyncContext) -> str:
    """Wait until the call is cancelled; its first progress says that the wait has started."""
    context.progress(0, None, "started")
    try:
        await asyncio.sleep(PATIENCE_SECONDS)
    except asyncio.CancelledError:
        with _news:
            _cancelled.append(name)
            _news.notify_all()
        raise
    return "never cancelled"


@tool_api
def was_cancelled(name: str) -> bool:
    """Wait until the call of `wait` with this name was cancelled, and return whether it was."""
    with _news:
        return _news.wait_for(lambda: name in _cancelled, PATIENCE_SECONDS)


@dataclass
class Order:
    """What the user is asked for."""

    size: Literal["small", "large"]
    pieces: int = 1
    gift: bool = False


@tool_api
def order(dish: str, context: Context) -> str:
    """Ask the user how much of a dish to order."""
    wanted = context.ask(f"How much {dish}?", Order)
    return f"{wanted.pieces} {wanted.size} {dish}{' as a gift' if wanted.gift else ''}"


@tool_api
def die(status: int, words: str) -> int:
    """Write words to the server's stderr and end the server with this exit status."""
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()
    os._exit(status)


@tool_api
def spell(word: str) -> Iterator[str]:
    """Return the letters of a word one after the other, as progress."""
    yield from word


@tool_api(name="list-items.v2")
def list_items(first: int = 0, max_items: int | None = None) -> dict[str, list[int]]:
    """Return whole numbers from *first*; a name that few languages allow."""
    return {"items": list(range(first, first + (3 if max_items is None else max_items)))}


@tool_api(name="class")
def class_() -> str:
    """Return the name of this tool, a reserved word of many languages."""
    return "class"


@tool_api(name="getURLFor")
def get_url_for(page: str) -> str:
    """Return an address."""
    return f"https://example.org/{page}"
