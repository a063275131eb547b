"""The program that ends a server whose interpreter is stuck, and what its tools leave behind: a
process of its own.

`watchdog.py` starts it.

It imports a few modules of the standard library and nothing of Toolwire, to stay small. It inherits
fixed descriptors:

0  a pipe from the server: `.` means that Python code runs, `i` that the server is idle, `e` that it
   has begun to exit
3  the host's end of the stream, polled for a hang-up only: it is never read
4  the pipe that wakes the server's main thread: Python's C code writes the number of each signal to
   it, lock or no lock
5  the other end of that pipe
6  which tools are running, as `watchdog/board.py` writes it; closed where the system has no shared
   memory files

Descriptor 2 is the server's stderr. The arguments are the server's number, the seconds for the
exit, the seconds without a heartbeat before a report, the format of reports ("text", "json" or ""),
the layout of the board, and what to do with what the server's tools have started: `keep`, or `end`
and, after commas, the numbers of processes to leave alone. The tools have started every
process in the session that the server leads, or in its process group: a server that is typed at a
terminal leads only a group, and the rest of its pipeline is in that too. The number of the group is
not given to other processes as long as this one is in it.
"""

import posix
import select
import sys
import time

assert sys.platform != "win32"  # where the server starts none

_ENDING_SIGNALS = frozenset((0, 1, 2, 15))
"""SIGHUP, SIGINT and SIGTERM; the server writes 0 when its host has hung up."""

_HANG_UP = getattr(select, "POLLRDHUP", 0)
"""For a socket that is closed in one direction; POLLHUP, for both, needs no registration."""

_LOOK_SECONDS = 0.2
"""How long a live server may take to read a signal's number."""

_LONGEST_WAIT_SECONDS = 60.0
"""A fork of the server may keep the pipe open after the server has ended, so poll now and then."""

_TERMINATION_SECONDS = 1.0
"""From SIGTERM to SIGKILL: helpers that clean up when their parent has ended, as `multiprocessing`
has, do so then.
"""

_KILL_ATTEMPTS = 20
_POLL_SECONDS = 0.02


class WatchedServer:
    """The state of the server, as seen from outside."""

    def __init__(
        self,
        server: int,
        end_seconds: float,
        stuck_seconds: float,
        style: str,
        slots: int,
        name_bytes: int,
    ) -> None:
        self.server = server  # which may have ended before this process has started
        self.end_seconds = end_seconds
        self.stuck_seconds = stuck_seconds
        self.style = style
        self.slots = slots
        self.name_bytes = name_bytes
        self.last = time.monotonic()  # the last heartbeat
        self.busy = True  # whether calls run, and heartbeats are due
        self.hung_up: float | None = None  # when the host hung up
        self.asked: float | None = None  # when a signal arrived that the server has not handled
        self.ending: float | None = None  # when the server began to exit by itself
        self.signal_seen: float | None = None
        self.reported = False
        self.poll = select.poll()
        self.poll.register(0, select.POLLIN)
        if _is_regular(3):
            # A regular file has no hang-up, but no client that sends more or waits either.
            self.hung_up = self.last
        else:
            self.poll.register(3, _HANG_UP)
        self.poll.register(4, select.POLLIN)
        self.pidfd = _open_pidfd(self.server)
        if self.pidfd >= 0:
            self.poll.register(self.pidfd, select.POLLIN)

    def watch(self) -> None:
        """Return when the server has ended, or has been ended, or can no longer be watched."""
        while posix.getppid() == self.server:
            due = self._act()
            if due is None:
                return
            wait = min(due - time.monotonic(), _LONGEST_WAIT_SECONDS)
            for descriptor, event in self.poll.poll(max(0.0, wait) * 1000):
                if descriptor == self.pidfd:
                    return
                if descriptor == 0 and not self._read():
                    return
                if descriptor == 3:
                    self.poll.unregister(3)
                    if not event & select.POLLNVAL:  # a kind of file that this system cannot poll
                        self.hung_up = time.monotonic()
                if descriptor == 4:  # it stays readable until the server reads
                    self.poll.unregister(4)
                    self.signal_seen = time.monotonic()

    def wait_for_end(self) -> None:
        """Return when the server has ended. A tool may have closed the pipe while the server
        runs.
        """
        while posix.getppid() == self.server:
            if self.pidfd >= 0:
                poll = select.poll()
                poll.register(self.pidfd, select.POLLIN)
                poll.poll()
            else:
                time.sleep(_LOOK_SECONDS)

    def _read(self) -> bool:
        data = posix.read(0, 1000)
        if not data:
            return False
        now = time.monotonic()
        if b"e" in data:
            self.ending = now
        if self.reported:
            self._say("info", "the interpreter runs again")
        self.last, self.busy, self.reported = now, not data.endswith(b"i"), False
        return True

    def _act(self) -> float | None:
        """Do what is due; return the next time to act, `None` if the server has been killed."""
        now = time.monotonic()
        times = [now + _LONGEST_WAIT_SECONDS]
        if self.signal_seen is not None:
            if now >= self.signal_seen + _LOOK_SECONDS:
                self._look_at_signals(self.signal_seen)
            else:
                times.append(self.signal_seen + _LOOK_SECONDS)
        # A live server may have much to read before the end of its input.
        asked = [max(since, self.last) for since in (self.hung_up, self.asked) if since is not None]
        ends = [since + self.end_seconds for since in [*asked, self.ending] if since is not None]
        if ends and now >= min(ends):
            if self.hung_up is None or self.asked or self.ending or _has_hung_up(3):
                self._end()
                return None
            self.hung_up = None  # a named pipe that another process has opened
            self.poll.register(3, _HANG_UP)
        if self.busy and not self.reported:
            if now >= self.last + self.stuck_seconds:
                self._report(now - self.last)
            else:
                times.append(self.last + self.stuck_seconds)
        return min(times + ends)

    def _look_at_signals(self, since: float) -> None:
        self.signal_seen = None
        try:
            numbers = posix.read(4, 1000)
        except BlockingIOError:  # the server has read them
            numbers = b""
        if _ENDING_SIGNALS.intersection(numbers):
            self.asked = self.asked or since
        else:
            if numbers:
                posix.write(5, numbers)  # not an ending signal
                self.signal_seen = time.monotonic()
                return
            self.poll.register(4, select.POLLIN)

    def _end(self) -> None:
        names = self._list_names()
        if posix.getppid() == self.server:
            posix.kill(self.server, 9)
            culprit = "; no call was running, so an import may hold the interpreter's lock"
            if names:
                culprit = f"; a call of {names} was still running. {_ADVICE}"
            self._say(
                "warning",
                f"the server did not exit within its grace period and was killed{culprit}",
            )

    def _report(self, seconds: float) -> None:
        self.reported = True
        names = self._list_names() or "a tool"
        what = (
            f"no Python code has run for {seconds:.0f} s, since {names} holds the interpreter's"
            " lock"
        )
        self._say("warning", f"{what}; other calls are blocked. {_ADVICE}")

    def _list_names(self) -> str:
        try:
            marks = memoryview(posix.pread(6, 2 * self.slots, 0)).cast("H")
            size = self.name_bytes
            names = [posix.pread(6, size, 2 * self.slots + code * size) for code in {*marks} - {0}]
        except OSError:
            return ""
        running = sorted(name.rstrip(b"\0").decode("utf-8", "replace") for name in names)
        if len(running) > 1:
            return f"one of {', '.join(running[:10])}"
        return "".join(running)

    def _say(self, level: str, message: str) -> None:
        poll = select.poll()
        poll.register(2, select.POLLOUT)
        if not self.style or not any(event & select.POLLOUT for _, event in poll.poll(0)):
            return  # the host does not read stderr
        if self.style == "json":
            import json

            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            line = json.dumps({"time": stamp, "level": level, "message": message})
        else:
            line = f"toolwire: {'' if level == 'info' else level + ': '}{message}"
        posix.write(2, (line + "\n").encode("utf-8", "backslashreplace")[:4096])


_ADVICE = "Run such a tool in a process: `toolwire serve --isolate` or runs_in='process'"


def find_children(leader: int, strangers: frozenset[int] = frozenset()) -> list[int]:
    """Return the living processes in the session or the process group of *leader*, without it, this
    process, and *strangers* with what they have started.
    """
    return [process for process in _find_members(leader) if not _has_ancestor(process, strangers)]


def find_strangers(leader: int) -> frozenset[int]:
    """Return the processes in the group of *leader*, which runs, that it has not started: the rest
    of a shell's pipeline.
    """
    return frozenset(
        process for process in _find_members(leader) if not _has_ancestor(process, {leader})
    )


def _find_members(leader: int) -> list[int]:
    """Return the living processes in the session or the process group of *leader*, without it and
    this process.
    """
    found: list[int] = []
    for name in posix.listdir("/proc"):
        if not name.isdigit() or int(name) in (leader, posix.getpid()):
            continue
        try:
            is_led = leader in (posix.getsid(int(name)), posix.getpgid(int(name)))
            if is_led and _read_stat(int(name))[0] not in (b"Z", b"X"):
                found.append(int(name))
        except OSError:  # it has ended
            continue
    return found


def _has_ancestor(process: int, ancestors: frozenset[int] | set[int]) -> bool:
    """Whether *process* or one of its ancestors is among *ancestors*."""
    while process > 1 and process not in ancestors:
        try:
            process = int(_read_stat(process)[1])
        except OSError:  # it has ended
            return False
    return process in ancestors


def _read_stat(process: int) -> list[bytes]:
    """Return the state of *process*, the number of its parent, and the fields that follow
    (proc_pid_stat(5)).
    """
    descriptor = posix.open(f"/proc/{process}/stat", posix.O_RDONLY)
    try:
        return posix.read(descriptor, 1000).rpartition(b") ")[2].split()
    finally:
        posix.close(descriptor)


def end_children(leader: int, strangers: frozenset[int]) -> None:
    """End the processes that `find_children` finds: by SIGTERM, and after a second by SIGKILL."""
    _signal_all(find_children(leader, strangers), 15)
    latest = time.monotonic() + _TERMINATION_SECONDS
    while find_children(leader, strangers) and time.monotonic() < latest:
        time.sleep(_POLL_SECONDS)
    for _ in range(_KILL_ATTEMPTS):  # they may start others at the same time
        children = find_children(leader, strangers)
        if not children:
            return
        _signal_all(children, 9)
        time.sleep(_POLL_SECONDS)


def _signal_all(processes: list[int], number: int) -> None:
    for process in processes:
        try:
            posix.kill(process, number)
        except OSError:  # it has ended, or has become another user's
            continue


def _open_pidfd(process: int) -> int:
    """Return a descriptor that is readable when *process* has ended; -1 where the system has
    none.
    """
    if sys.platform != "linux":
        return -1
    try:
        return posix.pidfd_open(process)
    except (AttributeError, OSError):  # an old kernel
        return -1


def _is_regular(descriptor: int) -> bool:
    return posix.fstat(descriptor).st_mode & 0o170000 == 0o100000


def _has_hung_up(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, _HANG_UP)
    return bool(_is_regular(descriptor) or poll.poll(0))


if __name__ == "__main__":
    posix.chdir("/")
    posix.closerange(7, 65536)
    _, server, end_seconds, stuck_seconds, style, slots, name_bytes, children = sys.argv
    watched = WatchedServer(
        int(server), float(end_seconds), float(stuck_seconds), style, int(slots), int(name_bytes)
    )
    watched.watch()
    if children != "keep":
        watched.wait_for_end()
        end_children(watched.server, frozenset(map(int, children.split(",")[1:])))
