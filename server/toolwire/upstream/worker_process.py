"""Worker processes: started on demand, one call at a time, ended with all their descendants.

Strategy. The thread of a call writes it to a process and reads until the response. A second thread waits for the
process to end, whatever its descendants keep open, and then kills the rest of its group. So a crash, a kill and a time
limit look the same to the reader: the pipe ends, and there is an exit status.

On Linux, a subreaper is between the server and the process: it kills everything that the process leaves behind, in
its group or not, and passes the status on. Three pipes lead there: the worker's standard input and output, and a life
line on which nothing is written. Only the server holds the end of that one. When the server ends, for any reason, the
life line is closed, and the subreaper kills the worker.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import EncodingError
from toolwire_schemas.wire.messages import INTERNAL_ERROR, LATEST_LEGACY, META_LOG_LEVEL
from toolwire_tools import Cancelled, NotAnswered, ToolError
from toolwire_tools.context.context import LEVELS
from toolwire_tools.processes import subreaper
from toolwire_tools.processes.process_group import new_group, signal_group

from .. import log
from ..errors import RequestError
from ..protocol import log_messages
from ..protocol.elicitation import COULD_NOT_ASK
from ..protocol.lifecycle import can_elicit
from .pipes import Pipes
from .worker_spec import STALE, command, describe_exit

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen

    from toolwire_tools import Tool

    from ..protocol.call import Call
    from .pipes import Message
    from .worker_spec import WorkerSpec

_METHODS = {
    "tools": "tools/call",
    "prompts": "prompts/get",
    "resources": "resources/read",
    "resourceTemplates": "resources/read",
}

_START_SECONDS = 60.0
"""The time to load the tools. It is not part of a call's time limit: the next process would need it again."""

_COOPERATION_SECONDS = 0.25
"""The time that a cancelled tool has to clean up, if it can notice."""

_END_SECONDS = 0.15
"""The time that idle processes have to end with the server: half of that for its exit functions."""


class WorkerGone(Exception):
    """The process had ended before the call."""


class WorkerProcess:
    """One worker process, ready for calls. *gone* is called when it has ended, on its own thread.

    *cgroup* is the path of its cgroup, which is removed with it.

    Raises:
        ToolError: if it could not be started.
    """

    def __init__(self, spec: WorkerSpec, gone: Callable[[WorkerProcess], None], call: Call, cgroup: str = "") -> None:
        self.healthy = True
        """Whether it can take another call."""
        self.stay: Callable[[], object] = lambda: None
        """Cancels the timer that ends the process when it has been idle for long."""
        self.is_ending = False
        self._gone = gone
        self._call: Call | None = None
        self._killed = False
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.pipes = Pipes()
        try:
            self._popen: Popen[bytes] = self.pipes.open(partial(_start, spec, cgroup))
        except OSError as error:
            self.pipes.close()
            with suppress(OSError):
                os.rmdir(cgroup)
            raise ToolError(f"{call.tool.name}: the tool's process could not be started: {error}.") from None
        self._can_elicit = can_elicit(call.capabilities)
        _running.add(self)
        try:
            threading.Thread(target=self._wait, name="toolwire-process", daemon=True).start()
            if not self._initialize():
                raise ToolError(self._not_ready(call.tool.name))
        except BaseException:  # for example, if the system allows no more threads
            self.kill()
            self.pipes.close()
            raise

    def call(self, tool: Tool, name: str, arguments: Any, call: Call) -> dict[str, Any]:
        """Return the result of *tool*, whose name in the process is *name*.

        Raises:
            ToolError: if the process ended before the response.
            NotStarted: if it had ended before the call.
            Cancelled: if the call has ended.
        """
        id = 0 if call.id is None else call.id
        method = _METHODS[tool.kind]
        params = dict(arguments) if method == "resources/read" else {"name": name, "arguments": arguments}
        meta: dict[str, Any] = {}
        # A modern client repeats the call after an elicitation, possibly with a progress token then.
        if call.token is not None or call.sent:
            meta["progressToken"] = id
        if (level := log_messages.wanted_by(call)) is not None:
            meta[META_LOG_LEVEL] = LEVELS[level]
        if meta:
            params["_meta"] = meta
        try:
            request = messages.request(id, method, params)
        except EncodingError as error:
            raise ToolError(f"The arguments of {tool.name} cannot be sent to its process: {error}.") from None
        if can_elicit(call.capabilities) != self._can_elicit:
            self._can_elicit = not self._can_elicit
            if not self._initialize():
                raise WorkerGone
        with self._lock:
            self._call = call
        stop = partial(self._stop, call, id, tool.notices_cancellation)
        call.stop = stop
        idle = True
        try:
            if call.ended:
                raise Cancelled(f"the call of {tool.name} was cancelled")
            idle = False
            if not self.pipes.send(request):
                raise WorkerGone
            result = self._result(call, tool, stop)
            idle = True
            return result
        finally:
            call.stop = None
            with self._lock:
                self._call = None
                self.healthy = self.healthy and idle

    def kill(self) -> None:
        """Kill the process and its descendants. Never blocks."""
        with self._lock:
            self._killed, self.healthy = True, False
            if not self._ended.is_set():
                _kill(self._popen)

    def end(self, seconds: float) -> None:
        """Let the idle process end by itself, within *seconds* or soon. Never blocks."""
        self.is_ending = True
        self.hang_up()
        self._kill_after(max(seconds, _COOPERATION_SECONDS))

    def hang_up(self) -> None:
        """Close the input of the process. Never blocks."""
        if not self.pipes.hang_up():
            self.kill()

    def wait(self, deadline: float) -> None:
        """Return when the process has ended, or at *deadline* (monotonic time)."""
        self._ended.wait(max(0.0, deadline - time.monotonic()))

    def _initialize(self) -> bool:
        """Declare the client's capabilities; return whether the process responds, and so has loaded its tools."""
        too_late = self._kill_after(_START_SECONDS)
        params = {
            "protocolVersion": LATEST_LEGACY,
            "capabilities": {"elicitation": {}} if self._can_elicit else {},
            "clientInfo": {"name": "toolwire", "version": "0"},
        }
        try:
            self.pipes.send(messages.request(0, "initialize", params))
            while (message := self._receive()) is not None:
                if message.method is None:
                    return True
            return False
        finally:
            too_late.cancel()

    def _not_ready(self, name: str) -> str:
        if self._popen.returncode == STALE:
            return f"{name}: its source has changed, and this server has not loaded it yet; call it again."
        how = describe_exit(self._popen.returncode, None, by_us=self._killed)
        why = f"was not ready within {_START_SECONDS:g} seconds" if self._killed else f"failed to start: it {how}"
        return f"{name}: the tool's process {why}; see the server's log."

    def _result(self, call: Call, tool: Tool, stop: Callable[[], None]) -> dict[str, Any]:
        while (message := self._receive()) is not None:
            params = message.params
            if message.method == "notifications/progress":
                call.progress(params["progress"], params.get("total"), params.get("message"))
            elif message.method == "notifications/message":
                log_messages.send(call, params)
            elif message.method == "elicitation/create":
                assert message.id is not None
                try:
                    reply = call.ask(params["message"], params["requestedSchema"])
                    self.pipes.send(messages.response(message.id, reply))
                except NotAnswered as error:
                    # The worker adds the removed words again.
                    reason = str(error).removeprefix(COULD_NOT_ASK).removesuffix(".")
                    self.pipes.send(messages.error(message.id, INTERNAL_ERROR, reason))
                except Cancelled:
                    stop()
            elif message.result is not None:
                return message.result
            elif message.error is not None and tool.kind != "tools":
                raise RequestError(message.error["code"], message.error["message"], message.error.get("data"))
            elif message.error is not None:
                raise ToolError(f"The tool's process could not call {tool.name}: {message.error.get('message')}.")
        if call.ended:
            raise Cancelled(f"the call of {tool.name} was cancelled")
        problem = f"the tool's process {describe_exit(self._popen.returncode, tool.memory_limit, by_us=self._killed)}"
        log.error(f"{tool.name}: {problem}", id=call.id)
        raise ToolError(f"{tool.name}: {problem}.")

    def _receive(self) -> Message | None:
        """Return the next message; `None` when the process has ended."""
        message = self.pipes.receive()
        # It has ended, or closed the pipe, which makes it useless.
        if message is None and not self._ended.wait(1):
            self.kill()
            self._ended.wait()
        return message

    # The end

    def _stop(self, call: Call, id: Any, notices: bool) -> None:
        """End *call*, if it still runs, and the process with it. Never blocks."""
        with self._lock:
            if self._call is not call:
                return
            self.healthy = False
        if notices and self.pipes.send_at_once(messages.notification("notifications/cancelled", {"requestId": id})):
            self._kill_after(_COOPERATION_SECONDS)
        else:
            self.kill()

    def _kill_after(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self.kill)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:  # the system allows no more threads
            self.kill()
        return timer

    def _wait(self) -> None:
        popen = self._popen
        try:
            os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
        except (AttributeError, ChildProcessError):  # some systems cannot wait without reaping
            popen.wait()
        with self._lock:
            if not subreaper.EXISTS:
                _kill(popen)  # the rest of the group, while its number cannot be reused
            popen.wait()
            self._ended.set()
            pending = None if self._call is None or self._call.origin.modern else self._call.elicitation
        if pending is not None:
            pending.wake(NotAnswered("The tool's process has ended."))
        _running.discard(self)
        self._gone(self)


def _start(spec: WorkerSpec, cgroup: str, stdin: int, stdout: int, life: int) -> Popen[bytes]:
    import subprocess

    return subprocess.Popen(
        command(spec, life, cgroup), stdin=stdin, stdout=stdout, bufsize=0, cwd=spec.folder, **new_group(life)
    )


def _kill(popen: Popen[bytes]) -> None:
    if not subreaper.EXISTS:
        signal_group(popen)
        return
    with suppress(ProcessLookupError, PermissionError):  # the subreaper kills the others
        os.kill(popen.pid, signal.SIGTERM)
        os.kill(popen.pid, signal.SIGCONT)  # a tool may have stopped it


_running: set[WorkerProcess] = set()


def _end_all() -> None:
    """End every process, since the server exits."""
    left = list(_running)
    for process in left:
        process.hang_up()
    deadline = time.monotonic() + _END_SECONDS
    for process in left:
        process.wait(deadline)
        process.kill()
    if cgroups := sys.modules.get("toolwire_tools.processes.cgroups"):
        cgroups.leave()


def _abandon_all() -> None:
    """Close the pipes to the workers in a fork of the server, which must not keep them alive."""
    for process in _running:
        process.pipes.abandon()
    _running.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
