"""Our client and the servers that nobody here wrote."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from interop.peers import INSTALLED, installed_package, node, python_driver
from support.client_backends import FACES, WAIT, ask, nothing_leaks
from support.running_processes import running_in_group
from support.server_process import wait_until
from toolwire_agent import Toolbox
from toolwire_check import CheckSettings
from toolwire_check.facts.control import find_control
from toolwire_check.facts.server_facts import find_facts
from toolwire_check.facts.server_process import ServerUnderTest
from toolwire_client import (
    AsyncClient,
    Elicitation,
    NoAnswer,
    PendingConnection,
    ServerGone,
    TimedOut,
    connect,
)

SERVERS = Path(__file__).parent / "servers"
TYPESCRIPT = Path(__file__).parents[1] / "benchmarks" / "contenders" / "ts_server.mjs"

# The official Python servers in all eras they speak, and the revision that is spoken with each.
OFFICIAL = [
    ("mcp1", "auto", "2025-11-25"),
    ("mcp2", "auto", "2026-07-28"),
    ("mcp2", "legacy", "2025-11-25"),
]


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def official(environment: str, era: Any, **options: Any) -> PendingConnection:
    [python, _] = python_driver(environment, "")
    return connect([python, str(SERVERS / f"{environment}_server.py")], era=era, **options)


def npm(package: str, *arguments: str, **options: Any) -> PendingConnection:
    folder = installed_package(f"@modelcontextprotocol/{package}")
    return connect([node(), str(folder / "dist" / "index.js"), *arguments], **options)


def play(face: str, opening: PendingConnection, scenario: Any) -> None:
    """As `ask`, and make sure that no process is left."""
    pids: list[int] = []

    async def noting(client: AsyncClient) -> None:
        assert client.pid is not None
        pids.append(client.pid)
        await scenario(client)

    with nothing_leaks():
        ask(face, opening, noting)
    wait_until(lambda: not running_in_group(pids[0]))


async def names(client: AsyncClient) -> set[str]:
    return {tool.name for tool in await client.list_tools(timeout_seconds=WAIT)}


@pytest.mark.parametrize(("environment", "era", "version"), OFFICIAL)
def test_the_official_python_servers(face: str, environment: str, era: str, version: str) -> None:
    asked: list[Elicitation] = []
    answers: list[Any] = [{"sure": True}, NoAnswer.DECLINED]
    reports: list[Any] = []

    def on_ask(question: Elicitation) -> Any:
        asked.append(question)
        return answers.pop(0)

    async def scenario(client: AsyncClient) -> None:
        assert (client.version, client.server_info["name"], client.instructions) == (
            version,
            "official",
            "Be kind.",
        )
        assert await names(client) == {"add", "fail", "count", "wait", "delete", "grow"}
        result = await client.call_tool("add", {"a": 1, "b": 2}, timeout_seconds=WAIT)
        assert (result.text, result.structured, result.is_error) == ("3", {"result": 3}, False)
        assert (await client.call_tool("add", {"a": "x", "b": 2}, timeout_seconds=WAIT)).is_error
        assert "out of order" in (await client.call_tool("fail", timeout_seconds=WAIT)).text
        await client.call_tool(
            "count", on_progress=lambda *report: reports.append(report), timeout_seconds=WAIT
        )
        assert reports == [(number, 3, f"step {number}") for number in (1, 2, 3)]

        with pytest.raises(TimedOut):
            await client.call_tool("wait", timeout_seconds=0.2)
        assert await client.ping(timeout_seconds=WAIT) > 0

        assert (
            await client.call_tool("delete", {"what": "it"}, timeout_seconds=WAIT)
        ).text == "deleted it"
        assert (
            "deleted"
            not in (await client.call_tool("delete", {"what": "it"}, timeout_seconds=WAIT)).text
        )
        assert [question.message for question in asked] == ["Delete it?"] * 2

        assert (await client.call_tool("grow", timeout_seconds=WAIT)).text == "grown"
        while "new" not in await names(client):  # the news may be on their way
            await client.ping(timeout_seconds=WAIT)
        assert (await client.call_tool("new", timeout_seconds=WAIT)).text == "new"

    play(face, official(environment, era, on_ask=on_ask), scenario)


@pytest.mark.parametrize(("era", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_typescript_server(face: str, era: Any, version: str) -> None:
    installed_package("@modelcontextprotocol/server")

    async def scenario(client: AsyncClient) -> None:
        assert client.version == version
        assert "add" in await names(client)
        assert (
            await client.call_tool("add", {"a": 1, "b": 2}, timeout_seconds=WAIT)
        ).structured == {"result": 3}

    command = [node(), str(TYPESCRIPT), "add"]
    play(face, connect(command, era=era, env={"TOOLWIRE_PEERS": str(INSTALLED)}), scenario)


def test_the_everything_server(face: str) -> None:
    asked: list[Elicitation] = []
    reports: list[Any] = []

    def on_ask(question: Elicitation) -> Any:
        asked.append(question)
        return {"name": "Ann"}

    async def scenario(client: AsyncClient) -> None:
        assert client.version == "2025-11-25"
        assert {"echo", "get-sum", "trigger-elicitation-request"} <= await names(client)
        assert (
            await client.call_tool("echo", {"message": "héllo"}, timeout_seconds=WAIT)
        ).text == "Echo: héllo"
        weather = await client.call_tool(
            "get-structured-content", {"location": "Chicago"}, timeout_seconds=WAIT
        )
        assert json.loads(weather.text) == weather.structured
        image = await client.call_tool("get-tiny-image", timeout_seconds=WAIT)
        assert [block["type"] for block in image.content] == ["text", "image", "text"]
        links = await client.call_tool("get-resource-links", {"count": 2}, timeout_seconds=WAIT)
        assert [block["type"] for block in links.content] == [
            "text",
            "resource_link",
            "resource_link",
        ]
        assert (
            "TOOLWIRE_CANARY" not in (await client.call_tool("get-env", timeout_seconds=WAIT)).text
        )
        assert (await client.call_tool("get-sum", {"a": "x"}, timeout_seconds=WAIT)).is_error

        await client.call_tool(
            "trigger-long-running-operation",
            {"duration": 0.2, "steps": 4},
            on_progress=lambda *report: reports.append(report[:2]),
            timeout_seconds=WAIT,
        )
        assert reports == [(1, 4), (2, 4), (3, 4), (4, 4)]
        with pytest.raises(TimedOut):
            await client.call_tool(
                "trigger-long-running-operation", {"duration": 60}, timeout_seconds=0.1
            )

        answered = await client.call_tool("trigger-elicitation-request", timeout_seconds=WAIT)
        assert "Ann" in answered.text
        assert "name" in asked[0].schema["properties"]

    play(face, npm("server-everything", on_ask=on_ask), scenario)


@pytest.mark.parametrize("loop", FACES[1:])
def test_the_everything_server_answers_many_at_once(loop: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        sums: dict[int, str] = {}

        async def add(number: int) -> None:
            sums[number] = (
                await client.call_tool("get-sum", {"a": number, "b": 1}, timeout_seconds=WAIT)
            ).text

        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(add, number)
        assert sums == {
            number: f"The sum of {number} and 1 is {number + 1}." for number in range(200)
        }

    play(loop, npm("server-everything"), scenario)


def test_the_filesystem_server(face: str, tmp_path: Path) -> None:
    async def scenario(client: AsyncClient) -> None:
        path = str(tmp_path / "tea.txt")
        written = await client.call_tool(
            "write_file", {"path": path, "content": "four minutes\n"}, timeout_seconds=WAIT
        )
        assert not written.is_error
        assert (tmp_path / "tea.txt").read_text() == "four minutes\n"
        assert (
            await client.call_tool("read_text_file", {"path": path}, timeout_seconds=WAIT)
        ).text == "four minutes\n"
        assert (
            "tea.txt"
            in (
                await client.call_tool(
                    "list_directory", {"path": str(tmp_path)}, timeout_seconds=WAIT
                )
            ).text
        )
        outside = await client.call_tool(
            "read_text_file", {"path": "/etc/passwd"}, timeout_seconds=WAIT
        )
        assert outside.is_error
        assert "outside allowed directories" in outside.text

    play(face, npm("server-filesystem", str(tmp_path)), scenario)


def test_an_unknown_tool_is_a_failure(tmp_path: Path) -> None:
    for opening in (official("mcp2", "auto"), npm("server-filesystem", str(tmp_path))):
        with opening as client:
            assert client.call_tool("no-such-tool", timeout_seconds=WAIT).is_error


def test_their_tools_make_one_toolbox(tmp_path: Path) -> None:
    with npm("server-everything") as everything, npm("server-filesystem", str(tmp_path)) as files:
        toolbox = Toolbox({"everything": everything, "files": files})
        offered = [tool.name for tool in toolbox.list_tools(timeout_seconds=WAIT)]
        assert {"echo", "read_text_file"} <= set(offered)
        assert toolbox.call_tool("echo", {"message": "x"}, timeout_seconds=WAIT).text == "Echo: x"
        assert (
            str(tmp_path)
            in toolbox.call_tool("list_allowed_directories", timeout_seconds=WAIT).text
        )


def test_a_server_that_refuses_its_arguments_is_an_error_with_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(ServerGone) as caught, npm("server-filesystem", str(tmp_path / "nowhere")):
        pass
    assert (caught.value.exit_status, "nowhere" in str(caught.value)) == (1, True)


@pytest.mark.parametrize(
    ("environment", "title"),
    [("mcp1", "FastMCP 1."), ("mcp2", "MCPServer 2."), ("fastmcp", "FastMCP 4.")],
)
def test_bare_server_of_the_same_sdk_is_found(environment: str, title: str) -> None:
    [python, _] = python_driver(environment, "")
    command = [python, str(SERVERS / f"{environment}_server.py")]
    facts = find_facts(partial(ServerUnderTest, command), CheckSettings(framings=["lines"]))

    control = find_control(facts, ServerUnderTest)

    assert control is not None
    assert control.title.startswith(title)
    assert control.command[0] == python
