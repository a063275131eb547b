"""What a host may send to trip the decision up, found by trying: each was a fault once or might
become one.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from support.server_process import answers, call, protocol_of, request
from toolwire import Context, ToolError, tool_api
from toolwire.protocol.call import Call, Send
from toolwire_schemas.wire.codec import decode


def add(a: int, b: int) -> int:
    return a + b


def error_of(answer: Any) -> tuple[Any, int]:
    return answer["id"], answer["error"]["code"]


@pytest.mark.parametrize("cursor", ["9" * 5000, "0", "00", "02", "+2", " 2", "٢", "2" * 1_000_000])
@pytest.mark.parametrize("in_a_batch", [False, True])
def test_any_cursor_that_was_never_given_out_is_refused_in_few_words(
    cursor: str, in_a_batch: bool
) -> None:
    protocol = protocol_of(add, len, print_, page_size=2)
    sent = request("tools/list", {"cursor": cursor})

    [answer] = answers(protocol, [sent] if in_a_batch else sent)

    [answer] = answer if in_a_batch else [answer]
    assert error_of(answer) == (1, -32602)
    assert len(json.dumps(answer)) < 1000


def print_() -> None: ...


@pytest.mark.parametrize("method", ["notifications/cancelled", "$/cancelRequest"])
@pytest.mark.parametrize("in_a_batch", [False, True])
def test_a_cancellation_sent_as_a_request_is_refused_and_cancels_nothing(
    method: str, in_a_batch: bool
) -> None:
    protocol = protocol_of(add)
    [start] = protocol.receive(json.dumps(call("add", {"a": 1, "b": 2})).encode())
    assert isinstance(start, Call)
    sent = request(method, {"requestId": 1, "id": 1}, id=2)

    [refusal] = protocol.receive(json.dumps([sent] if in_a_batch else sent).encode())

    assert isinstance(refusal, Send)
    answer = decode(refusal.message)
    assert error_of(answer[0] if in_a_batch else answer) == (2, -32601)
    assert not start.cancelled
    assert protocol.in_flight.finish(start, {"content": []}) is not None


@pytest.mark.parametrize("in_a_batch", [False, True])
def test_a_fault_of_toolwire_is_an_internal_error_without_details(
    in_a_batch: bool, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = protocol_of(add)
    monkeypatch.setattr(protocol.catalog, "make_page", lambda *_, **__: 1 // 0)
    sent = request("tools/list")

    [answer, pong] = answers(protocol, [sent] if in_a_batch else sent, request("ping", id=2))

    [answer] = answer if in_a_batch else [answer]
    assert answer == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32603, "message": "Internal error"},
    }
    assert pong["result"] == {}
    assert "ZeroDivisionError" in capfd.readouterr().err


@pytest.mark.parametrize("size", [1, 100, 20_000])
def test_an_error_beyond_the_limit_is_shortened_as_a_result_is(size: int) -> None:
    def fail() -> str:
        raise ToolError("x" * 100_000)

    [answer] = answers(protocol_of(fail, max_result_bytes=size), call("fail"))

    assert answer["result"]["isError"] is True
    assert f"at most {size:,} bytes" in answer["result"]["content"][0]["text"]


def test_an_integer_with_more_digits_than_python_writes_is_an_error_answer() -> None:
    def block() -> Any:
        return {"type": "text", "text": "", "_meta": {"n": 10**5000}}

    def number() -> int:
        return 10**5000

    for answer in answers(protocol_of(block, number), call("block"), call("number")):
        assert answer["result"]["isError"] is True


@pytest.mark.parametrize(
    "value", [10**400, 1.7976931348623157e308, 2**53, -(10**400), 0, -0.0, 5e-324]
)
def test_progress_that_stands_still_at_the_end_of_all_numbers_still_grows(value: float) -> None:
    protocol = protocol_of(add)
    [start] = protocol.receive(
        json.dumps(call("add", {"a": 1, "b": 2}, progressToken="t")).encode()
    )
    assert isinstance(start, Call)

    sent = [
        decode(start.progress_message(value, None, None))["params"]["progress"] for _ in range(5)
    ]

    assert sent == sorted(set(sent))
    assert all(math.isfinite(number) for number in sent if isinstance(number, float))


def test_an_exception_that_cannot_be_printed_is_still_an_answer(
    capfd: pytest.CaptureFixture[str],
) -> None:
    class Unprintable(Exception):
        def __str__(self) -> str:
            raise SystemExit(3)

        __repr__ = __str__

    def fail() -> str:
        raise Unprintable

    [answer] = answers(protocol_of(fail), call("fail"))

    assert answer["result"]["isError"] is True
    assert "fail failed" in capfd.readouterr().err


def test_a_log_field_that_cannot_be_printed_harms_only_its_own_call() -> None:
    class Unprintable:
        def __str__(self) -> str:
            raise ValueError("no text")

        __repr__ = __str__

    @tool_api
    def note(context: Context) -> str:
        context.log("hello", thing=Unprintable())
        return "noted"

    [answer, pong] = answers(protocol_of(note), call("note"), request("ping", id=2))

    assert "isError" in answer["result"]
    assert pong["id"] == 2
