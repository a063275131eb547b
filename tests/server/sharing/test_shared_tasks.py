"""Tasks of sessions that have ended, in a shared process that goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.tasks.tasking import META
from support.server_process import Process, request, wait_until
from support.shared_processes import SharedProcesses, is_running, shared_processes

pytestmark = pytest.mark.process

TOOLS = '''
import os
from pathlib import Path
import anyio
from toolwire import Context, tool_api

@tool_api(task="always")
def wait(name: str) -> str:
    """Wait for a text in a named pipe, and return it."""
    Path(f"{name}-begun").touch()
    return Path(name).read_text()

@tool_api(task="always")
async def hang(name: str) -> None:
    """Never end, and leave a note when cancelled."""
    Path(f"{name}-begun").touch()
    try:
        await anyio.sleep_forever()
    finally:
        Path(f"{name}-cancelled").touch()

@tool_api(task="always")
def ask(context: Context) -> str:
    """Ask the user."""
    return "yes" if context.ask("Really?") else "no"

@tool_api(task="never")
async def call() -> None:
    """Never end, and leave a note when cancelled."""
    Path("call-begun").touch()
    try:
        await anyio.sleep_forever()
    finally:
        Path("call-cancelled").touch()

@tool_api(task="never")
def pid() -> int:
    """Return the number of this process."""
    return os.getpid()
'''


class Sessions(SharedProcesses):
    """Starts sessions of one file."""

    def open(self, *options: str, **variables: str) -> Process:
        return super().open("serve", "--share", *options, "tools.py", **variables)


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    os.mkfifo(tmp_path / "gate")
    with shared_processes(tmp_path, Sessions) as made:
        yield made


def ask(session: Process, method: str, **params: Any) -> Any:
    """Return the result of a request of a client that can have tasks."""
    answer = session.ask(request(method, {"_meta": META, **params}, id=method))
    assert "error" not in answer, answer
    return answer["result"]


def begin(session: Process, tool: str, /, **arguments: str) -> str:
    """Return the handle of a new task."""
    handle: str = ask(session, "tools/call", name=tool, arguments=arguments)["taskId"]
    return handle


def wait_for(session: Process, task: str, status: str) -> Any:
    """Return the state of a task as soon as it has this *status*."""
    states: list[Any] = []

    def has_status() -> bool:
        states.append(ask(session, "tasks/get", taskId=task))
        return bool(states[-1]["status"] == status)

    wait_until(has_status)
    return states[-1]


def text(state: Any) -> str:
    found: str = state["result"]["content"][0]["text"]
    return found


@pytest.mark.parametrize("way", ["hang up", "kill"])
def test_task_goes_on_when_its_session_ends_and_who_has_the_handle_gets_the_result(
    sessions: Sessions, way: str
) -> None:
    one = sessions.open("--idle", "0.2")
    task = begin(one, "wait", name="gate")
    wait_until((sessions.folder / "gate-begun").exists)
    one.send(request("tools/call", {"_meta": META, "name": "call", "arguments": {}}, id="plain"))
    wait_until((sessions.folder / "call-begun").exists)

    one.hang_up() if way == "hang up" else one.popen.kill()

    wait_until((sessions.folder / "call-cancelled").exists)
    two = sessions.open("--idle", "0.2")
    assert ask(two, "tasks/get", taskId=task)["status"] == "working"
    (sessions.folder / "gate").write_text("done")
    assert text(wait_for(two, task, "completed")) == "done"


def test_result_that_no_client_has_got_keeps_the_process(sessions: Sessions) -> None:
    one = sessions.open("--idle", "0.1")
    pid = ask(one, "tools/call", name="pid")["structuredContent"]["result"]
    task = begin(one, "wait", name="gate")
    one.hang_up()
    (sessions.folder / "gate").write_text("done")
    (facts,) = sessions.describe()
    assert facts["sessions"] == 0
    two = sessions.open("--idle", "0.1")
    assert text(wait_for(two, task, "completed")) == "done"
    assert is_running(pid)
    two.hang_up()
    wait_until(lambda: not is_running(pid))


def test_task_of_an_open_session_is_unknown_to_others(sessions: Sessions) -> None:
    one, two = sessions.open(), sessions.open()
    task = begin(one, "hang", name="first")
    params = {"_meta": META, "taskId": task}
    assert two.ask(request("tasks/get", params))["error"]["code"] == -32602
    assert ask(one, "tasks/get", taskId=task)["status"] == "working"


def test_task_that_a_session_has_taken_over_can_be_cancelled(sessions: Sessions) -> None:
    one = sessions.open()
    task = begin(one, "hang", name="first")
    wait_until((sessions.folder / "first-begun").exists)
    one.hang_up()
    two, three = sessions.open(), sessions.open()
    assert ask(two, "tasks/get", taskId=task)["status"] == "working"
    params = {"_meta": META, "taskId": task}
    assert three.ask(request("tasks/get", params))["error"]["code"] == -32602
    ask(two, "tasks/cancel", taskId=task)
    wait_until((sessions.folder / "first-cancelled").exists)
    assert ask(two, "tasks/get", taskId=task)["status"] == "cancelled"
    wait_until(lambda: sessions.describe()[0]["calls"] == 0)


def test_question_of_a_task_is_answered_in_another_session(sessions: Sessions) -> None:
    one = sessions.open()
    task = begin(one, "ask")
    wait_for(one, task, "input_required")
    one.hang_up()
    two = sessions.open()
    (key,) = wait_for(two, task, "input_required")["inputRequests"]
    answer = {"action": "accept", "content": {"answer": True}}
    ask(two, "tasks/update", taskId=task, inputResponses={key: answer})
    assert text(wait_for(two, task, "completed")) == "yes"


def test_subscriber_of_another_session_gets_the_end_of_a_task(sessions: Sessions) -> None:
    one = sessions.open()
    task = begin(one, "wait", name="gate")
    wait_until((sessions.folder / "gate-begun").exists)
    one.hang_up()
    two = sessions.open()
    wanted = {"notifications": {"taskIds": [task]}}
    two.send(request("subscriptions/listen", {"_meta": META, **wanted}, id="listen"))
    assert two.receive()["params"]["notifications"] == {"taskIds": [task]}
    assert two.receive()["params"]["status"] == "working"
    (sessions.folder / "gate").write_text("done")
    assert text(two.receive()["params"]) == "done"


@pytest.mark.parametrize("store", [[], ["--task-store", "tasks.db"]])
def test_stopped_process_ends_the_tasks_of_sessions_that_have_gone(
    sessions: Sessions, store: list[str]
) -> None:
    one = sessions.open(*store)
    task = begin(one, "hang", name="first")
    wait_until((sessions.folder / "first-begun").exists)
    one.hang_up()
    (facts,) = sessions.describe()
    assert facts["calls"] == 1
    assert sessions.share("stop", "--all").returncode == 0
    assert not is_running(facts["pid"])
    two = sessions.open(*store)
    answer = two.ask(request("tasks/get", {"_meta": META, "taskId": task}))
    if store:
        assert answer["result"]["error"]["code"] == -31003
    else:
        assert answer["error"]["code"] == -32602


def test_killed_process_interrupts_the_tasks_of_a_store(sessions: Sessions) -> None:
    store = ["--task-store", "tasks.db"]
    one = sessions.open(*store)
    task = begin(one, "hang", name="first")
    wait_until((sessions.folder / "first-begun").exists)
    one.hang_up()
    (facts,) = sessions.describe()
    os.kill(facts["pid"], signal.SIGKILL)
    two = sessions.open(*store)
    assert ask(two, "tasks/get", taskId=task)["error"]["code"] == -31003


def test_result_in_a_store_needs_no_process(sessions: Sessions) -> None:
    options = ["--task-store", "tasks.db", "--idle", "0.1"]
    one = sessions.open(*options)
    task = begin(one, "wait", name="gate")
    one.hang_up()
    (sessions.folder / "gate").write_text("done")
    wait_until(lambda: sessions.find_all() == [])
    two = sessions.open(*options)
    assert text(wait_for(two, task, "completed")) == "done"
