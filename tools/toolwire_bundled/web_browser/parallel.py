"""Several things at once, each with an outcome of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from toolwire_schemas.threads import restore_hooks
from toolwire_tools.errors import ToolError

T = TypeVar("T")

_AT_ONCE = 4


def run_in_parallel(works: Sequence[Callable[[], T]]) -> list[T | ToolError]:
    """Return the result of each of *works*, or the `ToolError` it raises, in order. Any other
    exception is raised once all have ended; a cancelled call ends all of them."""
    from concurrent.futures import ThreadPoolExecutor

    restore_hooks()
    with ThreadPoolExecutor(min(_AT_ONCE, len(works)), "toolwire-web") as threads:
        futures = [threads.submit(_get_outcome, work) for work in works]
    return [future.result() for future in futures]


def _get_outcome(work: Callable[[], T]) -> T | ToolError:
    try:
        return work()
    except ToolError as error:
        return error
