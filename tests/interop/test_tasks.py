"""Calls that become tasks: our client and the servers of others, others' clients and our server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from interop.peers import INSTALLED, missing, node_driver, python_driver, run, serve
from support.client_backends import FACES, WAIT, ask, nothing_leaks
from toolwire_client import (
    AsyncClient,
    CallCancelled,
    PendingConnection,
    RequestFailed,
    TimedOut,
    connect,
)

pytestmark = pytest.mark.process

SERVERS = Path(__file__).parent / "servers"
SERVER_NAMES = ("fastmcp", "mcp1", "typescript")


def start(name: str, **options: Any) -> PendingConnection:
    if name == "typescript":
        [node, _] = node_driver("@modelcontextprotocol/sdk", "")
        return connect([node, str(SERVERS / "ts_tasks_server.mjs")], **options)
    [python, _] = python_driver(name, "")
    if name == "fastmcp":
        need_fastmcp_tasks()
        options["era"] = "modern"  # its imports may take longer than a probe waits
    return connect([python, str(SERVERS / f"{name}_tasks_server.py")], **options)


def need_fastmcp_tasks() -> None:
    if not list((INSTALLED / "fastmcp").glob("lib/*/site-packages/fastmcp_tasks")):
        missing("the package fastmcp-tasks")


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", SERVER_NAMES)
def test_tasks_of_other_servers(name: str, face: str) -> None:
    asked: list[str] = []
    messages: list[str] = []

    def on_ask(question: Any) -> dict[str, bool]:
        asked.append(question.message)
        return {"sure": True}

    async def scenario(client: AsyncClient) -> None:
        task = await client.call_tool("work", {"steps": 2}, task=True, timeout_seconds=WAIT)
        async for status in task:
            messages.append(status.message)
        assert (await task).text == "worked"
        assert (await client.task(task.id)).text == "worked"

        failed = await client.call_tool("fail", task=True, timeout_seconds=WAIT)
        result = await failed.result(WAIT)
        assert result.is_error
        assert "out of order" in result.text

        chosen = await client.call_tool("delete", task=True, timeout_seconds=WAIT)
        assert (await chosen.result(WAIT)).text == "deleted"

        endless = await client.call_tool("work", {"steps": 1000}, task=True)
        with pytest.raises(TimedOut):
            await endless.result(0.5)
        await endless.cancel(timeout_seconds=WAIT)
        with pytest.raises((CallCancelled, RequestFailed)):
            await endless.result(WAIT)
        assert (await endless.read_status()).state == "cancelled"
        with pytest.raises(RequestFailed) as unknown:
            await client.task("no such task").read_status(timeout_seconds=WAIT)
        assert unknown.value.code == -32602

    with nothing_leaks():
        ask(face, start(name, on_ask=on_ask), scenario)
    assert asked == ["Sure?"]
    assert {"step 1", "step 2"} & set(messages)


@pytest.mark.parametrize("name", SERVER_NAMES)
def test_plain_calls_of_tools_that_run_as_tasks(name: str) -> None:
    with start(name, on_ask=lambda question: {"sure": False}) as client:
        client.list_tools()
        assert client.call_tool("work", {"steps": 1}, timeout_seconds=WAIT).text == "worked"
        assert client.call_tool("delete", timeout_seconds=WAIT).text == "kept"


@pytest.mark.parametrize("name", ["mcp1", "typescript"])
def test_servers_of_the_older_form_list_their_tasks(name: str) -> None:
    with start(name) as client:
        task = client.call_tool("work", {"steps": 1}, task=True, timeout_seconds=WAIT)
        assert [status.id for status in client.list_tasks()] == [task.id]
        assert task.result(WAIT).text == "worked"


# The clients of others, and our server


def played(program: list[str], mode: str, folder: Path) -> Any:
    """Return what the client *program* printed of its tasks at our server."""
    done = run([*program, mode, *serve(tools=Path(__file__).parent / "tasks_tools.py")], folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_tasks_of_the_first_python_client(tmp_path: Path) -> None:
    assert played(python_driver("mcp1", "mcp1_tasks_client.py"), "legacy", tmp_path) == {
        "work": ["completed", "worked", False],
        "fail": ["completed", "ValueError: out of order", True],
        "delete": "deleted",
        "cancelled": "cancelled",
        "listed": 4,
    }


def test_tasks_of_the_client_of_fastmcp(tmp_path: Path) -> None:
    need_fastmcp_tasks()
    assert played(python_driver("fastmcp", "fastmcp_tasks_client.py"), "auto", tmp_path) == {
        "work": ["worked", False],
        "delete": ["deleted", False],
        "fail": ["ValueError: out of order", True],
        "handle": [True, "worked"],
        "cancelled": "cancelled",
    }


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_tasks_of_the_typescript_client_with_its_extension(tmp_path: Path, mode: str) -> None:
    client = node_driver("@modelcontextprotocol/ext-tasks", "ts_tasks_client.mjs")
    assert played(client, mode, tmp_path) == {
        "work": ["completed", "worked", False],
        "delete": ["completed", "deleted", False],
        "fail": ["completed", "ValueError: out of order", True],
    }
