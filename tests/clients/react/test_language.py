"""A conversation in Chinese has no English in its messages to the model: neither in its own
sentences nor in those of validators and decoders.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.chinese import CHINESE, english_in
from support.react_samples import TOOLS
from toolwire_agent.react import Conversation, Retry, StructuredProtocol


def action(**members: Any) -> str:
    return json.dumps({"thought": "t", "type": "ACTION", **members})


REPLIES = [
    "",
    "I will add the numbers.",
    '{"thought": "t", "type": "ACTION", "tool": "add", "params": {"a": 1 "b": 2}}',
    '{"thought": "t", "type": "ACTION", "tool": "add", "params": {"a": 1, "b": 2}',
    '{"thought": "t", "type": "ASK", "content": "a" "b"}',
    '{"thought": "t" "type": "ASK"}',
    '{"type": "ASK", "type": "ASK", "thought": "t", "content": "?"}',
    '{"thought": "t", "type": "ANSWER"}',
    '{"thought": "t", "type": "ASK", "content": 1e999}',
    action(tool="ad", params={}),
    action(tool="add", params={"a": "three", "b": []}),
    action(tool="add", params={"a": 1}),
    action(tool="add", params={"a": 1, "b": 2, "c": 3}),
    action(tool="add"),
    action(tool="add", params=5),
]


@pytest.mark.parametrize("reply", REPLIES)
def test_an_error_for_the_model_is_chinese(reply: str) -> None:
    conversation = Conversation(TOOLS, StructuredProtocol("zh-CN"))
    conversation.add_question("1 + 2?")

    decision = conversation.take_reply(reply)

    assert isinstance(decision, Retry), decision
    text = decision.message.msg if hasattr(decision.message, "msg") else decision.message.result
    said = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    assert CHINESE.search(said)
    assert english_in(said.replace(reply, "")) == []
