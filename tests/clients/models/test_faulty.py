"""Replies that are spoiled on purpose: what is done to them, and what an agent's reader makes of
that.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from support.faulty_model import FAULTS, FaultyModel
from toolwire_agent.models import ScriptedModel
from toolwire_agent.react.messages import Action, ModelReply, ToolCall
from toolwire_agent.react.prompt_protocol import InvalidReply, ValidReply
from toolwire_agent.react.structured import StructuredProtocol
from toolwire_agent.react.tool_lookup import Tools

ACTION = {"thought": "I add.", "type": "ACTION", "tool": "add", "params": {"a": 1, "b": 2}}
FINAL = {"thought": "Done.", "type": "FINAL_ANSWER", "ok": True, "result": "3"}
ASK = {"thought": "Hm.", "type": "ASK", "content": "Which?"}
GOOD = [ModelReply(text=json.dumps(each), finish_reason="stop") for each in (ACTION, FINAL, ASK)]
CALL = ModelReply(
    tool_calls=(ToolCall(id="a", name="add", arguments={"a": 1}),), finish_reason="tool_calls"
)
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
TOOLS = Tools([{"name": "add", "inputSchema": SCHEMA}])


def spoiled(
    replies: list[ModelReply], seed: int = 0, **settings: Any
) -> tuple[list[ModelReply], list[str | None]]:
    model = FaultyModel(ScriptedModel(replies), seed=seed, **settings)

    async def all_of_them() -> list[ModelReply]:
        return [await model.reply([]) for _ in replies]

    return anyio.run(all_of_them), model.injected


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_every_fault_spoils_something_and_is_noted(name: str) -> None:
    replies, injected = spoiled([*GOOD, CALL], faults=[name])
    assert injected == [
        name if reply != good else None for reply, good in zip(replies, [*GOOD, CALL], strict=True)
    ]
    assert name in injected


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_no_spoiled_action_is_read_as_another_one(name: str) -> None:
    """It is read as it was meant, or asked for again; with wrong parameters it is for the tool's
    schema to refuse.
    """
    for seed in range(5):
        (reply,), _ = spoiled(GOOD[:1], seed, faults=[name])
        check_that_no_other_action_is_read(name, reply)


def check_that_no_other_action_is_read(name: str, reply: ModelReply) -> None:
    read = StructuredProtocol().read(reply, TOOLS)
    if isinstance(read, ValidReply):
        assert isinstance(read.message, Action)
        fits = not TOOLS.fit_params("add", read.message.params)[1]
        assert (
            (read.message.tool, read.message.params) == ("add", ACTION["params"])
            or not fits
            or name == "unknown_tool"
        )
    else:
        assert isinstance(read, InvalidReply)


def test_the_same_seed_spoils_in_the_same_ways() -> None:
    assert spoiled(GOOD * 5, seed=3) == spoiled(GOOD * 5, seed=3) != spoiled(GOOD * 5, seed=4)


def test_no_more_than_the_limit_of_replies_in_a_row_are_spoiled() -> None:
    _, none = spoiled(GOOD * 10, rate=0)
    assert set(none) == {None}
    _, some = spoiled(GOOD * 30, faults=["empty"], rate=0.9, most_in_a_row=2)
    assert 0.5 < some.count("empty") / len(some) < 0.7
    assert ["empty"] * 3 not in [some[start : start + 3] for start in range(len(some))]


def test_streamed_text_equals_the_reply() -> None:
    heard: list[str] = []
    model = FaultyModel(ScriptedModel(GOOD), faults=["fence"])
    reply = anyio.run(lambda: model.reply([], on_text=heard.append))
    assert heard == [reply.text] == [f"```json\n{GOOD[0].text}\n```"]


def test_a_fault_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no fault is called 'fences'; there are fence"):
        FaultyModel(ScriptedModel([]), faults=["fences"])
