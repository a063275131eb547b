"""Changes a file of another program atomically, with a backup next to it."""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable


class Rewritten(msgspec.Struct, frozen=True):
    """The result of a change, with the path of the *backup* (`None` if the file is new)."""

    changed: bool
    backup: str | None = None


class NotRewritten(Exception):
    """A file was left as it was. The message says why."""


def rewrite(path: str, change: Callable[[str], str]) -> Rewritten:
    """Replace the text of the file at *path* by what *change* returns for it; the text of a missing
    file is empty.

    Links are followed, so that they stay links. Line ends are left to *change*. Permissions are
    kept; a new file is for its owner alone.

    Raises:
        NotRewritten: if that is not possible, or another program changed the file at the same time.
    """
    real = os.path.realpath(path)
    try:
        before = _read(real)
        after = _change(before or b"", change)
        if after == before:
            return Rewritten(changed=False)
        os.makedirs(os.path.dirname(real), exist_ok=True)
        backup = None
        if before is not None:
            backup = _write_backup(real, before)
        _replace(real, before, after)
        return Rewritten(changed=True, backup=backup)
    except UnicodeError:
        raise NotRewritten("it is not text in UTF-8") from None
    except OSError as error:
        raise NotRewritten((error.strerror or str(error)).lower()) from None


def write_private(path: str, text: str) -> None:
    """Write the file at *path*, in a folder that is made if it is missing, for its owner alone.

    Raises:
        NotRewritten: if that is not possible.
    """
    temporary = f"{path}.{os.getpid()}.new"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        _write_new(temporary, text.encode(), like=None)
        os.replace(temporary, path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise NotRewritten(f"{path} cannot be written: {reason}") from None


def _change(before: bytes, change: Callable[[str], str]) -> bytes:
    # Some editors on Windows begin a file with a byte order mark.
    mark = b""
    if before.startswith(codecs.BOM_UTF8):
        mark = codecs.BOM_UTF8
    text = before.removeprefix(mark).decode()
    return mark + change(text).encode()


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write_backup(path: str, data: bytes) -> str:
    """Write *data* next to *path*, under the first free number, and return its path."""
    number = 1
    while os.path.exists(f"{path}.backup-{number}"):
        number += 1
    place = f"{path}.backup-{number}"
    _write_new(place, data, like=path)
    return place


def _replace(path: str, before: bytes | None, after: bytes) -> None:
    temporary = f"{path}.{os.getpid()}.new"
    _write_new(temporary, after, like=path if before is not None else None)
    try:
        # Hosts write these files too. The race is reduced to the time between this line and the
        # next.
        if _read(path) != before:
            raise NotRewritten("another program changed it at the same time; try again")
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _write_new(path: str, data: bytes, *, like: str | None) -> None:
    """Write a file that must not exist, with the permissions of another: these files may hold
    keys.
    """
    mode = 0o600 if like is None else os.stat(like).st_mode & 0o777
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if like is not None:
        os.chmod(path, mode)
