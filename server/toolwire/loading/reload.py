"""`--reload`: the tools follow their source, and the connection stays.

Strategy. A thread waits for watchfiles to see something happen near the user's modules and looks whether one of them
is another now. If so, those modules are imported anew and the server gets the tools they offer; calls under way
finish with the old ones. If that fails, the old modules are put back: a broken edit changes nothing.
"""

from __future__ import annotations

import importlib
import os
import stat
import sys
import sysconfig
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import toolwire_schemas
import toolwire_tools

from .. import log
from . import importing as imports

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from toolwire_tools import Tool

    from ..server import Server

_LOOK_ANYWAY_MS = 1000
"""How long to wait before looking at the files without having been told to: some file systems tell nothing."""

_SETTLE_MS = 100
"""How long files must have been left alone, at the most, before they are looked at: editors write in steps."""

_DESCRIPTIONS = tuple(f"_config{ending}" for ending in imports.YAML)
"""How files end that describe what is in a Python file beside them."""

_HANGING_SECONDS = 5.0
"""After how long an import that has not ended is reported: longer than nearly all imports take."""

Stamp = tuple[str | int, ...]


class Reloader:
    """Imports what *load* imports anew whenever its source changes. To be made before the first loading.

    *named* are the files and folders that were named, which may be links to others tomorrow. Folders are looked through
    for new files, in addition to those of the modules that were imported.

    Raises:
        ImportError: if watchfiles is not installed.
    """

    def __init__(self, load: Callable[[], list[Tool]], named: Sequence[str]) -> None:
        import watchfiles  # noqa: F401 (to fail now rather than later)

        # An edit within the same second and of the same length would find the old bytecode valid.
        sys.dont_write_bytecode = True
        self._load = load
        self._named = [os.path.abspath(path) for path in named]
        self._not_ours = set(sys.modules)
        self._path = list(sys.path)
        self._seen: dict[str, Stamp] = {}

    def start(self, server: Server) -> None:
        """Follow the source from now on, in a thread."""
        self._seen = self._look()
        threading.Thread(target=self._follow, args=(server,), name="toolwire-reload", daemon=True).start()

    def _follow(self, server: Server) -> None:
        from watchfiles import PythonFilter, watch

        while True:
            watched = self._watched()
            for _ in watch(
                *(path for path, _ in watched),
                watch_filter=PythonFilter(extra_extensions=imports.YAML),
                debounce=_SETTLE_MS,
                rust_timeout=_LOOK_ANYWAY_MS,
                yield_on_timeout=True,
                raise_interrupt=False,
                recursive=False,
            ):
                found = self._look()
                if found != self._seen:
                    self._reload(server, found)
                if self._watched() != watched:
                    break

    def _reload(self, server: Server, found: dict[str, Stamp]) -> None:
        changed = sorted(path for path in found.keys() | self._seen.keys() if found.get(path) != self._seen.get(path))
        names = ", ".join(map(os.path.basename, changed))
        old, path = self._modules(), list(sys.path)
        for name in old:
            del sys.modules[name]
        sys.path[:] = self._path  # a folder that a link has led to must not be searched before the one it leads to now
        importlib.invalidate_caches()
        hanging = threading.Timer(
            _HANGING_SECONDS,
            log.warning,
            [f"{names} changed, and importing it takes long; the tools from before go on being served meanwhile"],
        )
        hanging.daemon = True
        hanging.start()
        try:
            tools = self._load()
            server.replace(tools)
        except (Exception, KeyboardInterrupt) as error:  # whatever it is, the user reads it and edits again
            for name in self._modules():
                del sys.modules[name]
            sys.modules.update(old)
            sys.path[:] = path
            log.error(f"{names} changed, and the tools from before go on being served: {error}")
        else:
            log.info(f"{names} changed; serving {len(tools)} tools")
        finally:
            hanging.cancel()
        # What has been edited since *found* may have come too late to be loaded, and is to be found again.
        self._seen = {**self._look(), **found}

    def _modules(self) -> dict[str, ModuleType]:
        """The user's modules: imported since, and neither installed nor of the standard library."""
        return {
            name: module
            for name, module in list(sys.modules.items())
            if name not in self._not_ours and (file := _file_of(module)) and not file.startswith(_INSTALLED)
        }

    def _watched(self) -> list[tuple[str, int]]:
        """The folders to watch, each as it is now: another one may take its name."""
        folders = {*self._places(), *(os.path.dirname(link) for path in self._named for link in _links(path))}
        found = []
        for folder in sorted(folders):
            with suppress(OSError):
                found.append((folder, os.stat(folder).st_ino))
        return found

    def _folders(self) -> set[str]:
        return {os.path.realpath(path) for path in self._named if os.path.isdir(path)}

    def _places(self) -> list[str]:
        """The folders with sources."""
        of_modules = {os.path.dirname(_file_of(module)) for module in self._modules().values()}
        return sorted(folder for folder in self._folders() | of_modules if os.path.isdir(folder))

    def _look(self) -> dict[str, Stamp]:
        """Every source file that matters, and how to tell whether it is another one now."""
        paths = {_file_of(module) for module in self._modules().values()} | set(self._named)
        folders = self._folders()
        for folder in self._places():
            endings = (".py", *imports.YAML) if folder in folders else _DESCRIPTIONS
            with suppress(OSError):  # it is being removed, or may not be read
                paths.update(entry.path for entry in os.scandir(folder) if entry.name.endswith(endings))
        stamps = {}
        for path in paths:
            try:
                status = os.stat(path)
            except OSError:  # gone, perhaps only for the moment an editor takes to replace it
                continue
            # Of a folder, only which one it is: files of any kind may come and go in it.
            content = () if stat.S_ISDIR(status.st_mode) else (status.st_mtime_ns, status.st_size)
            stamps[path] = (os.path.realpath(path), status.st_dev, status.st_ino, *content)
        return stamps


def sources() -> set[str]:
    """Return the files of all modules that are neither installed nor of the standard library."""
    files = {_file_of(module) for module in list(sys.modules.values())}
    return {file for file in files if file and not file.startswith(_INSTALLED)}


def _links(path: str) -> list[str]:
    """The links that *path* leads over, at most one at each of its levels."""
    levels = [path]
    while (above := os.path.dirname(levels[-1])) != levels[-1]:
        levels.append(above)
    return [level for level in levels if os.path.islink(level)]


def _file_of(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return os.path.realpath(file) if isinstance(file, str) else ""


_INSTALLED = (
    *(
        os.path.realpath(path) + os.sep
        for key, path in sysconfig.get_paths().items()
        if key in ("stdlib", "platstdlib", "purelib", "platlib")
    ),
    # Ours may be installed elsewhere, and some of it is imported late.
    *(os.path.dirname(_file_of(package)) + os.sep for package in (toolwire_schemas, toolwire_tools)),
    os.path.dirname(os.path.realpath(__file__)) + os.sep,
)
