"""Worker processes: started when there is a call for them, asked one call at a time, ended with all they started.

Strategy. Whoever runs a call writes it to a process and reads until the answer has come, in its own thread. A second
thread waits for the process to end, whatever else its descendants keep open, and then ends what is left of its group.
So a crash, a kill and a time limit are all the same to the reader: the pipe ends, and there is a status to be told.

On Linux, a subreaper is between the server and the process: it ends whatever the process leaves behind, in its group
or not, and passes the status on. Three pipes lead there: the worker's standard input and output, and one on which
nothing is ever written. The server alone holds the end of that. When it is closed, by whatever ended the server, the
subreaper kills the worker, whatever that is doing.
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
from ..protocol.elicitation import can_ask
from . import worker_protocol as peer
from .worker_spec import STALE, command, ending

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen

    from ..protocol.call import Call
    from .isolated_tool import ProcessTool
    from .worker_spec import Order

_START_SECONDS = 60.0
"""What loading the tools may take. It counts towards no call's time limit: the next process would take it again."""

_COOPERATION_SECONDS = 0.25
"""What a cancelled tool that can know of it gets to clean up behind itself."""

_END_SECONDS = 0.15
"""What idle processes get to end by themselves when the server does: half of what its exit functions get."""

_CHUNK_BYTES = 64 * 1024

_PIPE_BUF = 512
"""What POSIX lets one write take without waiting if the pipe is ready at all."""


class NotBegun(Exception):
    """The process had gone before it was asked."""


class Process:
    """One worker process, ready to be asked. *gone* is called when it has ended, on a thread of its own.

    *cgroup* is the path of the one it is to be in, which is removed with it.

    Raises:
        ToolError: if it could not be started.
    """

    def __init__(self, order: Order, gone: Callable[[Process], None], call: Call, cgroup: str = "") -> None:
        self.healthy = True
        """Whether it may be asked again."""
        self.idle_since = 0.0
        """Monotonic time, while it is idle."""
        self.was_told_to_end = False
        self._gone = gone
        self._call: Call | None = None
        self._incoming = peer.Incoming()
        self._events: list[peer.Event] = []
        self._killed = False
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._read = self._write = self._life = -1
        try:
            self._popen = self._start(order, cgroup)
        except OSError as error:
            self.close()
            with suppress(OSError):
                os.rmdir(cgroup)
            raise ToolError(f"{call.tool.name}: the tool's process could not be started: {error}.") from None
        self._told_can_ask = can_ask(call.capabilities)
        _running.add(self)
        try:
            threading.Thread(target=self._wait, name="toolwire-process", daemon=True).start()
            if not self._greet():
                raise ToolError(self._not_ready(call.tool.name))
        except BaseException:  # there may be no more threads, for one
            self.kill()
            self.close()
            raise

    def call(self, tool: ProcessTool, arguments: Any, call: Call) -> dict[str, Any]:
        """Return the result of *tool*.

        Raises:
            ToolError: if the process ended before it had answered.
            NotBegun: if it had ended before it was asked.
            Cancelled: if the call has ended.
        """
        id = 0 if call.id is None else call.id
        try:
            # A client that is asked calls again, and may want to hear of progress then.
            request = peer.call(id, tool.name_there, arguments, progress=call.token is not None or bool(call.sent))
        except EncodingError as error:
            raise ToolError(f"The arguments of {tool.name} cannot be passed on to its process: {error}.") from None
        if can_ask(call.capabilities) != self._told_can_ask:
            self._told_can_ask = not self._told_can_ask
            if not self._greet():
                raise NotBegun
        with self._lock:
            self._call = call
        stop = partial(self._stop, call, id, tool.notices_cancellation)
        call.stop = stop
        idle = True
        try:
            if call.ended:
                raise Cancelled(f"the call of {tool.name} was cancelled")
            idle = False
            if not self._say(request):
                raise NotBegun
            result = self._answer(call, tool, stop)
            idle = True
            return result
        finally:
            call.stop = None
            with self._lock:
                self._call = None
                self.healthy = self.healthy and idle

    def kill(self) -> None:
        """End the process and all that it has started, now. Never waits."""
        with self._lock:
            self._killed, self.healthy = True, False
            if not self._ended.is_set():
                _kill(self._popen)

    def end(self) -> None:
        """Let the process, which nobody asks any more, end by itself, and soon. Never waits."""
        self.was_told_to_end = True
        self.hang_up()
        self._kill_after(_COOPERATION_SECONDS)

    def hang_up(self) -> None:
        """Tell the process that there is no more to do. Never waits."""
        if not self._writing.acquire(blocking=False):
            self.kill()  # it does not even read
            return
        try:
            self._close("_write")
        finally:
            self._writing.release()

    def wait(self, deadline: float) -> None:
        """Return when the process has ended, or at *deadline* (monotonic time)."""
        self._ended.wait(max(0.0, deadline - time.monotonic()))

    def close(self) -> None:
        """Let go of the pipes. Only for whoever would read."""
        with self._writing:
            for name in ("_write", "_life", "_read"):
                self._close(name)

    def abandon(self) -> None:
        """Let go of what a forked copy of the server has got of it."""
        for descriptor in (self._write, self._life, self._read):
            with suppress(OSError):
                os.close(descriptor)

    def _close(self, name: str) -> None:
        descriptor: int = getattr(self, name)
        if descriptor >= 0:
            setattr(self, name, -1)
            os.close(descriptor)

    # The conversation

    def _greet(self) -> bool:
        """Tell the process what the client can do; return whether it has answered, and so has loaded its tools."""
        too_late = self._kill_after(_START_SECONDS)
        try:
            self._say(peer.greeting(can_ask=self._told_can_ask))
            while (event := self._next()) is not None:
                if isinstance(event, peer.Answer):
                    return True
            return False
        finally:
            too_late.cancel()

    def _not_ready(self, name: str) -> str:
        if self._popen.returncode == STALE:
            return f"{name}: its source has just changed, and this server has yet to load it; call it again."
        how = ending(self._popen.returncode, None, by_us=self._killed)
        why = f"within {_START_SECONDS:g} seconds" if self._killed else f"and {how}"
        return f"{name}: the tool's process did not get ready {why}; the server's log says more."

    def _answer(self, call: Call, tool: ProcessTool, stop: Callable[[], None]) -> dict[str, Any]:
        while (event := self._next()) is not None:
            match event:
                case peer.Progress(done, total, message):
                    call.progress(done, total, message)
                case peer.Question():
                    try:
                        reply: dict[str, Any] | NotAnswered = call.ask(event.message, event.schema)
                    except NotAnswered as error:
                        reply = error
                    except Cancelled:
                        stop()
                        continue
                    self._say(peer.answer_to(event, reply))
                case peer.Answer(result, error):
                    if result is None:
                        raise ToolError(f"The process of {tool.name} could not call it: {error}.")
                    return result
        if call.ended:
            raise Cancelled(f"the call of {tool.name} was cancelled")
        problem = f"the tool's process {ending(self._popen.returncode, tool.memory_limit, by_us=self._killed)}"
        log.error(f"{tool.name}: {problem}", id=call.id)
        raise ToolError(f"{tool.name}: {problem}.")

    def _next(self) -> peer.Event | None:
        """The next event; `None` at the end."""
        while not self._events:
            data = os.read(self._read, _CHUNK_BYTES)
            if not data:
                # It is dead, or has closed the pipe and cannot be asked anything more.
                if not self._ended.wait(1):
                    self.kill()
                    self._ended.wait()
                return None
            try:
                self._events += self._incoming.feed(data)
            except ValueError:
                raise ToolError("The tool has written to a descriptor that was not its own.") from None
        return self._events.pop(0)

    def _say(self, data: bytes) -> bool:
        """Write *data*; false if the process has gone."""
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
        """End *call*, if it is still being run, and the process with it. Never waits."""
        with self._lock:
            if self._call is not call:
                return
            self.healthy = False
        if notices and self._say_at_once(peer.cancellation(id)):
            self._kill_after(_COOPERATION_SECONDS)
        else:
            self.kill()

    def _kill_after(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self.kill)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:  # there are no more threads
            self.kill()
        return timer

    def _say_at_once(self, data: bytes) -> bool:
        """Write *data* if that takes no waiting; whether it was written."""
        if self._write < 0 or len(data) > _PIPE_BUF or not self._writing.acquire(blocking=False):
            return False
        try:
            import select

            poll = select.poll()
            poll.register(self._write, select.POLLOUT)
            return poll.poll(0) == [(self._write, select.POLLOUT)] and os.write(self._write, data) == len(data)
        except (AttributeError, OSError):  # Windows cannot tell
            return False
        finally:
            self._writing.release()

    def _wait(self) -> None:
        popen = self._popen
        try:
            os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
        except (AttributeError, ChildProcessError):  # some systems cannot look without taking it away
            popen.wait()
        with self._lock:
            if not subreaper.EXISTS:
                _kill(popen)  # what is left of the group, while its number can belong to nobody else
            popen.wait()
            self._ended.set()
            asked = None if self._call is None or self._call.origin.modern else self._call.asked
        if asked is not None:  # nobody waits for the answer any more
            asked.wake(NotAnswered("The tool's process has ended."))
        _running.discard(self)
        self._gone(self)

    def _start(self, order: Order, cgroup: str) -> Popen[bytes]:
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
                command(order, life, cgroup), stdin=stdin, stdout=stdout, bufsize=0, cwd=order.folder, **new_group(life)
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


_running: set[Process] = set()


def _end_all() -> None:
    """End every process with the server."""
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
    """A process that a tool has forked is no server, and must not keep the workers of the one it was."""
    for process in _running:
        process.abandon()
    _running.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
