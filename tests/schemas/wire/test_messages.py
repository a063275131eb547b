"""Messages: their bytes, their codes, and what they take while they wait."""

from __future__ import annotations

import sys
import tracemalloc
from typing import Any

import pytest
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import EncodingError, decode
from toolwire_schemas.wire.messages import Fault

IDS = [(1, "1"), (0, "0"), (-7, "-7"), (10**40, str(10**40)), ("", '""'), ('a"b', '"a\\"b"')]


@pytest.mark.parametrize(("id", "text"), IDS)
def test_every_message_carries_its_id_as_it_is(id: Any, text: str) -> None:
    start = '{"jsonrpc":"2.0","id":' + text
    made = {
        messages.encode_request(id, "ping"): start + ',"method":"ping"}',
        messages.encode_request(id, "ping", {"a": 1}): start + ',"method":"ping","params":{"a":1}}',
        messages.encode_response(id, {"a": [None]}): start + ',"result":{"a":[null]}}',
        messages.encode_response(id, {"a": 1}, is_plain=True): start + ',"result":{"a":1}}',
        messages.encode_response_of_json(id, b"[1]"): start + ',"result":[1]}',
        messages.encode_error(id, -7, "odd"): start + ',"error":{"code":-7,"message":"odd"}}',
    }

    for message, expected in made.items():
        assert message.decode() == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (messages.encode_notification("n"), {"method": "n"}),
        (messages.encode_notification("n", {}), {"method": "n", "params": {}}),
        (messages.encode_notification("n", []), {"method": "n", "params": []}),
        (messages.encode_request(1, "m", {}), {"id": 1, "method": "m", "params": {}}),
        (messages.encode_error(None, -7, "x"), {"id": None, "error": {"code": -7, "message": "x"}}),
        (
            messages.encode_error(1, -7, "x", {"more": None}),
            {"id": 1, "error": {"code": -7, "message": "x", "data": {"more": None}}},
        ),
        (
            messages.encode_error(1, -7, "x", 0),
            {"id": 1, "error": {"code": -7, "message": "x", "data": 0}},
        ),
    ],
)
def test_a_message_has_only_the_members_that_it_was_given(
    message: bytes, expected: dict[str, Any]
) -> None:
    assert decode(message) == {"jsonrpc": "2.0", **expected}


@pytest.mark.parametrize(
    ("answers", "array"), [([], b"[]"), ([b"{}"], b"[{}]"), ([b"{}", b"1"], b"[{},1]")]
)
def test_the_answers_of_a_batch_are_one_array(answers: list[bytes], array: bytes) -> None:
    assert messages.encode_batch(answers) == array


@pytest.mark.parametrize("is_plain", [False, True])
def test_a_result_that_is_no_json_is_an_error_and_a_lone_surrogate_is_replaced(
    is_plain: bool,
) -> None:
    with pytest.raises(EncodingError):
        messages.encode_response(1, {"a": float("nan")}, is_plain=is_plain)

    replaced: list[str] = []
    message = messages.encode_response(1, {"a": "x\ud800"}, replaced, is_plain=is_plain)
    assert decode(message)["result"] == {"a": "x\ufffd"}
    assert len(replaced) == 1


def test_the_codes_are_those_of_the_specifications() -> None:
    codes = {
        "PARSE_ERROR": -32700,
        "INVALID_REQUEST": -32600,
        "METHOD_NOT_FOUND": -32601,
        "INVALID_PARAMS": -32602,
        "INTERNAL_ERROR": -32603,
        "REQUEST_CANCELLED": -32800,
        "RESOURCE_NOT_FOUND": -32002,
        "UNSUPPORTED_PROTOCOL_VERSION": -32022,
        "OVERLOADED": -31001,
        "SHUTTING_DOWN": -31002,
    }
    assert {name: getattr(messages, name) for name in codes} == codes
    assert messages.LATEST_LEGACY == "2025-11-25"


@pytest.mark.parametrize("size", [511, 512, 513])
def test_the_fault_for_an_oversize_message_keeps_512_bytes_of_each_end(size: int) -> None:
    data = bytes(index % 251 for index in range(size))

    fault = messages.make_oversize_fault(size, 10, data, data)

    problem = f"a message of {size} bytes; the limit is 10"
    assert fault == Fault(problem, too_large=True, head=data[:512], tail=data[-512:])


def test_a_fault_is_of_bytes_out_of_frame_unless_it_says_more() -> None:
    assert Fault("odd") == Fault("odd", too_large=False, head=b"", tail=b"")


def test_the_default_limit_is_64_mebibytes() -> None:
    assert messages.DEFAULT_MAX_MESSAGE_BYTES == 64 * 1024 * 1024


def test_a_short_response_that_waits_takes_little_more_memory_than_its_length() -> None:
    tracemalloc.start()
    try:
        waiting = [messages.encode_response(number, {"sum": number}) for number in range(1000)]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert taken < 2 * (sys.getsizeof(waiting) + sum(map(sys.getsizeof, waiting)))
