"""What a model may write in the structured protocol, and what comes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.react_samples import ADD, FROM_MODEL, JSON, TEXTS, TOOLS
from toolwire_agent.react import (
    Action,
    Ask,
    Conversation,
    FinalAnswer,
    InvalidReply,
    ModelReply,
    Retry,
    StructuredProtocol,
    Tools,
    ValidReply,
    to_json,
)

PROTOCOL = StructuredProtocol()
KNOWN = Tools(TOOLS)


def read(reply: Any, finish_reason: str | None = None) -> ValidReply | InvalidReply:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return PROTOCOL.read(ModelReply(text=text, finish_reason=finish_reason), KNOWN)


def kinds(reading: ValidReply | InvalidReply) -> list[str]:
    remarks = reading.remarks if isinstance(reading, InvalidReply) else reading.warnings
    return [remark.kind for remark in remarks]


def invalid(reply: Any, finish_reason: str | None = None) -> list[str]:
    reading = read(reply, finish_reason)
    assert isinstance(reading, InvalidReply)
    return kinds(reading)


ASK = {"thought": "t", "type": "ASK", "content": "When?"}
ACTION = {"thought": "t", "type": "ACTION", "tool": "add", "params": {"a": 1, "b": 2}}
ANSWER = {"thought": "t", "type": "FINAL_ANSWER", "ok": True, "result": "3"}


def without(members: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in names}


@given(FROM_MODEL)
def test_valid_reply_is_read_unchanged(message: Ask | Action | FinalAnswer) -> None:
    assert read(to_json(message)) == ValidReply(message)
    assert read(to_json(message), "stop") == ValidReply(message)


@given(FROM_MODEL)
def test_reply_wrapped_for_strict_mode_is_read(message: Ask | Action | FinalAnswer) -> None:
    assert read(f'{{"reply": {to_json(message)}}}') == ValidReply(message)


def test_order_of_members_does_not_matter() -> None:
    assert read(dict(reversed(ACTION.items()))) == read(ACTION)


@pytest.mark.parametrize("reply", [ASK, ACTION, ANSWER])
def test_reply_stopped_by_the_vendor_is_invalid_even_if_it_parses(
    reply: dict[str, Any],
) -> None:
    assert invalid(reply, "length") == ["cut"]
    assert invalid(reply, "content_filter") == ["filtered"]


@pytest.mark.parametrize("reply", [ASK, ACTION, ANSWER])
def test_a_reply_without_a_thought_is_taken_with_a_warning(reply: dict[str, Any]) -> None:
    for thoughtless in (without(reply, "thought"), {**reply, "thought": None}):
        reading = read(thoughtless)
        assert isinstance(reading, ValidReply)
        assert (reading.message.thought, kinds(reading)) == ("", ["no_thought"])


def test_thought_of_another_type_becomes_json_text() -> None:
    reading = read({**ASK, "thought": {"plan": ["问"]}})
    assert isinstance(reading, ValidReply)
    assert (reading.message.thought, kinds(reading)) == ('{"plan": ["问"]}', ["odd"])


@pytest.mark.parametrize(
    "kind", ["THINK", "Ask", "QUESTION", "ACTIONS", "", None, 1, ["ASK"], {"ASK": 1}]
)
def test_unknown_type_is_invalid_and_the_error_lists_the_types(kind: Any) -> None:
    reading = read({**ASK, "type": kind})
    assert isinstance(reading, InvalidReply)
    assert kinds(reading) == ["type"]
    for name in ("ASK", "ACTION", "FINAL_ANSWER"):
        assert name in str(reading.remarks[0].details["allowed"])


def test_error_lists_the_closest_type_first() -> None:
    reading = read({**ANSWER, "type": "final answer"})
    assert isinstance(reading, InvalidReply)
    assert reading.remarks[0].details["allowed"] == "FINAL_ANSWER, ASK, ACTION"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (without(ASK, "type"), ["missing"]),
        ({**ASK, "type": None}, ["type"]),
        ({}, ["missing"]),
        (without(ASK, "content"), ["missing"]),
        ({**ASK, "content": " \n"}, ["blank"]),
        ({**ASK, "content": ["When?"]}, ["wrong_type"]),
        (without(ANSWER, "ok"), ["missing"]),
        ({**ANSWER, "ok": "true"}, ["wrong_type"]),
        ({**ANSWER, "ok": 1}, ["wrong_type"]),
        ({**ANSWER, "ok": None}, ["wrong_type"]),
        (without(ANSWER, "result"), ["missing"]),
        (without(ANSWER, "ok", "result"), ["missing", "missing"]),
        ({**without(ANSWER, "result"), "answer": "3"}, ["missing", "strange"]),
        (without(ACTION, "tool"), ["missing"]),
        ({**ACTION, "tool": None}, ["wrong_type"]),
        (without(ACTION, "params"), ["missing"]),
        ({**without(ACTION, "params"), "arguments": {"a": 1, "b": 2}}, ["missing", "strange"]),
        ({**ACTION, "params": None}, ["wrong_type"]),
        ({**ACTION, "params": [1, 2]}, ["wrong_type"]),
        ({**ACTION, "params": "1, 2"}, ["wrong_type"]),
        ({**ACTION, "params": '"{}"'}, ["wrong_type"]),
        ({**ACTION, "params": '{"a": 1'}, ["wrong_type"]),
        ({**ACTION, "tool": "subtract", "params": None}, ["wrong_type"]),
    ],
)
def test_error_about_a_reply_lists_all_faults(reply: Any, expected: list[str]) -> None:
    assert invalid(reply) == expected


def test_blank_result_is_valid_only_with_a_result_schema() -> None:
    conversation = Conversation(TOOLS)
    conversation.add_question("?")
    assert isinstance(conversation.take_reply(json.dumps({**ANSWER, "result": None})), Retry)
    conversation.add_question("?", {"type": "null"})
    assert conversation.take_reply(json.dumps({**ANSWER, "result": None})) == FinalAnswer(
        "t", True, ""
    )


def test_params_may_be_missing_for_a_tool_without_required_ones() -> None:
    ping = Action("t", "ping", {})
    for reply in (
        {"thought": "t", "type": "ACTION", "tool": "ping"},
        {**ACTION, "tool": "ping", "params": None},
    ):
        assert read(reply) == ValidReply(ping)
    # They may be somewhere else, though.
    assert invalid({"thought": "t", "type": "ACTION", "tool": "ping", "args": {"a": 1}}) == [
        "missing",
        "strange",
    ]
    # And of a tool that nobody knows, nobody knows what it needs.
    assert invalid({"thought": "t", "type": "ACTION", "tool": "pong"}) == ["missing"]


def test_params_in_a_json_string_are_decoded_once() -> None:
    assert read({**ACTION, "params": '{"a": 1, "b": 2}'}) == read(ACTION)
    nested = {**ACTION, "params": '{"a": "{\\"x\\": 1}"}'}
    assert read(nested) == ValidReply(Action("t", "add", {"a": '{"x": 1}'}))


@pytest.mark.parametrize("result", [3, 3.5, True, ["一"], {"total": 3}])
def test_answer_of_another_type_becomes_json_text(result: Any) -> None:
    reading = read({**ANSWER, "result": result})
    assert reading == ValidReply(
        FinalAnswer("t", True, json.dumps(result, ensure_ascii=False)), reading.warnings
    )
    assert kinds(reading) == ["odd"]


def test_unknown_members_are_a_warning() -> None:
    reading = read({**ASK, "options": ["now", "later"]})
    assert reading == ValidReply(Ask("t", "When?"), reading.warnings)
    assert kinds(reading) == ["strange"]


def test_a_tool_may_be_called_by_the_name_of_its_stub() -> None:
    tools = Tools([{**ADD, "name": "math.add"}])
    reading = PROTOCOL.read(ModelReply(text=json.dumps({**ACTION, "tool": "math_add"})), tools)
    assert reading == ValidReply(Action("t", "math.add", {"a": 1, "b": 2}))


PIECES = st.sampled_from(
    [
        *(
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            ",",
            ":",
            "“",
            "：",
            "\\",
            "\n",
            "<think>",
            "</think>",
            "```",
            "null",
            "{}",
        ),
        *(
            '"thought": "t"',
            '"type": "ACTION"',
            '"type": "ASK"',
            '"type": "FINAL_ANSWER"',
            '"tool": "add"',
        ),
        *(
            '"params": {"a": 1, "b": 2}',
            '"params": {}',
            '"content": "x"',
            '"ok": true',
            '"result": "x"',
        ),
        *(json.dumps(ASK), json.dumps(ACTION), json.dumps(ANSWER)),
    ]
)
MEMBERS = st.dictionaries(
    st.sampled_from(["thought", "type", "tool", "params", "content", "ok", "result", "reply", "x"]),
    JSON
    | st.sampled_from(["ASK", "ACTION", "FINAL_ANSWER", "add", "ping", {}, {"a": 1, "b": 2}, True]),
)


@given(
    st.text() | st.lists(PIECES, max_size=15).map("".join) | MEMBERS.map(json.dumps),
    st.none() | TEXTS,
)
def test_any_text_is_a_valid_or_an_invalid_reply(text: str, finish_reason: str | None) -> None:
    reading = read(text, finish_reason)
    if isinstance(reading, InvalidReply):
        assert PROTOCOL.language.format_remarks(*reading.remarks)
    else:
        assert read(to_json(reading.message)) == ValidReply(reading.message)


@given(FROM_MODEL, st.data())
def test_a_reply_that_was_cut_off_is_never_an_action(
    message: Ask | Action | FinalAnswer, data: st.DataObject
) -> None:
    text = to_json(message)
    assert isinstance(read(text[: data.draw(st.integers(0, len(text) - 1))]), InvalidReply)


@given(FROM_MODEL, FROM_MODEL, st.sampled_from(["", "\n", ", ", "\nObservation: 3\n"]))
def test_two_replies_in_one_text_are_invalid(first: Any, second: Any, between: str) -> None:
    assert invalid(to_json(first) + between + to_json(second)) == ["several"]
