"""The texts of found tools: stubs and whole entries."""

from __future__ import annotations

import json
from typing import Any

from toolwire_dialects.search.found_tools import shorten_to_first_line, write_entries, write_stubs

CREATE: dict[str, Any] = {
    "name": "create-issue",
    "description": "Open an issue.\n\nIt gets the next number.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "In one line.\nNo full stop."},
            "labels": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["title"],
    },
    "outputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}},
}


def test_stub_has_the_name_the_signature_and_one_line_of_each_text() -> None:
    assert write_stubs([CREATE]) == (
        '# tool "create-issue"\n'
        "def create_issue(title: str, labels: list[str] = ...):\n"
        '    """Open an issue.\n'
        "\n"
        "    Args:\n"
        "        title: In one line.\n"
        '    """'
    )


def test_whole_entries_have_all_texts_and_both_schemas() -> None:
    (line,) = write_entries([{**CREATE, "annotations": {"readOnlyHint": True}}]).splitlines()

    assert json.loads(line) == CREATE


def test_long_line_is_cut() -> None:
    assert shorten_to_first_line("a" * 200) == "a" * 200
    assert shorten_to_first_line("\n" + "a" * 201 + "\nmore") == "a" * 199 + "…"
    assert shorten_to_first_line(" ") == ""


def test_schema_of_any_depth_has_a_stub() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(900):
        deep = {"type": "array", "items": deep}

    stub = write_stubs([{"name": "deep", "inputSchema": {"properties": {"a": deep}}}])

    assert "a: list[list[" in stub
