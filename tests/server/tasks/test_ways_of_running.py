"""Every way in which a call runs is a task: in processes of their own, of mounted and wrapped
servers, and of mounted servers whose tools run only as tasks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from server.tasks.tasking import ACCEPT, META
from support.running_processes import is_running
from support.server_process import Process, request, running, wait_until
from support.task_server import TEXT

pytestmark = pytest.mark.process

TOOLS = '''
import os, time
from pathlib import Path
from toolwire import Context, tool_api

@tool_api(task="always", {where})
def report(context: Context) -> str:
    """Report progress, and ask."""
    context.status("half way")
    return f"{{context.ask('Really?')}}"

@tool_api(task="always", runs_in="process")
def hang(path: str) -> None:
    """Say who runs it, and never end."""
    Path(path).write_text(str(os.getpid()))
    time.sleep(1000)
'''


class Host:
    """Asks a server about tasks."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._ids = iter(range(10_000))

    def ask(self, method: str, **params: Any) -> Any:
        """Return the result of a request."""
        id = next(self._ids)
        self.process.send(request(method, {**params, "_meta": META}, id=id))
        while True:
            message = self.process.receive()
            if message.get("id") == id:
                return message["result"]

    def call(self, name: str, **arguments: Any) -> str:
        """Return the handle of a call."""
        handle: str = self.ask("tools/call", name=name, arguments=arguments)["taskId"]
        return handle

    def until(self, task: str, status: str) -> Any:
        """Return the state of a task once it has this *status*."""
        states: list[Any] = []

        def has_come() -> bool:
            states.append(self.ask("tasks/get", taskId=task))
            return bool(states[-1]["status"] == status)

        wait_until(has_come)
        return states[-1]


@contextmanager
def isolated(folder: Path) -> Iterator[Host]:
    """A server whose tools run in processes of their own."""
    (folder / "own.py").write_text(TOOLS.format(where='runs_in="process"'), "utf-8")
    with running("-m", "toolwire", "serve", str(folder / "own.py")) as process:
        yield Host(process)


NEVER = "1000"  # seconds: longer than any test


@contextmanager
def mounting(folder: Path) -> Iterator[Host]:
    """A server that has mounted another one, whose tasks are tasks of the first at once. They hold
    none of its threads.
    """
    (folder / "others.py").write_text(TOOLS.format(where=""), "utf-8")
    command = f"{sys.executable} -m toolwire serve {folder / 'others.py'}"
    options = ("--mount", command, "--task-after", NEVER, "--limit", "max_workers=1")
    with running("-m", "toolwire", "serve", *options) as process:
        host = Host(process)
        host.ask("tools/list")
        yield host


@contextmanager
def wrapping(folder: Path) -> Iterator[Host]:
    """A wrap whose server makes tasks, which are tasks of the wrap at once."""
    (folder / "others.py").write_text(TOOLS.format(where=""), "utf-8")
    command = (sys.executable, "-m", "toolwire", "serve", str(folder / "others.py"))
    options = ("--task-after", NEVER)
    with running("-m", "toolwire", "wrap", *options, "--", *command) as process:
        yield Host(process)


@pytest.mark.parametrize("way", [isolated, mounting, wrapping])
def test_tasks_have_the_status_and_the_questions_of_their_tool(tmp_path: Path, way: Any) -> None:
    with way(tmp_path) as host:
        for task in [host.call("report"), host.call("report")]:
            state = host.until(task, "input_required")
            assert state["statusMessage"] == "half way"
            [key] = state["inputRequests"]
            host.ask("tasks/update", taskId=task, inputResponses={key: ACCEPT})
            done = host.until(task, "completed")

            assert done["result"]["content"][0]["text"] == "True"


@pytest.mark.parametrize("way", [isolated, mounting])
def test_cancelled_tasks_end_there(tmp_path: Path, way: Any) -> None:
    paths = [tmp_path / "first", tmp_path / "second"]
    with way(tmp_path) as host:
        tasks = [host.call("hang", path=str(path)) for path in paths]
        for path, task in zip(paths, tasks, strict=True):
            wait_until(lambda path=path: path.exists() and path.read_text() != "")

            host.ask("tasks/cancel", taskId=task)

            assert host.until(task, "cancelled")
            pid = int(path.read_text())
            wait_until(lambda pid=pid: not is_running(pid))


ONLY_TASKS = '''
import os, time
from pathlib import Path
from toolwire import Context, ToolError, tool_api

@tool_api(task="required")
def report(context: Context) -> str:
    """Report progress, and ask."""
    context.status("half way")
    return f"{context.ask('Really?')}"

@tool_api(task="required")
def fail() -> None:
    """Fail."""
    raise ToolError("burnt")

@tool_api(task="required", runs_in="process")
def hang(path: str) -> None:
    """Say who runs it, and never end."""
    Path(path).write_text(str(os.getpid()))
    time.sleep(1000)
'''
PLAIN_META = {
    **META,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


@contextmanager
def mounting_only_tasks(folder: Path) -> Iterator[Process]:
    """A server that has mounted one whose tools run only as tasks."""
    (folder / "others.py").write_text(ONLY_TASKS, "utf-8")
    command = f"{sys.executable} -m toolwire serve {folder / 'others.py'}"
    with running("-m", "toolwire", "serve", "--mount", command) as process:
        process.ask(request("tools/list", {"_meta": PLAIN_META}, 0))
        yield process


def test_client_without_tasks_calls_a_mounted_tool_that_runs_only_as_a_task(
    tmp_path: Path,
) -> None:
    params = {"name": "report", "arguments": {}, "_meta": PLAIN_META}
    with mounting_only_tasks(tmp_path) as process:
        asked = process.ask(request("tools/call", params, 1))["result"]
        [key] = asked["inputRequests"]
        answer = {"requestState": asked["requestState"], "inputResponses": {key: ACCEPT}}
        done = process.ask(request("tools/call", {**params, **answer}, 2))["result"]
        failed = process.ask(request("tools/call", {**params, "name": "fail"}, 3))["result"]

    assert done["content"][0]["text"] == "True"
    assert (failed["isError"], failed["content"][0]["text"]) == (True, "burnt")


def test_cancelled_call_of_such_a_tool_cancels_the_task_there(tmp_path: Path) -> None:
    path = tmp_path / "runs"
    with mounting_only_tasks(tmp_path) as process:
        params = {"name": "hang", "arguments": {"path": str(path)}, "_meta": PLAIN_META}
        process.send(request("tools/call", params, 1))
        wait_until(lambda: path.exists() and path.read_text() != "")
        process.send(request("notifications/cancelled", {"requestId": 1}, id=...))

        pid = int(path.read_text())
        wait_until(lambda: not is_running(pid))


def test_mounted_server_of_2025_11_25_runs_a_tool_as_the_task_that_it_demands() -> None:
    server = Path(__file__).parents[2] / "support" / "named_task_server.py"
    command = f"{sys.executable} {server} legacy listed"
    params = {"name": "work", "arguments": {}, "_meta": PLAIN_META}
    with running("-m", "toolwire", "serve", "--mount", command) as process:
        process.ask(request("tools/list", {"_meta": PLAIN_META}, 0))
        done = process.ask(request("tools/call", params, 1))["result"]
        failed = process.ask(request("tools/call", {**params, "name": "fail"}, 2))
        stopped = process.ask(request("tools/call", {**params, "name": "stop"}, 3))["result"]

    assert done["content"][0]["text"] == TEXT["content"][0]["text"]
    assert failed["error"] == {"code": -32603, "message": "burnt"}
    assert stopped["isError"] is True
    assert stopped["content"][0]["text"].endswith("stop: the task was cancelled")


class LegacyHost:
    """A host of MCP 2025-11-25 after its handshake."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._ids = iter(range(10_000))
        capabilities = {"elicitation": {}}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities=capabilities)
        process.send(request("notifications/initialized", id=...))

    def ask(self, method: str, **params: Any) -> Any:
        """Return the result of a request."""
        id = next(self._ids)
        self._process.send(request(method, params, id))
        return receive(self._process, lambda message: message.get("id") == id)["result"]


def receive(process: Process, wanted: Any) -> Any:
    """Return the first message that is *wanted*; others are of no interest."""
    while True:
        message = process.receive()
        if wanted(message):
            return message


def test_wrapped_server_without_tasks_has_those_of_the_wrap(tmp_path: Path) -> None:
    server = str(Path(__file__).parents[2] / "support" / "strange_server.py")
    options = ("--task-after", "0", "--task-store", str(tmp_path / "tasks.db"))
    with running("-m", "toolwire", "wrap", *options, "--", sys.executable, server) as process:
        legacy = LegacyHost(process)
        listed = {tool["name"]: tool for tool in legacy.ask("tools/list")["tools"]}
        asked = legacy.ask("tools/call", name="echo", arguments={"n": 1}, task={})["task"]
        result = legacy.ask("tasks/result", taskId=asked["taskId"])
        tasks = legacy.ask("tasks/list")["tasks"]
        modern = Host(process)  # the form follows each message
        done = modern.until(modern.call("echo", n=2), "completed")

    assert listed["echo"]["execution"] == {"taskSupport": "optional"}
    assert '"arguments": {"n": 1}' in result["content"][0]["text"]
    assert [each["taskId"] for each in tasks] == [asked["taskId"]]
    assert '"arguments": {"n": 2}' in done["result"]["content"][0]["text"]
    assert (tmp_path / "tasks.db").exists()


def test_tasks_of_a_wrapped_server_pass_through_the_wrap(tmp_path: Path) -> None:
    (tmp_path / "others.py").write_text(TOOLS.format(where=""), "utf-8")
    command = [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "others.py")]
    with running("-m", "toolwire", "wrap", "--", *command) as process:
        ask = LegacyHost(process).ask
        [report, _] = ask("tools/list")["tools"]
        task = ask("tools/call", name="report", arguments={}, task={})["task"]["taskId"]
        asked = receive(process, lambda message: message.get("method") == "elicitation/create")
        process.send({"jsonrpc": "2.0", "id": asked["id"], "result": ACCEPT})
        result = ask("tasks/result", taskId=task)
        path = str(tmp_path / "runs")
        other = ask("tools/call", name="hang", arguments={"path": path}, task={})["task"]
        cancelled = ask("tasks/cancel", taskId=other["taskId"])
        listed = ask("tasks/list")["tasks"]

    assert report["execution"] == {"taskSupport": "optional"}
    assert result["content"][0]["text"] == "True"
    assert cancelled["status"] == "cancelled"
    assert {each["taskId"] for each in listed} == {task, other["taskId"]}
