"""One call of a server, answered by a real process at the other end of a connection."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from toolwire import RequestError, Server
from toolwire.forwarding import BLOCKING, forward
from toolwire.protocol.call import Call
from toolwire.protocol.connection_handler import ConnectionHandler
from toolwire_client import connect
from toolwire_client.async_client import AsyncClient
from toolwire_client.session.elicitation import NoAnswer
from toolwire_client.waiting.base import run
from toolwire_schemas.deadline import Deadline
from toolwire_tools import Entry, Tool

THERE = """
import os, sys
from dataclasses import dataclass
from toolwire_tools import Context, NotAnswered

@dataclass
class Form:
    name: str

def add(a: int, b: int) -> int:
    return a + b

def count(context: Context) -> str:
    context.progress(1, 2, "half")
    return "counted"

def ask(context: Context) -> str:
    try:
        return context.ask("Who?", Form).name
    except NotAnswered as error:
        return f"nobody: {error}"

def die() -> None:
    print("famous last words", file=sys.stderr, flush=True)
    os._exit(7)
"""


def forwarding_tool(name: str, client: AsyncClient) -> Tool:
    """Return a tool of the server that *client* has started."""

    def send(arguments: Any, call: Call) -> dict[str, Any]:
        connection = run(client.ready(Deadline(10))).connection
        return forward(call, connection, {"name": name, "arguments": arguments})

    entry = Entry(kind="tools", name=name, parts=(name,), shown={"name": name})
    return Tool(entry, ConnectionHandler(send=send, complete=send))


@pytest.fixture(params=["legacy", "modern"])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "there.py").write_text(THERE, encoding="utf-8")
    command = [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "there.py")]
    pending = connect(
        command, era=request.param, inherit_env=True, on_ask=lambda _: NoAnswer.DISMISSED
    )
    client = pending.client(BLOCKING)
    run(client.__aenter__())
    names = ("add", "count", "ask", "die", "unknown")
    with Server([forwarding_tool(name, client) for name in names]) as server:
        yield server
    run(client.close())


@pytest.mark.process
def test_a_result_and_progress_arrive(here: Server) -> None:
    seen: list[Any] = []

    assert here.call("add", {"a": 2, "b": 3})["structuredContent"] == {"result": 5}
    assert here.call("count", on_progress=seen.append)["content"][0]["text"] == "counted"
    assert [(each["progress"], each["total"], each["message"]) for each in seen] == [(1, 2, "half")]


@pytest.mark.process
def test_a_json_rpc_error_arrives_as_it_is(here: Server) -> None:
    with pytest.raises(RequestError) as raised:
        here.call("unknown")

    assert (raised.value.code, "unknown" in raised.value.message) == (-32602, True)


@pytest.mark.process
def test_the_end_of_the_process_fails_the_call_with_status_and_stderr(here: Server) -> None:
    result = here.call("die")

    assert result["isError"]
    assert "exit status 7" in result["content"][0]["text"]
    assert "famous last words" in result["content"][0]["text"]


@pytest.mark.process
def test_a_question_that_the_host_cannot_answer_is_the_tools_to_handle(here: Server) -> None:
    assert "nobody:" in here.call("ask")["content"][0]["text"]


@pytest.mark.process
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_question_reaches_the_user_of_a_host_of_either_era(here: Server, era: Any) -> None:
    with connect(here, era=era, on_ask=lambda question: {"name": question.message[:3]}) as client:
        assert client.call_tool("ask").text == "Who"
