"""A file of tools that shows the range of what can be served: `toolwire demo` runs it.

Its functions need nothing but the standard library.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from toolwire_tools import Context, Image, ToolError, tool_api


@tool_api(read_only=True, idempotent=True)
def add(a: int, b: int) -> int:
    """Add two whole numbers of any size."""
    return a + b


@tool_api(read_only=True, idempotent=True)
def multiply(a: int, b: int) -> int:
    """Multiply two whole numbers of any size."""
    return a * b


@dataclass
class Statistics:
    """Counts of a text."""

    words: int
    letters: int
    longest: str


@tool_api(read_only=True)
def count_words(text: Annotated[str, "Any text."]) -> Statistics:
    """Count the words and letters of a text, and find its longest word."""
    words = text.split()
    return Statistics(len(words), sum(map(len, words)), max(words, key=len, default=""))


@tool_api(read_only=True, task="auto")
async def tell_story(hero: str = "a small teapot") -> AsyncIterator[str]:
    """Tell a story, sentence by sentence."""
    for sentence in (
        f"Once upon a time there was {hero}. ",
        "It could do one thing well, and it wrote down how. ",
        "From then on, everybody who asked got tea.",
    ):
        await asyncio.sleep(0.15)  # a sentence takes its time
        yield sentence


@tool_api(read_only=True, task="auto")
def find_primes(below: int, context: Context) -> list[int]:
    """Find all primes below a number, reporting progress. It can be cancelled.

    Args:
        below: where to stop.
    """
    primes: list[int] = []
    for number in range(2, below):
        if number % 1000 == 0:
            context.check()
            context.progress(number, below, f"{len(primes)} primes so far")
        root = int(number**0.5)
        if all(number % prime for prime in primes if prime <= root):
            primes.append(number)
    return primes


@tool_api(read_only=True)
def draw_square(red: int = 200, green: int = 60, blue: int = 40) -> Image:
    """Draw a square in one colour."""
    square = f'<rect width="64" height="64" fill="rgb({red}, {green}, {blue})"/>'
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">{square}</svg>'
    return Image(data=drawing.encode(), media_type="image/svg+xml")


class Notes:
    """A toolkit: its decorated methods are tools that share one object."""

    def __init__(self) -> None:
        self._notes: dict[str, str] = {}

    @tool_api
    def write(self, title: str, text: str) -> str:
        """Keep a note."""
        self._notes[title] = text
        return f"Notes kept so far: {len(self._notes)}."

    @tool_api(read_only=True)
    def read(self, title: str) -> str:
        """Read a note."""
        if title not in self._notes:
            raise ToolError(f"There is no note called {title!r}.")
        return self._notes[title]
