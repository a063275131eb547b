"""Estimates of tokens: of texts, and of tools in a list."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire_schemas.tokens import estimate_list_tokens, estimate_tokens, write_text_for_models


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("abc", 0),
        ("abcd", 1),
        ("a" * 4000, 1000),
        ("ä", 1),
        ("你好", 2),
        ("你好abcd", 3),
        ("\U0001f600", 1),
    ],
)
def test_four_ascii_characters_or_one_other_are_a_token(text: str, expected: int) -> None:
    assert estimate_tokens(text) == expected


def test_a_model_reads_name_description_and_input_schema_of_a_tool() -> None:
    entry = {
        "name": "add",
        "title": "Addition",
        "description": "Add.",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    }

    expected = '{"name":"add","description":"Add.","inputSchema":{"type":"object"}}'
    assert write_text_for_models(entry) == expected
    assert estimate_list_tokens([entry, entry]) == 2 * (len(expected) // 4)


def test_a_tool_whose_schema_json_cannot_express_is_estimated_too() -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"items": deep}

    assert estimate_list_tokens([{"name": "deep", "inputSchema": deep}]) > 300
