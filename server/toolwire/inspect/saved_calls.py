"""Calls that have a name: `.toolwire/calls.json` in the working folder, which the page of `inspect`
writes, and `call --saved` and `check --saved` read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
from toolwire_schemas.did_you_mean import explain_unknown_name

from ..errors import UsageError

FILE = Path(".toolwire", "calls.json")
MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_NAME_CHARACTERS = 200


class SavedCall(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A call of *tool*: of the server of a *target*, or else of the one that *command* starts."""

    tool: str
    arguments: dict[str, Any]
    target: str | None = None
    command: list[str] | None = None


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    calls: dict[str, SavedCall]
    version: int = 1


def read_calls(file: Path = FILE) -> dict[str, SavedCall]:
    """Return the calls in *file* by their names; none if there is no such file.

    Raises:
        UsageError: if it cannot be read.
    """
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"{file} has more than {MAX_FILE_BYTES} bytes")
        data = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {os.strerror(error.errno or 0)}") from None
    try:
        found = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{file} has no saved calls: {error}") from None
    if found.version != 1:
        raise UsageError(f"{file} is of version {found.version}, and this Toolwire knows version 1")
    return found.calls


def find_call(name: str, file: Path = FILE) -> SavedCall:
    """Return the saved call *name*.

    Raises:
        UsageError: if there is no such call.
    """
    calls = read_calls(file)
    if name not in calls:
        if not calls:
            raise UsageError(f"there are no saved calls in {file}: save one in `toolwire inspect`")
        raise UsageError(explain_unknown_name("saved call", name, list(calls)))
    return calls[name]


def write_call(name: str, call: SavedCall | None, file: Path = FILE) -> None:
    """Save *call* as *name*, in place of an earlier one; `None` removes it.

    Raises:
        UsageError: if it cannot be saved.
    """
    if not name.strip() or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        raise UsageError(f"a name has 1 to {MAX_NAME_CHARACTERS} printable characters")
    calls = {known: each for known, each in read_calls(file).items() if known != name}
    if call is not None:
        calls[name] = call
    text = msgspec.json.format(msgspec.json.encode(_File(calls)), indent=2) + b"\n"
    if len(text) > MAX_FILE_BYTES:
        raise UsageError(f"{file} would have more than {MAX_FILE_BYTES} bytes")
    try:
        file.parent.mkdir(exist_ok=True)
        new = file.with_name(f"{file.name}.{os.getpid()}.new")
        new.write_bytes(text)
        new.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {os.strerror(error.errno or 0)}") from None
