"""`toolwire call --task`, and `toolwire tasks`, which finds the task again."""

from __future__ import annotations

import json
import stat
import sys
from functools import partial
from pathlib import Path

import pytest
from support import SUPPORT
from support.command_line import CommandLine, Done
from support.durable_task_server import ID
from toolwire.cli.commands.tasks import notes

pytestmark = pytest.mark.process


class Tasks:
    """Commands about the tasks of a server that keeps them in *folder*."""

    def __init__(self, folder: Path, command_line: CommandLine) -> None:
        self.file = folder / "task.txt"
        script = str(SUPPORT / "durable_task_server.py")
        self.server = ("--", sys.executable, script, str(self.file))
        self.run = partial(command_line, XDG_STATE_HOME=str(folder / "state"))

    def start(self) -> Done:
        return self.run("call", "work", "--task", *self.server)


@pytest.fixture
def tasks(tmp_path: Path, command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Tasks:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Tasks(tmp_path, command_line)


def test_task_is_found_again_by_the_beginning_of_its_id(tasks: Tasks) -> None:
    started = tasks.start()
    assert (started.returncode, started.stdout) == (0, f"{ID}\n")
    assert f"toolwire tasks get {ID}" in started.stderr
    (note,) = json.loads(tasks.run("tasks", "ls", "--json").stdout)
    assert (note["id"], note["tool"], note["state"]) == (ID, "work", "working")
    assert ID[:12] in tasks.run("tasks", "ls").stdout

    assert tasks.run("tasks", "get", ID[:4], "--no-wait").stdout == "working: half\n"
    assert tasks.run("tasks", "get", ID[:4]).stdout == "done\n"
    assert "completed" in tasks.run("tasks", "ls").stdout


def test_task_is_cancelled(tasks: Tasks) -> None:
    tasks.start()
    assert tasks.run("tasks", "cancel", ID[:4]).stdout == "cancelled\n"
    after = tasks.run("tasks", "get", ID[:4])
    assert (after.returncode, after.stderr) == (1, "toolwire: the task was cancelled\n")
    tasks.file.unlink()
    assert "was cancelled, and its server does not keep" in tasks.run("tasks", "get", ID).stderr


def test_task_of_a_named_server_needs_no_note(tasks: Tasks) -> None:
    tasks.file.write_text("working", encoding="utf-8")
    assert tasks.run("tasks", "get", ID, *tasks.server).stdout == "done\n"
    assert tasks.run("tasks", "ls").stdout == ""


def test_note_of_a_task_that_its_server_does_not_know_is_removed(tasks: Tasks) -> None:
    tasks.start()
    tasks.file.unlink()
    lost = tasks.run("tasks", "get", ID)
    assert (lost.returncode, "no such task" in lost.stderr) == (1, True)
    assert notes.read_notes() == []


def test_call_that_is_answered_at_once_prints_its_result(tasks: Tasks) -> None:
    done = tasks.run("call", "work", "quick=true", "--task", *tasks.server)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert notes.read_notes() == []


def test_server_without_tasks_is_reported(tasks: Tasks) -> None:
    server = [sys.executable, str(SUPPORT / "fake_server.py"), "Server"]
    refused = tasks.run("call", "echo", "--task", "--", *server)
    assert refused.returncode == 1
    assert refused.stderr == "toolwire: the server has no tasks: leave out --task\n"


def test_target_whose_server_ends_with_the_command_cannot_leave_a_task(tasks: Tasks) -> None:
    refused = tasks.run("call", "Calculator", "expression=1", "--task")
    assert refused.returncode == 2
    assert "toolwire serve --share tools.py" in refused.stderr


def test_server_with_a_store_keeps_the_task_that_a_command_leaves(
    tasks: Tasks, tmp_path: Path
) -> None:
    tool = "from toolwire import tool_api\n\n@tool_api(task='always')\ndef quick() -> str:\n"
    (tmp_path / "quick.py").write_text(f"{tool}    return 'kept'\n", encoding="utf-8")
    store = ("--task-store", str(tmp_path / "tasks.db"))
    server = [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "quick.py"), *store]
    started = tasks.run("call", "--task", "--", *server)
    assert started.returncode == 0, started.stderr
    assert tasks.run("tasks", "get", started.stdout.strip()).stdout == "kept\n"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "say what to do"),
        (("ls", "x"), "say what to do"),
        (("get",), "say what to do"),
        (("get", "zz"), "no noted task begins with 'zz'"),
        (("cancel", ""), "the ID is empty"),
        (("drop", "x"), "say what to do"),
    ],
)
def test_mistakes_are_explained(tasks: Tasks, words: tuple[str, ...], problem: str) -> None:
    notes.write_note(notes.make_note("ab", "work", ["no-such-program"], is_ours=False))
    done = tasks.run("tasks", *words)
    assert done.returncode == 2
    assert problem in done.stderr


def test_beginning_of_several_ids_is_refused(tasks: Tasks) -> None:
    for task_id in ("ab1", "ab2"):
        notes.write_note(notes.make_note(task_id, "work", ["x"], is_ours=False))
    assert "several tasks begin with 'ab'" in tasks.run("tasks", "get", "ab").stderr


def test_id_that_begins_with_a_dash_is_found_without_it(tasks: Tasks) -> None:
    notes.write_note(notes.make_note("-ab", "work", ["no-such-program"], is_ours=False))
    assert "no-such-program" in tasks.run("tasks", "get", "ab").stderr


def test_only_the_user_may_read_notes(tasks: Tasks) -> None:
    tasks.start()
    (path,) = notes.find_notes_folder().glob("*.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_unreadable_notes_are_left_out(tasks: Tasks) -> None:
    tasks.start()
    (notes.find_notes_folder() / "broken.json").write_text("{", encoding="utf-8")
    assert len(notes.read_notes()) == 1


def test_oldest_notes_beyond_the_limit_are_removed(
    tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes, "MAX_NOTES", 3)
    for number in range(5):
        notes.write_note(notes.make_note(str(number), "work", ["x"], is_ours=False))
    assert [note.id for note in notes.read_notes()] == ["4", "3", "2"]


def test_escape_sequences_in_an_id_do_not_reach_the_terminal(tasks: Tasks) -> None:
    notes.write_note(notes.make_note("\x1b]0;x\x07", "\x1b[31m", ["x"], is_ours=False))
    assert "\x1b]" not in tasks.run("tasks", "ls").stdout
