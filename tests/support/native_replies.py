"""Replies of a model with several native tool calls, and the results that it received for them."""

from __future__ import annotations

import json
from typing import Any

from toolwire_agent.models import ScriptedModel
from toolwire_agent.react import ModelReply, ToolCall


def replies(*calls: tuple[str, dict[str, Any]], then: str = "Done.") -> list[ModelReply]:
    made = tuple(
        ToolCall(id=f"c{n}", name=name, arguments=params) for n, (name, params) in enumerate(calls)
    )
    return [ModelReply(tool_calls=made), ModelReply(text=then)]


def results(model: ScriptedModel) -> list[tuple[str, Any]]:
    """The results that the model has received, in order, by the ids of the calls."""
    told = [message for message in model.asked[-1].messages if message["role"] == "tool"]
    return [(message["tool_call_id"], json.loads(message["content"])["result"]) for message in told]
