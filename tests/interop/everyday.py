"""The tools that every peer is tried with; served as a file, so nothing here may know about the
tests.
"""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from toolwire_tools import AsyncContext, Context, Image, ToolError, tool_api

# One red pixel.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
# Longer than any wait of a test should be, shorter than anybody would leave a hung run alone.
PATIENCE_SECONDS = 60.0

_seen = threading.Semaphore(0)
_stopped: list[str] = []
_news = threading.Condition()


@dataclass
class Share:
    """What each of several people pays."""

    each: float
    remainder: int
    currency: str = "EUR"


@tool_api(read_only=True, idempotent=True)
def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


@tool_api
def split(cents: int, people: int, currency: str = "EUR") -> Share:
    """Split a bill."""
    return Share(cents // people / 100, cents % people, currency)


@tool_api
def greet(name: str) -> str:
    """Greet a person, in several scripts."""
    return f"Grüße, {name}! 你好 \U0001f44b"


@tool_api
def countdown(start: int) -> Iterator[str]:
    """Count down to one, telling each number as progress and waiting until it was seen."""
    for number in range(start, 0, -1):
        yield f"{number} "
        _seen.acquire(timeout=PATIENCE_SECONDS)


@tool_api
def steps(total: int, context: Context) -> str:
    """Report progress in steps, waiting after each until it was seen."""
    for step in range(1, total + 1):
        context.progress(step, total, f"step {step}")
        _seen.acquire(timeout=PATIENCE_SECONDS)
    return "done"


@tool_api
def seen() -> None:
    """Let the tool that waits take its next step.

    The official TypeScript clients lose progress that arrives in one chunk with the answer, so a
    call that asserts its progress must not end before the client has seen it.
    """
    _seen.release()


@tool_api
def refuse(reason: str) -> str:
    """Fail with the given reason."""
    raise ToolError(reason)


@tool_api
def divide(a: int, b: int) -> float:
    """Divide; by zero it fails as Python does."""
    return a / b


@tool_api
def chatter() -> str:
    """Write to standard output in every way a tool might."""
    print("printed by a tool")
    sys.stdout.buffer.write(b"written to the buffer by a tool\n")
    os.write(1, b'{"jsonrpc": "2.0", "id": 1, "result": "written to descriptor 1 by a tool"}\n')
    subprocess.run(
        [sys.executable, "-c", "print('printed by a child'); input()"],
        stderr=subprocess.DEVNULL,
        check=False,
    )
    print("left in the buffer", end="")
    return "quiet"


@tool_api
def picture() -> Image:
    """One red pixel."""
    return Image(PIXEL, media_type="image/png")


@tool_api
def work(name: str, context: Context) -> str:
    """Work in a thread until the call is cancelled; the first progress says that the work has
    begun.
    """
    context.progress(1, None, "begun")
    waiting = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / 0.01)):
        if context.cancelled:
            _stop(name)
            context.check()
        waiting.wait(0.01)
    return "never cancelled"


@tool_api
async def doze(name: str, context: AsyncContext) -> str:
    """Sleep on the event loop until the call is cancelled; the first progress says that the sleep
    has begun.
    """
    context.progress(1, None, "begun")
    try:
        await asyncio.sleep(PATIENCE_SECONDS)
    except asyncio.CancelledError:
        _stop(name)
        raise
    return "never cancelled"


@tool_api
def stopped(names: list[str]) -> list[str]:
    """Wait until the calls with these names have noticed that they were cancelled, and tell which
    have.
    """
    with _news:
        _news.wait_for(lambda: set(names) <= set(_stopped), timeout=PATIENCE_SECONDS)
        return sorted(_stopped)


def _stop(name: str) -> None:
    with _news:
        _stopped.append(name)
        _news.notify_all()
