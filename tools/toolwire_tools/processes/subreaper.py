"""A process between the server and a worker, which ends everything that the worker leaves behind.

Strategy. A process can leave its group (setsid) and outlive its parent (a double fork), and then
neither leads to it. A *subreaper* (prctl(2), Linux) is made the parent of every descendant whose
own parent has ended. This one has one thread, and waits: for the end of the worker, for the end of
the server, for SIGTERM. Then it kills its descendants until it has none, and ends as the worker has
ended. SIGUSR1 asks the worker to end by itself.

The first process of a container is parent to all orphans in it, and has to reap them. It cannot
tell an orphan from a child that some tool will wait for. So the first process stays, and the server
is its child.

This file is loaded by its path, before anything else is imported: every server that is started
waits for its imports, and they stay in memory as long as the worker. `typing` and `contextlib`
alone would take longer than the start of Python.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

OUT_OF_MEMORY = 109
"""The exit status of a worker that was killed for lack of memory. No known program uses it."""

EXISTS = sys.platform == "linux"
"""Whether this system has subreapers. Without them, the process group is killed."""

_ONLY_ON_LINUX = "only Linux has subreapers"

LOAD = (
    "import sys; from importlib.machinery import SourceFileLoader;"
    f" subreaper = type(sys)('subreaper'); subreaper.__file__ = {__file__!a};"
    " SourceFileLoader('subreaper', subreaper.__file__).exec_module(subreaper); "
)
"""Statements that import this file as `subreaper` by its path."""

_END_SECONDS = 5.0
"""Limit for killing processes that start others or do not end at once."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def fork_below_subreaper(life: int, cgroup: str = "") -> None:
    """Return in a new process. All of its descendants end with it, or when the other end of *life*
    closes.

    The new process leads a session, in *cgroup*, if one is named. The present process never
    returns. *life* is a pipe, or a socket: that gets the number of processes that were left behind,
    and killed.
    """
    if sys.platform != "linux":
        raise OSError(_ONLY_ON_LINUX)
    # If it were ignored, there would be no status to wait for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # None may end the subreaper.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    _call_prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _request_signal_at_close(life)
    subreaper = os.getpid()
    worker = os.fork()
    if worker != 0:
        _guard(worker, life, cgroup)
    os.setsid()
    _call_prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != subreaper:
        os._exit(1)
    os.close(life)
    if cgroup:
        _write(f"{cgroup}/cgroup.procs", "0")
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _request_signal_at_close(life: int) -> None:
    """Have the system send SIGIO to this process when the other end of *life* closes."""
    if sys.platform != "linux":
        raise OSError(_ONLY_ON_LINUX)
    import fcntl

    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(life, fcntl.F_GETFL)
    fcntl.fcntl(life, fcntl.F_SETFL, flags | os.O_ASYNC)


def _guard(worker: int, life: int, cgroup: str) -> NoReturn:
    """Wait for the end of *worker* or of the server, kill what is left, and end as the worker."""
    if sys.platform != "linux":
        raise OSError(_ONLY_ON_LINUX)
    _let_go_of_streams()
    status = _wait(worker, life)
    if cgroup:
        _write(f"{cgroup}/cgroup.kill", "1")
    killed = _end_descendants()
    try:
        os.write(life, b"%d" % killed)
    except OSError:  # it is a pipe, or the server is gone
        pass
    is_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if cgroup and is_killed and _was_too_large(cgroup):
        status = OUT_OF_MEMORY << 8
    try:
        os.rmdir(cgroup)
    except OSError:
        pass
    _end_as(status)


def exec_below_subreaper(life: int, command: list[str], locale: str | None) -> NoReturn:
    """Run *command* instead of this program, as `fork_below_subreaper` does; *locale* is its
    LC_CTYPE, if any.
    """
    if sys.platform != "linux":
        raise OSError(_ONLY_ON_LINUX)
    fork_below_subreaper(life)
    os.environ.pop("LC_CTYPE", None)  # Python has replaced it if it was C (PEP 538)
    if locale is not None:
        os.environ["LC_CTYPE"] = locale
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except (OSError, ValueError) as error:
        os.write(2, f"cannot start {command[0]!r}: {error}\n".encode(errors="backslashreplace"))
        os._exit(127)  # as a shell


def reap_orphans() -> None:
    """Return in a new process, for which the present one, the first of its container, reaps orphans
    until it ends.
    """
    if sys.platform != "linux":
        raise OSError(_ONLY_ON_LINUX)
    names = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGWINCH")
    signals = {signal.SIGCHLD, *(getattr(signal, name) for name in names)}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    server = os.fork()
    if server == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return
    _let_go_of_streams()
    while True:
        for process, status in _reap():
            if process == server:
                code = os.waitstatus_to_exitcode(status)
                os._exit(code if code >= 0 else 128 - code)
        received = signal.sigwaitinfo(signals)
        # Signals from a terminal (si_code > 0) reach the server directly.
        if received.si_signo != signal.SIGCHLD and received.si_code <= 0:
            os.kill(server, received.si_signo)


def _wait(worker: int, life: int) -> int:
    """Return the status of *worker* when it has ended, killed if the server is gone or says so."""
    if sys.platform != "linux":
        raise OSError(_ONLY_ON_LINUX)
    import select

    signals = {signal.SIGCHLD, signal.SIGIO, signal.SIGTERM, signal.SIGUSR1}
    poll = select.poll()
    poll.register(life, 0)
    while True:
        for process, status in _reap():
            if process == worker:
                return status
        number = signal.SIGIO if poll.poll(0) else signal.sigwait(signals)
        if number == signal.SIGUSR1:
            try:
                os.killpg(worker, signal.SIGTERM)
            except ProcessLookupError:
                pass
        elif number != signal.SIGCHLD:
            os.kill(worker, signal.SIGKILL)
            try:
                os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:
                pass


def _reap() -> Iterator[tuple[int, int]]:
    """Yield the children that have ended, with their statuses."""
    if sys.platform != "linux":
        raise OSError(_ONLY_ON_LINUX)
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if process == 0:
            return
        yield process, status


def _end_descendants() -> int:
    """Kill all descendants; return how many there were."""
    if sys.platform != "linux":
        raise OSError(_ONLY_ON_LINUX)
    import time

    latest = time.monotonic() + _END_SECONDS
    killed = set[int]()
    while _has_children() and time.monotonic() < latest:
        for process in find_descendants(os.getpid()):
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                continue
            killed.add(process)
        signal.sigtimedwait({signal.SIGCHLD}, 0.05)
    return len(killed)


def _has_children() -> bool:
    """Return whether this process has children that run."""
    if sys.platform != "linux":
        raise OSError(_ONLY_ON_LINUX)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:  # it has ended
            pass
    except ChildProcessError:
        return False
    return True


def find_descendants(ancestor: int) -> list[int]:
    """Return the processes that *ancestor*, a process, has started, directly or not, and that are
    still its own.
    """
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                status = file.read()
        except OSError:  # it has ended
            continue
        parent = int(status.rpartition(b")")[2].split()[1])
        children.setdefault(parent, []).append(int(name))
    found = list(children.get(ancestor, ()))
    for process in found:  # which grows
        found += children.get(process, ())
    return found


def _let_go_of_streams() -> None:
    """Leave standard input and output to the child alone, so that its end closes them."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)


def _end_as(status: int) -> NoReturn:
    """End this process with the *status* of another one, which may be that of a signal."""
    if sys.platform != "linux":
        raise OSError(_ONLY_ON_LINUX)
    if os.WIFSIGNALED(status):
        import resource

        number = os.WTERMSIG(status)
        # The other one has left a dump if one is wanted.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _was_too_large(cgroup: str) -> bool:
    try:
        with open(f"{cgroup}/memory.events", encoding="ascii") as file:
            for line in file:
                if line.startswith("oom_kill "):
                    return line != "oom_kill 0\n"
    except OSError:
        pass
    return False


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError:
        pass


def _call_prctl(option: int, value: int) -> None:
    try:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass
