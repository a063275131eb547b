"""The keys of servers that a command starts: those of `wrap` and of mounts."""

from __future__ import annotations

import os
from shutil import which
from typing import TYPE_CHECKING, Any

from .store import make_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MAX_WORDS = 100
"""How many words of a command may be files that are looked at."""


def make_command_key(
    kind: str,
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None = None,
    **facts: Any,
) -> str:
    """Return the key of the server that *command* starts in the folder *cwd*, with all of *env*.

    It changes with the program, with each file that the command names, and with the names of the
    variables. Their values may change with every start, as those of tokens do.

    Raises:
        OSError: if *cwd* is not given, and the working folder does not exist.
    """
    folder = os.path.abspath(cwd or os.curdir)
    program = which(command[0], path=env.get("PATH")) or command[0]
    names = [program, *command[1:_MAX_WORDS]]
    files = [_take_stamp(os.path.join(folder, name)) for name in names]
    return make_key(
        kind, command=list(command), cwd=folder, names=sorted(env), files=files, **facts
    )


def _take_stamp(path: str) -> list[str | int] | None:
    """Return what changes when the file at *path* is another one; `None` if it is no file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not os.path.isfile(path):
        return None
    return [os.path.realpath(path), status.st_size, status.st_mtime_ns]
