"""Tools that run as tasks, for the clients of others."""

from __future__ import annotations

import time

from toolwire import Context, tool_api


@tool_api(task="always")
def work(steps: int, context: Context) -> str:
    """Work in steps."""
    for step in range(steps):
        context.check()
        context.status(f"step {step + 1}")
        time.sleep(0.2)
    return "worked"


@tool_api(task="always")
def delete(context: Context) -> str:
    """Delete something, if the user is sure."""
    return "deleted" if context.ask("Sure?", bool) else "kept"


@tool_api(task="always")
def fail() -> str:
    """Fail."""
    raise ValueError("out of order")
