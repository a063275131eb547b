"""Repeated requests for the state of a task, which are answered without being decoded: in every
way of writing them, the response is the one that decoding gives.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from server.tasks.tasking import META, Client, code_of
from toolwire import Context, Server, tool_api
from toolwire.protocol import server_protocol

go = threading.Event()


@tool_api(task="always")
def wait(context: Context) -> str:
    """Wait."""
    go.wait(60)
    context.status("almost")
    return "gone"


@pytest.fixture(autouse=True)
def _stop() -> Iterator[None]:
    go.clear()
    yield
    go.set()


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def id_second(params: str, id: str) -> str:
    return f'{{"jsonrpc":"2.0","id":{id},"method":"tasks/get","params":{params}}}'


def id_last(params: str, id: str) -> str:
    return f'{{"method":"tasks/get","params":{params},"jsonrpc":"2.0","id":{id}}}'


def with_spaces(params: str, id: str) -> str:
    return f'{{"jsonrpc": "2.0", "id": {id}, "method": "tasks/get", "params": {params}}}'


def two_ids(params: str, id: str) -> str:
    return f'{{"jsonrpc":"2.0","id":{id},"method":"tasks/get","params":{params},"id":77}}'


FORMS = [id_second, id_last, with_spaces, two_ids]
IDS = ["101", "0", "012", "-5", "1.5", '"102"', "null", "123456789012345678", "1e3", "true"]


def send_raw(client: Client, text: str) -> Any:
    """Return the response to *text*, which is the next message."""
    with client._arrived:
        client.messages.clear()
    client._session.feed(text.encode() + b"\n")
    with client._arrived:
        assert client._arrived.wait_for(lambda: client.messages, 60)
        return client.messages[0]


@pytest.mark.parametrize("write", FORMS)
@pytest.mark.parametrize("is_modern", [True, False], ids=["2026-07-28", "2025-11-25"])
def test_repeated_request_has_the_response_of_the_first_whatever_its_id(
    write: Any, is_modern: bool
) -> None:
    client = Client(Server([wait]), is_modern=is_modern)
    task = client.begin("wait")
    params = compact({"_meta": META, "taskId": task} if is_modern else {"taskId": task})
    expected = {id: send_raw(client, write(params, id)) for id in IDS}
    for _ in range(3):
        send_raw(client, write(params, "7"))

    for id in IDS:
        assert send_raw(client, write(params, id)) == expected[id], id
    go.set()
    client.end()


@pytest.mark.parametrize("write", [id_second, id_last])
def test_repeated_request_is_not_decoded(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(Server([wait]))
    task = client.begin("wait")
    params = compact({"_meta": META, "taskId": task})
    for id in ("1", "2"):
        send_raw(client, write(params, id))

    monkeypatch.setattr(server_protocol, "_decode_request", None)

    assert send_raw(client, write(params, "3"))["result"]["status"] == "working"
    go.set()
    client.end()


def test_repeated_request_sees_each_change_and_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(Server([wait], max_tasks=1))
    task = client.begin("wait")
    poll = id_second(compact({"_meta": META, "taskId": task}), "5")
    for _ in range(3):
        assert send_raw(client, poll)["result"]["status"] == "working"

    go.set()
    while (state := send_raw(client, poll))["result"]["status"] == "working":
        continue
    assert state["result"]["statusMessage"] == "almost"
    assert send_raw(client, poll) == send_raw(client, poll) == state

    client.begin("wait")  # the first one is forgotten for it
    assert code_of(send_raw(client, poll)) == -32602
    client.end()


def test_repeated_request_is_refused_while_responses_are_not_read() -> None:
    client = Client(Server([wait]))
    task = client.begin("wait")
    poll = id_second(compact({"_meta": META, "taskId": task}), "5")
    for _ in range(3):
        send_raw(client, poll)

    client._session._protocol.refuse_requests(True)

    assert code_of(send_raw(client, poll)) == -31001
    go.set()
    client.end()
