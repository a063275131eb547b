"""Recording a conversation: messages, noise and their presentation, without a server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_check.facts.handshake import complete_message
from toolwire_check.judging.conversation import (
    CaseConversation,
    Noise,
    ProcessEnded,
    Received,
    find_answers,
    format_exchange,
    iter_messages,
)
from toolwire_check.playing.placeholders import fill_in, to_bytes
from toolwire_schemas.wire import codec
from toolwire_schemas.wire.content_length import wrap_with_header
from toolwire_schemas.wire.framing import wrap_line

OK = {"jsonrpc": "2.0", "id": 1, "result": {}}


def record(framing: Any, *chunks: bytes) -> CaseConversation:
    conversation = CaseConversation(framing)
    for chunk in chunks:
        conversation.record_output(chunk)
    conversation.record_end(0)
    return conversation


@given(
    st.lists(
        st.binary(max_size=20)
        | st.sampled_from([b'{"jsonrpc"', b':"2.0"}\n', b"Content-Length: 2\r\n\r\n", b"{}"])
    )
)
@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_events_do_not_depend_on_how_output_is_split(framing: str, chunks: list[bytes]) -> None:
    whole = record(framing, b"".join(chunks)).events
    assert record(framing, *chunks).events == whole
    assert record(framing, *(bytes([byte]) for byte in b"".join(chunks))).events == whole


@pytest.mark.parametrize(("framing", "wrap"), [("lines", wrap_line), ("headers", wrap_with_header)])
def test_messages_are_distinguished_from_noise(framing: str, wrap: Any) -> None:
    sent = [
        codec.encode(OK),
        codec.encode([OK, OK]),
        b"42",
        b"[]",
        b'["a"]',
        b'{"a":1}',
        b"{",
        b'{"jsonrpc":"2.0","id":NaN}',
    ]
    events = record(framing, wrap(*sent)).events[:-1]
    assert [type(event) for event in events] == [Received, Received, *[Noise] * 6]
    assert list(iter_messages(events)) == [OK, OK, OK]


def test_unfinished_last_line_is_noise_unless_a_signal_ended_the_server() -> None:
    for status, kinds in ((0, [Noise]), (None, [Noise]), (-9, [])):
        conversation = CaseConversation()
        conversation.record_output(b'{"jsonrpc":"2.0","id"')
        conversation.record_end(status)
        assert [type(event) for event in conversation.events[:-1]] == kinds


@pytest.mark.parametrize("other", ["1", 1.0, True, 2, None, 2**64 + 1])
def test_answers_are_found_by_value_and_type_of_their_id(other: Any) -> None:
    events = [Received(b"", {**OK, "id": identity}) for identity in (1, other)]
    assert find_answers(events, 1) == [OK]
    assert find_answers(events, other) == [{**OK, "id": other}]


def test_exchange_is_formatted_as_lines_that_can_be_sent_again() -> None:
    conversation = CaseConversation()
    conversation.record_input(b'{"id": "\xc3\xa4"}\n')
    conversation.record_action("its standard input ends")
    conversation.record_output(b"\x1b[31mred\xff\n" + codec.encode(OK) + b"\n")
    conversation.record_end(3, "Traceback\nKeyError")
    assert format_exchange(conversation.events) == [
        '-> {"id": "ä"}',
        "-- its standard input ends",
        (
            "<- \\u001b[31mred\\xff   (noise on stdout: no JSON: JSON is malformed: invalid"
            " character (byte 0))"
        ),
        '<- {"jsonrpc":"2.0","id":1,"result":{}}',
        "-- it ended with status 3",
        "-- stderr: Traceback",
        "-- stderr: KeyError",
    ]


def test_long_exchange_shows_both_ends_and_sizes_of_long_messages() -> None:
    conversation = CaseConversation()
    conversation.record_input(b"x" * 16_000_000)
    for _ in range(100):
        conversation.record_output(codec.encode(OK) + b"\n")
    lines = format_exchange(conversation.events)
    assert lines[0].endswith("(16,000,000 bytes)")
    assert lines[20] == "-- 61 lines are left out here"
    assert len(lines) == 41
    assert sum(map(len, lines)) < 10_000


# --- messages of a case ---

VALUES = {
    "probe": "ping",
    "meta": {"a": 1},
    "call": {"name": "add", "arguments": {"b": [2]}},
    "n": 7,
}


def test_placeholders_become_values_in_messages_and_json_in_texts() -> None:
    message = {
        "id": "${n}",
        "method": "${probe}",
        "params": {"x": ["${call.arguments}", "a ${n}"], "m": "${meta}"},
    }
    assert fill_in(message, VALUES) == {
        "id": 7,
        "method": "ping",
        "params": {"x": [{"b": [2]}, "a ${n}"], "m": {"a": 1}},
    }
    assert (
        to_bytes('{"id":${n},"method":${probe},"params":${meta}}', VALUES)
        == b'{"id":7,"method":"ping","params":{"a":1}}'
    )


def test_raw_texts_may_contain_bytes_and_repetitions() -> None:
    text = ["a", {"base64": "/w=="}, {"repeat": "b${n}", "times": 2}, ["c"]]
    assert to_bytes(text, VALUES) == b"a\xffb7b7c"


def test_message_is_completed_with_members_of_its_revision() -> None:
    request = {"id": 1, "method": "m", "params": {"a": 1, "_meta": {"progressToken": 0}}}
    assert complete_message(request, "2025-11-25") == {"jsonrpc": "2.0", **request}
    modern = complete_message(request, "2026-07-28")
    assert modern["params"]["a"] == 1
    assert modern["params"]["_meta"]["progressToken"] == 0
    assert modern["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert complete_message({"method": "notifications/x"}, "2026-07-28") == {
        "jsonrpc": "2.0",
        "method": "notifications/x",
    }
    other = {
        "id": 1,
        "method": "m",
        "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}},
    }
    assert (
        complete_message(other, "2026-07-28")["params"]["_meta"][
            "io.modelcontextprotocol/protocolVersion"
        ]
        == "2031-01-01"
    )


@pytest.mark.parametrize(
    ("status", "how"),
    [
        (None, "closed its output"),
        (3, "ended with status 3"),
        (-11, "was ended by SIGSEGV"),
        (-40, "was ended by signal 40"),
    ],
)
def test_end_of_a_process_names_its_status_or_signal(status: int | None, how: str) -> None:
    assert how in str(ProcessEnded(status))
    assert format_exchange([ProcessEnded(status, "Aborted!")]) == [
        f"-- it {ProcessEnded(status).how}",
        "-- stderr: Aborted!",
    ]


def test_echo_of_a_client_request_is_recognised_as_a_flood() -> None:
    request = codec.encode({**OK, "method": "initialize"}) + b"\n"
    assert (
        record("lines", request).flood
        == "it repeats what it gets, as `cat` does: it is no MCP server"
    )
    assert record("lines", codec.encode({**OK, "method": "roots/list"}) + b"\n").flood == ""
