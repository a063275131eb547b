"""Runs a piece of code in a process of its own, reads what comes of it within bounds, and leaves
nothing behind.

Strategy. The thread that asks starts the process, waits, and kills it: when it has ended (for what
it left running), when its time is up, when the call is cancelled. Threads read its two pipes,
whatever comes, and keep little of it. The process has nothing of the server's: no variable of its
environment, no descriptor but these pipes.

In a sandbox, killing one process kills all. Without one it is the process group that is killed
(child_group.py), and what has left the group is found by its environment (temp_folders.py).

A sandbox is such only once it stands: until bubblewrap has made it, the process in it outlives the
one that is killed. So it gets the code when it says that it is ready. If it is killed before, or
this process is, its input ends and it does too.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from functools import cache, partial
from queue import SimpleQueue
from subprocess import PIPE
from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import say
from toolwire_schemas.threads import start_thread
from toolwire_tools.errors import ToolError
from toolwire_tools.processes.bounded_output import BoundedOutput
from toolwire_tools.processes.child_group import ChildGroup
from toolwire_tools.processes.exit_status import signal_from_shell

from ..temp_folders import Scratch
from . import syscalls
from .job import Ended, Job
from .sandbox import FOLDER, wrap_in_sandbox

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen
    from types import CodeType
    from typing import IO, Protocol

    class InheritedEnd(Protocol):
        """A descriptor that the process is to inherit."""

        inside: int

        def let_go(self) -> None:
            """Close it in this process, since the other one has it now."""


_BOOT = (
    "import marshal as m,os;f=open(0,'rb',closefd=False);n={'__name__':'child'};"
    "exec(m.load(f),n);os.write(1,b'.');n['main'](m.load(f))"
)
"""Runs what comes on standard input, and says by a byte when it is ready for the order. Without a
file, nothing has to be visible in a sandbox or compiled each time.
"""

_LOOK_SECONDS = 0.05
"""How soon a cancellation is noticed, and the end of a process whose pipes others hold open."""

_DRAIN_SECONDS = 1.0
"""How long to read on when all of the process should have ended."""

_CHUNK_BYTES = 64 * 1024

_THREADS = "toolwire-python"
"""The name of the threads that feed and read a process."""

_RESULT_BYTES = 4096
"""Bytes of a result in addition to its output: its kind, and the note about cut text."""


def execute(
    job: Job,
    *,
    sandboxed: bool,
    check: Callable[[], object] = lambda: None,
    inherited: InheritedEnd | None = None,
    seconds_left: Callable[[], float] | None = None,
) -> Ended:
    """Run *job* and return how it ended. *check* is called all the while, and ends it by raising.

    The process has one more descriptor if *inherited* is given. *seconds_left* counts the time if
    that is not simply the time of the job.

    Raises:
        ToolError: if the process cannot be started.
    """
    if seconds_left is None:
        seconds_left = partial(_count_seconds_until, time.monotonic() + job.timeout_seconds)
    result = BoundedOutput(most_at_start=job.max_output_bytes + _RESULT_BYTES)
    most_at_end = job.max_output_bytes // 2
    output = BoundedOutput(
        most_at_start=job.max_output_bytes - most_at_end, most_at_end=most_at_end
    )
    is_ready = SimpleQueue[bool]()
    threads: list[threading.Thread] = []
    try:
        with ExitStack() as stack:
            process = _start(job, stack, inherited, sandboxed=sandboxed)
            order = job.make_order(sandboxed=sandboxed)
            threads.append(start_thread(_feed, _THREADS, process.stdin, order, is_ready))
            threads.append(start_thread(_read, _THREADS, process.stderr, output))
            reading = start_thread(_read_result, _THREADS, process.stdout, result, is_ready)
            threads.append(reading)
            status = _wait(process, reading, seconds_left, check)
    finally:
        is_ready.put(False)  # it has been killed
        drained = time.monotonic() + _DRAIN_SECONDS
        for thread in threads:
            thread.join(max(0.0, drained - time.monotonic()))
    if sandboxed and status is not None:
        status = signal_from_shell(status)
    return Ended(status, bytes(result.start), output.decode_text())


def _count_seconds_until(deadline: float) -> float:
    return deadline - time.monotonic()


def _wait(
    process: Popen[bytes],
    reading: threading.Thread,
    seconds_left: Callable[[], float],
    check: Callable[[], object],
) -> int | None:
    """Return the status with which *process* ended; `None` if it still runs without *seconds_left*.

    The thread *reading* its result ends at about the same time, and can be waited for without a
    pause.
    """
    while process.poll() is None:
        left = min(seconds_left(), _LOOK_SECONDS)
        if left <= 0:
            return None
        check()
        reading.join(left)
        if not reading.is_alive():
            with suppress(subprocess.TimeoutExpired):
                process.wait(left)
    return process.returncode


def _start(
    job: Job, stack: ExitStack, inherited: InheritedEnd | None, *, sandboxed: bool
) -> Popen[bytes]:
    # In a sandbox, links and `..` on the way to Python's folder lead nowhere. python itself may be
    # one: of a virtual environment.
    folder, name = os.path.split(sys.executable)
    program = [os.path.join(os.path.realpath(folder), name), "-I", "-X", "utf8", "-c", _BOOT]
    group = ChildGroup(has_life_line=not sandboxed)  # a sandbox ends with this process
    stack.callback(group.close)
    passed: tuple[int, ...] = () if inherited is None else (inherited.inside,)
    if sandboxed:
        allowed = _open_pipe_with(syscalls.make_filter(), stack)
        program, home = wrap_in_sandbox(program, job.readable, filter_from=allowed), FOLDER
        folder = "/"
        passed += () if allowed is None else (allowed,)
    else:
        scratch = Scratch("python")
        stack.callback(scratch.end)
        home = folder = scratch.path
    try:
        process = group.start(  # it is guarded before it is sent any code
            program,
            env=_make_environment(home),
            descriptors=passed,
            cwd=folder,
            bufsize=0,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )
    except OSError as error:
        raise ToolError(
            say("The process for the code could not be started: {error}.", error=error)
        ) from None
    stack.callback(process.wait)
    stack.callback(group.kill)
    if inherited is not None:
        inherited.let_go()
    return process


def _make_environment(home: str) -> dict[str, str]:
    """All that the code can see of an environment."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.defpath])
    kept = {name: os.environ[name] for name in ("TZ", "SYSTEMROOT") if name in os.environ}
    return {**kept, "PATH": path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "USER": "python"}


def _open_pipe_with(data: bytes, stack: ExitStack) -> int | None:
    """Return a descriptor from which *data*, which must fit into a pipe, can be read; None without
    data.
    """
    if not data:
        return None
    theirs, ours = os.pipe()
    stack.callback(os.close, theirs)
    os.write(ours, data)
    os.close(ours)
    return theirs


# What goes through the pipes


def _read(stream: IO[bytes], into: BoundedOutput) -> None:
    with stream:
        while data := stream.read(_CHUNK_BYTES):
            into.add(data)


def _read_result(stream: IO[bytes], into: BoundedOutput, is_ready: SimpleQueue[bool]) -> None:
    """Read the byte that says that the process is ready, and then its result."""
    if stream.read(1):
        is_ready.put(True)
    _read(stream, into)


def _feed(stream: IO[bytes], order: dict[str, Any], is_ready: SimpleQueue[bool]) -> None:
    with suppress(OSError), stream:  # it may end, or be killed, before it has read all
        _write(stream, _dump_child_code())
        if is_ready.get():
            _write(stream, marshal.dumps(order))


def _write(stream: IO[bytes], data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[stream.write(left) :]


@cache
def _dump_child_code() -> bytes:
    return marshal.dumps(read_code(f"{__package__}.child"))


def read_code(module: str) -> CodeType:
    """Return the code of *module*, which is not imported, as the same Python reads it."""
    from importlib.util import find_spec

    spec = find_spec(module)
    loader: Any = spec and spec.loader
    code: CodeType = loader.get_code(module)
    return code
