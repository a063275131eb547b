"""Runs one command: reads its output within bounds, and ends every process that it started.

Strategy. A command leads a process group of its own (child_group.py). The group is ended when the
command is done (for processes in the background), when the call is cancelled, and when the server
exits or is killed. Processes that have left the group are found by a mark in their environment,
unless the server was killed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
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
from toolwire_tools.processes.child_group import ChildGroup

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
        group, process = await _start(invocation)
        try:
            async with create_task_group() as tasks:
                tasks.start_soon(_feed, process.stdin, invocation.stdin)
                tasks.start_soon(_read, process.stdout, output)
                tasks.start_soon(_read, process.stderr, errors)
                status = await process.wait()
                tasks.cancel_scope.deadline = current_time() + _DRAIN_SECONDS
        finally:
            with CancelScope(shield=True):
                await _end(process, group)
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


async def _start(invocation: Invocation) -> tuple[ChildGroup, Process]:
    number = f"{os.getpid()}.{next(_numbers)}."
    changed = {**os.environ, **invocation.env, _MARK: number}
    environment = {name: value for name, value in changed.items() if value is not None}
    group = ChildGroup(mark=f"{_MARK}={number}")
    try:
        with CancelScope(shield=True):  # so that no process starts whose group nothing ends
            process = await open_process(
                invocation.argv, cwd=invocation.cwd, env=environment, **group.make_options()
            )
    except BaseException as error:
        group.close()
        if isinstance(error, OSError):
            raise ToolError(_make_not_started(invocation, error)) from None
        raise
    group.guard(process)
    return group, process


_MARK = "TOOLWIRE_COMMAND"
_numbers = count(1)


def _make_not_started(invocation: Invocation, error: OSError) -> str:
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


async def _end(process: Process, group: ChildGroup) -> None:
    """End what is left of a command: with SIGTERM first, if the command itself still runs."""
    if process.returncode is None:
        group.terminate()
        with move_on_after(_TERMINATE_SECONDS):
            await process.wait()
    group.end()
    await process.aclose()
