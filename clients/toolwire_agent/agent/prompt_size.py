"""Estimates what the descriptions of all tools take of a model's context, which each turn sends
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.tokens import estimate_list_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

MANY_TOOLS = 100
"""A round number below the 128 that OpenAI's API takes."""

MANY_TOKENS = 20_000
"""A tenth of a context of 200,000 tokens."""


def write_many_tools_warning(entries: Sequence[dict[str, Any]]) -> str:
    """Return a sentence if *entries* of `tools/list` are many, or long; "" if they are not."""
    tokens = estimate_list_tokens(entries)
    if len(entries) <= MANY_TOOLS and tokens <= MANY_TOKENS:
        return ""
    return (
        f"the model gets {len(entries)} tools with each turn, about {tokens:,} tokens; "
        "it chooses better, and costs less, with the few that the task needs"
    )
