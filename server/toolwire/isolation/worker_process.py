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

from toolwire_schemas.wire.codec import EncodingError
from toolwire_tools import Cancelled, NotAnswered, ToolError
from toolwire_tools.processes import subreaper
from toolwire_tools.processes.process_group import new_group, signal_group

from .. import log
from ..protocol.lifecycle import can_elicit
from . import worker_protocol
from .worker_protocol import Elicitation, Progress, Response
from .worker_spec import STALE, command, describe_exit

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen

    from ..protocol.call import Call
    from .worker_spec import RemoteTool, WorkerSpec

_START_SECONDS = 60.0
"""The time to load the tools. It is not part of a call's time limit: the next process would need it again."""

_COOPERATION_SECONDS = 0.25
"""The time that a cancelled tool has to clean up, if it can notice."""

_END_SECONDS = 0.15
"""The time that idle processes have to end with the server: half of that for its exit functions."""

_CHUNK_BYTES = 64 * 1024

_PIPE_BUF = 512
"""The size that one write takes without blocking if the pipe is ready (POSIX)."""


class NotStarted(Exception):
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
        self.idle_since = 0.0
        """Monotonic time, while it is idle."""
        self.is_ending = False
        self._gone = gone
        self._call: Call | None = None
        self._incoming = worker_protocol.Incoming()
        self._events: list[worker_protocol.Event] = []
        self._killed = False
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._read = self._write = self._life = -1
        try:
            self._popen = self._start(spec, cgroup)
        except OSError as error:
            self.close()
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
            self.close()
            raise

    def call(self, tool: RemoteTool, arguments: Any, call: Call) -> dict[str, Any]:
        """Return the result of *tool*.

        Raises:
            ToolError: if the process ended before the response.
            NotStarted: if it had ended before the call.
            Cancelled: if the call has ended.
        """
        id = 0 if call.id is None else call.id
        try:
            # A modern client repeats the call after an elicitation, possibly with a progress token then.
            request = worker_protocol.call(
                id, tool.name_there, arguments, progress=call.token is not None or bool(call.sent)
            )
        except EncodingError as error:
            raise ToolError(f"The arguments of {tool.name} cannot be passed on to its process: {error}.") from None
        if can_elicit(call.capabilities) != self._can_elicit:
            self._can_elicit = not self._can_elicit
            if not self._initialize():
                raise NotStarted
        with self._lock:
            self._call = call
        stop = partial(self._stop, call, id, tool.notices_cancellation)
        call.stop = stop
        idle = True
        try:
            if call.ended:
                raise Cancelled(f"the call of {tool.name} was cancelled")
            idle = False
            if not self._send(request):
                raise NotStarted
            result = self._answer(call, tool, stop)
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

    def end(self) -> None:
        """Let the idle process end by itself, and soon. Never blocks."""
        self.is_ending = True
        self.hang_up()
        self._kill_after(_COOPERATION_SECONDS)

    def hang_up(self) -> None:
        """Close the input of the process. Never blocks."""
        if not self._writing.acquire(blocking=False):
            self.kill()  # a write to it blocks
            return
        try:
            self._close("_write")
        finally:
            self._writing.release()

    def wait(self, deadline: float) -> None:
        """Return when the process has ended, or at *deadline* (monotonic time)."""
        self._ended.wait(max(0.0, deadline - time.monotonic()))

    def close(self) -> None:
        """Close the pipes. Only for the thread that would read."""
        with self._writing:
            for name in ("_write", "_life", "_read"):
                self._close(name)

    def abandon(self) -> None:
        """Close the descriptors in a fork of the server."""
        for descriptor in (self._write, self._life, self._read):
            with suppress(OSError):
                os.close(descriptor)

    def _close(self, name: str) -> None:
        descriptor: int = getattr(self, name)
        if descriptor >= 0:
            setattr(self, name, -1)
            os.close(descriptor)

    # Messages

    def _initialize(self) -> bool:
        """Declare the client's capabilities; return whether the process responds, and so has loaded its tools."""
        too_late = self._kill_after(_START_SECONDS)
        try:
            self._send(worker_protocol.initialize(can_elicit=self._can_elicit))
            while (event := self._next()) is not None:
                if isinstance(event, Response):
                    return True
            return False
        finally:
            too_late.cancel()

    def _not_ready(self, name: str) -> str:
        if self._popen.returncode == STALE:
            return f"{name}: its source has just changed, and this server has yet to load it; call it again."
        how = describe_exit(self._popen.returncode, None, by_us=self._killed)
        why = f"within {_START_SECONDS:g} seconds" if self._killed else f"and {how}"
        return f"{name}: the tool's process did not get ready {why}; the server's log says more."

    def _answer(self, call: Call, tool: RemoteTool, stop: Callable[[], None]) -> dict[str, Any]:
        while (event := self._next()) is not None:
            match event:
                case Progress(done, total, message):
                    call.progress(done, total, message)
                case Elicitation():
                    try:
                        reply: dict[str, Any] | NotAnswered = call.ask(event.message, event.schema)
                    except NotAnswered as error:
                        reply = error
                    except Cancelled:
                        stop()
                        continue
                    self._send(worker_protocol.response_to(event, reply))
                case Response(result, error):
                    if result is None:
                        raise ToolError(f"The process of {tool.name} could not call it: {error}.")
                    return result
        if call.ended:
            raise Cancelled(f"the call of {tool.name} was cancelled")
        problem = f"the tool's process {describe_exit(self._popen.returncode, tool.memory_limit, by_us=self._killed)}"
        log.error(f"{tool.name}: {problem}", id=call.id)
        raise ToolError(f"{tool.name}: {problem}.")

    def _next(self) -> worker_protocol.Event | None:
        """Return the next event; `None` at the end."""
        while not self._events:
            data = os.read(self._read, _CHUNK_BYTES)
            if not data:
                # It has ended, or closed the pipe, which makes it useless.
                if not self._ended.wait(1):
                    self.kill()
                    self._ended.wait()
                return None
            try:
                self._events += self._incoming.feed(data)
            except ValueError:
                raise ToolError("The tool has written to a descriptor that was not its own.") from None
        return self._events.pop(0)

    def _send(self, data: bytes) -> bool:
        """Write *data*; false if the process has ended."""
        with self._writing:
            try:
                written = os.write(self._write, data)
                while written < len(data):
                    written += os.write(self._write, memoryview(data)[written:])
            except OSError:
                return False
        return True

    # The end

    def _stop(self, call: Call, id: Any, notices: bool) -> None:
        """End *call*, if it still runs, and the process with it. Never blocks."""
        with self._lock:
            if self._call is not call:
                return
            self.healthy = False
        if notices and self._send_at_once(worker_protocol.cancellation(id)):
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

    def _send_at_once(self, data: bytes) -> bool:
        """Write *data* if that does not block; return whether it was written."""
        if self._write < 0 or len(data) > _PIPE_BUF or not self._writing.acquire(blocking=False):
            return False
        try:
            import select

            poll = select.poll()
            poll.register(self._write, select.POLLOUT)
            return poll.poll(0) == [(self._write, select.POLLOUT)] and os.write(self._write, data) == len(data)
        except (AttributeError, OSError):  # Windows cannot poll pipes
            return False
        finally:
            self._writing.release()

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

    def _start(self, spec: WorkerSpec, cgroup: str) -> Popen[bytes]:
        import subprocess

        theirs: list[int] = []
        try:
            stdin, self._write = os.pipe()
            theirs.append(stdin)
            self._read, stdout = os.pipe()
            theirs.append(stdout)
            life, self._life = os.pipe()
            theirs.append(life)
            return subprocess.Popen(
                command(spec, life, cgroup), stdin=stdin, stdout=stdout, bufsize=0, cwd=spec.folder, **new_group(life)
            )
        finally:
            for descriptor in theirs:
                os.close(descriptor)


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
        process.abandon()
    _running.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
