"""Targets of `serve --adopt`, which may be programs with arguments."""

from __future__ import annotations

import shlex

from ..errors import UsageError
from .options import Words


def list_targets(words: Words) -> list[str]:
    """Return the targets: the words after one target, or after `-m MODULE`, and `--` are its
    arguments; `-- -m package` is a module.

    Raises:
        UsageError: if there is a module and no `--adopt`, or another target.
    """
    module = words.options.get("module")
    if module is not None:
        words = _name_module(words, module)
    if words.command and len(words.words) == 1:
        return [f"{words.words[0]} {shlex.join(words.command)}"]
    if words.command and words.command[0] == "-m":
        return [shlex.join(words.command)]
    return [*words.words, *(words.command or [])]


def _name_module(words: Words, module: str) -> Words:
    """Return *words* as if they were `-- -m module arguments`."""
    if "adopt" not in words.options:
        raise UsageError(
            f"-m goes with --adopt; to serve the functions of a module, write `serve {module}`"
        )
    if words.words:
        raise UsageError(f"-m {module} is one target, and {words.words[0]} another: name one")
    return Words(words.options, [], ["-m", module, *(words.command or [])])
