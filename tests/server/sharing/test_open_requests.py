"""Which requests of a session have no response, as the process of the host knows it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.sharing.open_requests import OpenRequests

CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}\n'
RESULT = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
INITIALIZE = b'{"method":"initialize","params":{"clientInfo":{}},"jsonrpc":"2.0","id":0}\n'
INITIALIZED = b'{"method":"notifications/initialized","jsonrpc":"2.0"}\n'


def open_after(*traffic: tuple[str, bytes]) -> dict[str | int, str]:
    requests = OpenRequests()
    for direction, data in traffic:
        if direction == ">":
            requests.send(data)
        else:
            requests.receive(data)
    return requests.take_open()


@pytest.mark.parametrize(
    ("traffic", "expected"),
    [
        pytest.param([(">", CALL)], {1: "tools/call"}, id="a call that runs"),
        pytest.param([(">", CALL), ("<", RESULT)], {}, id="a response"),
        pytest.param([(">", CALL[:20])], {}, id="a request without its end"),
        pytest.param([(">", CALL[:20]), (">", CALL[20:])], {1: "tools/call"}, id="two pieces"),
        pytest.param([(">", CALL), ("<", RESULT[:9])], {1: "tools/call"}, id="half a response"),
        pytest.param([(">", INITIALIZE)], {0: "initialize"}, id="the id is the last member"),
        pytest.param([(">", INITIALIZED)], {}, id="a notification"),
        pytest.param(
            [(">", CALL), (">", CALL.replace(b"1,", b'"1",'))],
            {1: "tools/call", "1": "tools/call"},
            id="a number and a text",
        ),
        pytest.param(
            [
                (">", CALL),
                (">", b'{"method":"notifications/cancelled","params":{"requestId":1}}\n'),
            ],
            {},
            id="a cancelled request, which gets no response",
        ),
        pytest.param(
            [(">", b"[" + CALL[:-1] + b"]\n"), ("<", b"[" + RESULT[:-1] + b"]\n")],
            {},
            id="a batch",
        ),
        pytest.param([(">", b"[" + CALL[:-1] + b"]\n")], {1: "tools/call"}, id="an open batch"),
        pytest.param(
            [(">", CALL), ("<", b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')],
            {1: "tools/call"},
            id="a request of the server with the same id",
        ),
        pytest.param(
            [(">", CALL), ("<", RESULT), (">", CALL)], {1: "tools/call"}, id="an id used again"
        ),
        pytest.param([(">", b"no JSON\n\xff\n[1]\n")], {}, id="no JSON"),
    ],
)
def test_requests_without_a_response_are_open(
    traffic: list[tuple[str, bytes]], expected: dict[str | int, str]
) -> None:
    assert open_after(*traffic) == expected


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=40),
    st.integers(1, 50),
)
def test_open_requests_do_not_depend_on_how_the_bytes_arrive(
    steps: list[tuple[bool, int]], size: int
) -> None:
    expected: dict[str | int, str] = {}
    requests = OpenRequests()
    for is_request, id in steps:
        if is_request:
            line = json.dumps({"id": id, "method": "tools/call", "jsonrpc": "2.0"}).encode()
            add = requests.send
            expected[id] = "tools/call"
        else:
            line = b'{"jsonrpc":"2.0","id":%d,"result":{}}' % id
            add = requests.receive
            expected.pop(id, None)
        line += b"\n"
        for start in range(0, len(line), size):
            add(line[start : start + size])
    assert requests.take_open() == expected


def test_long_traffic_is_read_and_not_kept() -> None:
    requests = OpenRequests()
    for _ in range(20_000):
        requests.send(CALL)
        requests.receive(RESULT)
    assert requests._kept_bytes <= 256 * 1024
    assert requests.take_open() == {}


def test_handshake_level_and_subscriptions_are_repeated_for_another_process() -> None:
    messages: list[dict[str, Any]] = [
        {"method": "initialize", "id": 0, "params": {}},
        {"method": "notifications/initialized"},
        {"method": "logging/setLevel", "id": 1, "params": {"level": "info"}},
        {"method": "logging/setLevel", "id": 2, "params": {"level": "error"}},
        {"method": "resources/subscribe", "id": 3, "params": {"uri": "a:1"}},
        {"method": "resources/subscribe", "id": 4, "params": {"uri": "a:2"}},
        {"method": "resources/unsubscribe", "id": 5, "params": {"uri": "a:1"}},
        {"method": "tools/list", "id": 6},
    ]
    requests = OpenRequests()
    for message in messages:
        requests.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    kept = [(each["method"], each.get("params", {})) for each in requests.list_settings()]
    assert kept == [
        ("initialize", {}),
        ("notifications/initialized", {}),
        ("logging/setLevel", {"level": "error"}),
        ("resources/subscribe", {"uri": "a:2"}),
    ]


def test_beginning_of_a_request_is_taken_once() -> None:
    requests = OpenRequests()
    requests.send(CALL + CALL[:30])
    assert requests.take_rest() == CALL[:30]
    assert requests.take_rest() == b""


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"Content-Length: 2\r\n\r\n{}", id="headers"),
        pytest.param(b"x" * (1024 * 1024 + 1), id="a very long line"),
    ],
)
def test_what_cannot_be_followed_is_known(data: bytes) -> None:
    requests = OpenRequests()
    requests.send(data)
    requests.take_open()
    assert not requests.is_exact
