"""How sessions find a shared process, by its files, and which of them may open: none after a file
that the process was made of has changed.
"""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

from contextlib import suppress
from typing import TYPE_CHECKING

from ..transport.descriptors import move_high
from .connection import open_listener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .place import Place

Stamp = tuple[object, ...]

MAX_SESSIONS = 256
"""Each has a thread that reads and one for timers, two descriptors, and some 100 kB."""

_SOURCES = (".py", ".yaml", ".yml")


class OpenPlace:
    """Listens at *place*, and reads its pipe, which every session holds open.

    Another process may replace the files, so each is known by its number, too.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self.pipe = move_high(os.open(place.alive, os.O_RDONLY | os.O_NONBLOCK))
        """Hangs up when no process holds it open for writing."""
        self._pipe_number = os.fstat(self.pipe).st_ino
        self.listener = open_listener(place.socket)
        self._socket_number = os.stat(place.socket).st_ino
        self._own_end = -1

    def is_own_pipe(self, number: str) -> bool:
        """Return whether the pipe with this *number* is the one of this process."""
        return number == str(self._pipe_number)

    def hold_pipe(self) -> None:
        """Hold the pipe open as a session does, if that is possible."""
        if self._own_end < 0:
            self._own_end = self._open_own_end()

    def release_pipe(self) -> None:
        """Leave the pipe to the sessions."""
        if self._own_end >= 0:
            os.close(self._own_end)
            self._own_end = -1

    def unregister(self) -> None:
        """Remove the files, so that new sessions start another process."""
        self._remove(self._place.socket, self._socket_number)
        self._remove(self._place.alive, self._pipe_number)

    def detach_after_fork(self, null: int) -> None:
        """Replace what this process reads by *null*, in a copy of it."""
        if self.listener.fileno() >= 0:
            os.dup2(null, self.listener.fileno(), inheritable=False)
        os.dup2(null, self.pipe, inheritable=False)

    def _open_own_end(self) -> int:
        """Return a descriptor that holds the pipe open; -1 if that is not possible."""
        # The path may be another process's by now, or be gone.
        for path in (self._place.alive, f"/dev/fd/{self.pipe}"):
            with suppress(OSError):
                descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                if os.fstat(descriptor).st_ino == self._pipe_number:
                    return move_high(descriptor)
                os.close(descriptor)
        return -1

    def _remove(self, path: str, number: int) -> None:
        with suppress(OSError):
            if os.stat(path).st_ino == number:
                os.unlink(path)


class Admission:
    """Decides which new sessions may open at *place*: none after one of *files* has changed, of
    which *on_change* is notified.
    """

    def __init__(self, place: OpenPlace, files: LoadedFiles, on_change: Callable[[], None]) -> None:
        self.is_ending = False
        self._place = place
        self._files = files
        self._on_change = on_change
        self._refusal = ""

    def choose_answer(self, pipe: str, sessions: int, *, is_loading: bool) -> str:
        """Return the answer to a session if this number of *sessions* is open: `ok`, `wait` until
        the tools are loaded, or why it may not open.

        *pipe* is the number of the one that it holds open, empty if it need not be compared.
        """
        if self.is_ending:
            return "ending"
        if self._refusal:
            return self._refusal
        if pipe and not self._place.is_own_pipe(pipe):
            return "changed"
        if is_loading:
            if sessions:
                # The modules may refuse to be shared. Until that is known, there is one session.
                return "wait"
        elif self._files.have_changed():
            self.close("changed")
            self._on_change()
            return "changed"
        else:
            self._files.note()
        if sessions >= MAX_SESSIONS:
            return f"full the shared process has {MAX_SESSIONS} sessions, as many as it may have"
        return "ok"

    def note_files(self) -> None:
        """Note the files that are loaded: new sessions need the same ones."""
        self._files.note()

    def close(self, refusal: str) -> None:
        """Answer new sessions with *refusal* from now on."""
        self._refusal = refusal
        self._place.unregister()

    def end(self) -> None:
        """Let no further session open: the process ends."""
        self.is_ending = True
        self._place.unregister()


class LoadedFiles:
    """The files of all modules imported so far, those of Toolwire and of libraries included, and
    the *named* files and folders.
    """

    def __init__(self, named: Iterable[str]) -> None:
        self._named = [os.path.abspath(path) for path in named]
        self._stamps: dict[str, Stamp] = {}

    def note(self) -> None:
        """Keep the state of the files that were not known yet."""
        for path in (*self._named, *_list_module_files()):
            if path not in self._stamps:
                with suppress(OSError):
                    self._stamps[path] = _take_stamp(path)

    def have_changed(self) -> bool:
        """Return whether a known file is another one now, or is gone."""
        try:
            return any(_take_stamp(path) != stamp for path, stamp in self._stamps.items())
        except OSError:
            return True


def _list_module_files() -> Iterator[str]:
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str):
            yield path


def _take_stamp(path: str) -> Stamp:
    if os.path.isdir(path):  # a target: its files are known, but others may come
        return tuple(sorted(name for name in os.listdir(path) if name.endswith(_SOURCES)))
    found = os.stat(path)
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
