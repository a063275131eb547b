"""The program that ends a server whose interpreter is stuck. A process of its own, started by `watchdog.py`.

It imports only what it needs of the standard library, and nothing of Toolwire: it is a process more for each server
that runs tools itself. What it watches, it inherits under fixed numbers:

0  a pipe from the server: `.` means that Python code runs, `i` that no call is under way, `e` that the end has begun
3  the host's end of the conversation, of which only a hang-up is seen: nothing is ever read
4  the pipe that wakes the server's main thread: Python's C code writes the number of each signal to it, lock or no lock
5  the other end of that pipe
6  which tools are running, as `watchdog.Board` writes it; closed where the system has no shared memory files

The server's standard error is 2. The command line says how long the end may take, how long no sign of life is
reported, how to report it ("text", "json" or ""), and how the board is laid out.
"""

import posix
import select
import sys
import time

_ENDING_SIGNALS = frozenset((0, 1, 2, 15))
"""SIGHUP, SIGINT and SIGTERM; 0 is what the server writes when its host has hung up."""

_HANG_UP = getattr(select, "POLLRDHUP", 0)
"""Where a socket can be closed for one direction; that the whole of it is closed is always told."""

_LOOK_SECONDS = 0.2
"""How long a live server may take to read a signal's number."""

_LONGEST_WAIT_SECONDS = 60.0
"""A copy of the server that a tool has forked may keep the pipe open after it, so look now and then."""


class Guard:
    """What is known about the server."""

    def __init__(self, end_seconds: float, stuck_seconds: float, style: str, slots: int, name_bytes: int) -> None:
        self.server = posix.getppid()
        self.end_seconds = end_seconds
        self.stuck_seconds = stuck_seconds
        self.style = style
        self.slots = slots
        self.name_bytes = name_bytes
        self.last = time.monotonic()  # the last sign of life
        self.busy = True  # whether calls are under way, and signs of life are due
        self.hung_up: float | None = None  # when the host hung up
        self.asked: float | None = None  # when a signal came that the server has not taken note of
        self.ending: float | None = None  # when the server began to end by itself
        self.signal_seen: float | None = None
        self.reported = False
        self.poll = select.poll()
        self.poll.register(0, select.POLLIN)
        if _is_regular(3):
            # It does not say when it ends, as a pipe does; but nobody is there to send more, or to wait longer.
            self.hung_up = self.last
        else:
            self.poll.register(3, _HANG_UP)
        self.poll.register(4, select.POLLIN)

    def watch(self) -> None:
        """Return when the server has ended, or has been ended."""
        while posix.getppid() == self.server:
            due = self._act()
            if due is None:
                return
            wait = min(due - time.monotonic(), _LONGEST_WAIT_SECONDS)
            for descriptor, event in self.poll.poll(max(0.0, wait) * 1000):
                if descriptor == 0 and not self._listen():
                    return
                if descriptor == 3:
                    self.poll.unregister(3)
                    if not event & select.POLLNVAL:  # a kind of file that this system cannot poll
                        self.hung_up = time.monotonic()
                if descriptor == 4:  # it stays readable while the server does not read
                    self.poll.unregister(4)
                    self.signal_seen = time.monotonic()

    def _listen(self) -> bool:
        told = posix.read(0, 1000)
        if not told:
            return False
        now = time.monotonic()
        if b"e" in told:
            self.ending = now
        if self.reported:
            self._say("info", "the interpreter runs again")
        self.last, self.busy, self.reported = now, not told.endswith(b"i"), False
        return True

    def _act(self) -> float | None:
        """Do what is due; return when to look again, `None` if there is nothing left to watch."""
        now = time.monotonic()
        times = [now + _LONGEST_WAIT_SECONDS]
        if self.signal_seen is not None:
            if now >= self.signal_seen + _LOOK_SECONDS:
                self._look_at_signals(self.signal_seen)
            else:
                times.append(self.signal_seen + _LOOK_SECONDS)
        # A live server may have much to read before it comes to the end of its input.
        asked = [max(since, self.last) for since in (self.hung_up, self.asked) if since is not None]
        ends = [since + self.end_seconds for since in [*asked, self.ending] if since is not None]
        if ends and now >= min(ends):
            if self.hung_up is None or self.asked or self.ending or _has_hung_up(3):
                self._end()
                return None
            self.hung_up = None  # a named pipe that somebody else has opened
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
                posix.write(5, numbers)  # not for us
                self.signal_seen = time.monotonic()
                return
            self.poll.register(4, select.POLLIN)

    def _end(self) -> None:
        names = self._names()
        if posix.getppid() == self.server:
            posix.kill(self.server, 9)
            culprit = f"; a call of {names} was under way" if names else ""
            self._say("warning", f"killed, for it was to end and did not get to it in time{culprit}. {_ADVICE}")

    def _report(self, seconds: float) -> None:
        self.reported = True
        names = self._names() or "a tool"
        what = f"no Python code has run for {seconds:.0f} s, since {names} holds the interpreter's lock"
        self._say("warning", f"{what}: no other call gets on. {_ADVICE}")

    def _names(self) -> str:
        try:
            marks = memoryview(posix.pread(6, 2 * self.slots, 0)).cast("H")
            size = self.name_bytes
            names = [posix.pread(6, size, 2 * self.slots + code * size) for code in {*marks} - {0}]
        except OSError:
            return ""
        told = sorted(name.rstrip(b"\0").decode("utf-8", "replace") for name in names)
        return told[0] if len(told) == 1 else f"one of {', '.join(told[:10])}" if told else ""

    def _say(self, level: str, message: str) -> None:
        poll = select.poll()
        poll.register(2, select.POLLOUT)
        if not self.style or not any(event & select.POLLOUT for _, event in poll.poll(0)):
            return  # nobody reads it, and waiting would help no one
        if self.style == "json":
            import json

            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            line = json.dumps({"time": stamp, "level": level, "message": message})
        else:
            line = f"toolwire: {'' if level == 'info' else level + ': '}{message}"
        posix.write(2, (line + "\n").encode("utf-8", "backslashreplace")[:4096])


_ADVICE = "`toolwire serve --isolate`, or runs_in='process', keeps such a tool apart"


def _is_regular(descriptor: int) -> bool:
    return posix.fstat(descriptor).st_mode & 0o170000 == 0o100000


def _has_hung_up(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, _HANG_UP)
    return bool(_is_regular(descriptor) or poll.poll(0))


if __name__ == "__main__":
    posix.chdir("/")
    posix.closerange(7, 65536)
    _, end_seconds, stuck_seconds, style, slots, name_bytes = sys.argv
    Guard(float(end_seconds), float(stuck_seconds), style, int(slots), int(name_bytes)).watch()
