"""Calls by a model's own means, in the same exchange."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.react_samples import ADD, PING, TEXTS, TOOLS, tool
from toolwire_agent.react import (
    Action,
    ActionResult,
    Ask,
    Conversation,
    FinalAnswer,
    ModelReply,
    NativeProtocol,
    Retry,
    Stop,
    ToolCall,
    Usage,
)


def asked(tools: list[dict[str, Any]] = TOOLS, **settings: Any) -> Conversation:
    conversation = Conversation(tools, NativeProtocol(**settings))
    conversation.add_question("1 + 2?")
    return conversation


def call(
    name: str = "add", arguments: Any = '{"a": 1, "b": 2}', id: str = "c1", **reply: Any
) -> ModelReply:
    return ModelReply(tool_calls=(ToolCall(id=id, name=name, arguments=arguments),), **reply)


@pytest.mark.parametrize(
    "arguments", ['{"a": 1, "b": 2}', {"a": 1, "b": 2}, '```json\n{"a": 1, "b": 2}\n```']
)
def test_native_call_is_an_action_and_its_result_has_the_call_id(arguments: Any) -> None:
    conversation = asked()
    assert conversation.take_reply(call(arguments=arguments, text="I add.")) == Action(
        "I add.", "add", {"a": 1, "b": 2}
    )
    conversation.add_result(3)
    assert conversation.take_reply("It is 3.") == FinalAnswer("", True, "It is 3.")
    function = {"name": "add", "arguments": '{"a": 1, "b": 2}'}
    assert conversation.messages[1:] == [
        {"role": "user", "content": "1 + 2?"},
        {
            "role": "assistant",
            "content": "I add.",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": '{"type": "ACTION_RESULT", "success": true, "result": 3}',
        },
        {"role": "assistant", "content": "It is 3."},
    ]


def test_separate_reasoning_is_the_thought() -> None:
    assert asked().take_reply(call(reasoning="hm")) == Action("hm", "add", {"a": 1, "b": 2})
    assert asked().take_reply(ModelReply(text="It is 3.", reasoning="hm")) == FinalAnswer(
        "hm", True, "It is 3."
    )


def test_echo_of_a_reply_is_sent_back() -> None:
    conversation = asked()
    conversation.take_reply(call(echo={"reasoning_content": "hm"}))
    assert conversation.messages[-1]["echo"] == {"reasoning_content": "hm"}


@pytest.mark.parametrize("arguments", ["", " ", "{}", {}])
def test_empty_arguments_are_an_empty_object(arguments: Any) -> None:
    assert asked().take_reply(call("ping", arguments)) == Action("", "ping", {})


@pytest.mark.parametrize(
    "arguments",
    ['{"a": 1', "[1, 2]", "1", "null", '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": "\\ud83d"}'],
)
def test_arguments_that_are_not_an_object_are_retried_and_sent_back_readable(
    arguments: str,
) -> None:
    conversation = asked()
    decision = conversation.take_reply(call(arguments=arguments))
    assert isinstance(decision, Retry)
    *_, reply, error = conversation.messages
    assert json.loads(reply["tool_calls"][0]["function"]["arguments"]) == {"unreadable": arguments}
    assert (error["role"], error["tool_call_id"]) == ("tool", "c1")


def several(*names: str) -> ModelReply:
    calls = [
        ToolCall(id=f"c{place}", name=name, arguments='{"a": 1, "b": 2}')
        for place, name in enumerate(names)
    ]
    return ModelReply(tool_calls=tuple(calls))


def results(conversation: Conversation) -> list[tuple[str, str]]:
    told = [message for message in conversation.messages if message["role"] == "tool"]
    return [(message["tool_call_id"], json.loads(message["content"])["result"]) for message in told]


def test_calls_of_one_reply_run_in_order_and_each_gets_its_result() -> None:
    conversation = asked()
    assert conversation.take_reply(several("add", "sub", "add")) == Action(
        "", "add", {"a": 1, "b": 2}
    )
    assert conversation.take_queued_action() is None  # the first one has no result
    conversation.add_result("one")
    restored = asked()
    restored.restore(conversation.take_snapshot())
    refused = restored.take_queued_action()
    assert isinstance(refused, Retry)
    assert refused.action == Action("", "sub", {"a": 1, "b": 2})
    assert restored.take_queued_action() == Action("", "add", {"a": 1, "b": 2})
    restored.add_result("three")
    assert restored.take_queued_action() is None
    (first, _, third), (_, unknown, _) = results(restored), results(restored)
    assert (first, third) == (("c0", "one"), ("c2", "three"))
    assert "Unknown tool" in unknown[1]


def test_every_call_gets_a_result_after_a_new_question_or_a_stop() -> None:
    conversation = asked()
    conversation.take_reply(several("add", "add", "add"))
    conversation.add_result("one")
    conversation.add_question("Something else?")
    assert [call_id for call_id, _ in results(conversation)] == ["c0", "c1", "c2"]
    conversation = asked()
    decision = conversation.take_reply(several(*["add"] * 9))
    while isinstance(decision, Action):
        conversation.add_result("one")
        decision = conversation.take_queued_action()
    assert isinstance(decision, Stop)
    assert [call_id for call_id, _ in results(conversation)] == [f"c{place}" for place in range(9)]


@pytest.mark.parametrize("names", [("add", "ask_user"), ("add",) * 33])
def test_too_many_calls_or_a_question_among_them_are_refused(names: tuple[str, ...]) -> None:
    conversation = asked()
    arguments = {"add": '{"a": 1, "b": 2}', "ask_user": '{"content": "?"}'}
    calls = [
        ToolCall(id=f"c{place}", name=name, arguments=arguments[name])
        for place, name in enumerate(names)
    ]
    reply = ModelReply(tool_calls=tuple(calls))
    assert isinstance(conversation.take_reply(reply), Retry)
    told = [message for message in conversation.messages if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in told] == [
        f"c{place}" for place in range(len(names))
    ]
    assert f"{len(names)} calls" in told[0]["content"]


def test_unknown_native_tool_is_answered_with_the_known_ones() -> None:
    conversation = asked()
    decision = conversation.take_reply(call("ad d"))
    assert isinstance(decision, Retry)
    assert conversation.messages[-2]["tool_calls"][0]["function"]["name"] == "ad_d"
    assert "Available: add" in conversation.messages[-1]["content"]


def test_tool_names_are_mapped_to_the_vendors_form_and_back() -> None:
    conversation = asked([{**ADD, "name": "math.add"}])
    assert [entry["name"] for entry in conversation.native_tools] == ["math_add", "ask_user"]
    assert conversation.take_reply(call("math_add")) == Action("", "math.add", {"a": 1, "b": 2})
    assert asked([{**ADD, "name": "math.add"}]).take_reply(call("math.add")) == Action(
        "", "math.add", {"a": 1, "b": 2}
    )


def test_model_asks_the_user_with_the_ask_user_tool() -> None:
    conversation = asked()
    assert conversation.native_tools[-1]["name"] == "ask_user"
    assert conversation.take_reply(call("ask_user", '{"content": "When?"}')) == Ask("", "When?")
    conversation.add_user_response("Now.")
    assert conversation.messages[-1] == {"role": "tool", "tool_call_id": "c1", "content": "Now."}
    assert isinstance(asked().take_reply(call("ask_user", "{}")), Retry)


def test_served_tool_named_ask_user_keeps_its_name() -> None:
    conversation = asked([tool("ask_user")])
    assert [entry["name"] for entry in conversation.native_tools] == ["ask_user", "ask_user_"]
    assert conversation.take_reply(call("ask_user", "{}")) == Action("", "ask_user", {})


def test_ask_user_is_not_offered_without_can_ask() -> None:
    conversation = asked([PING], can_ask=False)
    assert [entry["name"] for entry in conversation.native_tools] == ["ping"]
    assert isinstance(conversation.take_reply(call("ask_user", '{"content": "When?"}')), Retry)


def test_last_turn_offers_no_tools_and_refuses_calls() -> None:
    conversation = asked()
    conversation.force_final("time is up")
    assert conversation.native_tools == []
    assert isinstance(conversation.take_reply(call()), Stop)
    assert conversation.messages[-1]["tool_call_id"] == "c1"


def test_every_call_gets_a_result_before_other_messages() -> None:
    conversation = asked()
    for _ in range(5):
        decision = conversation.take_reply(call())
        if isinstance(decision, Action):
            conversation.add_result(3)
    assert isinstance(decision, Stop)
    conversation.add_question("And 2 + 2?")
    assert [message["role"] for message in conversation.messages[-3:]] == [
        "assistant",
        "tool",
        "user",
    ]


@pytest.mark.parametrize(
    "reply", [ModelReply(), ModelReply(text=" "), ModelReply(text="It", finish_reason="length")]
)
def test_empty_and_incomplete_native_replies_are_retried(reply: ModelReply) -> None:
    assert isinstance(asked().take_reply(reply), Retry)


@given(
    st.text(),
    st.lists(st.builds(ToolCall, id=TEXTS, name=TEXTS, arguments=TEXTS), max_size=2).map(tuple),
    TEXTS,
)
def test_any_native_reply_leaves_valid_messages(
    text: str, calls: tuple[ToolCall, ...], reasoning: str
) -> None:
    conversation = asked()
    decision = conversation.take_reply(ModelReply(text=text, tool_calls=calls, reasoning=reasoning))
    if isinstance(decision, Action):
        conversation.add_result(ActionResult(True, 1))
    json.dumps(conversation.messages, ensure_ascii=False).encode()
    for message in conversation.messages:
        for one in message.get("tool_calls", ()):
            assert isinstance(json.loads(one["function"]["arguments"]), dict)


def test_usage_adds_up() -> None:
    first = Usage(input_tokens=10, output_tokens=2, cached_tokens=5)
    total = first + Usage(input_tokens=20, output_tokens=3, reasoning_tokens=1)
    assert total == Usage(input_tokens=30, output_tokens=5, cached_tokens=5, reasoning_tokens=1)
    assert total.total_tokens == 35
