"""The tools that the example hosts call."""

import threading

from toolwire import Context


def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


def count(to: int, context: Context) -> str:
    """Count, reporting each number."""
    for number in range(1, to + 1):
        context.progress(number, to)
    return f"counted to {to}"


def wait(seconds: float, context: Context) -> str:
    """Wait until the time is over or the call is cancelled."""
    context.progress(0, seconds)
    pause = threading.Event()
    for _ in range(int(seconds * 20)):
        context.check()
        pause.wait(0.05)
    return f"waited {seconds} s"
