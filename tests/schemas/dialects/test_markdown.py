"""Pages of Markdown: readable, and read by a real parser as what they are meant to be, whatever a
server says.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from support.tool_entry_strategies import ENTRIES
from toolwire_dialects import markdown

MEASURE = {
    "name": "Map.measure",
    "description": "Measure the way.\n\n# Not a heading",
    "inputSchema": {
        "type": "object",
        "properties": {
            "unit": {"enum": ["m", "km"], "default": "m"},
            "points": {
                "type": "array",
                "minItems": 2,
                "items": {
                    "type": "object",
                    "properties": {"x": {"type": "number", "description": "a|b\n<i>"}},
                },
                "description": "Where to pass.",
            },
            "tree": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
        },
        "required": ["points"],
        "additionalProperties": {"type": "integer"},
        "$defs": {
            "Tree": {
                "type": "object",
                "description": "A tree.",
                "properties": {"of": {"$ref": "#/$defs/Tree"}},
            }
        },
    },
    "outputSchema": {
        "type": "object",
        "properties": {"result": {"type": "number", "description": "in metres"}},
        "required": ["result"],
    },
}


def test_a_page_has_a_table_for_each_tool_and_each_definition() -> None:
    ping = {
        "name": "ping",
        "outputSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
    }
    assert markdown.from_entries([MEASURE, ping]).splitlines() == [
        "# Tools",
        "",
        "## `Map.measure`",
        "",
        "> Measure the way.",
        ">",
        "> # Not a heading",
        "",
        "| parameter | type | required | default | description |",
        "| --- | --- | --- | --- | --- |",
        '| `unit` | `"m"` or `"km"` | no | `"m"` |  |',
        "| `points` | array of object | yes |  | Where to pass. (minItems: 2) |",
        "| &emsp;`x` | number | no |  | a&#124;b<br>&lt;i&gt; |",
        "| `tree` | `Tree` or null | no |  |  |",
        "",
        "And more of any name: integer.",
        "",
        "`Tree` (object): A tree.",
        "",
        "| member | type | required | default | description |",
        "| --- | --- | --- | --- | --- |",
        "| `of` | `Tree` | no |  |  |",
        "",
        "Returns number: in metres",
        "",
        "## `ping`",
        "",
        "No parameters.",
        "",
        "Returns object",
        "",
        "| member | type | required | default | description |",
        "| --- | --- | --- | --- | --- |",
        "| `ok` | boolean | no |  |  |",
    ]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, "any value"),
        ({"type": "array"}, "array"),
        ({"type": "array", "items": {"enum": [1, 2]}}, "array of (`1` or `2`)"),
        ({"type": "array", "items": {"type": ["string", "null"]}}, "array of (string or null)"),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, "array of string"),
        (
            {"type": "array", "prefixItems": [{"type": "string"}]},
            "array of string, then any number of any value",
        ),
        ({"type": "object"}, "object"),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}},
            "object of any names, each integer",
        ),
        ({"const": "a|b`"}, "<code>&#34;a&#124;b&#96;&#34;</code>"),
        ({"enum": []}, "nothing"),
        ({"allOf": [{"type": "string"}, {"minLength": 1}]}, "string"),
    ],
)
def test_types_are_reported_in_words(schema: Any, words: str) -> None:
    page = markdown.from_entry({"name": "f", "inputSchema": {"properties": {"x": schema}}})
    assert f"| `x` | {words} | no |  |  |" in page


# --- for any input --------------------------------------------------------------------------------

PARSER = MarkdownIt("commonmark").enable("table")


def shown(token: Token) -> str:
    """What a reader sees of a line of text."""
    return "".join(child.content for child in token.children or [] if child.type != "html_inline")


def printed(name: str) -> str:
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in name)


@given(st.lists(ENTRIES, max_size=2, unique_by=lambda entry: entry["name"]))
def test_nothing_that_a_server_says_leaves_its_place(entries: list[dict[str, Any]]) -> None:
    given_as = copy.deepcopy(entries)
    tokens = PARSER.parse(markdown.from_entries(entries))
    assert entries == given_as

    html = [
        part.content
        for token in tokens
        for part in [token, *(token.children or [])]
        if "html" in part.type
    ]
    assert set(html) <= {"<br>", "<code>", "</code>"}
    assert not any(child.type == "image" for token in tokens for child in token.children or [])

    places = [
        place
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]
    assert [tokens[place].tag for place in places] == ["h1", *["h2"] * len(entries)]
    headings = [shown(tokens[place + 1]) for place in places[1:]]
    assert [heading.strip() for heading in headings] == [
        printed(entry["name"]).strip() for entry in entries
    ]

    for entry, start, end in zip(entries, places[1:], [*places[2:], len(tokens)], strict=False):
        section = tokens[start:end]
        rows = [
            place
            for place, token in enumerate(section)
            if token.type == "tr_open" and section[place + 1].tag == "td"
        ]
        cells = [[shown(section[place + 2 + 3 * column]) for column in range(5)] for place in rows]
        names = [cell[0].strip() for cell in cells]
        members = [
            name
            for name, schema in entry["inputSchema"]["properties"].items()
            if schema is not False
        ]
        assert all(printed(name).strip() in names for name in members)
        assert all(cell[2] in ("yes", "no") for cell in cells)
