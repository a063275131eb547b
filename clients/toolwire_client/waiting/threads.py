"""Waits of an event loop for blocking work, and callbacks from that work to the loop."""

from __future__ import annotations

import logging
import threading
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from .event_loop import LoopScheduler

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Return the result of *work*, which may block for any time.

    Cancellation abandons the thread, and so does the end of the program: a model or a person that does not answer must
    not keep Ctrl-C from ending it. anyio's own threads are waited for at exit, so they cannot be used.
    """
    schedule, done = LoopScheduler(), anyio.Event()
    context = copy_context()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(context.run(work))
        except BaseException as error:  # raised again in the waiting task
            errors.append(error)
        schedule(done.set)  # must not block: the loop may be ending

    threading.Thread(target=run, name="toolwire model", daemon=True).start()
    await done.wait()
    if errors:
        raise errors.pop()
    return results[0]


def here(function: Callable[..., object]) -> Callable[..., None]:
    """Return a version of *function* that any thread may call: it runs on the event loop where this was called.

    Synchronous clients report progress, and blocking models stream their replies, in threads of their own.
    """
    schedule, thread = LoopScheduler(), threading.get_ident()

    def run(given: tuple[Any, ...]) -> None:
        try:
            function(*given)
        except Exception:  # no caller waits for it
            logging.getLogger("toolwire_client").exception("a progress or text callback raised an exception")

    def call(*given: Any) -> None:
        if threading.get_ident() == thread:
            function(*given)
        else:
            schedule(partial(run, given))

    return call
