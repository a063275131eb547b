"""`--reload`: reloads the tools when their source changes, and keeps the connection.

Strategy. A thread compares the files of the user's modules several times a second: some dozen
`stat` calls, which need no other library and work on file systems without events. If one has
changed, it imports those modules again and gives their tools to the server; running calls finish
with the old ones. If that fails, it restores the old modules: a broken edit changes nothing.
"""

from __future__ import annotations

import importlib
import os
import stat
import sys
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from toolwire_schemas.threads import start_thread, start_timer

from .. import log
from ..errors import LifespanFailed
from . import importing as imports
from .diagnostics.import_errors import print_users_part
from .targets import parse
from .user_modules import find_file, is_of_user

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from toolwire_tools import Tool

    from ..server import Server

_LOOK_SECONDS = 0.2
"""Interval of checks. Editors write in steps, so files must be the same in two of them."""

_DESCRIPTIONS = tuple(f"_config{ending}" for ending in imports.YAML)
"""Endings of YAML files that describe the Python file next to them."""

STILL_SERVED = " changed, but the old tools are still served: "
NOW_SERVING = " changed; serving "
"""These stand in the log between the names of the files and the reason or the counts; the page of
`inspect` finds reports of reloads by them.
"""

_HANGING_SECONDS = 5.0
"""After this time an unfinished import is reported; nearly all imports are faster."""

Stamp = tuple[str | int, ...]


class Reloader:
    """Calls *load* again whenever its source changes. Create it before the first load.

    *named* are the files and folders on the command line; they may be links, which may change.
    Folders are searched for new files too.
    """

    def __init__(self, load: Callable[[], list[Tool]], named: Sequence[str]) -> None:
        # An edit within the same second and of the same length would find the old bytecode valid.
        sys.dont_write_bytecode = True
        self._load = load
        self._named = [os.path.abspath(path) for path in named]
        self._not_ours = set(sys.modules)
        self._path = list(sys.path)
        self._seen: dict[str, Stamp] = {}

    def start(self, server: Server) -> None:
        """Watch the source from now on, in a thread."""
        self._seen = self._look()
        if not self._seen:
            log.warning("--reload has nothing to follow: all that is served is installed")
        start_thread(self._follow, "toolwire-reload", server)

    def _follow(self, server: Server) -> None:
        before = self._seen
        while True:
            time.sleep(_LOOK_SECONDS)
            found = self._look()
            if found == before != self._seen:
                self._reload(server, found)
            before = found

    def _reload(self, server: Server, found: dict[str, Stamp]) -> None:
        names = self._name_changes(found)
        old_modules, old_path = self._list_modules(), list(sys.path)
        for name in old_modules:
            del sys.modules[name]
        # The old target of a changed link must not come before the new one.
        sys.path[:] = self._path
        importlib.invalidate_caches()
        hanging = _warn_later(
            f"{names} changed, and importing it takes long; the old tools are still served"
        )
        try:
            tools = self._load()
            server.replace(tools)
        except (Exception, KeyboardInterrupt) as error:  # the user reads the error and edits again
            if isinstance(error, LifespanFailed):
                print_users_part(error.__cause__)
            for name in self._list_modules():
                del sys.modules[name]
            sys.modules.update(old_modules)
            sys.path[:] = old_path
            log.error(f"{names}{STILL_SERVED}{error}")
        else:
            log.info(f"{names}{NOW_SERVING}{_format_counts(tools)}")
        finally:
            if hanging is not None:
                hanging.cancel()
        self._remember(found)

    def _name_changes(self, found: dict[str, Stamp]) -> str:
        """Return the names of the files that differ from those of the last load."""
        changed = []
        for path in sorted(found.keys() | self._seen.keys()):
            if found.get(path) != self._seen.get(path):
                changed.append(os.path.basename(path))
        return ", ".join(changed)

    def _remember(self, found: dict[str, Stamp]) -> None:
        """Note *found* as the files of the last load.

        An edit since *found* may have been too late for this load; the next check must find it, as
        well as what was missing in *found* and is back.
        """
        missing = self._seen.keys() - found.keys()
        seen = {}
        for path, stamp in self._look().items():
            if path not in missing:
                seen[path] = found.get(path, stamp)
        self._seen = seen

    def _list_modules(self) -> dict[str, ModuleType]:
        """Return the user's modules that were imported since the start."""
        modules = {}
        for name, module in list(sys.modules.items()):
            if name not in self._not_ours and is_of_user(find_file(module)):
                modules[name] = module
        return modules

    def _look(self) -> dict[str, Stamp]:
        """Return a stamp of each file that is watched and exists."""
        stamps = {}
        for path in self._list_paths():
            # It may be gone, perhaps only for the moment an editor takes to replace it.
            with suppress(OSError):
                stamps[path] = _take_stamp(path)
        return stamps

    def _list_paths(self) -> set[str]:
        """Return the files of the user's modules, and what is or may become a target next to
        them.
        """
        files = set(map(find_file, self._list_modules().values()))
        program = find_file(sys.modules["__main__"])  # that of `--adopt`, or Toolwire
        if is_of_user(program):
            files.add(program)
        folders_of_modules = set(map(os.path.dirname, files))
        named_folders = {os.path.realpath(path) for path in self._named if os.path.isdir(path)}
        paths = {*files, *self._named}
        for folder in named_folders | folders_of_modules:
            endings = (".py", *imports.YAML) if folder in named_folders else _DESCRIPTIONS
            with suppress(OSError):  # it is being removed, or is not readable
                for entry in os.scandir(folder):
                    if entry.name.endswith(endings):
                        paths.add(entry.path)
        return paths


def _take_stamp(path: str) -> Stamp:
    status = os.stat(path)
    identity = (os.path.realpath(path), status.st_dev, status.st_ino)
    if stat.S_ISDIR(status.st_mode):  # unrelated files may come and go in it
        return identity
    return (*identity, status.st_mtime_ns, status.st_size)


def _warn_later(sentence: str) -> threading.Timer | None:
    try:
        return start_timer(_HANGING_SECONDS, log.warning, sentence)
    except RuntimeError:  # the system allows no more threads
        return None


def _format_counts(tools: Sequence[Tool]) -> str:
    """Return how many tools, resources and prompts there are, in words."""
    counts = Counter(tool.entry.noun for tool in tools)
    words = []
    for noun, count in counts.items():
        ending = "" if count == 1 else "s"
        words.append(f"{count} {noun}{ending}")
    return ", ".join(words) or "no tools"


def make_reloader(targets: Sequence[str], load: Callable[[], list[Tool]]) -> Reloader:
    """Return what reloads *targets* of a command line, which *load* loads."""
    named = set()
    for target in targets:
        place = parse(target).place
        named.add(place)
        if place.endswith(imports.YAML):
            named.add(os.path.dirname(place) or ".")
    return Reloader(load, [path for path in named if os.path.exists(path)])
