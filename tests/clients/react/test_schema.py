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
from toolwire_dialects.lint.vendors import check_strict

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
def test_every_reply_that_the_schema_allows_is_valid(chance: random.Random, strict: bool) -> None:
    tools = Tools([ADD, FIND, PING, TREE, OTHER_TREE, FREE])
    message = read(written(build_reply_schema(tools, strict=strict), chance), tools).message
    if isinstance(message, Action):
        _, faults = tools.fit_params(message.tool, message.params)
        assert faults == []


@given(SAMPLES, SEEDS, st.booleans())
@settings(max_examples=examples(100))
def test_every_reply_that_the_schema_of_any_tool_allows_is_valid(
    sample: Sample, chance: random.Random, strict: bool
) -> None:
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
def test_schema_allows_valid_replies_of_known_tools(message: Any) -> None:
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
def test_schema_refuses_replies_without_a_thought_and_unknown_tools(text: str) -> None:
    assert not allows(build_reply_schema(Tools(TOOLS)), text)
    assert not allows(build_reply_schema(Tools(TOOLS), strict=True), f'{{"reply": {text}}}')


def test_schema_of_the_last_turn_allows_only_the_final_answer() -> None:
    conversation = Conversation(TOOLS)
    conversation.add_question("1 + 2?")
    conversation.force_final("time is up")
    for strict, form in ((False, "{}"), (True, '{{"reply": {}}}')):
        schema = conversation.build_reply_schema(strict=strict)
        assert allows(schema, form.format(to_json(FinalAnswer("t", True, "3"))))
        assert not allows(schema, form.format(to_json(Action("t", "ping", {}))))


def test_equally_named_definitions_of_two_tools_stay_apart() -> None:
    schema = build_reply_schema(Tools([TREE, OTHER_TREE]))
    node = {"value": 1, "next": {"value": 2}}
    for name, right, wrong in (("tree", node, "a"), ("other", "a", node)):
        assert allows(
            schema,
            to_json(Action("t", name, {"root": right, "again": {"root": right}, "same": right})),
        )
        assert not allows(schema, to_json(Action("t", name, {"root": wrong})))


@pytest.mark.parametrize("strict", [False, True])
def test_schema_of_replies_is_a_valid_json_schema(strict: bool) -> None:
    for tools in ([], TOOLS, [TREE, OTHER_TREE, FREE, {**ADD, "name": "a/b ~ü"}]):
        schema = build_reply_schema(Tools(tools), strict=strict)
        Draft202012Validator.check_schema(schema)
        assert schema.get("type") == ("object" if strict else None)


def test_strict_schema_passes_the_rules_of_strict_mode() -> None:
    schema = build_reply_schema(Tools([*TOOLS, TREE, FREE]), strict=True)
    assert list(check_strict(schema)) == []
    assert schema["required"] == ["reply"]
    assert "anyOf" not in schema


def test_optional_parameters_are_nullable_in_strict_mode() -> None:
    text = (
        '{"reply": {"thought": "t", "type": "ACTION", "tool": "find", "params": {"text": "x",'
        ' "limit": null}}}'
    )
    assert allows(build_reply_schema(Tools(TOOLS), strict=True), text)
    conversation = Conversation(TOOLS)
    conversation.add_question("?")
    assert conversation.take_reply(text) == Action("t", "find", {"text": "x"})


def test_parameters_that_strict_mode_cannot_express_are_json_text() -> None:
    free = {"name": "free", "inputSchema": {"type": "object", "additionalProperties": True}}
    text = '{"reply": {"thought": "t", "type": "ACTION", "tool": "free", "params": "{\\"x\\": 1}"}}'
    assert allows(build_reply_schema(Tools([free]), strict=True), text)
    assert allows(build_reply_schema(Tools([free])), to_json(Action("t", "free", {"x": 1})))
    conversation = Conversation([free])
    conversation.add_question("?")
    assert conversation.take_reply(text) == Action("t", "free", {"x": 1})


def test_all_parameters_are_json_text_if_the_schema_exceeds_strict_mode() -> None:
    wide = tool("wide", {"x": {"enum": [f"{number}" for number in range(600)]}})
    schema = build_reply_schema(Tools([wide, {**wide, "name": "wider"}]), strict=True)
    assert list(check_strict(schema)) == []
    assert allows(
        schema, '{"reply": {"thought": "", "type": "ACTION", "tool": "wide", "params": "{}"}}'
    )


def test_deeply_nested_schema_is_replaced_by_any_object() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"properties": {"a": schema}}
    tools = Tools([{"name": "deep", "inputSchema": {"type": "object", **schema}}])
    assert build_reply_schema(tools)["anyOf"][1]["properties"]["params"] == {"type": "object"}
    assert build_reply_schema(tools, strict=True)["type"] == "object"
