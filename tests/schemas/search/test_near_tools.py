"""The tools that an error about an unknown name shows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from toolwire_dialects.search.near_tools import MAX_NEAR, write_near_tools
from toolwire_dialects.search.search_index import SearchableTool, SearchIndex


def make_entry(name: str, about: str = "", parameter_count: int = 0) -> dict[str, Any]:
    properties = {f"parameter_{number}": {"type": "string"} for number in range(parameter_count)}
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": about, "inputSchema": schema}


def find_near(name: str, *entries: dict[str, Any]) -> list[str]:
    index = SearchIndex(map(SearchableTool, entries))
    return re.findall(r"^def (\w+)", write_near_tools(name, index), re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("create_isue", ["create_issue", "create_file"]),
        ("makeIssueComment", ["add_comment", "create_issue"]),
        ("forecast", ["weather"]),
        ("zzz", []),
        ("", []),
        ("' OR 1=1; --" * 10_000, []),
    ],
)
def test_near_tools_are_spelled_alike_or_have_its_words(name: str, near: list[str]) -> None:
    entries = [
        make_entry("create_issue", "Open a ticket."),
        make_entry("create_file", "Write a file."),
        make_entry("add_comment", "Add a comment to an issue."),
        make_entry("weather", "Return the forecast."),
    ]
    assert find_near(name, *entries) == near


def test_near_tools_are_few() -> None:
    entries = [make_entry(f"read_{number}") for number in range(50)]

    assert len(find_near("read", *entries)) == MAX_NEAR


def test_tool_with_a_long_stub_is_left_out() -> None:
    entries = [make_entry("read_file"), make_entry("read_all_files", parameter_count=200)]

    assert find_near("read_files", *entries) == ["read_file"]
