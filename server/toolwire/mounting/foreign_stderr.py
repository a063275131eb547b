"""The stderr of a mounted or wrapped server, passed on to ours within limits."""

from __future__ import annotations

import sys
import threading
import time

from toolwire_schemas.output import Output, make_printable

MAX_LINES = 200
"""In a second: a long traceback passes, and a server in a loop does not fill the disk with the
host's log.
"""

MAX_LINE_CHARACTERS = 2000

_SECONDS = 1.0


class ForeignStderr(Output):
    """Writes lines of the server *name* to our stderr, each after that name, if there is one;
    control characters are escaped.

    At most `MAX_LINES` are written in a second, and `MAX_LINE_CHARACTERS` of each. The rest is
    counted.
    """

    def __init__(self, name: str = "") -> None:
        self._prefix = f"{make_printable(name.replace(chr(10), ' '))}: " if name else ""
        self._lock = threading.Lock()
        self._next_window = 0.0
        self._written = 0
        self._left_out = 0

    def write_line(self, text: str) -> None:
        """Write the line *text*, or count it."""
        with self._lock:
            self._open_window(time.monotonic())
            if self._written < MAX_LINES:
                self._written += 1
                self._print(_shorten(text))
                return
            if not self._left_out:
                self._print(
                    f"(more than {MAX_LINES} lines in a second: the next ones are left out)"
                )
            self._left_out += 1

    def end(self) -> None:
        """Write how many lines were left out last."""
        with self._lock:
            self._report_left_out()

    def _open_window(self, now: float) -> None:
        if now < self._next_window:
            return
        self._next_window = now + _SECONDS
        self._written = 0
        self._report_left_out()

    def _report_left_out(self) -> None:
        if self._left_out:
            self._print(f"({self._left_out} lines were left out)")
            self._left_out = 0

    def _print(self, text: str) -> None:
        if sys.stderr is not None:
            Output(sys.stderr).write_line(self._prefix + text)


def _shorten(line: str) -> str:
    left_out = len(line) - MAX_LINE_CHARACTERS
    if left_out <= 0:
        return line
    return f"{line[:MAX_LINE_CHARACTERS]} … ({left_out} more characters)"
