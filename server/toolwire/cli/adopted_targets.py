"""Targets of `serve --adopt`, which may be programs with arguments."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from toolwire_compat.fastmcp.programs import find_program

from ..errors import UsageError

if TYPE_CHECKING:
    from .options import Words


def list_targets(words: Words) -> list[str]:
    """Return the targets: the words after one target and `--` are its arguments; `-- -m package` is
    a module.

    Raises:
        UsageError: if a program is to be reloaded, which starts once.
    """
    targets = [*words.words, *(words.command or [])]
    if words.command and len(words.words) == 1:
        targets = [f"{words.words[0]} {shlex.join(words.command)}"]
    elif words.command and words.command[0] == "-m":
        targets = [shlex.join(words.command)]
    for target in targets:
        if "reload" in words.options and find_program(target) is not None:
            raise UsageError(
                f"--reload is for files: leave it out, since {target} starts only once"
            )
    return targets
