"""The schema of replies: what a real constrained decoder lets a model write under it is a reply."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from llguidance import LLMatcher, LLTokenizer
from support.examples import examples
from support.react_samples import ADD, FIND, FROM_MODEL, PING, TOOLS, tool
from support.tool_entry_strategies import SAMPLES, Sample
from toolwire_agent.react import (
    Action,
    Ask,
    Conversation,
    FinalAnswer,
    InvalidReply,
    ModelReply,
    StructuredProtocol,
    Tools,
    ValidReply,
    build_reply_schema,
    to_json,
)
from toolwire_dialects.lint.vendors import about_strict

BYTES = LLTokenizer("byte")  # one token for each byte
PROTOCOL = StructuredProtocol()

TREE = {
    "name": "tree",
    "inputSchema": {
        "type": "object",
        "properties": {
            "root": {"$ref": "#/$defs/Node"},
            "again": {"$ref": "#"},
            "same": {"$ref": "#/properties/root"},
        },
        "required": ["root"],
        "additionalProperties": False,
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}},
                "required": ["value"],
                "additionalProperties": False,
            }
        },
    },
}
OTHER_TREE = {
    **tool("other"),
    "inputSchema": {**TREE["inputSchema"], "$defs": {"Node": {"type": "string"}}},
}
FREE = {"name": "free"}


def matcher(schema: Any) -> LLMatcher:
    made = LLMatcher(BYTES, LLMatcher.grammar_from_json_schema(schema), log_level=0)
    assert not made.get_error(), made.get_error()
    return made


def allows(schema: Any, text: str) -> bool:
    made = matcher(schema)
    tokens = list(text.encode())
    return made.try_consume_tokens(tokens) == len(tokens) and bool(made.is_accepting())


def written(schema: Any, chance: random.Random, length: int = 100) -> str:
    """What a model would write that knows nothing and is held to *schema*, of some *length* and
    then soon at an end.
    """
    made, text = matcher(schema), bytearray()
    while True:
        bias = made.compute_logit_bias()
        allowed = [byte for byte in range(256) if bias[byte]]
        if made.is_accepting() and (not allowed or chance.random() < 0.5):
            return text.decode()
        closing = [byte for byte in allowed if byte in b'"}],']
        if closing and (len(text) > length or chance.random() < 0.15):
            allowed = closing
        text.append(chance.choice(allowed))
        assert made.consume_token(text[-1])


# What no schema can say, and a reply must not have.
BEYOND_SCHEMAS = {
    "blank": "a question to the user that is only blanks",
    "duplicate": "the same name twice, in an object whose names are free",
    "number": "a number beyond what a double holds",
}


def read(text: str, tools: Tools) -> ValidReply:
    reading = PROTOCOL.read(ModelReply(text=text), tools)
    if isinstance(reading, InvalidReply):
        (remark,) = reading.remarks
        assert remark.kind in BEYOND_SCHEMAS, text
        assume(False)
    assert isinstance(reading, ValidReply)
    assert reading.warnings == ()
    return reading


SEEDS = st.integers(0, 2**32).map(random.Random)


@given(SEEDS, st.booleans())
@settings(max_examples=examples(150))
def test_whatever_a_decoder_lets_through_is_a_reply_that_fits(
    chance: random.Random, strict: bool
) -> None:
    tools = Tools([ADD, FIND, PING, TREE, OTHER_TREE, FREE])
    message = read(written(build_reply_schema(tools, strict=strict), chance), tools).message
    if isinstance(message, Action):
        _, faults = tools.fit_params(message.tool, message.params)
        assert faults == []


@given(SAMPLES, SEEDS, st.booleans())
@settings(max_examples=examples(100))
def test_it_is_so_for_any_tool(sample: Sample, chance: random.Random, strict: bool) -> None:
    tools = Tools([{"name": "sample", "inputSchema": sample.schema}, ADD])
    schema = build_reply_schema(tools, strict=strict)
    grammar = LLMatcher.grammar_from_json_schema(schema)
    assume(
        not LLMatcher.validate_grammar(grammar, BYTES)
    )  # has words that this decoder does not know
    message = read(written(schema, chance), tools).message
    assert not isinstance(message, Action) or message.tool in tools.names


@given(FROM_MODEL)
@example(Ask("", "\x7f"))
def test_what_has_the_right_order_and_a_known_tool_is_let_through(message: Any) -> None:
    schema = build_reply_schema(Tools([*TOOLS, FREE]))
    is_known = not isinstance(message, Action)
    text = to_json(message).replace(
        "\x7f", "\\u007f"
    )  # which this decoder wants escaped, unlike JSON
    assert allows(schema, text) == is_known
    assert allows(schema, to_json(Action("t", "free", {"x": 1})))


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "ACTION", "thought": "t", "tool": "add", "params": {"a": 1, "b": 2}}',
        '{"type": "ASK", "content": "?", "thought": "t"}',
        '{"thought": "t", "type": "ACTION", "params": {"a": 1, "b": 2}, "tool": "add"}',
        '{"thought": "t", "type": "ACTION", "tool": "subtract", "params": {"a": 1, "b": 2}}',
        '{"thought": "t", "type": "ACTION", "tool": "add", "params": {"a": "1", "b": 2}}',
        '{"thought": "t", "type": "ACTION", "tool": "add", "params": {"a": 1}}',
        '{"thought": "t", "type": "ACTION", "tool": "add", "params": {"a": 1, "b": 2, "c": 3}}',
        '{"thought": "t", "type": "ACTION", "tool": "add"}',
        '{"thought": "t", "type": "FINAL_ANSWER", "result": "3"}',
        '{"thought": "t", "type": "THINK", "content": "?"}',
        '{"type": "ASK", "content": "?"}',
        "Sure!",
    ],
)
def test_what_skips_the_thought_or_calls_what_is_not_there_is_not_let_through(text: str) -> None:
    assert not allows(build_reply_schema(Tools(TOOLS)), text)
    assert not allows(build_reply_schema(Tools(TOOLS), strict=True), f'{{"reply": {text}}}')


def test_the_last_turn_lets_only_the_final_answer_through() -> None:
    conversation = Conversation(TOOLS)
    conversation.add_question("1 + 2?")
    conversation.force_final("time is up")
    for strict, form in ((False, "{}"), (True, '{{"reply": {}}}')):
        schema = conversation.build_reply_schema(strict=strict)
        assert allows(schema, form.format(to_json(FinalAnswer("t", True, "3"))))
        assert not allows(schema, form.format(to_json(Action("t", "ping", {}))))


def test_definitions_of_one_name_in_two_tools_are_two() -> None:
    schema = build_reply_schema(Tools([TREE, OTHER_TREE]))
    node = {"value": 1, "next": {"value": 2}}
    for name, right, wrong in (("tree", node, "a"), ("other", "a", node)):
        assert allows(
            schema,
            to_json(Action("t", name, {"root": right, "again": {"root": right}, "same": right})),
        )
        assert not allows(schema, to_json(Action("t", name, {"root": wrong})))


@pytest.mark.parametrize("strict", [False, True])
def test_a_schema_of_replies_is_one(strict: bool) -> None:
    for tools in ([], TOOLS, [TREE, OTHER_TREE, FREE, {**ADD, "name": "a/b ~ü"}]):
        schema = build_reply_schema(Tools(tools), strict=strict)
        Draft202012Validator.check_schema(schema)
        assert schema.get("type") == ("object" if strict else None)


def test_the_strict_form_is_what_openais_strict_mode_takes() -> None:
    schema = build_reply_schema(Tools([*TOOLS, TREE, FREE]), strict=True)
    assert list(about_strict(schema)) == []
    assert schema["required"] == ["reply"]
    assert "anyOf" not in schema


def test_in_the_strict_form_what_may_be_left_out_may_be_null_and_is_left_out_again() -> None:
    text = (
        '{"reply": {"thought": "t", "type": "ACTION", "tool": "find", "params": {"text": "x",'
        ' "limit": null}}}'
    )
    assert allows(build_reply_schema(Tools(TOOLS), strict=True), text)
    conversation = Conversation(TOOLS)
    conversation.add_question("?")
    assert conversation.take_reply(text) == Action("t", "find", {"text": "x"})


def test_parameters_for_which_strict_mode_has_no_form_are_text() -> None:
    free = {"name": "free", "inputSchema": {"type": "object", "additionalProperties": True}}
    text = '{"reply": {"thought": "t", "type": "ACTION", "tool": "free", "params": "{\\"x\\": 1}"}}'
    assert allows(build_reply_schema(Tools([free]), strict=True), text)
    assert allows(build_reply_schema(Tools([free])), to_json(Action("t", "free", {"x": 1})))
    conversation = Conversation([free])
    conversation.add_question("?")
    assert conversation.take_reply(text) == Action("t", "free", {"x": 1})


def test_parameters_are_text_too_if_all_of_them_are_more_than_strict_mode_takes() -> None:
    wide = tool("wide", {"x": {"enum": [f"{number}" for number in range(600)]}})
    schema = build_reply_schema(Tools([wide, {**wide, "name": "wider"}]), strict=True)
    assert list(about_strict(schema)) == []
    assert allows(
        schema, '{"reply": {"thought": "", "type": "ACTION", "tool": "wide", "params": "{}"}}'
    )


def test_a_schema_nested_without_end_is_no_trouble() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"properties": {"a": schema}}
    tools = Tools([{"name": "deep", "inputSchema": {"type": "object", **schema}}])
    assert build_reply_schema(tools)["anyOf"][1]["properties"]["params"] == {"type": "object"}
    assert build_reply_schema(tools, strict=True)["type"] == "object"
