"""Many tools in an agent's prompt."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from support.agent_scripts import answer, final
from toolwire_agent.agent import Agent
from toolwire_agent.agent.prompt_size import (
    MANY_TOKENS,
    MANY_TOOLS,
    write_many_tools_warning,
)
from toolwire_agent.models import ScriptedModel
from toolwire_schemas.tokens import estimate_list_tokens
from toolwire_tools import Tool, make_tool


def entry(name: str, description: str = "") -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    ("entries", "is_many"),
    [
        ([], False),
        ([entry(f"t{number}") for number in range(MANY_TOOLS)], False),
        ([entry(f"t{number}") for number in range(MANY_TOOLS + 1)], True),
        ([entry("long", "a" * 4 * MANY_TOKENS)], True),
        ([entry("long", "字" * MANY_TOKENS)], True),
        ([entry("long", "a" * 3 * MANY_TOKENS)], False),
        ([{**entry("schema of results"), "outputSchema": "a" * 4 * MANY_TOKENS}], False),
    ],
)
def test_warning_depends_on_the_number_of_tools_and_their_tokens(
    entries: list[dict[str, Any]], is_many: bool
) -> None:
    assert bool(write_many_tools_warning(entries)) == is_many


def numbered(number: int) -> Tool:
    def tool(a: int) -> int:
        """Return a number."""
        return a

    return make_tool(tool, name=f"tool_{number}")


@pytest.mark.parametrize(("count", "warnings"), [(500, 1), (5, 0)])
def test_an_agent_warns_of_500_tools_once_and_says_how_many_tokens(
    caplog: pytest.LogCaptureFixture, count: int, warnings: int
) -> None:
    tools = [numbered(number) for number in range(count)]
    with caplog.at_level(logging.WARNING, logger="toolwire"):
        answer("asyncio", Agent(ScriptedModel([final("done")]), tools, show="all"))

    logged = [
        record.getMessage()
        for record in caplog.records
        if "tools with each turn" in record.getMessage()
    ]
    assert len(logged) == warnings
    tokens = estimate_list_tokens([tool.describe() for tool in tools])
    assert all(f"{count} tools with each turn, about {tokens:,} tokens" in line for line in logged)
