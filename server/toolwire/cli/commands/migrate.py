"""`toolwire migrate`: changes the imports of files written for Lagent, Groot or the tool
library.
"""

from __future__ import annotations

import difflib
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.install_command import install_command
from toolwire_schemas.output import make_printable

from ...errors import Failed, UsageError
from ...hosts.safe_write import NotRewritten, rewrite
from ..options import Option
from ..printing.layout import format_count
from ..printing.terminal import print_data
from . import Command

if TYPE_CHECKING:
    from ..migration.imports import Migrated
    from ..options import Words

COMMAND = Command(
    usage=("toolwire migrate FILE... [OPTIONS]",),
    details=(
        "Changes imports of Lagent, Groot and the tool library (mas) to Toolwire's, by the syntax"
        " tree: comments, aliases and layout stay. Prints what it changes, and for each name"
        " without a counterpart what to use instead. No file is written without --write, and none"
        " if one of them cannot be read. The exit status is 1 if something is left to do by hand;"
        " with --check also if a file would change."
    ),
    options=(
        Option("--write", "change the files; a backup is made next to each"),
        Option("--diff", "print the changes as a unified diff too"),
        Option("--check", "only report, with status 1 if a file would change"),
    ),
    examples=(
        "toolwire migrate agent.py --diff",
        "toolwire migrate src/*.py --write",
    ),
)


class _File(msgspec.Struct, frozen=True):
    path: str
    text: str
    migrated: Migrated

    @property
    def changes(self) -> bool:
        return self.migrated.text != self.text


def run(words: Words) -> int:
    """Report on every file, and write those that change if asked."""
    paths = [*words.words, *(words.command or ())]
    if not paths:
        raise UsageError("name the files to migrate, as in `migrate agent.py`")
    if "write" in words.options and "check" in words.options:
        raise UsageError("--write and --check exclude each other")
    if find_spec("libcst") is None:
        raise Failed(f"migrate needs libcst: {install_command('toolwire[migrate]')}", 2)
    files = [_read(path) for path in dict.fromkeys(paths)]  # all, before the first is written
    for file in files:
        _report(file, is_with_diff="diff" in words.options)
    changed = [file for file in files if file.changes]
    if "write" in words.options:
        for file in changed:
            _write(file)
    else:
        print_data(_format_summary(len(changed), is_check="check" in words.options))
    is_left = any(remark.is_open for file in files for remark in file.migrated.remarks)
    would_change = "check" in words.options and bool(changed)
    return 1 if is_left or would_change else 0


def _read(path: str) -> _File:
    from ..migration.imports import NotPython, migrate

    try:
        # Line ends stay as they are: `read_text` would change them.
        text = Path(path).read_bytes().decode()
        return _File(path, text, migrate(text))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{path} cannot be read: {reason}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} cannot be read: it is not text in UTF-8") from None
    except NotPython as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _report(file: _File, *, is_with_diff: bool) -> None:
    for remark in file.migrated.remarks:
        print_data(make_printable(f"{file.path}:{remark.line}: {remark.text}"))
    if not file.migrated.remarks:
        print_data(make_printable(f"{file.path}: nothing to change"))
    if not is_with_diff:
        return
    before = file.text.splitlines(keepends=True)
    after = file.migrated.text.splitlines(keepends=True)
    for line in difflib.unified_diff(before, after, file.path, file.path):
        print_data(make_printable(line.rstrip("\r\n")))


def _write(file: _File) -> None:
    from ..migration.imports import migrate

    try:
        done = rewrite(file.path, lambda text: migrate(text).text)
    except NotRewritten as error:
        raise Failed(f"{file.path} was left as it was: {error}") from None
    backup = os.path.relpath(done.backup or file.path)
    print_data(make_printable(f"Wrote {file.path}. The file as it was: {backup}"))


def _format_summary(number: int, *, is_check: bool) -> str:
    if not number:
        return "No file changes."
    verb = "change" if number > 1 else "changes"
    advice = "" if is_check else " --write does it."
    return f"{format_count(number, 'file').capitalize()} {verb}.{advice}"
