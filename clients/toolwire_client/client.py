"""The client for code without an event loop: every wait blocks the calling thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self, overload

from .async_client import AsyncClient, Running, ServerDetails
from .session.pending_call import AsyncPendingCall
from .session.task import AsyncTask
from .waiting.base import make_blocking, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from .protocol.results import CallResult
    from .protocol.tasks import TaskStatus
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

    result = make_blocking(
        AsyncPendingCall.result
    )  # callbacks for progress and questions run in this thread


class Task:
    """A call that goes on at its server. `task.result()` gives its result, `for status in task`
    each change until it has ended; otherwise as `AsyncTask`.
    """

    def __init__(self, task: AsyncTask) -> None:
        self._async = task

    @property
    def id(self) -> str:
        """As `AsyncTask.id`."""
        return self._async.id

    @property
    def tool(self) -> str:
        """As `AsyncTask.tool`."""
        return self._async.tool

    @property
    def status(self) -> TaskStatus | None:
        """As `AsyncTask.status`."""
        return self._async.status

    result = make_blocking(AsyncTask.result)
    read_status = make_blocking(AsyncTask.read_status)
    cancel = make_blocking(AsyncTask.cancel)

    def changes(self, timeout_seconds: float | None = None) -> Iterator[TaskStatus]:
        """As `AsyncTask.changes`."""
        changes = self._async.changes(timeout_seconds)

        async def take_next() -> TaskStatus | None:
            return await anext(changes, None)

        try:
            while (status := run(take_next())) is not None:
                yield status
        finally:
            run(changes.aclose())

    def __iter__(self) -> Iterator[TaskStatus]:
        return self.changes()


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

    def _get_details(self) -> Running | None:
        return self._async._get_details()

    @property
    def pid(self) -> int | None:
        """As `AsyncClient.pid`."""
        return self._async.pid

    list_tools = make_blocking(AsyncClient.list_tools)
    list_entries = make_blocking(AsyncClient.list_entries)
    wait_for_task = make_blocking(AsyncClient.wait_for_task)
    list_tasks = make_blocking(AsyncClient.list_tasks)
    list_resources = make_blocking(AsyncClient.list_resources)
    list_resource_templates = make_blocking(AsyncClient.list_resource_templates)
    read_resource = make_blocking(AsyncClient.read_resource)
    list_prompts = make_blocking(AsyncClient.list_prompts)
    get_prompt = make_blocking(AsyncClient.get_prompt)
    complete = make_blocking(AsyncClient.complete)
    ping = make_blocking(AsyncClient.ping)
    request = make_blocking(AsyncClient.request)
    set_log_level = make_blocking(AsyncClient.set_log_level)
    close = make_blocking(AsyncClient.close)

    @overload
    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
        task: Literal[False] = False,
    ) -> CallResult: ...

    @overload
    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
        task: Literal[True],
    ) -> Task: ...

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
        task: bool = False,
    ) -> CallResult | Task:
        """As `AsyncClient.call_tool`."""
        called: dict[str, Any] = {"on_progress": on_progress, "timeout_seconds": timeout_seconds}
        if task:
            return Task(run(self._async.call_tool(name, arguments, task=True, **called)))
        return run(self._async.call_tool(name, arguments, task=False, **called))

    def task(self, task_id: str, *, tool: str = "") -> Task:
        """As `AsyncClient.task`."""
        return Task(self._async.task(task_id, tool=tool))

    def start(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
    ) -> PendingCall:
        """As `AsyncClient.start`."""
        return PendingCall(run(self._async.start(name, arguments, on_progress=on_progress)))
