"""What a line becomes over HTTP, and which answers end a wait."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_client.transport.http_messages import (
    Outgoing,
    encode_value,
    find_version,
    read_incoming,
    read_outgoing,
    with_id,
)
from toolwire_schemas.wire.messages import META_VERSION

MODERN = {"_meta": {META_VERSION: "2026-07-28"}}


def line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


@pytest.mark.parametrize(
    ("given", "ids", "method", "may_be_answered"),
    [
        ({"id": 7, "method": "ping"}, (7,), "ping", True),
        ({"id": "a", "method": "ping"}, ("a",), "ping", True),
        ({"method": "notifications/initialized"}, (), "notifications/initialized", False),
        ({"id": 7, "result": {}}, (), None, False),
        ({"id": True, "method": "ping"}, (), "ping", False),
        ({"id": 7, "method": 3}, (7,), None, True),
    ],
)
def test_only_requests_wait_for_a_response(
    given: dict[str, Any], ids: tuple[Any, ...], method: str | None, may_be_answered: bool
) -> None:
    message = read_outgoing(line(**given))

    assert (message.ids, message.method) == (ids, method)
    assert message.may_be_answered is may_be_answered


def test_the_requests_of_a_batch_wait_for_responses() -> None:
    batch = [{"id": 1, "method": "ping"}, {"method": "x"}, {"id": "b", "method": "ping"}]

    assert read_outgoing(json.dumps(batch).encode()).ids == (1, "b")


@pytest.mark.parametrize("text", [b"{", b"\xff", b"7", b'"text"', b"[" * 5000])
def test_a_line_that_cannot_be_read_is_posted_all_the_same(text: bytes) -> None:
    message = read_outgoing(text)

    assert message.body == text
    assert message.may_be_answered


def test_a_cancellation_names_the_request() -> None:
    cancelled = line(method="notifications/cancelled", params={"requestId": 7})

    assert read_outgoing(cancelled).cancels == 7


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "add"}, "add"),
        ("prompts/get", {"name": "greet"}, "greet"),
        ("resources/read", {"uri": "doc://one"}, "doc://one"),
        ("tools/call", {"name": "größe"}, "=?base64?Z3LDtsOfZQ==?="),
        ("tasks/get", {"taskId": "t-1"}, "t-1"),
        ("tools/list", {"name": "add"}, None),
        ("tools/call", {"name": 7}, None),
    ],
)
def test_modern_requests_repeat_their_method_and_name_in_headers(
    method: str, params: dict[str, Any], name: str | None
) -> None:
    message = read_outgoing(line(id=1, method=method, params={**params, **MODERN}))

    expected = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
    assert message.headers == expected | ({} if name is None else {"mcp-name": name})
    assert message.is_modern


def test_legacy_requests_have_no_headers_of_their_own() -> None:
    assert read_outgoing(line(id=1, method="tools/call", params={"name": "add"})).headers == {}


@given(st.text())
def test_every_value_of_a_header_is_plain_ascii_and_can_be_read_back(value: str) -> None:
    encoded = encode_value(value)

    assert encoded.isascii()
    assert not set(encoded) & set("\r\n\0")
    if encoded != value:
        text = base64.b64decode(encoded.removeprefix("=?base64?").removesuffix("?=")).decode()
        assert text == value.encode("utf-8", "replace").decode()


def test_line_ends_within_a_message_become_blanks() -> None:
    text = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"text": "a\nb"}}, indent=2)

    (message,) = read_incoming(text.encode())

    assert b"\n" not in message.line
    assert json.loads(message.line) == json.loads(text)
    assert message.answers == 1


def test_requests_and_notifications_answer_nothing() -> None:
    for members in ({"id": 1, "method": "ping"}, {"method": "notifications/progress"}):
        (message,) = read_incoming(line(**members))
        assert message.answers is None


def test_each_response_of_a_batch_answers_its_request_and_the_line_stays_whole() -> None:
    batch = json.dumps([{"id": 1, "result": {}}, {"id": 2, "error": {"code": 1}}]).encode()

    messages = read_incoming(batch)

    assert [message.answers for message in messages] == [1, 2]
    assert b"".join(message.line for message in messages) == batch


def test_text_that_is_no_message_is_passed_on() -> None:
    assert [message.line for message in read_incoming(b"<html>\r\n")] == [b"<html>"]


def test_an_error_gets_the_id_of_its_request() -> None:
    error = line(id=None, error={"code": -32600, "message": "no"})

    assert json.loads(with_id(error, 7)) == {**json.loads(error), "id": 7}


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ({"result": {"protocolVersion": "2025-11-25"}}, "2025-11-25"),
        ({"result": {}}, None),
        ({"error": {}}, None),
    ],
)
def test_the_version_is_read_from_the_response_to_initialize(
    answer: dict[str, Any], version: str | None
) -> None:
    assert find_version(line(id=1, **answer)) == version


def test_a_response_is_no_modern_request() -> None:
    assert not Outgoing(b"{}").is_modern
