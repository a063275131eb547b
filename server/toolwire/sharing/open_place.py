"""How sessions find a shared process, by its files, and which of them may open: none after a file
that the process was made of has changed.
"""

from __future__ import annotations

import os
import re
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

_CHANGED = "changed"
"""The answer to a session that needs a process of other files."""

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
        self._aside = place.make_private(os.getpid())
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

    def is_registered(self) -> bool:
        """Return whether new sessions find this process."""
        return _has_number(self._place.socket, self._socket_number)

    def unregister(self) -> None:
        """Remove the files, so that new sessions start another process."""
        for path in (self._place.socket, self._aside.socket):
            _remove(path, self._socket_number)
        _remove(self._place.alive, self._pipe_number)

    def step_aside(self) -> None:
        """Let new sessions start another process; `toolwire share` still finds this one."""
        if self.is_registered():
            with suppress(OSError):
                os.rename(self._place.socket, self._aside.socket)
        _remove(self._place.alive, self._pipe_number)

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


def _has_number(path: str, number: int) -> bool:
    """Return whether the file at *path* is the one with this *number*."""
    try:
        return os.stat(path).st_ino == number
    except OSError:
        return False


def _remove(path: str, number: int) -> None:
    """Remove the file at *path* if it is the one with this *number*."""
    if _has_number(path, number):
        with suppress(OSError):
            os.unlink(path)


_OF_ONE_PROCESS = re.compile(r"[0-9a-f]+-([0-9]+)\.(sock|lock|alive)")


def remove_leftovers(folder: str) -> None:
    """Remove the files in *folder* of killed processes that no new session could find."""
    for name in os.listdir(folder):
        found = _OF_ONE_PROCESS.fullmatch(name)
        if found is not None and not has_process(int(found[1])):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))


def has_process(pid: int) -> bool:
    """Return whether there is a process *pid*, which may have ended but still have its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


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
            return _CHANGED
        if is_loading:
            if sessions:
                # The modules may refuse to be shared. Until that is known, there is one session.
                return "wait"
        elif self._files.have_changed():
            self.step_aside(_CHANGED)
            self._on_change()
            return _CHANGED
        else:
            self._files.note()
        if sessions >= MAX_SESSIONS:
            return f"full the shared process has {MAX_SESSIONS} sessions, as many as it may have"
        return "ok"

    @property
    def is_old(self) -> bool:
        """Whether new sessions have another process: a file has changed, or this one was stuck."""
        if self._refusal:
            return self._refusal == _CHANGED
        return not self._place.is_registered()

    def note_files(self) -> None:
        """Note the files that are loaded: new sessions need the same ones."""
        self._files.note()

    def step_aside(self, refusal: str) -> None:
        """Answer new sessions with *refusal* from now on, and let them start another process."""
        self._refusal = refusal
        self._place.step_aside()

    def close(self, refusal: str) -> None:
        """Answer new sessions with *refusal* until this process ends, which is soon."""
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
