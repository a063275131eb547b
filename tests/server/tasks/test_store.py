"""The store of tasks: what survives the session and the process, and files that cannot be used."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from server.tasks.tasking import META, Client, code_of
from support.command_line import CommandLine
from support.server_process import Process, request, served, wait_until
from toolwire import Context, Server, tool_api
from toolwire.tasks.store import TaskStore, close_stores, open_store
from toolwire.tasks.stored_task import StoreError

go = threading.Event()


@tool_api(task="always")
def wait() -> str:
    """Wait."""
    go.wait(60)
    return "gone"


@tool_api(task="always")
def big(size: int) -> str:
    """Return much."""
    return "x" * size


@tool_api(task="required")
def needed(context: Context) -> str:
    """Run only as a task."""
    return "done"


@pytest.fixture(autouse=True)
def _stop() -> Iterator[None]:
    go.clear()
    yield
    go.set()
    close_stores()


def serve(path: Path) -> Client:
    server = Server([wait, big, needed], task_store=str(path), grace_seconds=0.0)
    return Client(server)


def test_a_result_survives_the_session(tmp_path: Path) -> None:
    client = serve(tmp_path / "tasks.db")
    task = client.begin("big", {"size": 100_000})
    kept = client.until(task, "completed")
    client.end()

    later = serve(tmp_path / "tasks.db")

    again = later.get(task)
    del again["_meta"], kept["_meta"]
    assert again == kept
    assert len(again["result"]["content"][0]["text"]) == 100_000
    later.end()


def test_a_task_that_runs_at_the_end_is_interrupted_and_says_so(tmp_path: Path) -> None:
    client = serve(tmp_path / "tasks.db")
    task = client.begin("wait")
    client.end()

    later = serve(tmp_path / "tasks.db")

    state = later.get(task)
    assert state["status"] == "failed"
    assert state["error"]["code"] == -31003
    assert "may have been done" in state["error"]["message"]
    assert later.ask("tasks/cancel", taskId=task)["result"]
    assert later.ask("tasks/update", taskId=task, inputResponses={"a": {}})["result"]
    later.end()


def test_a_cancelled_task_stays_cancelled(tmp_path: Path) -> None:
    client = serve(tmp_path / "tasks.db")
    task = client.begin("wait")
    client.ask("tasks/cancel", taskId=task)
    client.end()

    later = serve(tmp_path / "tasks.db")

    assert later.get(task)["status"] == "cancelled"
    later.end()


def test_the_tasks_of_an_open_session_are_unknown_to_others(tmp_path: Path) -> None:
    client = serve(tmp_path / "tasks.db")
    other = serve(tmp_path / "tasks.db")
    task = client.begin("big", {"size": 1})
    client.until(task, "completed")

    assert code_of(other.ask("tasks/get", taskId=task)) == -32602

    client.end()
    assert other.get(task)["status"] == "completed"
    other.end()


def test_a_result_is_read_from_the_store_and_not_kept_in_memory(tmp_path: Path) -> None:
    client = serve(tmp_path / "tasks.db")
    task = client.begin("big", {"size": 1000})
    client.until(task, "completed")

    kept = client._session.get_tasks()._tasks
    wait_until(lambda: kept[task].outcome == b"")
    assert len(client.get(task)["result"]["content"][0]["text"]) == 1000
    client.end()


def test_a_result_is_removed_in_time(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    server = Server([wait, big], task_store=str(path), task_ttl_seconds=0.01)
    client = Client(server)
    task = client.begin("big", {"size": 1})
    client.end()

    later = serve(path)

    response = later.ask("tasks/get", taskId=task)
    while "result" in response:
        response = later.ask("tasks/get", taskId=task)
    assert code_of(response) == -32602
    later.end()


def test_another_users_programs_cannot_read_the_file(tmp_path: Path) -> None:
    open_store(str(tmp_path / "tasks.db"))

    assert stat.S_IMODE(os.stat(tmp_path / "tasks.db").st_mode) == 0o600


def test_a_closed_store_is_one_file(tmp_path: Path) -> None:
    open_store(str(tmp_path / "tasks.db"))
    close_stores()

    assert [path.name for path in tmp_path.iterdir()] == ["tasks.db"]


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def _damaged(path: Path) -> None:
    TaskStore(str(path)).close()
    data = bytearray(path.read_bytes())
    data[4096:4296] = b"\xff" * 200
    path.write_bytes(bytes(data))


def _of_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE notes (text)")


def _of_another_version(path: Path) -> None:
    TaskStore(str(path)).close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA user_version = 99")


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    "spoil", [_garbage, _damaged, _of_another_program, _of_another_version, _folder]
)
def test_a_file_that_cannot_be_used_is_an_error_and_stays_as_it_is(
    tmp_path: Path, spoil: Any
) -> None:
    path = tmp_path / "tasks.db"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None

    with pytest.raises(StoreError) as raised:
        open_store(str(path))

    assert "\n" not in str(raised.value)
    assert path.is_dir() or path.read_bytes() == before


def test_a_store_that_is_locked_makes_no_tasks_and_loses_none(tmp_path: Path) -> None:
    path = tmp_path / "tasks.db"
    client = serve(path)
    first = client.begin("wait")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        go.set()

        assert client.call("big", {"size": 1})["result"]["resultType"] == "complete"
        refused = client.call("needed")
        assert code_of(refused) == -31001
        assert "database is locked" in refused["error"]["message"]
        assert client.until(first, "completed")["result"]["content"][0]["text"] == "gone"
        other.execute("COMMIT")

    client.end()
    later = serve(path)
    assert later.get(first)["result"]["content"][0]["text"] == "gone"
    later.end()


def test_full_disk_makes_no_tasks_and_loses_none(tmp_path: Path) -> None:
    client = serve(tmp_path / "tasks.db")
    first, second = client.begin("big", {"size": 1000}), client.begin("wait")
    client.until(first, "completed")
    database = open_store(str(tmp_path / "tasks.db"))._database
    [(pages,)] = database.execute("PRAGMA page_count")
    database.execute(f"PRAGMA max_page_count = {pages}")  # SQLite reports it as a full disk

    third = client.call("big", {"size": 1})["result"]["taskId"]
    assert len(client.until(third, "completed")["result"]["content"][0]["text"]) == 1
    large = client.call("big", {"size": 100_000})["result"]["taskId"]
    assert len(client.until(large, "completed")["result"]["content"][0]["text"]) == 100_000
    while client.call("big", {"size": 1})["result"]["resultType"] == "task":
        continue  # rows of tasks fill the last page

    assert code_of(client.call("needed")) == -31001
    assert len(client.get(large)["result"]["content"][0]["text"]) == 100_000  # in memory
    assert client.get(first)["status"] == "completed"
    assert client.get(second)["status"] == "working"
    client._session.end()
    close_stores()
    later = serve(tmp_path / "tasks.db")
    assert later.get(first)["status"] == "completed"
    assert later.get(second)["error"]["code"] == -31003
    later.end()


def test_a_wrong_file_is_an_error_of_the_command_line(
    tmp_path: Path, command_line: CommandLine
) -> None:
    path = tmp_path / "notes.db"
    _of_another_program(path)

    status, _, error = command_line("serve", "Calculator", "--task-store", str(path))

    assert status == 2
    assert "--task-store takes a file that can keep tasks" in error
    assert "another program" in error


TOOLS = '''
import threading
from toolwire import tool_api

@tool_api(task="always")
def wait() -> None:
    """Wait for ever."""
    threading.Event().wait()

@tool_api(task="always")
def add(a: int) -> int:
    """Add one."""
    return a + 1
'''


def _ask(process: Process, id: int, method: str, **params: Any) -> Any:
    """Return the response to a request of a client that can have tasks."""
    process.send(request(method, {**params, "_meta": META}, id=id))
    while True:
        message = process.receive()
        if message.get("id") == id:
            return message


@pytest.mark.process
def test_after_a_kill_every_task_is_reported_and_no_result_is_lost(tmp_path: Path) -> None:
    store = ("--task-store", str(tmp_path / "tasks.db"))
    running, ended = [], []
    with served(tmp_path, TOOLS, *store) as process:
        for number in range(100):
            made = _ask(process, number, "tools/call", name="wait", arguments={})
            running.append(made["result"]["taskId"])
        for number in range(100, 120):
            made = _ask(process, number, "tools/call", name="add", arguments={"a": number})
            ended.append(made["result"]["taskId"])
        for number, task in enumerate(ended, 200):
            while _ask(process, number, "tasks/get", taskId=task)["result"]["status"] == "working":
                continue
        process.popen.kill()
        process.popen.wait()

    with served(tmp_path, TOOLS, *store) as process:
        states = [
            _ask(process, number, "tasks/get", taskId=task)["result"]
            for number, task in enumerate([*running, *ended])
        ]

    assert {state["status"] for state in states[:100]} == {"failed"}
    assert {state["error"]["code"] for state in states[:100]} == {-31003}
    results = [state["result"]["structuredContent"]["result"] for state in states[100:]]
    assert results == list(range(101, 121))
    assert len(list(tmp_path.glob("tasks.db-*.lock"))) == 1
