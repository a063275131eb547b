"""Follows the edits of the files that are looked at: what `serve --reload` reports of each, and
changes of a file that could not be loaded at all.

Strategy. The server reports a reload on stderr, after the traceback of a failed one: every Toolwire
server can write a line there at any time, whatever revision it speaks. A server that could not load
its target has ended, and then the files are compared here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from ..loading.reload import NOW_SERVING, STILL_SERVED
from ..loading.targets import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LOOK_SECONDS = 0.3
_MAX_TRACE_LINES = 60
_MAX_FILES = 2000
_PREFIX = "toolwire: "
_BELOW = " (traceback above)"
"""Where a terminal has the traceback; the page has it below."""

RELOAD_WORDS = ["--reload", "--log-level=info"]
"""Options of `serve`, whose report of each reload is `Edits.read`."""


class Edits:
    """The last edit: `number` counts them; `problem` and `trace` are empty if it was loaded."""

    def __init__(self) -> None:
        self.number = 0
        self.names = ""
        self.problem = ""
        self.trace = ""
        self._lines: list[str] = []

    def read(self, line: str) -> bool:
        """Take a *line* of the server's stderr; return whether it reports a reload."""
        if not line.startswith(_PREFIX):
            self._lines = [*self._lines[1 - _MAX_TRACE_LINES :], line]
            return False
        lines, self._lines = self._lines, []
        names, failed, problem = line.removeprefix(f"{_PREFIX}error: ").partition(STILL_SERVED)
        if failed:
            self._note(names, problem.removesuffix(_BELOW), "\n".join(lines))
            return True
        names, loaded, _ = line.removeprefix(_PREFIX).partition(NOW_SERVING)
        if loaded:
            self._note(names, "", "")
        return bool(loaded)

    def _note(self, names: str, problem: str, trace: str) -> None:
        self.number += 1
        self.names, self.problem, self.trace = names, problem, trace

    def describe(self) -> dict[str, Any]:
        """Return the last edit for the page."""
        return {
            "number": self.number,
            "names": self.names,
            "problem": self.problem,
            "trace": self.trace,
        }


def reload_command(command: Sequence[str]) -> list[str]:
    """Return *command*, one of `serve` with targets after `--`, so that it follows edits."""
    end = command.index("--")
    return [*command[:end], *RELOAD_WORDS, *command[end:]]


async def wait_for_edit(targets: Iterable[str]) -> None:
    """Wait until a Python or YAML file in a folder of *targets* changes."""
    folders = {_find_folder(parse(target).place) for target in targets}
    before = await anyio.to_thread.run_sync(_read_stamps, folders)
    while True:
        await anyio.sleep(_LOOK_SECONDS)
        now = await anyio.to_thread.run_sync(_read_stamps, folders)
        if now != before:
            return


def _find_folder(place: str) -> Path:
    path = Path(place)
    return path if path.is_dir() else path.parent


def _read_stamps(folders: Iterable[Path]) -> dict[str, tuple[int, int]]:
    stamps: dict[str, tuple[int, int]] = {}
    for folder in folders:
        try:
            entries = list(os.scandir(folder))[:_MAX_FILES]
        except OSError:  # it is being replaced
            continue
        for entry in entries:
            if not entry.name.endswith((".py", ".yaml", ".yml")):
                continue
            try:
                status = entry.stat()
            except OSError:
                continue
            stamps[entry.path] = (status.st_mtime_ns, status.st_size)
    return stamps
