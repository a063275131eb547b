"""Lists, waits for and cancels tasks."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.output import make_printable

from ....errors import Failed, UsageError
from ...open_client import ask_user, choose_command, connect_to, make_limit
from ...printing.call_result import print_result
from ...printing.layout import format_table
from ...printing.progress import ProgressLine
from ...printing.terminal import format_json, print_data, print_remark, print_report
from .notes import TaskNote, make_note, read_notes, remove_note, write_note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolwire_client import Task, TaskStatus
    from toolwire_schemas.deadline import Deadline

    from ...options import Words

_SHOWN_ID_CHARS = 12


def list_tasks(*, as_json: bool) -> int:
    """Print the tasks that are noted."""
    notes = read_notes()
    if as_json:
        print_data(format_json(notes))
        return 0
    if not notes:
        print_remark("no tasks are noted; toolwire call --task starts one")
        return 0
    print_report(format_table(("id", "tool", "state", "since"), list(map(_describe, notes))))
    return 0


def get_task(task_id: str, targets: list[str], words: Words) -> int:
    """Wait for a task and print its result; return 1 if the tool failed."""
    limit = make_limit(words)
    line = ProgressLine(sys.stderr)
    with _open_task(task_id, targets, words, limit, line) as task:
        if "no_wait" in words.options:
            status = task.read_status(timeout_seconds=limit.seconds_left)
            _print_status(status, as_json="json" in words.options)
            return 0
        try:
            result = task.result(limit.seconds_left, on_progress=line)
        finally:
            line.clear()
    print_result(result, words.options)
    return 1 if result.is_error else 0


def cancel_task(task_id: str, targets: list[str], words: Words) -> int:
    """Ask the server of a task to cancel it."""
    limit = make_limit(words)
    with _open_task(task_id, targets, words, limit, ProgressLine(sys.stderr)) as task:
        task.cancel(timeout_seconds=limit.seconds_left)
        status = task.read_status(timeout_seconds=limit.seconds_left)
    _print_status(status, as_json="json" in words.options)
    return 0


@contextmanager
def _open_task(
    task_id: str, targets: list[str], words: Words, limit: Deadline, line: ProgressLine
) -> Iterator[Task]:
    """Connect to the server of a task. Its note keeps what is learnt of it, and is removed if the
    server does not know the task.
    """
    from toolwire_client import RequestFailed
    from toolwire_schemas.wire.messages import INVALID_PARAMS
    from toolwire_schemas.wire.tasks import FINAL_STATUSES

    note = _find_note(task_id, targets, words)
    opening = connect_to(
        note.command,
        is_ours=note.is_ours,
        limit=limit,
        folder=note.folder,
        on_ask=ask_user(before=line.clear),
    )
    is_noted = note in read_notes()
    with opening as client:
        task = client.task(note.id, tool=note.tool)
        try:
            yield task
        except RequestFailed as error:
            if is_noted and error.code == INVALID_PARAMS and task.status is None:
                remove_note(note)
                if note.state in FINAL_STATUSES:
                    raise Failed(
                        f"the task was {note.state}, and its server does not keep it any more"
                    ) from None
            raise
        finally:
            if is_noted and task.status is not None:
                _update_note(note, task.status)


def _find_note(task_id: str, targets: list[str], words: Words) -> TaskNote:
    """Return the note of the task *task_id*, or a new one if the server is named."""
    if targets or words.command is not None:
        command = choose_command(words, targets)
        return make_note(task_id, "", command, is_ours=words.command is None)
    if not task_id:  # of a script whose variable is not set: not the only task that there is
        raise UsageError("the ID is empty: `toolwire tasks ls` lists the tasks")
    # A dash at the beginning would make it an option.
    found = [note for note in read_notes() if note.id.lstrip("-").startswith(task_id)]
    exact = [note for note in found if note.id == task_id]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise UsageError(f"several tasks begin with {task_id!r}; write more of it")
    raise UsageError(
        f"no noted task begins with {task_id!r}: `toolwire tasks ls` lists them; for another task,"
        " write its whole ID and its server, as in toolwire tasks get ID -- COMMAND"
    )


def _update_note(note: TaskNote, status: TaskStatus) -> None:
    try:
        write_note(msgspec.structs.replace(note, state=status.state, message=status.message))
    except OSError as error:
        print_remark(f"the state of the task cannot be noted: {error}")


def _print_status(status: TaskStatus, *, as_json: bool) -> None:
    if as_json:
        print_data(format_json(status.raw))
        return
    message = f": {make_printable(status.message)}" if status.message else ""
    print_data(f"{status.state}{message}")


def _describe(note: TaskNote) -> tuple[str, ...]:
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(note.started))
    state = f"{note.state}: {note.message}" if note.message else note.state
    return (note.id[:_SHOWN_ID_CHARS], note.tool, state, since)


def note_task(task: Task, command: list[str], *, is_ours: bool) -> None:
    """Note *task*, and say how to go on with it.

    Raises:
        Failed: if it cannot be noted; the message has its id.
    """
    try:
        write_note(make_note(task.id, task.tool, command, is_ours=is_ours))
    except OSError as error:
        raise Failed(f"the task {make_printable(task.id)} cannot be noted: {error}") from None
    print_data(make_printable(task.id))
    print_remark(f"the call goes on at the server: toolwire tasks get {make_printable(task.id)}")
