"""Tools that replace a long list are recognized by their names and parameters."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire_check import CheckSettings
from toolwire_check.facts.tool_doors import add_doors
from toolwire_check.facts.trial_calls import Needs

TEXT = {"type": "string"}
OBJECT = {"type": "object"}
ARGUMENTS_OF_FASTMCP = {"anyOf": [OBJECT, {"type": "null"}]}


def make_tool(
    called: str, *, required: Any = (), is_read_only: bool = True, **properties: Any
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    annotations = {"readOnlyHint": is_read_only}
    return {"name": called, "inputSchema": schema, "annotations": annotations}


SEARCH = make_tool("search_tools", query=TEXT, limit={"type": "integer"}, required=["query"])
CALL = make_tool("call_tool", name=TEXT, arguments=OBJECT, required=["name"], is_read_only=False)
PROGRAM = make_tool("run_program", code=TEXT, required=["code"])


def find(*tools: Any, **settings: Any) -> dict[str, str]:
    """The names of the tools that were found, by need."""
    needs = Needs()
    add_doors(needs, tools, CheckSettings(**settings))
    assert needs.values.keys() | needs.lacks.keys() == {"search", "by_name", "program"}
    return {need: value["name"] for need, value in needs.values.items()}


@pytest.mark.parametrize(
    ("tools", "found"),
    [
        ([SEARCH, CALL], {"search": "search_tools", "by_name": "call_tool"}),
        ([SEARCH, PROGRAM], {"search": "search_tools", "program": "run_program"}),
        ([CALL], {}),
        ([{**CALL, "name": "call_tools"}, SEARCH], {"search": "search_tools"}),
        ([make_tool("search_tools", pattern=TEXT)], {}),
        ([make_tool("search_tools", query=TEXT, server=TEXT, required=["query", "server"])], {}),
        ([make_tool("search_tools", query=OBJECT)], {}),
        ([SEARCH, {**SEARCH, "name": "search_tools_2"}], {"search": "search_tools_2"}),
        (
            [SEARCH, make_tool("call_tool", name=TEXT, arguments=ARGUMENTS_OF_FASTMCP)],
            {"search": "search_tools", "by_name": "call_tool"},
        ),
    ],
)
def test_tools_are_known_by_name_and_parameters(tools: list[Any], found: dict[str, str]) -> None:
    assert find(*tools) == found


@pytest.mark.parametrize(
    "tool",
    [
        "search_tools",
        {},
        {"name": "search_tools"},
        {"name": 7, "inputSchema": {}},
        {"name": "search_tools", "inputSchema": {"properties": ["query"]}},
        {"name": "search_tools", "inputSchema": {"properties": {"query": "text"}}},
        {
            "name": "search_tools",
            "inputSchema": {"properties": {"query": TEXT}, "required": "query"},
        },
        {"name": "search_tools", "inputSchema": {"properties": {"query": {"anyOf": [7]}}}},
    ],
)
def test_malformed_tools_are_not_recognized(tool: Any) -> None:
    assert find(tool) == {}


def test_searches_and_programs_are_called_only_if_allowed() -> None:
    search, program = ({**tool, "annotations": {}} for tool in (SEARCH, PROGRAM))
    assert find(search, CALL, program) == {"by_name": "call_tool"}
    assert find(search, program, calls={"run_program": None}) == {"program": "run_program"}
    assert find(search, program, any_tool=True).keys() == {"search", "program"}
