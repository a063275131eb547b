"""Tools that wait, on the event loop and in a thread."""

import time

import anyio


async def sleep(seconds: float) -> str:
    """Sleep on the event loop."""
    await anyio.sleep(seconds)
    return "slept"


def block(seconds: float) -> str:
    """Sleep in a thread."""
    time.sleep(seconds)
    return "slept"
