"""The client, written once for both ways of waiting: list and call tools, report progress, cancel,
restart.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import msgspec
from toolwire_schemas.deadline import Deadline
from toolwire_schemas.output import Output
from toolwire_schemas.wire.messages import DEFAULT_MAX_MESSAGE_BYTES

from .errors import ClientError, Closed, NoTasks, TimedOut
from .protocol.client_protocol import LOG_LEVEL, ClientProtocol
from .protocol.events import (
    ElicitationRequest,
    Event,
    LinkCompleted,
    ListChanged,
    LogEntry,
    SubscriptionConfirmed,
)
from .protocol.results import (
    CallResult,
    Described,
    PromptDescription,
    PromptResult,
    ResourceDescription,
    ResourceResult,
    ResourceTemplate,
    ToolDescription,
    describe,
    describe_entry,
    read_completion_values,
    read_contents,
    read_prompt_messages,
)
from .protocol.tasks import TaskStatus, can_list_tasks, has_tasks, read_status
from .session.connection import Connection
from .session.elicitation import ElicitationHandler
from .session.handshake import HandshakeResult, shake_hands
from .session.pending_call import AsyncPendingCall
from .session.request import OnProgress, RequestHandle, complete
from .session.task import AsyncTask
from .session.task_wait import cancel_soon
from .session.tool_list import CachedToolList, fetch_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .protocol.events import OnLog
    from .session.connection import TakeFrame
    from .session.elicitation import OnAsk
    from .session.handshake import Era
    from .transport.base import Transport
    from .waiting.base import Waiting

    OnHostEvent = Callable[[ElicitationRequest | LinkCompleted, Connection], object]

START_TIMEOUT_SECONDS = 120.0
"""Long enough for a package runner to download a server first."""
OWN_NAME = "toolwire"
OWN_VERSION = "0.1.0"

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
GOOD_LIFE_SECONDS = 60.0
"""A server that ran this long did not fail at start: the pauses start again at the first."""

_NOT_OPEN = "the client is not open: use it inside its `with` block"


class ClientSettings(msgspec.Struct, frozen=True, kw_only=True):
    """*launch* starts a server. The others are as in `connect`.

    *on_list_changed* is called on the reading thread with `tools`, `resources` or `prompts`, and
    *on_host_event* with requests and notices of the server that are for a host, and its connection.
    *log_level* is what the server is asked to send at first, `None` for nothing. *capabilities* are
    declared in addition to elicitation, and the ids of requests count from *first_request_id*. With
    *takes_tasks*, servers may answer calls with tasks.
    *take_frame* gets each message before the client, on the reading thread; one for which it
    returns true goes no further. *loses_notifications* says whether those of no request may get
    lost, so that a list is not cached because they are promised.
    """

    launch: Callable[[], Transport]
    era: Era = "auto"
    restart: bool | int = False
    on_ask: OnAsk | None = None
    on_log: OnLog | None = None
    on_list_changed: Callable[[str], object] = lambda what: None
    on_host_event: OnHostEvent = lambda event, connection: None
    log_level: str | None = LOG_LEVEL
    capabilities: Mapping[str, Any] = {}
    takes_tasks: bool = False
    first_request_id: int = 1
    take_frame: TakeFrame | None = None
    loses_notifications: bool = False
    start_timeout_seconds: float | None = START_TIMEOUT_SECONDS
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    name: str = OWN_NAME
    version: str = OWN_VERSION

    @property
    def wanted_level(self) -> str | None:
        """The level to request; `None` if nothing takes the log."""
        if self.on_log is None:
            return None
        return self.log_level


class Running(msgspec.Struct, frozen=True, eq=False):
    """A server that was started and got ready; it may have ended since."""

    connection: Connection
    handshake: HandshakeResult
    tool_list: CachedToolList


class ServerDetails(ABC):
    """The properties of a client that describe its server; the same for both kinds of client."""

    @abstractmethod
    def _get_details(self) -> Running | None: ...

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """The server's process id; `None` if it has no process of its own, or the client is
        closed.
        """

    def _repr_html_(self) -> str:
        from .pages.notebook import show_client

        return show_client(self.server_info, self.version, self.pid, self.instructions)

    @property
    def version(self) -> str | None:
        """The MCP revision spoken."""
        running = self._get_details()
        if running is None:
            return None
        return running.handshake.version

    @property
    def server_info(self) -> dict[str, Any]:
        """The server's name and version, as it declares them."""
        running = self._get_details()
        if running is None:
            return {}
        return running.handshake.server_info

    @property
    def capabilities(self) -> dict[str, Any]:
        """The capabilities that the server declares."""
        running = self._get_details()
        if running is None:
            return {}
        return running.handshake.capabilities

    @property
    def instructions(self) -> str | None:
        """The server's instructions for its use."""
        running = self._get_details()
        if running is None:
            return None
        return running.handshake.instructions

    @property
    def stderr(self) -> str:
        """The last lines the server wrote to its stderr."""
        running = self._get_details()
        if running is None:
            return ""
        return running.connection.transport.get_stderr_tail()


class AsyncClient(ServerDetails):
    """A client of one tool server, open inside `async with connect(...)`, where the server's
    process lives.

    Any number of tasks of one event loop may use it at once; cancelling a waiting task cancels its
    request.
    """

    def __init__(self, settings: ClientSettings, waiting: Waiting) -> None:
        self.settings = settings
        """Others take effect with the next start of the server."""
        self._waiting = waiting
        self._elicitation = ElicitationHandler(settings.on_ask, waiting)
        self._restarts = RestartPolicy(settings.restart)
        self._restart_turn = (
            waiting.make_inbox()
        )  # a lock with a deadline: the task that takes the one item restarts
        self._restart_turn.put(self)
        self._running: Running | None = None
        self._failure: ClientError | None = None  # of the last start
        self._connection: Connection | None = None  # also while its server is not ready yet
        self._closed: Closed | None = Closed(_NOT_OPEN)

    async def __aenter__(self) -> Self:
        self.open()
        try:
            self._running = await self._start(Deadline(self.settings.start_timeout_seconds))
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def open(self) -> None:
        """Let `ensure_running` start the server, if the policy for restarts allows a start."""
        self._closed = None

    def _get_details(self) -> Running | None:
        return self._running

    @property
    def end(self) -> ClientError | None:
        """Why the server does not run; `None` if it does, or was never started."""
        if self._failure is not None or self._running is None:
            return self._failure
        return self._running.connection.end

    async def fail(self, error: ClientError) -> None:
        """End the server, and treat it as one that could not be started."""
        self._failure = error
        if self._connection is not None:
            await self._waiting.run_blocking_shielded(self._connection.close)

    @property
    def pause_seconds(self) -> float | None:
        """The seconds until a server that has ended may be started again; `None` if it may not."""
        return self._restarts.wait_seconds()

    @property
    def pid(self) -> int | None:
        """The server's process id; `None` if it has no process of its own, or the client is
        closed.
        """
        if self._running is None or self._closed is not None:
            return None
        return self._running.connection.transport.pid

    # Requests

    async def list_tools(self, *, timeout_seconds: float | None = None) -> list[ToolDescription]:
        """Return all tools of the server, from all pages.

        The list is cached until the tools may have changed. Raises what `request` raises.
        """
        return list(map(describe, await self.list_entries(timeout_seconds=timeout_seconds)))

    async def list_entries(self, *, timeout_seconds: float | None = None) -> list[Any]:
        """Return the entries of `tools/list` as the server sent them, which may be any JSON."""
        deadline = Deadline(timeout_seconds)
        running = await self.ensure_running(deadline)
        if running.handshake.notifies_of_changes and running.connection.protocol.is_modern:
            running.tool_list.subscribe(running.connection)
        with self._open_request(running) as handle:
            return await running.tool_list.read(handle, deadline)

    @overload
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
        task: Literal[False] = False,
    ) -> CallResult: ...

    @overload
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
        task: Literal[True],
    ) -> AsyncTask: ...

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
        task: bool = False,
    ) -> CallResult | AsyncTask:
        """Call a tool and wait for its result. The failure of a tool is a result too: see
        `is_error`. If the server makes the call a task, this waits for the task.

        With *task*, return as soon as the server has answered: with a task that goes on, or with a
        result, which is a task that has ended.

        Raises what `AsyncPendingCall.result` raises, and `NoTasks` if *task* and the server has
        none.
        """
        deadline = Deadline(timeout_seconds)
        running = await self.ensure_running(deadline)
        if not task:
            call = self._start_call(running, name, arguments, on_progress)
            return await call.finish(deadline)
        if not has_tasks(running.handshake.version, running.handshake.capabilities):
            raise NoTasks("the server has no tasks: call the tool without task=True")
        call = self._start_call(running, name, arguments, on_progress, as_task=True)
        answer = await call.wait_for_first_answer(deadline)
        if isinstance(answer, TaskStatus):
            return AsyncTask(self._open_later, answer.id, tool=name, status=answer)
        ended = TaskStatus(id="", state="completed")
        return AsyncTask(self._open_later, "", tool=name, status=ended, result=answer)

    async def start(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
    ) -> AsyncPendingCall:
        """Call a tool and return as soon as the request is sent."""
        running = await self.ensure_running(Deadline(None))
        return self._start_call(running, name, arguments, on_progress)

    def task(self, task_id: str, *, tool: str = "") -> AsyncTask:
        """Return the task *task_id* of an earlier call, which may have been another client's that
        the server takes for the same. *tool* is named with the questions that it asks.
        """
        return AsyncTask(self._open_later, task_id, tool=tool)

    async def wait_for_task(
        self,
        tool: str,
        task_id: str,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """Return the result of an earlier call of *tool*, which has become the task *task_id*. As
        with `call_tool`, a timeout cancels the task.

        Raises what `AsyncTask.result` raises.
        """
        task = self.task(task_id, tool=tool)
        try:
            return await task.result(timeout_seconds, on_progress=on_progress)
        except TimedOut:
            if self._running is not None:
                cancel_soon(self._running.connection, task_id)
            raise

    async def list_tasks(self, *, timeout_seconds: float | None = None) -> list[TaskStatus]:
        """Return the tasks that a server of MCP 2025-11-25 has for this client. Later revisions
        have no such list, so keep the ids.

        Raises what `request` raises, and `NoTasks` if the server has no such list.
        """
        deadline = Deadline(timeout_seconds)
        running = await self.ensure_running(deadline)
        if not can_list_tasks(running.handshake.version, running.handshake.capabilities):
            raise NoTasks("the server does not list its tasks, only MCP 2025-11-25 has such a list")
        with self._open_request(running) as handle:
            entries, _ = await fetch_pages(handle, deadline, "tasks/list", "tasks")
        return [read_status(entry) for entry in entries]

    async def list_resources(
        self, *, timeout_seconds: float | None = None
    ) -> list[ResourceDescription]:
        """Return the resources of the server that have fixed URIs, from all pages; none if it
        declares none.

        Raises what `request` raises, as the other methods for resources and prompts do.
        """
        return await self._list(
            "resources/list", "resources", ResourceDescription, "resource", timeout_seconds
        )

    async def list_resource_templates(
        self, *, timeout_seconds: float | None = None
    ) -> list[ResourceTemplate]:
        """Return the templates of the URIs of all other resources."""
        method, member = "resources/templates/list", "resourceTemplates"
        return await self._list(
            method, member, ResourceTemplate, "resource template", timeout_seconds
        )

    async def read_resource(
        self,
        uri: str,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> ResourceResult:
        """Return what the resource *uri* holds."""
        return read_contents(
            await self._complete("resources/read", {"uri": uri}, on_progress, timeout_seconds)
        )

    async def list_prompts(
        self, *, timeout_seconds: float | None = None
    ) -> list[PromptDescription]:
        """Return the prompts of the server, from all pages; none if it declares none."""
        return await self._list(
            "prompts/list", "prompts", PromptDescription, "prompt", timeout_seconds
        )

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> PromptResult:
        """Return the messages of the prompt *name*. A value that is no text is given as JSON."""
        params = {"name": name, "arguments": dict(arguments or {})}
        return read_prompt_messages(
            await self._complete("prompts/get", params, on_progress, timeout_seconds)
        )

    async def complete(
        self,
        name: str,
        argument: str,
        text: str = "",
        arguments: Mapping[str, str] | None = None,
        *,
        timeout_seconds: float | None = None,
    ) -> list[str]:
        """Return the values for *argument* of the prompt or URI template *name*, of which *text*
        has been typed.

        *arguments* are those that are known already. A server sends at most 100 values. Raises what
        `request` raises.
        """
        ref = {"type": "ref/prompt", "name": name}
        if "{" in name:  # a URI template
            ref = {"type": "ref/resource", "uri": name}
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": text}}
        if arguments:
            params["context"] = {"arguments": dict(arguments)}
        return read_completion_values(
            await self.request("completion/complete", params, timeout_seconds=timeout_seconds)
        )

    async def ping(self, *, timeout_seconds: float | None = None) -> float:
        """Return the seconds that the server takes to answer a `ping`."""
        deadline = Deadline(timeout_seconds)
        running = await self.ensure_running(deadline)
        method = "ping"
        if running.connection.protocol.is_modern:  # which has no `ping`
            method = "server/discover"
        start = time.perf_counter()
        with self._open_request(running) as handle:
            handle.begin(method)
            await handle.wait_for_result(deadline)
        return time.perf_counter() - start

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> Any:
        """Send any request and return its result.

        Raises:
            RequestFailed: if the response is an error.
            TimedOut: if it does not arrive in time. This and any other exception while waiting
                cancels the request.
            ServerGone: if the server ended.
            BrokenRules: if the response cannot be read.
        """
        deadline = Deadline(timeout_seconds)
        with self._open_request(await self.ensure_running(deadline), on_progress) as handle:
            handle.begin(method, params)
            return await handle.wait_for_result(deadline)

    async def set_log_level(self, level: str, *, timeout_seconds: float | None = None) -> None:
        """Have the server send log messages of *level* or more severe ones to `on_log`; at first,
        it sends all.

        Raises what `request` raises.
        """
        self.settings = msgspec.structs.replace(self.settings, log_level=level)
        running = await self.ensure_running(Deadline(timeout_seconds))
        if running.connection.protocol.is_modern:  # the level is part of each request
            running.connection.protocol.set_log_level(level)
        else:
            await self.request(
                "logging/setLevel", {"level": level}, timeout_seconds=timeout_seconds
            )

    async def close(self) -> None:
        """End the server and fail all open requests. A second call does nothing."""
        self._closed = self._closed or Closed("the client was closed")
        if self._connection is not None:
            await self._waiting.run_blocking_shielded(self._connection.close)

    async def _list(
        self,
        method: str,
        member: str,
        kind: type[Described],
        word: str,
        timeout_seconds: float | None,
    ) -> list[Described]:
        deadline = Deadline(timeout_seconds)
        running = await self.ensure_running(deadline)
        if method.partition("/")[0] not in running.handshake.capabilities:
            return []
        with self._open_request(running) as handle:
            entries, _ = await fetch_pages(handle, deadline, method, member)
        return [describe_entry(entry, kind, word) for entry in entries]

    async def _complete(
        self,
        method: str,
        params: dict[str, Any],
        on_progress: OnProgress | None,
        timeout_seconds: float | None,
    ) -> Any:
        deadline = Deadline(timeout_seconds)
        with self._open_request(await self.ensure_running(deadline), on_progress) as handle:
            handle.begin(method, params)
            return await complete(handle, method, params, deadline)

    def _start_call(
        self,
        running: Running,
        name: str,
        arguments: Mapping[str, Any] | None,
        on_progress: OnProgress | None,
        *,
        as_task: bool = False,
    ) -> AsyncPendingCall:
        """Send the request of a call. A server of MCP 2025-11-25 makes it a task only if it is
        asked to: with *as_task*, or for a tool that runs in no other way.
        """
        asks_for_task = may_need_task = False
        if not running.connection.protocol.is_modern:
            may_need_task = has_tasks(running.handshake.version, running.handshake.capabilities)
            asks_for_task = as_task or (may_need_task and running.tool_list.needs_task(name))
        with self._open_request(running, on_progress) as handle:
            return AsyncPendingCall(
                handle, name, arguments, as_task=asks_for_task, may_need_task=may_need_task
            )

    async def _open_later(
        self, deadline: Deadline, on_progress: OnProgress | None
    ) -> RequestHandle:
        return self._open_request(await self.ensure_running(deadline), on_progress)

    def _open_request(
        self, running: Running, on_progress: OnProgress | None = None
    ) -> RequestHandle:
        return RequestHandle(running.connection, self._waiting, self._elicitation, on_progress)

    # Starting

    async def ensure_running(self, deadline: Deadline) -> Running:
        """Return the server, started or restarted if it does not run and the policy allows it."""
        if self._closed is not None:
            raise self._closed.copy()
        if self._running is not None and self.end is None:
            return self._running
        if await self._restart_turn.receive(deadline.seconds_left) is None:
            raise TimedOut(f"the server was not restarted {deadline}")
        try:
            return await self._restart(deadline)
        finally:
            self._restart_turn.put(self)

    async def _restart(self, deadline: Deadline) -> Running:
        running, ended = self._running, self.end
        if running is not None and ended is None:  # another task has restarted it
            return running
        pause, left = self.pause_seconds, deadline.seconds_left
        if pause is None or (left is not None and pause > left):
            if ended is None:
                raise Closed(_NOT_OPEN)
            raise ended.copy()
        if running is not None:
            await self._waiting.run_blocking_shielded(running.connection.close)
        await self._waiting.sleep(pause)
        self._restarts.begin()
        self._running = running = await self._start(
            deadline.limit_to(self.settings.start_timeout_seconds)
        )
        self._failure = None
        return running

    async def _start(self, deadline: Deadline) -> Running:
        settings, tools = self.settings, CachedToolList()
        era = settings.era
        was_legacy = self._running is not None and not self._running.connection.protocol.is_modern
        if was_legacy:  # a restarted server is not probed again
            era = "legacy"
        connection, handshake = await shake_hands(
            partial(self._launch, tools), self._waiting, deadline, era
        )
        if not connection.protocol.is_modern:
            is_sure = not settings.loses_notifications
            tools.promise(will_notify=is_sure and handshake.notifies_of_changes)
            if settings.wanted_level is not None and "logging" in handshake.capabilities:
                set_level = connection.protocol.request(
                    "logging/setLevel", {"level": settings.wanted_level}
                )
                connection.begin(set_level, self._waiting.make_inbox())
        return Running(connection, handshake, tools)

    def _launch(self, tools: CachedToolList) -> Connection:
        settings = self.settings
        can_ask = settings.on_ask is not None
        protocol = ClientProtocol(
            settings.name,
            settings.version,
            can_ask=can_ask,
            takes_tasks=settings.takes_tasks,
            capabilities=settings.capabilities,
            first_id=settings.first_request_id,
        )
        if settings.wanted_level is not None:
            protocol.set_log_level(settings.wanted_level)
        transport, on_event = settings.launch(), partial(self._on_event, tools)
        try:
            self._connection = Connection(
                transport,
                protocol,
                max_message_bytes=settings.max_message_bytes,
                on_event=on_event,
                take_frame=settings.take_frame,
            )
        except BaseException:
            transport.close()
            raise
        if self._closed is not None:  # by another thread, before it could see this connection
            self._connection.close()
        return self._connection

    def _on_event(self, tools: CachedToolList, event: Event) -> None:
        """Handle an event of no request, on the reading thread."""
        if isinstance(event, ListChanged):
            if event.what == "tools":
                tools.record_change()
            self.settings.on_list_changed(event.what)
        elif isinstance(event, ElicitationRequest | LinkCompleted):
            if self._connection is not None:
                self.settings.on_host_event(event, self._connection)
        elif isinstance(event, SubscriptionConfirmed):
            tools.promise(will_notify=event.to_tools)
        elif isinstance(event, LogEntry) and self.settings.on_log is not None:
            try:
                self.settings.on_log(event)
            except Exception:  # the reading thread must continue
                import traceback

                Output(sys.stderr).write_line(traceback.format_exc())


class RestartPolicy:
    """Allows a number of restarts in all; `True` allows any number.

    The first is immediate; the pause before each further one doubles.
    """

    def __init__(self, allowed: bool | int) -> None:
        self._left = float(allowed)
        if allowed is True:
            self._left = float("inf")
        self._last = time.monotonic()
        self._pause_seconds = 0.0

    def wait_seconds(self) -> float | None:
        """Return the seconds until the next restart; `None` if none is left."""
        if self._left <= 0:
            return None
        return max(0.0, self._last + self._pause_seconds - time.monotonic())

    def begin(self) -> None:
        """Record a restart."""
        now = time.monotonic()
        lived_well = now - self._last >= GOOD_LIFE_SECONDS
        if lived_well:
            self._pause_seconds = FIRST_PAUSE_SECONDS
        else:
            longer = max(FIRST_PAUSE_SECONDS, 2 * self._pause_seconds)
            self._pause_seconds = min(LONGEST_PAUSE_SECONDS, longer)
        self._left -= 1
        self._last = now
