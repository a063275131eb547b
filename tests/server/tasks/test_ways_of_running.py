"""Every way in which a call runs is a task: in processes of their own, of mounted servers."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from server.tasks.tasking import ACCEPT, META
from support.server_process import Process, request, running, wait_until

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

@tool_api(task="always", {where})
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


@contextmanager
def mounting(folder: Path) -> Iterator[Host]:
    """A server that has mounted another one, whose calls become tasks of the first."""
    (folder / "others.py").write_text(TOOLS.format(where=""), "utf-8")
    command = f"{sys.executable} -m toolwire serve {folder / 'others.py'}"
    options = ("--mount", command, "--task-after", "0")
    with running("-m", "toolwire", "serve", *options) as process:
        host = Host(process)
        host.ask("tools/list")
        yield host


@contextmanager
def wrapping(folder: Path) -> Iterator[Host]:
    """A wrap of another server."""
    (folder / "others.py").write_text(TOOLS.format(where=""), "utf-8")
    command = [sys.executable, "-m", "toolwire", "serve", str(folder / "others.py")]
    with running("-m", "toolwire", "wrap", "--task-after", "0", "--", *command) as process:
        host = Host(process)
        host.ask("tools/list")
        yield host


WAYS = pytest.mark.parametrize("way", [isolated, mounting])


@WAYS
def test_a_task_has_the_status_and_the_questions_of_its_tool(tmp_path: Path, way: Any) -> None:
    with way(tmp_path) as host:
        task = host.call("report")

        state = host.until(task, "input_required")
        assert state["statusMessage"] == "half way"
        [key] = state["inputRequests"]
        host.ask("tasks/update", taskId=task, inputResponses={key: ACCEPT})
        done = host.until(task, "completed")

        assert done["result"]["content"][0]["text"] == "True"


@WAYS
def test_a_cancelled_task_ends_there(tmp_path: Path, way: Any) -> None:
    path = tmp_path / "pid"
    with way(tmp_path) as host:
        task = host.call("hang", path=str(path))
        wait_until(lambda: path.exists() and path.read_text() != "")
        began = time.monotonic()

        host.ask("tasks/cancel", taskId=task)

        assert host.until(task, "cancelled")
        if way is isolated:
            wait_until(lambda: not Path(f"/proc/{path.read_text()}").exists())
            assert time.monotonic() - began < 5
