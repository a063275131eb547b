"""`Terminal`: a command on a terminal of its own, and keys typed there."""

from __future__ import annotations

import codecs
import os
import pty
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.server_process import wait_until

SECONDS = 60


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "toolwire", *words]


# The terminal becomes the one that controls the process, so that Ctrl-C reaches it.
_SHIM = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1],"
    " sys.argv[1:])"
)


class Terminal:
    """A command on a terminal of its own."""

    def __init__(
        self, *words: str, cwd: Path, program: list[str] | None = None, **env: str
    ) -> None:
        self._controller, terminal = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SHIM, *(program or command(*words))],
            cwd=cwd,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40", **env},
        )
        os.close(terminal)
        self._text_of = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._seen = 0
        self.shown = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._controller)

    def until(self, text: str) -> None:
        """Read until *text* has been shown, behind what was read before."""
        while text not in self.shown[self._seen :]:
            assert self._more(), f"{text!r} was never shown, but {self.shown[self._seen :]!r}"
        self._seen = self.shown.index(text, self._seen) + len(text)

    def types(self, text: str, *, at: str) -> None:
        """Type *text* when *at* has been shown."""
        self.until(at)
        if text == "\x03":
            self._until_asleep()
        os.write(self._controller, text.encode())

    def _until_asleep(self) -> None:
        """Wait until the main thread does: between a prompt and the wait for a key, Python
        overlooks a signal.
        """
        status = Path(f"/proc/{self._process.pid}/stat")
        wait_until(lambda: status.read_text().rpartition(")")[2].split()[0] in "SZ")  # or has ended

    def ends(self) -> int:
        while self._more():
            pass
        return self._process.wait(SECONDS)

    def _more(self) -> bool:
        if not select.select([self._controller], [], [], SECONDS)[0]:
            return False
        try:
            data = os.read(self._controller, 65536)
        except OSError:  # the command has ended
            return False
        self.shown += self._text_of(data)
        return bool(data)
