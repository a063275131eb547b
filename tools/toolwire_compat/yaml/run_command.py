"""Runs one command: reads its output within bounds, and ends every process that it started.

Strategy. A command leads a process group of its own. The group is ended when the command is done
(for processes in the background), when the call is cancelled, and when the server exits. A server
that is killed cannot do that, so the command also inherits a pipe on which nothing is ever written:
as soon as its other end is closed, the system kills the group (on Linux). That is set up in the
milliseconds after the start: earlier, only code between fork and exec could do it, which may hang
in a process with threads.

Processes that have left the group are found by a mark in their environment, when the group is
ended. (That needs a server: those that have left the group of a server that was killed go on.)
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
from toolwire_tools.errors import ToolError
from toolwire_tools.processes.bounded_output import BoundedOutput
from toolwire_tools.processes.process_group import (
    kill_group_when_pipe_closes,
    kill_marked,
    new_group,
    signal_group,
)

from .command import MAX_ERROR_BYTES, CommandResult, Invocation

if TYPE_CHECKING:
    from anyio.abc import ByteReceiveStream, ByteSendStream, Process

_DRAIN_SECONDS = 1.0
"""How long to read on when the command has ended, but processes that it started hold its output
open.
"""

_TERMINATE_SECONDS = 0.1
"""The time to clean up after SIGTERM: half of what cancelled tools have when the server ends."""

_AT_ONCE = 64
"""How many commands run at a time. Each takes four descriptors, and many systems grant a process
256 or 1,024.
"""


async def run(invocation: Invocation) -> CommandResult:
    """Run a command and return how it ended; cancelling ends its whole group. Raises a ToolError if
    it cannot start.
    """
    output = BoundedOutput(most_at_start=invocation.max_output_bytes)
    errors = BoundedOutput(most_at_end=MAX_ERROR_BYTES)
    if (limiter := _limiters.get(None)) is None:  # each event loop has its own
        _limiters.set(limiter := CapacityLimiter(_AT_ONCE))
    async with limiter:
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
    return CommandResult(
        status,
        output=bytes(output.start),
        output_bytes=output.total_bytes,
        errors=bytes(errors.end),
        errors_bytes=errors.total_bytes,
    )


_limiters: RunVar[CapacityLimiter] = RunVar("toolwire_commands")


async def _feed(stream: ByteSendStream | None, data: bytes) -> None:
    assert stream is not None
    with suppress(BrokenResourceError, ClosedResourceError):  # it need not read what it is given
        await stream.send(data)
    await stream.aclose()


async def _read(stream: ByteReceiveStream | None, into: BoundedOutput) -> None:
    assert stream is not None
    async for data in stream:
        into.add(data)


async def _start(invocation: Invocation) -> _Group:
    theirs, ours = os.pipe()
    try:
        number = f"{os.getpid()}.{next(_numbers)}."
        changed = {**os.environ, **invocation.env, _MARK: number}
        env = {name: value for name, value in changed.items() if value is not None}
        with CancelScope(shield=True):  # so that no process starts whose group nothing ends
            process = await open_process(
                invocation.argv, cwd=invocation.cwd, env=env, **new_group(theirs)
            )
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
    if (
        isinstance(error, FileNotFoundError)
        and error.filename == program
        and not os.path.dirname(program)
    ):
        return f"{program} is not installed, or not on the PATH of this server."
    reason = error.strerror or str(error)
    return (
        f"{program} cannot be started: {reason}{f': {error.filename}' if error.filename else ''}."
    )


class _Group:
    """A running command, with every process it starts that is in its group or has *mark* in its
    environment.
    """

    def __init__(self, process: Process, lifeline: int, mark: str) -> None:
        self._mark = mark.encode()
        self._started = monotonic()
        self.process = process
        self._lifeline = lifeline
        self._server = os.getpid()
        _running.add(self)

    async def end(self) -> None:
        """End what is left of it: with SIGTERM first, if the command itself still runs."""
        if self.process.returncode is None:
            signal_group(self.process, signal.SIGTERM)
            with move_on_after(_TERMINATE_SECONDS):
                await self.process.wait()
        self.kill()
        await self.process.aclose()

    def kill(self) -> None:
        """End it at once."""
        if self not in _running:
            return
        _running.discard(self)
        if os.getpid() == self._server:  # not in a copy of the server that a tool has forked
            signal_group(self.process)
            is_recent = monotonic() - self._started < _RECENT_SECONDS
            kill_marked(self._mark, since=self.process.pid if is_recent else 0)
        os.close(self._lifeline)


_RECENT_SECONDS = 10.0
"""Within this time, processes do not use up all numbers: later ones have higher numbers, or have
started again.
"""

_MARK = "TOOLWIRE_COMMAND"
_numbers = count(1)
_running: set[_Group] = set()


@atexit.register
def _kill_all() -> None:
    """End the commands of a server that exits without cancelling its calls."""
    for group in list(_running):
        group.kill()
