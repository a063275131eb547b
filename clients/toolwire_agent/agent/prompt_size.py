"""Estimates what the descriptions of all tools take of a model's context, which each turn sends
again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

MANY_TOOLS = 100
"""A round number below the 128 that OpenAI's API takes."""

MANY_TOKENS = 20_000
"""A tenth of a context of 200,000 tokens."""

_CHARS_PER_TOKEN = 4
_SENT = ("name", "description", "inputSchema")


def many_tools_warning(entries: Sequence[dict[str, Any]]) -> str:
    """Return a sentence if *entries* of `tools/list` are many, or long; "" if they are not."""
    tokens = estimate_tokens(entries)
    if len(entries) <= MANY_TOOLS and tokens <= MANY_TOKENS:
        return ""
    return (
        f"the model gets {len(entries)} tools with each turn, about {tokens:,} tokens; "
        "it chooses better, and costs less, with the few that the task needs"
    )


def estimate_tokens(entries: Sequence[dict[str, Any]]) -> int:
    """Return about how many tokens a model reads of *entries*: four ASCII characters each, or one
    other.
    """
    sent = [{name: entry[name] for name in _SENT if name in entry} for entry in entries]
    text = json.dumps(sent, ensure_ascii=False)
    ascii_characters = len(text.encode("ascii", "ignore"))
    return ascii_characters // _CHARS_PER_TOKEN + len(text) - ascii_characters
