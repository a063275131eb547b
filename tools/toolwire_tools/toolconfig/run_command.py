"""Running one command: its output is read within bounds, and nothing of it stays behind.

Strategy. A command leads a process group of its own, and that is what is ended: when it is done (for what it left in
the background), when the call is cancelled, when the server exits. Should the server be killed, it cannot do that any
more. So the command also inherits a pipe on which nothing is ever written: as soon as its other end is closed, by
whatever, the system kills the group (where it can: Linux). That is arranged in the milliseconds after the start, since
nothing but code between fork and exec could do it earlier, and in a process with threads that may hang.

What has left the group is found by a mark in its environment, when the group is ended. (That needs a server: what has
left the group of a server that was killed goes on.)
"""

from __future__ import annotations

import atexit
import os
import signal
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

from anyio import (
    BrokenResourceError,
    CancelScope,
    CapacityLimiter,
    ClosedResourceError,
    create_task_group,
    current_time,
    move_on_after,
    open_process,
)
from anyio.lowlevel import RunVar

from ..errors import ToolError
from ..processes.process_group import kill_group_when_pipe_closes, kill_marked, new_group, signal_group
from .command import MAX_TOLD_BYTES, Finished, Invocation

if TYPE_CHECKING:
    from anyio.abc import ByteReceiveStream, ByteSendStream, Process

_DRAIN_SECONDS = 1.0
"""How long to read on when the command has ended but others, started by it, hold its output open."""

_TERMINATE_SECONDS = 0.1
"""What a command gets to clean up after SIGTERM: half of what cancelled tools get when the server ends."""

_AT_ONCE = 64
"""How many commands run side by side. Each takes four descriptors, and many systems grant a process 256 or 1,024."""


async def run(invocation: Invocation) -> Finished:
    """Run a command and return how it ended. Cancelling ends it, and every process of its group.

    Raises:
        ToolError: if it cannot be started.
    """
    async with _limiter():
        return await _run(invocation)


def _limiter() -> CapacityLimiter:
    """That of the present event loop."""
    try:
        return _limiters.get()
    except LookupError:
        _limiters.set(limiter := CapacityLimiter(_AT_ONCE))
        return limiter


_limiters: RunVar[CapacityLimiter] = RunVar("toolwire_commands")


async def _run(invocation: Invocation) -> Finished:
    output, errors = _Head(invocation.max_output_bytes), _Tail(MAX_TOLD_BYTES)
    group = await _start(invocation)
    process = group.process
    try:
        async with create_task_group() as tasks:
            tasks.start_soon(_feed, process.stdin, invocation.stdin)
            tasks.start_soon(_read, process.stdout, output)
            tasks.start_soon(_read, process.stderr, errors)
            status = await process.wait()
            tasks.cancel_scope.deadline = current_time() + _DRAIN_SECONDS
    finally:
        with CancelScope(shield=True):
            await group.end()
    return Finished(status, bytes(output.kept), output.bytes, bytes(errors.kept), errors.bytes)


async def _feed(stream: ByteSendStream | None, data: bytes) -> None:
    assert stream is not None
    with suppress(BrokenResourceError, ClosedResourceError):  # it need not read what it is given
        await stream.send(data)
    await stream.aclose()


async def _read(stream: ByteReceiveStream | None, into: _Head | _Tail) -> None:
    assert stream is not None
    async for data in stream:
        into.add(data)


class _Head:
    """The beginning of a stream. The rest is read and forgotten, so that the command can go on."""

    def __init__(self, limit: int) -> None:
        self.kept = bytearray()
        self.bytes = 0
        self._limit = limit

    def add(self, data: bytes) -> None:
        self.bytes += len(data)
        self.kept += data[: self._limit - len(self.kept)]


class _Tail:
    """The end of a stream."""

    def __init__(self, limit: int) -> None:
        self.kept = b""
        self.bytes = 0
        self._limit = limit

    def add(self, data: bytes) -> None:
        self.bytes += len(data)
        self.kept = (self.kept + data)[-self._limit :]


async def _start(invocation: Invocation) -> _Group:
    theirs, ours = os.pipe()
    try:
        number = f"{os.getpid()}.{next(_numbers)}."
        env = {**os.environ, **invocation.env, _MARK: number}
        with CancelScope(shield=True):  # else a process may have started whose group nothing ends
            process = await open_process(invocation.argv, cwd=invocation.cwd, env=env, **new_group(theirs))
        kill_group_when_pipe_closes(theirs, group=process.pid)
    except BaseException as error:
        os.close(ours)
        if isinstance(error, OSError):
            raise ToolError(_not_started(invocation, error)) from None
        raise
    finally:
        os.close(theirs)
    return _Group(process, ours, f"{_MARK}={number}")


def _not_started(invocation: Invocation, error: OSError) -> str:
    program = invocation.argv[0]
    if isinstance(error, FileNotFoundError) and not os.path.isdir(invocation.cwd):
        return f"{program} cannot be started: there is no folder {invocation.cwd}."
    if isinstance(error, FileNotFoundError) and os.path.dirname(program):
        return f"{program} cannot be started: there is no such file, or it names an interpreter that is not there."
    if isinstance(error, FileNotFoundError):
        return f"{program} is not installed, or not on the PATH of this server."
    return f"{program} cannot be started: {error.strerror or error}."


class _Group:
    """A command under way, with every process it starts that is in its group or has *mark* in its environment."""

    def __init__(self, process: Process, lifeline: int, mark: str) -> None:
        self._mark = mark.encode()
        self._started = monotonic()
        self.process = process
        self._lifeline = lifeline
        self._server = os.getpid()
        _running.add(self)

    async def end(self) -> None:
        """End what is left of it: politely first, if the command itself still runs."""
        if self.process.returncode is None:
            signal_group(self.process, signal.SIGTERM)
            with move_on_after(_TERMINATE_SECONDS):
                await self.process.wait()
        self.kill()
        await self.process.aclose()

    def kill(self) -> None:
        """End it now."""
        if self not in _running:
            return
        _running.discard(self)
        if os.getpid() == self._server:  # and no copy of the server that a tool has forked
            signal_group(self.process)
            is_recent = monotonic() - self._started < _RECENT_SECONDS
            kill_marked(self._mark, since=self.process.pid if is_recent else 0)
        os.close(self._lifeline)


_RECENT_SECONDS = 10.0
"""Within this time, processes do not use up all numbers: later ones have higher numbers, or have started again."""

_MARK = "TOOLWIRE_COMMAND"
_numbers = count(1)
_running: set[_Group] = set()


@atexit.register
def _kill_all() -> None:
    """A server that leaves in a hurry cancels nothing."""
    for group in list(_running):
        group.kill()
