"""Use a blocking client on an event loop."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from ..waiting.event_loop import here, in_thread

if TYPE_CHECKING:
    from ..protocol.results import CallResult, ToolDescription
    from ..session.request import OnProgress


class ThreadedClient:
    """Runs the calls of a synchronous *client* in threads."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.server_info = getattr(client, "server_info", {})

    async def list_tools(self, *, timeout_seconds: float | None = None) -> list[ToolDescription]:
        """As the client's method."""
        return await in_thread(partial(self._client.list_tools, timeout_seconds=timeout_seconds))

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """As the client's method. Cancelling the wait cancels the call, if the client has `start`."""
        report = here(on_progress) if on_progress else None
        start = getattr(self._client, "start", None)
        if start is None:
            whole = partial(self._client.call_tool, name, arguments, on_progress=report)
            return await in_thread(partial(whole, timeout_seconds=timeout_seconds))
        begun: list[Any] = []
        is_wanted = True

        def call() -> CallResult:
            pending = start(name, arguments, on_progress=report)
            begun.append(pending)
            if not is_wanted:  # cancelled while the call was starting
                pending.cancel()
            result: CallResult = pending.result(timeout_seconds)
            return result

        try:
            return await in_thread(call)
        except anyio.get_cancelled_exc_class():
            is_wanted = False
            for pending in begun:
                pending.cancel()
            raise
