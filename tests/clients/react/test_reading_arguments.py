"""Arguments that a model sends in another form are read by the agent as a server reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from toolwire_agent.react import Action, Conversation, Retry
from toolwire_tools import make_tool


def order(count: int, sizes: list[int], is_urgent: bool = False, note: str = "") -> int:
    """Order something."""
    return count


READ = [
    ({"count": "7", "sizes": [1]}, {"count": 7, "sizes": [1]}),
    ({"count": 7, "sizes": "[1, 2]"}, {"count": 7, "sizes": [1, 2]}),
    ({"count": 7, "sizes": [], "is_urgent": "true"}, {"count": 7, "sizes": [], "is_urgent": True}),
    ({"count": 7, "sizes": ["1"], "note": None}, {"count": 7, "sizes": [1]}),
    ({"count": 7, "sizes": [], "note": "7"}, {"count": 7, "sizes": [], "note": "7"}),
]


def reply(params: dict[str, Any]) -> Action | Any:
    conversation = Conversation([make_tool(order).describe()])
    conversation.add_question("Order!")
    action = {"thought": "", "type": "ACTION", "tool": "order", "params": params}
    return conversation.take_reply(json.dumps(action))


@pytest.mark.parametrize(("sent", "meant"), READ)
def test_the_agent_reads_arguments_as_a_server_does(
    sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    action = reply(sent)
    assert isinstance(action, Action)
    assert action.params == meant


def test_ambiguous_arguments_are_refused() -> None:
    refused = reply({"count": "seven", "sizes": []})
    assert isinstance(refused, Retry)
