"""Replies as servers are known to write them, read without a network."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_agent.models.errors import EndpointRefused
from toolwire_agent.models.http_api.anthropic_messages import Messages
from toolwire_agent.models.http_api.chat_completions import ChatCompletions
from toolwire_agent.models.http_api.error_responses import make_refusal
from toolwire_agent.models.http_api.vendors import PRESETS
from toolwire_agent.models.http_api.wire_format import CutOff, HttpRequest, StreamFailed
from toolwire_agent.react.messages import ModelReply, ToolCall, Usage
from toolwire_dialects.name_mapping import Names

OPENAI, ANTHROPIC = ChatCompletions, Messages


def reader(wire: Any = OPENAI, preset: str = "openai") -> Any:
    request = HttpRequest(model="m", messages=[], tools=[], names=Names([], "openai"), schema=None)
    return wire(request, PRESETS[preset])


def chunk(delta: Any = None, finish_reason: Any = None, **more: Any) -> bytes:
    choices = (
        [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish_reason}]
    )
    return json.dumps({"choices": choices, **more}).encode()


def streamed(*chunks: bytes, preset: str = "openai") -> ModelReply:
    reading = reader(OPENAI, preset)
    for data in (*chunks, b"[DONE]"):
        reading.read_event(data)
    return reading.reply()  # type: ignore[no-any-return]


def calls(*deltas: Any) -> tuple[ToolCall, ...]:
    return streamed(
        *(chunk({"tool_calls": [delta]}) for delta in deltas), chunk({}, "stop")
    ).tool_calls


def test_arguments_come_in_pieces() -> None:
    first = {
        "index": 0,
        "id": "a",
        "type": "function",
        "function": {"name": "add", "arguments": ""},
    }
    assert calls(
        first,
        {"index": 0, "function": {"arguments": '{"a":'}},
        {"index": 0, "function": {"arguments": " 1}"}},
        {"index": 1, "id": "b", "function": {"name": "sub", "arguments": "{}"}},
    ) == (
        ToolCall(id="a", name="add", arguments='{"a": 1}'),
        ToolCall(id="b", name="sub", arguments="{}"),
    )


def test_several_calls_may_share_an_index_or_have_none() -> None:
    one = {"id": "a", "function": {"name": "add", "arguments": "{}"}}
    other = {"id": "b", "function": {"name": "sub", "arguments": "{}"}}
    expected = (
        ToolCall(id="a", name="add", arguments="{}"),
        ToolCall(id="b", name="sub", arguments="{}"),
    )
    assert calls(one, other) == calls({"index": 0, **one}, {"index": 0, **other}) == expected


ADD, SUB = {"name": "add", "arguments": {"a": 1}}, {"name": "sub", "arguments": {"a": 2}}
ADDED, SUBTRACTED = (ToolCall(id="call00001", **ADD), ToolCall(id="call00002", **SUB))  # type: ignore[arg-type]


def test_calls_without_ids_are_not_mixed() -> None:
    assert calls({"function": ADD}, {"function": SUB}) == (ADDED, SUBTRACTED)
    again = msgspec.structs.replace(ADDED, id="call00002")
    assert calls({"function": ADD}, {"function": ADD}) == (ADDED, again)


@pytest.mark.parametrize("id", [{}, {"id": ""}, {"id": "same"}])
def test_calls_of_a_reply_in_one_piece_are_not_mixed_whatever_their_ids(id: dict[str, str]) -> None:
    reading = reader()
    reading.read_whole(
        {
            "choices": [
                {"message": {"tool_calls": [{**id, "function": ADD}, {**id, "function": SUB}]}}
            ]
        }
    )
    first = msgspec.structs.replace(ADDED, id=id.get("id") or ADDED.id)
    assert reading.reply().tool_calls == (first, SUBTRACTED)


def test_no_two_calls_of_a_reply_have_one_id() -> None:
    made = calls({"index": 0, "id": "a", "function": ADD}, {"index": 1, "id": "a", "function": SUB})
    assert made == (msgspec.structs.replace(ADDED, id="a"), SUBTRACTED)


def test_missing_call_id_is_made_in_a_form_that_all_vendors_accept() -> None:
    made = calls({"function": {"name": "add", "arguments": "{}"}})
    assert made == (ToolCall(id="call00001", name="add", arguments="{}"),)


def test_arguments_may_come_as_an_object_and_a_name_twice() -> None:
    made = calls(
        {"id": "a", "function": {"name": "add", "arguments": {"a": 1}}},
        {"id": "a", "function": {"name": "add"}},
    )
    assert made == (ToolCall(id="a", name="add", arguments={"a": 1}),)


def test_arguments_that_are_not_json_stay_text() -> None:
    assert (
        calls({"id": "a", "function": {"name": "add", "arguments": "{a: 1"}})[0].arguments
        == "{a: 1"
    )


def test_finish_reason_of_a_reply_with_calls_is_tool_calls() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "add", "arguments": "{}"}}
    assert streamed(chunk({"tool_calls": [call]}), chunk({}, "stop")).finish_reason == "tool_calls"
    assert streamed(chunk({"tool_calls": [call]}), chunk({}, "length")).finish_reason == "length"


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"reasoning_content": "hm", "reasoning": "hm"},
        {"content": "<think>hm</think>"},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
    ],
)
def test_thoughts_are_no_part_of_the_text(delta: Any) -> None:
    reply = streamed(chunk(delta), chunk({"content": "yes"}), chunk({}, "stop"))
    assert (reply.text, reply.reasoning) == ("yes", "hm")


def test_content_may_come_in_parts() -> None:
    assert streamed(chunk({"content": [{"type": "text", "text": "yes"}]})).text == "yes"


def test_a_refusal_is_the_text_of_a_filtered_reply() -> None:
    reply = streamed(chunk({"refusal": "I can"}), chunk({"refusal": "not."}), chunk({}, "stop"))
    assert (reply.text, reply.finish_reason) == ("I cannot.", "content_filter")


USED = {"prompt_tokens": 10, "completion_tokens": 5}


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk({"content": "x"}), chunk(usage=USED)],
        [
            chunk({"content": "x"}, usage={**USED, "completion_tokens": 1}),
            chunk({}, "stop", usage=USED),
        ],
        [
            chunk({"content": "x"}, usage=None),
            json.dumps({"choices": [{"delta": {}, "usage": USED}]}).encode(),
        ],
    ],
)
def test_usage_is_reported_at_the_end_in_every_piece_or_in_the_choice(chunks: list[bytes]) -> None:
    assert streamed(*chunks).usage == Usage(input_tokens=10, output_tokens=5)


def test_usage_in_an_unknown_form_loses_no_reply() -> None:
    reply = streamed(chunk({"content": "yes"}, "stop", usage={**USED, "prompt_tokens_details": 4}))
    assert (reply.text, reply.usage) == ("yes", Usage(input_tokens=10, output_tokens=5))


def test_cached_tokens_go_by_two_names() -> None:
    assert streamed(chunk(usage={**USED, "prompt_cache_hit_tokens": 4})).usage == Usage(
        input_tokens=10, output_tokens=5, cached_tokens=4
    )


def test_extra_members_of_gemini_calls_are_sent_back() -> None:
    signed = {
        "id": "a",
        "function": {"name": "add", "arguments": "{}"},
        "extra_content": {"google": {"signature": "s"}},
    }
    reply = streamed(chunk({"tool_calls": [signed]}), preset="gemini")
    assert reply.echo == {"tool_calls": [{**signed, "type": "function"}]}


def test_reasoning_details_of_openrouter_are_joined_and_sent_back() -> None:
    call = {"id": "a", "function": {"name": "add", "arguments": "{}"}}
    pieces = [
        {"reasoning_details": [{"text": "h"}]},
        {"reasoning_details": [{"text": "m"}]},
        {"tool_calls": [call]},
    ]
    reply = streamed(*(chunk(piece) for piece in pieces), preset="openrouter")
    assert reply.echo == {"reasoning_details": [{"text": "h"}, {"text": "m"}]}


@pytest.mark.parametrize(
    "value", [{"error": {"message": "m"}}, {"choices": [{"error": {"code": 502}, "delta": {}}]}]
)
def test_error_inside_a_stream_is_raised(value: Any) -> None:
    with pytest.raises(StreamFailed):
        reader().read_event(json.dumps(value).encode())


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC])
def test_a_stream_that_ends_too_early_is_cut_off(wire: Any) -> None:
    with pytest.raises(CutOff):
        reader(wire).reply()


def event(**members: Any) -> bytes:
    return json.dumps(members).encode()


def test_unknown_anthropic_pieces_are_ignored() -> None:
    reading = reader(ANTHROPIC)
    for data in (
        event(
            type="message_start",
            message={"usage": {"input_tokens": 3, "cache_read_input_tokens": 4}},
        ),
        event(type="ping"),
        event(type="something_new", index=7),
        event(type="content_block_start", index=0, content_block={"type": "text", "text": "y"}),
        event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "es"}),
        event(
            type="content_block_delta", index=0, delta={"type": "citations_delta", "citation": {}}
        ),
        event(
            type="content_block_start",
            index=1,
            content_block={"type": "web_search_tool_result", "content": []},
        ),
        event(
            type="message_delta", delta={"stop_reason": "pause_turn"}, usage={"output_tokens": 2}
        ),
        event(type="message_stop"),
    ):
        reading.read_event(data)
    assert reading.reply() == ModelReply(
        text="yes",
        finish_reason="pause_turn",
        usage=Usage(input_tokens=7, output_tokens=2, cached_tokens=4),
    )


def test_anthropic_arguments_that_were_cut_off_stay_text() -> None:
    assert anthropic_call_cut_off() == ModelReply(
        tool_calls=(ToolCall(id="a", name="add", arguments='{"a": 1'),), finish_reason="length"
    )


def test_anthropic_does_not_get_cut_off_arguments_again() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    assert anthropic_call_cut_off(thought).echo == {
        "content": [thought, {"type": "tool_use", "id": "a", "name": "add", "input": {}}]
    }


def anthropic_call_cut_off(*before: dict[str, Any]) -> ModelReply:
    call = {"type": "tool_use", "id": "a", "name": "add", "input": {}}
    last = len(before)
    reading = reader(ANTHROPIC)
    for data in (
        *(
            event(type="content_block_start", index=at, content_block=block)
            for at, block in enumerate([*before, call])
        ),
        event(
            type="content_block_delta",
            index=last,
            delta={"type": "input_json_delta", "partial_json": '{"a": 1'},
        ),
        event(type="message_delta", delta={"stop_reason": "max_tokens"}),
    ):
        reading.read_event(data)
    return reading.reply()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "content_filter"),
        ("something_new", "something_new"),
        (None, None),
    ],
)
def test_reasons_are_in_openais_words(theirs: str | None, ours: str | None) -> None:
    reading = reader(ANTHROPIC)
    reading.read_whole({"content": [{"type": "text", "text": "x"}], "stop_reason": theirs})
    assert reading.reply().finish_reason == ours


KINDS = [
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "error",
    "text_delta",
    "thinking_delta",
    "input_json_delta",
]
MEMBERS = [
    *(
        "choices",
        "delta",
        "message",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "name",
        "id",
        "index",
        "usage",
    ),
    *(
        "prompt_tokens",
        "prompt_tokens_details",
        "output_tokens_details",
        "thinking_tokens",
        "output_tokens",
        "type",
    ),
    *(
        "text",
        "thinking",
        "signature",
        "content_block",
        "error",
        "finish_reason",
        "reasoning",
        "refusal",
        "input",
    ),
    *("partial_json", "stop_reason"),
]
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
JSON = st.recursive(
    PLAIN | st.sampled_from(KINDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=5)
    ),
    max_leaves=15,
)
MORE = {name: JSON for name in MEMBERS if name != "type"}
BLOCKS = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(KINDS)}, optional=MORE), max_size=4
)


@given(JSON, BLOCKS, st.sampled_from([OPENAI, ANTHROPIC]), st.booleans())
def test_any_response_is_a_reply_or_a_model_error(
    value: Any, blocks: Any, wire: Any, whole: bool
) -> None:
    reading = reader(wire)
    pieces = [
        {"choices": [{"delta": value, "message": value}], "content": blocks},
        *(
            {"type": "content_block_start", "index": place, "content_block": block}
            for place, block in enumerate(blocks)
        ),
        *(
            {"type": "content_block_delta", "index": place, "delta": block}
            for place, block in enumerate(blocks)
        ),
        *({"choices": [{"delta": block, "message": block}]} for block in blocks),
        {"type": "message_delta", "delta": {"stop_reason": value}, "usage": value},
        value,
    ]
    for piece in pieces:
        with suppress(ValueError, StreamFailed):
            _ = (
                reading.read_whole(piece)
                if whole
                else reading.read_event(json.dumps(piece).encode())
            )
    with suppress(ValueError, CutOff):
        assert isinstance(reading.reply(), ModelReply)


ERROR_MEMBERS = ("error", "message", "detail", "code", "type", "loc", "msg")
ERRORS = st.recursive(
    PLAIN | st.sampled_from([400, 429, 500]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(ERROR_MEMBERS), inner, max_size=5)
    ),
    max_leaves=15,
)


@given(ERRORS | st.binary())
def test_any_error_body_is_an_endpoint_refusal(said: Any) -> None:
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    assert make_refusal(400, body, {}, where="x", key=None).status == 400
    if not isinstance(said, bytes):
        assert isinstance(make_refusal(None, said, {}, where="x", key=None), EndpointRefused)


@pytest.mark.parametrize(
    ("opening", "closing"), [("[", "]"), ('{"error":', "}"), ('{"message":', "}")]
)
@pytest.mark.parametrize("depth", [300, 900, 100_000])
def test_a_refusal_nested_without_end_is_a_refusal(opening: str, closing: str, depth: int) -> None:
    body = (opening * depth + '"no"' + closing * depth).encode()
    assert len(str(make_refusal(400, body, {}, where="x", key=None))) < 2_000
