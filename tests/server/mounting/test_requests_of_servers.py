"""What a mounted server asks its host for: samples of a model, folders, links to open."""

from __future__ import annotations

import json
import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from server.mounting.test_mounts import Foreign, tool
from server.wrapping.test_wrapped_failures import ABLE, ASKING, INITIALIZED, REPLIES
from support.server_process import MODERN, Process, call, request, running, wait_until
from toolwire import Server

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.process

ANSWERS: dict[str, Any] = {
    "sample": REPLIES["sampling"],
    "roots": REPLIES["roots"],
    "link": REPLIES["url"],
}
METHODS = {
    "sample": "sampling/createMessage",
    "roots": "roots/list",
    "link": "elicitation/create",
}
META = {**MODERN, "io.modelcontextprotocol/clientCapabilities": ABLE}


def initialize(capabilities: Any) -> dict[str, Any]:
    info = {"name": "host", "version": "3"}
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": info,
    }
    return request("initialize", params, id=0)


@pytest.fixture
def foreign(tmp_path: Path) -> Foreign:
    names = ("echo", "done", *ANSWERS)
    return Foreign(tmp_path / "foreign", tools=[tool(name) for name in names])


@contextmanager
def mounting(command: Any, capabilities: Any = None) -> Iterator[Process]:
    """A server that mounts *command*; a legacy host has initialized it if it has *capabilities*."""
    with running("-m", "toolwire", "serve", "--mount", f"there={shlex.join(command)}") as process:
        if capabilities is not None:
            process.ask(initialize(capabilities))
            process.send(INITIALIZED)
        yield process


def read_data(answer: Any) -> Any:
    (block,) = answer["result"]["content"]
    return json.loads(block["text"])


@pytest.mark.parametrize("name", ANSWERS)
def test_legacy_server_gets_what_it_asks_a_legacy_host_for(foreign: Foreign, name: str) -> None:
    with mounting(foreign.command, ABLE) as process:
        process.send(call(f"there_{name}", {}, id=5))
        asked = process.receive()
        process.send({"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS[name]})
        assert read_data(process.receive()) == {"result": ANSWERS[name]}

    assert asked["method"] == METHODS[name]
    (declared,) = foreign.received("initialize")
    assert declared["capabilities"] == ABLE


@pytest.mark.parametrize("name", ANSWERS)
def test_legacy_server_gets_what_it_asks_a_modern_host_for(foreign: Foreign, name: str) -> None:
    with mounting(foreign.command) as process:
        first = process.ask(call(f"there_{name}", {}, id=1, **META))["result"]
        assert first["inputRequests"]["answer"]["method"] == METHODS[name]
        again = call(f"there_{name}", {}, id=2, **META)
        again["params"] |= {
            "requestState": first["requestState"],
            "inputResponses": {"answer": ANSWERS[name]},
        }
        assert read_data(process.ask(again)) == {"result": ANSWERS[name]}


def test_modern_server_gets_what_it_asks_a_legacy_host_for() -> None:
    with mounting(ASKING, ABLE) as process:
        process.send(call("there_ask", {"what": list(REPLIES)}, id=5))
        for reply in REPLIES.values():
            asked = process.receive()
            process.send({"jsonrpc": "2.0", "id": asked["id"], "result": reply})
        assert read_data(process.receive()) == ["state", REPLIES]


def test_error_of_the_host_reaches_the_server_as_it_came(foreign: Foreign) -> None:
    error = {"code": -1, "message": "User rejected sampling request", "data": {"why": [1]}}
    with mounting(foreign.command, ABLE) as process:
        asked = process.ask(call("there_sample", {}, id=5))
        answer = process.ask({"jsonrpc": "2.0", "id": asked["id"], "error": error})

    assert read_data(answer) == {"error": error}


@pytest.mark.parametrize("is_modern", [False, True])
def test_host_without_the_capability_is_not_asked(foreign: Foreign, is_modern: bool) -> None:
    with mounting(foreign.command, None if is_modern else {}) as process:
        answer = process.ask(call("there_sample", {}, **(MODERN if is_modern else {})))

    assert read_data(answer)["error"]["code"] == -32601
    (declared,) = foreign.received("initialize")
    assert declared["capabilities"] == {}


def test_server_that_asks_for_folders_at_its_start_and_when_they_change_gets_them(
    foreign: Foreign,
) -> None:
    (foreign.folder / "roots").touch()
    with mounting(foreign.command, {"roots": {"listChanged": True}}) as process:
        process.send(request("tools/list", id=1))
        at_start, listed = sorted([process.receive(), process.receive()], key=_is_response)
        process.send({"jsonrpc": "2.0", "id": at_start["id"], "result": REPLIES["roots"]})
        process.send(request("notifications/roots/list_changed", id=...))
        asked_again = process.receive()
        changed = {"roots": [{"uri": "file:///home"}]}
        process.send({"jsonrpc": "2.0", "id": asked_again["id"], "result": changed})
        wait_until(lambda: len(responses_in(foreign)) == 2)

    assert at_start["method"] == asked_again["method"] == "roots/list"
    assert len(listed["result"]["tools"]) == 5
    assert responses_in(foreign) == [REPLIES["roots"], changed]


def test_request_outside_of_a_call_is_refused_if_no_host_takes_it(foreign: Foreign) -> None:
    (foreign.folder / "roots").touch()
    with mounting(foreign.command) as process:
        process.ask(request("tools/list", {"_meta": META}))
        wait_until(lambda: len(errors_in(foreign)) == 1)

    assert errors_in(foreign) == ["no client takes roots/list now"]


def test_request_is_refused_while_calls_of_several_clients_are_open(foreign: Foreign) -> None:
    """It does not say to which call it belongs, and one user must not answer for another."""
    foreign.list(tools=[tool("hang"), tool("roots")])
    first: list[bytes] = []
    second: list[bytes] = []
    with Server([], timeout_seconds=None) as server:
        server.mount(foreign.command, "there")
        sessions = [server.open_session(first.append), server.open_session(second.append)]
        for session in sessions:
            session.feed(encode(initialize(ABLE)) + encode(INITIALIZED))
        sessions[0].feed(encode(call("there_hang", {}, id=1)))
        wait_until(lambda: len(foreign.received("tools/call")) == 1)
        sessions[1].feed(encode(call("there_roots", {}, id=2)))
        wait_until(lambda: len(second) == 2)
        sessions[0].feed(encode(request("notifications/cancelled", {"requestId": 1}, id=...)))

    assert "several clients" in read_data(json.loads(second[1]))["error"]["message"]


def test_host_learns_that_the_user_has_followed_a_link(foreign: Foreign) -> None:
    with mounting(foreign.command, ABLE) as process:
        process.send(call("there_done", {}, id=5))
        received = [process.receive(), process.receive()]

    notified = request("notifications/elicitation/complete", {"elicitationId": "e"}, id=...)
    assert notified in received


def _is_response(message: Any) -> bool:
    return "method" not in message


def encode(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def responses_in(foreign: Foreign) -> list[Any]:
    return [each["result"] for each in _journal(foreign) if "result" in each]


def errors_in(foreign: Foreign) -> list[str]:
    return [each["error"]["message"] for each in _journal(foreign) if "error" in each]


def _journal(foreign: Foreign) -> list[Any]:
    lines = (foreign.folder / "journal").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]
