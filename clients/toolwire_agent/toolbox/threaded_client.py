"""Use a blocking client on an event loop."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from toolwire_client.errors import NoTasks
from toolwire_client.waiting.base import run_in_daemon_thread
from toolwire_client.waiting.event_loop import bind_to_loop, run_in_thread

if TYPE_CHECKING:
    from concurrent.futures import Future

    from toolwire_client.protocol.results import CallResult, ToolDescription
    from toolwire_client.session.request import OnProgress


class ThreadedClient:
    """Runs the calls of a synchronous *client* in threads."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.server_info = getattr(client, "server_info", {})

    async def list_tools(self, *, timeout_seconds: float | None = None) -> list[ToolDescription]:
        return await run_in_thread(
            partial(self._client.list_tools, timeout_seconds=timeout_seconds)
        )

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """As the client's method. Cancelling the wait cancels the call, if the client has
        `start`.
        """
        report = bind_to_loop(on_progress) if on_progress else None
        start = getattr(self._client, "start", None)
        if start is None:
            whole = partial(self._client.call_tool, name, arguments, on_progress=report)
            return await run_in_thread(partial(whole, timeout_seconds=timeout_seconds))
        starting = run_in_daemon_thread(partial(start, name, arguments, on_progress=report))
        try:
            result: CallResult = await run_in_thread(
                lambda: starting.result().result(timeout_seconds)
            )
        except anyio.get_cancelled_exc_class():
            starting.add_done_callback(_cancel)  # at once, or when the call has started
            raise
        return result

    async def wait_for_task(
        self,
        name: str,
        task_id: str,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """As the client's method; cancelling the wait leaves the task running."""
        find_task = getattr(self._client, "wait_for_task", None)
        if find_task is None:
            raise NoTasks("this client has no tasks")
        report = bind_to_loop(on_progress) if on_progress else None
        wait = partial(find_task, name, task_id, on_progress=report)
        return await run_in_thread(partial(wait, timeout_seconds=timeout_seconds))


def _cancel(starting: Future[Any]) -> None:
    with suppress(Exception):  # it was never started
        starting.result().cancel()
