"""Worker processes: started on demand, one call at a time, ended with all their descendants.

Strategy. A worker is our own server, at the other end of a client's connection. A crash, a kill and
a time limit look the same there: the conversation ends, and there is an exit status.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_client.errors import (
    BrokenRules,
    ClientError,
    NotStarted,
    ServerGone,
    TimedOut,
)
from toolwire_client.protocol.client_protocol import ClientProtocol
from toolwire_client.protocol.events import LogEntry, ResourceChanged
from toolwire_client.session.connection import Connection
from toolwire_client.session.handshake import shake_hands
from toolwire_client.waiting.base import run, run_in_daemon_thread
from toolwire_schemas.deadline import Deadline
from toolwire_tools import ToolError
from toolwire_tools.byte_sizes import format_size
from toolwire_tools.processes.exit_status import describe_exit
from toolwire_tools.processes.process_group import SIGKILL
from toolwire_tools.processes.subreaper import OUT_OF_MEMORY

from .. import log
from ..errors import UpstreamError
from ..forwarding import forward, pass_on_log
from ..guarded_process import GuardedProcess
from ..protocol.in_flight import make_cancelled_error
from ..protocol.lifecycle import can_elicit
from ..protocol.server_protocol import META_CALL_ID
from .worker_spec import META_SESSION_ID, NO_LIMIT, STALE, TIMERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from toolwire_client.protocol.events import Event, Progress
    from toolwire_client.waiting.base import Inbox

    from ..protocol.call import Call
    from .cluster.connections import NodeTransport

_START_SECONDS = 60.0
"""The time to load the tools. It is not part of a call's time limit: the next process would need it
again.
"""

_COOPERATION_SECONDS = 0.25
"""The time that a cancelled tool has to clean up, if it can notice."""

_STUBBORN_SECONDS = 2.0
"""When a process is killed again that keeps the subreaper from it."""


class WorkerProcess(Connection):
    """A connection to the worker process that *start* starts, ready for calls, one at a time.

    Raises:
        ToolError: if it could not be started.
    """

    transport: GuardedProcess | NodeTransport

    def __init__(self, start: Callable[[], GuardedProcess | NodeTransport], call: Call) -> None:
        self._call: Call | None = None
        self._was_sent = self._is_spent = False
        try:
            transport = start()
        except NotStarted as error:
            raise ToolError(
                f"{call.entry.name}: the tool's process could not be started: {error}."
            ) from None
        try:
            protocol = ClientProtocol("toolwire", "0")
            super().__init__(
                transport, protocol, max_message_bytes=NO_LIMIT, on_event=self._take_note
            )
            self._declare(can_elicit(call.capabilities))
        except BaseException as error:  # for example, if the system allows no more threads
            transport.kill()
            transport.close()
            if isinstance(error, ClientError):
                raise ToolError(self._make_not_ready_error(call.entry.name, error)) from None
            raise

    @property
    def is_free(self) -> bool:
        """Whether it can take another call."""
        return self.end is None and not self._is_spent

    @property
    def is_lost(self) -> bool:
        """Whether it ended with the connection to its node, and not by itself."""
        return isinstance(self.end, ServerGone) and self.transport.exit_status() is None

    async def call(self, name: str, arguments: Any, call: Call) -> dict[str, Any] | None:
        """Return the result of the tool of *call*, whose name in the process is *name*.

        `None` means that the process had ended before the call.

        Raises:
            ToolError: if the process ended before the response.
            RequestError: if the response is an error.
            Cancelled: if the call has ended.
        """
        if (can_ask := can_elicit(call.capabilities)) is not self._can_ask:
            try:
                self._declare(can_ask)
            except ClientError:
                return None
        params = _make_params(call, name, arguments)
        self._call, self._was_sent = call, False
        try:
            return await forward(call, self, params)
        except UpstreamError as error:
            if call.entry.kind != "tools":
                raise
            raise ToolError(
                f"The tool's process could not call {call.entry.name}: {error.message}."
            ) from None
        except ToolError:
            if self.end is None:
                raise
            if call.ended:
                raise make_cancelled_error(call) from None
            if not self._was_sent:
                return None
            raise self._make_failure(call) from None
        finally:
            self._release(call)
            if self._is_spent:  # until it is killed, the tool may clean up
                self.transport.exit_status(_COOPERATION_SECONDS)
            self._call = None

    def end_soon(self, seconds: float) -> Future[None]:
        """Let the idle process end by itself, within *seconds* or soon, and let go of it."""
        return run_in_daemon_thread(
            partial(self.transport.close, max(seconds, _COOPERATION_SECONDS))
        )

    def discard(self) -> None:
        """Kill the process, if it has not ended, and let go of it."""
        self.transport.kill()
        self.transport.close()

    def begin(
        self, request: tuple[int, bytes], inbox: Inbox, *, more_follows: bool = False
    ) -> None:
        """As `Connection.begin`."""
        super().begin(request, inbox, more_follows=more_follows)
        self._was_sent = not self.transport.has_lost_input
        if self._call is not None and not isinstance(self.transport, GuardedProcess):
            from ..tasks.kept_jobs import note_running

            note_running(self._call, partial(self.transport.keep, request[0]))

    def _release(self, call: Call) -> None:
        """Let the worker on a node end with this server again: *call* has ended."""
        if not isinstance(self.transport, GuardedProcess):
            from ..tasks.kept_jobs import forget_running

            forget_running(call)
            self.transport.release()

    def cancel(self, number: int, reason: str) -> bool:
        """As `Connection.cancel`; it ends the process, too. Never blocks."""
        if was_open := super().cancel(number, reason):
            self._is_spent = True
            may_clean_up = self._call is not None and self._call.handler.notices_cancellation
            for seconds in (_COOPERATION_SECONDS if may_clean_up else 0.0, _STUBBORN_SECONDS):
                try:
                    TIMERS.after(seconds, self.transport.kill)
                except RuntimeError:  # the system allows no more threads
                    self.transport.kill()
        return was_open

    def _report(self, progress: Progress) -> None:
        # Here, and not by way of the inbox: a tool that reports faster than the host reads has to
        # wait, and its log messages keep their places.
        if (call := self._call) is not None:
            call.progress(progress.done, progress.total, progress.message)

    def _take_note(self, event: Event) -> None:
        if (
            isinstance(event, LogEntry)
            and event.source == "server"
            and (call := self._call) is not None
        ):
            pass_on_log(call, event)
        elif isinstance(event, ResourceChanged) and (call := self._call) is not None:
            call.resource_changed(event.uri)
        elif (
            isinstance(event, LogEntry)
            and event.source == "output"
            and self.transport.exit_status() is None
        ):
            self.fail(BrokenRules("The tool wrote to a file descriptor that it had not opened."))

    def _declare(self, can_ask: bool) -> None:
        """Declare whether the client can be asked; return when the process responds, and so has
        loaded its tools.
        """
        self._can_ask = can_ask
        self.protocol.declare(can_ask=can_ask)
        run(shake_hands(lambda: self, self.transport.waiting, Deadline(_START_SECONDS), "legacy"))

    def _make_not_ready_error(self, name: str, error: ClientError) -> str:
        status = self.transport.exit_status()
        if status == STALE:
            return (
                f"{name}: its source has changed, and this server has not loaded it yet; call it"
                " again."
            )
        if isinstance(error, TimedOut):
            why = f"was not ready within {_START_SECONDS:g} seconds"
        else:
            why = f"failed to start: it {_describe_exit(status, None, by_us=False)}"
        return f"{name}: the tool's process {why}; see the server's log."

    def _make_failure(self, call: Call) -> ToolError:
        """Return the error for *call*, during which the conversation ended."""
        if not isinstance(self.end, ServerGone):
            return ToolError(str(self.end))
        status, by_us = self.transport.exit_status(), self.transport.was_killed
        memory_limit = call.entry.options.memory_limit
        problem = f"the tool's process {_describe_exit(status, memory_limit, by_us=by_us)}"
        log.error(f"{call.entry.name}: {problem}", id=call.id)
        return ToolError(f"{call.entry.name}: {problem}.")


def _describe_exit(status: int | None, memory_limit: int | None, *, by_us: bool) -> str:
    """Return a clause such as `ended with exit status 3`, for a process with this *memory_limit* in
    bytes.

    A negative *status* is a signal, `None` is unknown; *by_us* means that the server sent the
    signal.
    """
    if status is None:
        return "broke off the connection"
    limit = "" if memory_limit is None else f"limit {format_size(memory_limit)}"
    if status == OUT_OF_MEMORY and limit:
        return f"ran out of memory ({limit})"
    ended = describe_exit(status)
    if status >= 0:
        return ended
    if status == -SIGKILL:
        return ended if by_us else f"{ended}, as happens when the system's memory runs out"
    return f"{ended}; its memory {limit}" if limit else ended


def _make_params(call: Call, name: str, arguments: Any) -> dict[str, Any]:
    """Return the members of the request for *call*, whose tool is called *name* there."""
    params: dict[str, Any]
    if call.entry.kind in ("tools", "prompts"):
        params = {"name": name, "arguments": arguments}
    else:
        params = dict(arguments)
    params["_meta"] = {META_SESSION_ID: call.session_id}
    if call.id is not None:
        params["_meta"][META_CALL_ID] = call.id
    return params
