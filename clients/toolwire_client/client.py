"""The client for code without an event loop: every wait blocks the calling thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from .async_client import AsyncClient, Running, ServerDetails
from .session.request import AsyncPendingCall
from .waiting.base import blocking, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .session.request import OnProgress


class PendingCall:
    """An open tool call. One thread waits for it; any other may cancel it."""

    def __init__(self, call: AsyncPendingCall) -> None:
        self._async = call
        self.cancel = call.cancel

    @property
    def id(self) -> int:
        """As `AsyncPendingCall.id`."""
        return self._async.id

    result = blocking(
        AsyncPendingCall.result
    )  # callbacks for progress and questions run in this thread


class Client(ServerDetails):
    """A client of one tool server, open inside `with connect(...)`, where the server's process
    lives.

    It has all methods of `AsyncClient`, and any number of threads may use it at once. Ctrl-C, and
    any exception of a callback, cancels the request that the thread waits for.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._async = client  # with a `Waiting` that blocks

    def __enter__(self) -> Self:
        run(self._async.__aenter__())
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _details(self) -> Running | None:
        return self._async._details()

    @property
    def pid(self) -> int | None:
        """As `AsyncClient.pid`."""
        return self._async.pid

    list_tools = blocking(AsyncClient.list_tools)
    list_entries = blocking(AsyncClient.list_entries)
    call_tool = blocking(AsyncClient.call_tool)
    list_resources = blocking(AsyncClient.list_resources)
    list_resource_templates = blocking(AsyncClient.list_resource_templates)
    read_resource = blocking(AsyncClient.read_resource)
    list_prompts = blocking(AsyncClient.list_prompts)
    get_prompt = blocking(AsyncClient.get_prompt)
    complete = blocking(AsyncClient.complete)
    ping = blocking(AsyncClient.ping)
    request = blocking(AsyncClient.request)
    set_log_level = blocking(AsyncClient.set_log_level)
    close = blocking(AsyncClient.close)

    def start(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
    ) -> PendingCall:
        """As `AsyncClient.start`."""
        return PendingCall(run(self._async.start(name, arguments, on_progress=on_progress)))
