"""Between an agent and code without an event loop: clients of `with`, and runs that are waited for by blocking."""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from ..loop import Soon
from ..models.threads import in_thread
from ..toolbox.sources import ClientLike

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

    from ..exchange import OnProgress
    from ..results import CallResult, ToolDescription

T = TypeVar("T")


def on_loop(things: Any) -> Any:
    """Return *things*, as a toolbox takes them, with clients that block in a form that does not."""
    if isinstance(things, Mapping):
        return {name: on_loop(thing) for name, thing in things.items()}
    if isinstance(things, list | tuple):
        return [on_loop(thing) for thing in things]
    blocks = isinstance(things, ClientLike) and not inspect.iscoroutinefunction(things.call_tool)
    return Unblocked(things) if blocks else things


class Unblocked:
    """A client whose calls are waited for in threads."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.server_info = getattr(client, "server_info", {})

    async def list_tools(self, *, timeout_seconds: float | None = None) -> list[ToolDescription]:
        """As of the client."""
        return await in_thread(partial(self._client.list_tools, timeout_seconds=timeout_seconds))

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """As of the client. Whoever gives up waiting cancels the call, if the client can be told."""
        start = getattr(self._client, "start", None)
        if start is None:
            call = partial(self._client.call_tool, name, arguments, on_progress=on_progress)
            return await in_thread(partial(call, timeout_seconds=timeout_seconds))
        pending = await in_thread(partial(start, name, arguments, on_progress=on_progress))
        try:
            result: CallResult = await in_thread(partial(pending.result, timeout_seconds))
        except anyio.get_cancelled_exc_class():
            pending.cancel()
            raise
        return result


def here(function: Callable[[T], object]) -> Callable[[T], None]:
    """Return *function*, as it may be called from any thread: it runs where this was called, on the event loop.

    Clients of `with` report progress, and models that block write their answer, in threads of their own.
    """
    soon, thread = Soon(), threading.get_ident()

    def told(value: T) -> None:
        try:
            function(value)
        except Exception:  # nobody waits for it
            logging.getLogger("toolwire_client").exception("a function that hears what goes on has failed")

    def call(value: T) -> None:
        if threading.get_ident() == thread:
            function(value)
        else:
            soon(partial(told, value))

    return call


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
