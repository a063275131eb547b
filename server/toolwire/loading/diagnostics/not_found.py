"""The errors about a target that does not exist. Imported for the first of them."""

from __future__ import annotations

import os
import shlex
from difflib import get_close_matches
from shutil import which
from typing import TYPE_CHECKING

from toolwire_schemas.did_you_mean import explain_unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence


_ENDINGS = (".py", ".yaml", ".yml")
"""Of the files that can be targets."""


def explain_unusable_file(path: str) -> str:
    """Return a clause that says why *path* is not a Python file."""
    if not os.path.isfile(path):
        return explain_missing_file(path)
    return (
        f"{path} is not a Python file: its name must end in .py (or .yaml, if it describes tools)"
    )


def explain_missing_file(path: str) -> str:
    """Return a clause that says there is no file at *path*, with similar ones."""
    folder, base = os.path.split(path)
    if "://" in path:
        return (
            f"{path} is an address; to serve the tools of a remote server, mount it:"
            f" `toolwire serve --mount NAME={path}`"
        )
    hint = _hint_at_command(path)
    if hint:
        return hint
    if folder and not os.path.isdir(folder):
        return f"no file {path}: there is no folder {folder}"
    files = sorted(os.listdir(folder or "."))
    names = [name for name in files if name.endswith(_ENDINGS)]
    place = folder or "this folder"
    if not names:
        return f"no file {path}, and no other Python or YAML file in {place}"
    return f"{place} has {explain_unknown_name('file', base, names)}"


def explain_unknown_target(name: str, known: Sequence[str]) -> str:
    """Return a sentence that says there is no module or tool called *name*, with the closest of the
    *known* ones.
    """
    hint = _hint_at_command(name)
    if hint:
        return hint
    close = get_close_matches(name, known, n=1)
    question = f", did you mean {close[0]!r}?" if close else "."
    return f"{name!r} not found: no such file, module or tool{question} Known: {', '.join(known)}"


def _hint_at_command(target: str) -> str:
    """Return what to write if *target* is the command of a server, or its first word; an empty text
    if it is not.
    """
    try:
        words = shlex.split(target)
    except ValueError:
        return ""
    if not words or which(words[0]) is None:
        return ""
    if len(words) == 1:
        return (
            f"{target!r} is a program; the command of a server goes after --: `toolwire list --"
            f" {target} ...`"
        )
    hint = (
        f"{target!r} is a command; the command of a server goes after --: `toolwire list --"
        f" {shlex.join(words)}`"
    )
    file = words[-1]
    if file.endswith(".py") and os.path.isfile(file):
        hint += (
            f". If {file} is a file of tools, name only that: `toolwire list {shlex.quote(file)}`"
        )
    return hint
