"""The texts of found tools: stubs and whole entries."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from toolwire_dialects.search.found_tools import (
    shorten_to_first_line,
    write_entries,
    write_program_stubs,
    write_stubs,
)
from toolwire_dialects.search.program_names import ProgramName

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


LONG = "a" * 90


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        ("Open an issue. It is new.", "Open an issue. It is new."),
        (f"Open. Close. A{LONG}", "Open. Close."),
        (f"Open {LONG}. Close {LONG}.", f"Open {LONG}."),
        (f"Open {LONG}, e.g. A {LONG}.", f"Open {LONG}, e.g. A {LONG}."),
        (f"打开{LONG}。更多{LONG}", f"打开{LONG}。"),
    ],
)
def test_stub_has_the_first_sentences_of_a_long_description(description: str, shown: str) -> None:
    assert write_stubs([{"name": "act", "description": description}]) == (
        f'def act():\n    """{shown}"""'
    )


@pytest.mark.parametrize(
    ("properties", "required", "result"),
    [
        ({"ok": {"type": "boolean"}}, ["ok"], "{ok: bool}"),
        ({"ok": {"type": "boolean"}}, [], "ActResult"),
        ({"a-b": {"type": "boolean"}}, ["a-b"], "ActResult"),
        ({"if": {"type": "boolean"}}, ["if"], "ActResult"),
        ({"ok": {"type": "boolean", "description": "Whether."}}, ["ok"], "ActResult"),
        ({"ok": {"type": "array"}}, ["ok"], "ActResult"),
        ({key: {"type": "integer"} for key in "abc"}, ["a", "b", "c"], "ActResult"),
    ],
)
def test_result_of_few_plain_members_needs_no_class(
    properties: dict[str, Any], required: list[str], result: str
) -> None:
    schema = {"type": "object", "properties": properties, "required": required}

    stub = write_program_stubs(
        [{"name": "act", "outputSchema": schema}], {"act": ProgramName("act")}
    )

    ast.parse(stub)
    assert stub.splitlines()[-1] == f"def act() -> {result}: ..."


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
