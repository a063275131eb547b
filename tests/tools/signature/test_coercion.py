from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_tools.signature.coercion import coerced

INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
TEXT = {"type": "string"}
NULL = {"type": "null"}
INTEGERS = {"type": "array", "items": INTEGER}
POINT = {"type": "object", "properties": {"x": INTEGER, "name": TEXT}}
TREE: dict[str, Any] = {
    "$ref": "#/$defs/Tree",
    "$defs": {
        "Tree": {
            "type": "object",
            "properties": {"n": INTEGER, "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
        }
    },
}


@pytest.mark.parametrize(
    ("schema", "sent", "meant"),
    [
        (INTEGER, "5", 5),
        (INTEGER, " 5 ", 5),
        (INTEGER, "-5", -5),
        (INTEGER, "5.0", 5.0),
        (INTEGER, "1e5", 1e5),
        (INTEGER, str(10**40), 10**40),
        (NUMBER, "5", 5),
        (NUMBER, "0.1", 0.1),
        (BOOLEAN, "true", True),
        ({"anyOf": [INTEGER, NULL]}, "null", None),
        (INTEGERS, "[1,2]", [1, 2]),
        (INTEGERS, '["1", 2]', [1, 2]),
        (INTEGERS, ["1", "2"], [1, 2]),
        (POINT, '{"x": "1", "name": "2"}', {"x": 1, "name": "2"}),
        (POINT, {"x": "1", "name": "2"}, {"x": 1, "name": "2"}),
        ({"type": "object", "additionalProperties": INTEGER}, {"a": "1"}, {"a": 1}),
        ({"type": "array", "prefixItems": [INTEGER, TEXT]}, '["1", "1"]', [1, "1"]),
        ({"enum": [1, 2]}, "1", 1),
        ({"type": "integer", "enum": [1]}, "1", 1),
        (TREE, '{"n": "1", "kids": "[{\\"n\\": \\"2\\"}]"}', {"n": 1, "kids": [{"n": 2}]}),
    ],
)
def test_json_in_a_string_is_decoded_where_no_string_is_wanted(schema: dict[str, Any], sent: Any, meant: Any) -> None:
    found = coerced(sent, schema)
    assert (found, type(found)) == (meant, type(meant))


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (INTEGER, "05"),
        (INTEGER, "+5"),
        (INTEGER, "1,5"),
        (INTEGER, "5.5"),
        (INTEGER, ""),
        (INTEGER, "five"),
        (INTEGER, "NaN"),
        (INTEGER, "true"),
        (INTEGER, '"5"'),
        (BOOLEAN, "True"),
        (BOOLEAN, "yes"),
        (BOOLEAN, "1"),
        (NULL, "None"),
        (INTEGERS, "1"),
        (INTEGERS, "[1"),
        (INTEGERS, "{}"),
        (TEXT, "5"),
        (TEXT, "[1]"),
        (TEXT, "null"),
        ({"anyOf": [INTEGER, TEXT]}, "5"),
        ({"anyOf": [TEXT, NULL]}, "null"),
        ({}, "5"),
        ({"enum": ["1", 1]}, "1"),
        ({"anyOf": [{"$ref": "https://example.com/"}, INTEGER]}, "5"),
    ],
)
def test_every_other_string_is_left_alone(schema: dict[str, Any], sent: Any) -> None:
    assert coerced(sent, schema) == sent


def test_what_was_sent_is_not_changed() -> None:
    sent = {"x": "1"}
    coerced(sent, POINT)
    assert sent == {"x": "1"}


VALUES = st.recursive(
    st.integers() | st.booleans() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)
WIDE: dict[str, Any] = {
    "anyOf": [
        INTEGER,
        BOOLEAN,
        NULL,
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "object", "additionalProperties": {"$ref": "#"}},
    ]
}


@given(VALUES)
def test_any_value_sent_as_json_text_is_decoded_without_loss(value: Any) -> None:
    assert coerced(json.dumps(value), WIDE) == value


@given(VALUES)
def test_a_value_that_was_sent_as_itself_stays(value: Any) -> None:
    assert coerced(value, WIDE) == value
