"""`toolwire share ls` and `stop`: which processes they find, without a process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from toolwire.errors import UsageError

if sys.platform == "win32":
    pytest.skip("shared processes need Unix sockets", allow_module_level=True)

from toolwire.cli.commands.share import processes
from toolwire.sharing import running
from toolwire.sharing.running import RunningProcess


def find_three() -> list[RunningProcess]:
    """Return a process, the old one whose place it has taken, and one that is stuck."""
    return [
        RunningProcess("3fa2.sock", 1, {"key": "3fa2", "pid": 1}),
        RunningProcess("3fa2-2.sock", 2, {"key": "3fa2", "pid": 2, "is_old": True}),
        RunningProcess("3fbb.sock", 3, {}),
    ]


@pytest.fixture(autouse=True)
def three_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "find_running", find_three)


@pytest.mark.parametrize(("key", "pid"), [("3fa2", 1), ("3fa2-", 2), ("3fa2-2", 2), ("3fb", 3)])
def test_key_or_its_beginning_names_one_process(key: str, pid: int) -> None:
    assert processes.find_process(key).pid == pid


@pytest.mark.parametrize(
    ("key", "problem"), [("3f", "several keys begin with '3f'"), ("4", "no shared process")]
)
def test_key_of_several_or_no_process_is_refused(key: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        processes.find_process(key)


def test_json_has_the_key_and_number_of_each_process(capsys: pytest.CaptureFixture[str]) -> None:
    processes.list_processes(as_json=True)

    listed = json.loads(capsys.readouterr().out)
    assert [(each["key"], each["pid"]) for each in listed] == [
        ("3fa2", 1),
        ("3fa2-2", 2),
        ("3fbb", 3),
    ]


def test_process_is_found_where_the_system_does_not_tell_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "3fa2.sock").touch()
    monkeypatch.setattr(running, "_list_private_folders", lambda: [str(tmp_path)])
    monkeypatch.setattr(running, "_ask", lambda path, verb: (0, b'{"pid": 7}'))

    (found,) = running.find_running()

    assert (found.key, found.pid) == ("3fa2", 7)
