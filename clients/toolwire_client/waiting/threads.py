"""Between an event loop and other threads: to wait for what blocks, and to hear what it tells meanwhile."""

from __future__ import annotations

import logging
import threading
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from .event_loop import Soon

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


def here(function: Callable[..., object]) -> Callable[..., None]:
    """Return *function*, as it may be called from any thread: it runs where this was called, on the event loop.

    Clients of `with` report progress, and models that block write their answer, in threads of their own.
    """
    soon, thread = Soon(), threading.get_ident()

    def told(given: tuple[Any, ...]) -> None:
        try:
            function(*given)
        except Exception:  # nobody waits for it
            logging.getLogger("toolwire_client").exception("a function that hears what goes on has failed")

    def call(*given: Any) -> None:
        if threading.get_ident() == thread:
            function(*given)
        else:
            soon(partial(told, given))

    return call
