"""Notes of the tasks that `toolwire call --task` has started: which server has each.

MCP 2026-07-28 has no list of tasks, and asks clients to keep their ids. Each note is a file of its
own, so that commands that run at once need no lock.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

import msgspec

MAX_NOTES = 1000
"""The oldest notes beyond this number are removed."""


class TaskNote(msgspec.Struct, frozen=True, kw_only=True):
    """A task, and the command that starts its server in *folder*; *is_ours* if that is `toolwire
    serve`. `started` is in seconds since 1970, `state` and `message` are the last known.
    """

    id: str
    tool: str
    command: list[str]
    is_ours: bool
    folder: str
    started: float
    state: str = "working"
    message: str = ""


def find_notes_folder() -> Path:
    """Return the folder of the notes, which need not exist."""
    states = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(states):  # which the XDG specification wants to be ignored
        states = os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(states, "toolwire", "tasks")


def make_note(task_id: str, tool: str, command: list[str], *, is_ours: bool) -> TaskNote:
    """Return the note of a task that has just been started from this folder."""
    return TaskNote(
        id=task_id,
        tool=tool,
        command=command,
        is_ours=is_ours,
        folder=str(Path.cwd()),
        started=time.time(),
    )


def write_note(note: TaskNote) -> None:
    """Write *note*, in place of an earlier one of the same task. Only the user may read it: the
    command may hold secrets.

    Raises:
        OSError: if it cannot be written.
    """
    path = _make_path(note)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(note))
    os.replace(new, path)
    for old in read_notes()[MAX_NOTES:]:
        remove_note(old)


def read_notes() -> list[TaskNote]:
    """Return all notes, the newest first, without unreadable ones."""
    notes = []
    for path in find_notes_folder().glob("*.json"):
        with suppress(OSError, msgspec.DecodeError):
            notes.append(msgspec.json.decode(path.read_bytes(), type=TaskNote))
    return sorted(notes, key=lambda note: note.started, reverse=True)


def remove_note(note: TaskNote) -> None:
    """Remove *note*, if it is there."""
    with suppress(OSError):
        _make_path(note).unlink()


def _make_path(note: TaskNote) -> Path:
    # An id may be any text.
    name = hashlib.sha256("\0".join([note.id, *note.command]).encode()).hexdigest()[:32]
    return find_notes_folder() / f"{name}.json"
