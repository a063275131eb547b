"""Log messages of tools reach only the clients that asked for their level, and before the
response.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server_process import MODERN, Process, answers, call, protocol_of, request, served
from toolwire_schemas.wire.messages import META_LOG_LEVEL
from toolwire_tools.context.context import LEVELS

TOOLS = """
import threading
from pathlib import Path
from toolwire_tools import AsyncContext, Context, tool_api

@tool_api
def note(context: Context, levels: list[str]) -> None:
    for level in levels:
        context.log("noted", level=level)

@tool_api
async def note_async(context: AsyncContext, levels: list[str]) -> None:
    for level in levels:
        context.log("noted", level=level)

@tool_api(runs_in="process")
def note_there(context: Context, levels: list[str]) -> None:
    for level in levels:
        context.log("noted", level=level)

@tool_api
def data(context: Context) -> None:
    context.log("text", logger="mine")
    context.log("fields", number=7, rows=[1, None])
    context.log("odd", path=Path("/tmp"), nan=float("nan"))

@tool_api
def much(context: Context, size: int) -> None:
    context.log("x" * size)

left = []

@tool_api
def leave(context: Context) -> None:
    left.append(context)

@tool_api
def speak_late() -> None:
    left.pop().log("too late")

@tool_api
def ask(context: Context) -> bool:
    spoken = threading.Thread(target=lambda: (asked.wait(), context.log("while asking"), said.set()))
    spoken.start()
    return context.ask("Sure?")

asked, said = threading.Event(), threading.Event()

@tool_api
def speak_now() -> None:
    asked.set()
    said.wait()
"""  # noqa: E501


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with served(tmp_path_factory.mktemp("logs"), TOOLS) as process:
        process.ask(
            request("initialize", {"protocolVersion": "2025-11-25"})
        )  # else it would expect modern requests
        yield process


def called(process: Process, name: str, arguments: Any = None, **meta: Any) -> list[Any]:
    """Call a tool and return the params of the notifications before its response, and then the
    response's id.
    """
    process.send(call(name, arguments, id="called", **meta))
    got: list[Any] = []
    while "id" not in (message := process.receive()):
        assert message["method"] == "notifications/message"
        got.append(message["params"])
    assert message["result"]["isError"] is False, message
    return got


def asked_for(level: str) -> dict[str, Any]:
    return {**MODERN, META_LOG_LEVEL: level}


def set_level(process: Process, level: str) -> None:
    assert process.ask(request("logging/setLevel", {"level": level}, "level"))["result"] == {}


@pytest.mark.process
@pytest.mark.parametrize("tool", ["note", "note_async", "note_there"])
def test_a_client_gets_the_messages_of_the_level_it_set_and_above(
    process: Process, tool: str
) -> None:
    everything = {"levels": list(LEVELS)}
    for number, level in enumerate(LEVELS):
        set_level(process, level)
        wanted = [{"level": each, "logger": tool, "data": "noted"} for each in LEVELS[number:]]
        assert called(process, tool, everything) == wanted


@pytest.mark.process
@pytest.mark.parametrize("tool", ["note", "note_async", "note_there"])
def test_a_modern_request_gets_the_messages_of_the_level_it_names_whatever_was_set_before(
    process: Process, tool: str
) -> None:
    set_level(process, "debug")
    messages = called(process, tool, {"levels": list(LEVELS)}, **asked_for("error"))
    assert [message["level"] for message in messages] == ["error", "critical", "alert", "emergency"]
    assert called(process, tool, {"levels": list(LEVELS)}, **MODERN) == []


@pytest.mark.process
@pytest.mark.parametrize("tool", ["note", "note_async", "note_there"])
def test_a_client_that_set_no_level_gets_no_messages(tmp_path: Path, tool: str) -> None:
    with served(tmp_path, TOOLS) as process:
        assert called(process, tool, {"levels": ["emergency"]}) == []
        assert [message.get("method") for message in process.hang_up()] == []


@pytest.mark.process
def test_data_is_the_text_or_the_text_with_its_fields(process: Process) -> None:
    set_level(process, "info")
    assert called(process, "data") == [
        {"level": "info", "logger": "mine", "data": "text"},
        {
            "level": "info",
            "logger": "data",
            "data": {"message": "fields", "number": 7, "rows": [1, None]},
        },
        {
            "level": "info",
            "logger": "data",
            "data": {"message": "odd", "path": "/tmp", "nan": "nan"},
        },
    ]


@pytest.mark.process
def test_a_log_message_beyond_the_limit_is_cut_and_says_so(process: Process) -> None:
    set_level(process, "info")
    [message] = called(process, "much", {"size": 10_000_000})
    assert len(message["data"]) < 64 * 1024
    assert "(cut; the message takes 10000" in message["data"]


@pytest.mark.process
def test_a_call_that_has_ended_sends_no_message(process: Process) -> None:
    set_level(process, "info")
    assert called(process, "leave") == []
    assert called(process, "speak_late") == []
    assert process.ask(request("ping", id="after"))["id"] == "after"


@pytest.mark.process
def test_a_call_that_waits_for_a_modern_client_to_ask_its_user_sends_no_message(
    process: Process,
) -> None:
    can_ask = {
        **asked_for("debug"),
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    asked = process.ask(call("ask", id="ask", **can_ask))
    assert asked["result"]["resultType"] == "input_required"
    assert called(process, "speak_now", **MODERN) == []


@pytest.mark.parametrize(
    "params", [None, {}, {"level": "warn"}, {"level": 3}, {"level": None}, {"level": ["info"]}]
)
def test_an_unknown_level_is_an_error_that_lists_the_levels(params: Any) -> None:
    modern = {**MODERN, META_LOG_LEVEL: (params or {}).get("level")}
    sent = [
        request("logging/setLevel", params),
        request("tools/call", {"name": "note", "_meta": modern}),
    ]

    for answer in answers(protocol_of(note), *sent):
        assert answer["error"]["code"] == -32602
        assert (
            "debug, info, notice, warning, error, critical, alert, emergency"
            in answer["error"]["message"]
        )


def note() -> None:
    """Do nothing."""


def test_the_modern_revision_has_no_log_level_of_the_connection() -> None:
    [answer] = answers(
        protocol_of(note), request("logging/setLevel", {"level": "info", "_meta": MODERN})
    )
    assert answer["error"]["code"] == -32601
