"""Waiting on an event loop for what blocks."""

from __future__ import annotations

import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

import anyio

from ..loop import Soon

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Return what *work* returns, which may block for as long as it likes.

    Cancellation leaves it to itself. So does the end of the program, which waits for anyio's own threads: a model that
    does not answer, or a person who does not, must not keep Ctrl-C from ending it.
    """
    soon, done = Soon(), anyio.Event()
    context = copy_context()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(context.run(work))
        except BaseException as error:  # whatever it is, it is raised where it was waited for
            errors.append(error)
        soon(done.set)  # without waiting: the loop may be ending, and then nobody would ever answer

    threading.Thread(target=run, name="toolwire model", daemon=True).start()
    await done.wait()
    if errors:
        raise errors.pop()
    return results[0]
