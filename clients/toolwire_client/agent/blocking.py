"""Runs of an agent, for code without an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from anyio.from_thread import start_blocking_portal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

T = TypeVar("T")


def stepped(begin: Callable[[], AsyncGenerator[T, None]]) -> Iterator[T]:
    """Return what an asynchronous generator yields, which runs on an event loop in a thread of its own.

    Whoever stops waiting, for instance by Ctrl-C, cancels what it does.
    """
    with start_blocking_portal() as portal:
        events = begin()

        async def step() -> T | None:
            return await anext(events, None)

        try:
            while True:
                waiting = portal.start_task_soon(step)
                try:
                    event = waiting.result()
                except BaseException:
                    waiting.cancel()
                    raise
                if event is None:
                    return
                yield event
        finally:
            portal.call(events.aclose)
