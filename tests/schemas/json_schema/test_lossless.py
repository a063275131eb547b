"""Readings of values that do not fit: which texts are JSON, which nulls are left out, and what is
left alone.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_schemas.json_schema.bounded_validator import SchemaValidator
from toolwire_schemas.json_schema.lossless import generate_readings, is_read, list_unread
from toolwire_schemas.json_schema.lossless import read as read_value

INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
TEXT = {"type": "string"}
NULL = {"type": "null"}
INTEGERS = {"type": "array", "items": INTEGER}
POINT = {
    "type": "object",
    "properties": {"x": INTEGER, "name": TEXT},
    "additionalProperties": False,
}
TREE: dict[str, Any] = {
    "$ref": "#/$defs/Tree",
    "$defs": {
        "Tree": {
            "type": "object",
            "properties": {
                "n": INTEGER,
                "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            },
            "additionalProperties": False,
        }
    },
}


def tagged(kind: str, **members: Any) -> dict[str, Any]:
    properties = {"kind": {"const": kind}, **members}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SHAPE = {"anyOf": [tagged("circle", radius=NUMBER), tagged("square", side=NUMBER)]}


def read(value: Any, schema: Any) -> Any:
    """The first reading of *value* that fits, or *value* itself."""
    errors = SchemaValidator(schema).find_errors
    for reading in generate_readings(value, errors(value), errors):
        if not errors(reading.value):
            return reading.value
    return value


@pytest.mark.parametrize(
    ("schema", "sent", "meant"),
    [
        (INTEGER, "5", 5),
        (INTEGER, " 5\n", 5),
        (INTEGER, "-5", -5),
        (INTEGER, "5.0", 5.0),
        (INTEGER, "1e5", 1e5),
        (INTEGER, str(10**40), 10**40),
        (INTEGER, " " * 8599 + "5", 5),
        (INTEGERS, "[5" + " " * 8600 + "]", [5]),
        (NUMBER, "5", 5),
        (NUMBER, "0.1", 0.1),
        (NUMBER, "1e300", 1e300),
        (NUMBER, "9007199254740994.5", 9007199254740994.0),
        (BOOLEAN, "true", True),
        ({"anyOf": [INTEGER, NULL]}, "null", None),
        ({"type": ["integer", "null"]}, "5", 5),
        (INTEGERS, "[1,2]", [1, 2]),
        (INTEGERS, '["1", 2]', [1, 2]),
        (INTEGERS, ["1", "2"], [1, 2]),
        (INTEGERS, '["[1]"]', '["[1]"]'),
        ({"type": "array", "items": INTEGERS}, '["[1]", "[\\"2\\"]"]', [[1], [2]]),
        (POINT, '{"x": "1", "name": "2"}', {"x": 1, "name": "2"}),
        (POINT, {"x": "1", "name": "2"}, {"x": 1, "name": "2"}),
        ({"type": "object", "additionalProperties": INTEGER}, {"a": "1"}, {"a": 1}),
        (
            {"type": "object", "patternProperties": {"^a": INTEGER}},
            {"a": "1", "b": "1"},
            {"a": 1, "b": "1"},
        ),
        ({"type": "array", "prefixItems": [INTEGER, TEXT]}, '["1", "1"]', [1, "1"]),
        ({"enum": [1, 2]}, "1", 1),
        ({"const": True}, "true", True),
        ({"type": "integer", "enum": [1]}, "1", 1),
        ({"allOf": [POINT, {"required": ["x"]}]}, {"x": "1"}, {"x": 1}),
        ({"if": {"required": ["x"]}, "then": {"properties": {"x": INTEGER}}}, {"x": "1"}, {"x": 1}),
        ({"$ref": "#/$defs/i", "$defs": {"i": INTEGER}}, "1", 1),
        (TREE, '{"n": "1", "kids": "[{\\"n\\": \\"2\\"}]"}', {"n": 1, "kids": [{"n": 2}]}),
        ({"oneOf": [INTEGERS, BOOLEAN]}, "[1]", [1]),
        ({"anyOf": [INTEGERS, {"type": "array", "items": TEXT}]}, '["1"]', ["1"]),
        (SHAPE, {"kind": "square", "side": "2"}, {"kind": "square", "side": 2}),
        (SHAPE, '{"kind": "circle", "radius": "2"}', {"kind": "circle", "radius": 2}),
        ({"anyOf": [POINT, {"anyOf": [INTEGER, BOOLEAN]}]}, "5", 5),
    ],
)
def test_json_in_a_string_is_read_where_no_string_fits(
    schema: dict[str, Any], sent: Any, meant: Any
) -> None:
    found = read(sent, schema)
    assert (found, type(found)) == (meant, type(meant))


LEFT_ALONE: list[tuple[dict[str, Any], Any]] = [
    *(
        (INTEGER, text)
        for text in ("05", "+5", "1,5", "5.5", "", " ", "five", "0x5", "5_0", "\u0665", "\xa05")
    ),
    *(
        (INTEGER, text)
        for text in (
            "NaN",
            "Infinity",
            "-Infinity",
            "1e400",
            "true",
            '"5"',
            "5 5",
            "5,",
            "null",
        )
    ),
    *(
        (INTEGER, text)
        for text in (
            "5.00000000000000000001",
            "9007199254740993.0",
            "1e-400",
            "1" * 5000,
            " " * 8600 + "5",
        )
    ),
    *((NUMBER, text) for text in ("NaN", "Infinity", "1e400", "1e-400", "1e-99999999999999999999")),
    *((BOOLEAN, text) for text in ("True", "yes", "1", "on", "truetrue")),
    (NULL, "None"),
    (INTEGERS, "1"),
    (INTEGERS, "[1"),
    (INTEGERS, "1, 2"),
    (INTEGERS, "{}"),
    (INTEGERS, "[NaN]"),
    (INTEGERS, "[1] // two"),
    (POINT, '{"x": 1, "x": 2}'),
    (POINT, '{"x": 1, "\\u0078": 1}'),
    (POINT, '{"x": 1, "name": "\\ud800"}'),
    (POINT, '{"x": 1, "y": 1}'),
    (INTEGERS, "[" * 100_000),
    (INTEGERS, "[" * 100_000 + "]" * 100_000),
    (TEXT, "5"),
    ({"type": "string", "minLength": 3}, "5"),
    ({"type": "string", "enum": ["a"]}, "5"),
    ({"anyOf": [INTEGER, {"type": "string", "pattern": "^a"}]}, "5"),
    ({"anyOf": [INTEGER, {"anyOf": [BOOLEAN, {"type": "string", "minLength": 3}]}]}, "5"),
    ({"anyOf": [INTEGER, {"minLength": 3}]}, "5"),
    ({"enum": ["a", 5]}, "5"),
    ({"not": TEXT}, "5"),
    ({"type": "integer", "minimum": 6}, "5"),
    ({"type": "object", "propertyNames": INTEGER}, {"5": 1}),
    ({"anyOf": [INTEGER, NULL]}, " " * 8600 + "5"),
    ({"properties": {"a": {"oneOf": [TEXT, {"minLength": 1}]}}}, {"a": "null"}),
]


def test_every_other_string_is_left_alone() -> None:
    assert [(schema, read(sent, schema)) for schema, sent in LEFT_ALONE] == LEFT_ALONE


def test_a_union_whose_members_would_be_read_differently_is_left_alone() -> None:
    either = {"anyOf": [tagged_by(a=INTEGER, b=TEXT), tagged_by(a=TEXT, b=INTEGER)]}
    assert read({"a": "1", "b": "2"}, either) == {"a": "1", "b": "2"}
    fewer = {"anyOf": [tagged_by(a=INTEGER, b=INTEGER), tagged_by(a=INTEGER, b=TEXT)]}
    assert read({"a": "1", "b": "2"}, fewer) == {"a": 1, "b": "2"}


def tagged_by(**members: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "sent", "meant"),
    [
        ({"properties": {"a": INTEGER}}, {"a": None, "b": 1}, {"b": 1}),
        ({"properties": {"a": TEXT}}, {"a": None}, {}),
        ({"properties": {"a": INTEGER}}, {"a": "null"}, {}),
        ({"properties": {"a": {"anyOf": [INTEGER, TEXT]}}}, {"a": None}, {}),
        ({"properties": {"a": {"enum": ["x"]}}}, {"a": None}, {}),
        ({"properties": {"a": {"type": "string", "enum": ["x"]}}}, {"a": None}, {}),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": INTEGER}}, {"a": None}, {}),
        ({"properties": {"a": {"allOf": [INTEGER]}}}, {"a": None}, {}),
        ({"properties": {"a": {"allOf": [{"allOf": [TEXT]}]}}}, {"a": None}, {}),
        ({"properties": {"a": {"if": {}, "then": INTEGER}}}, {"a": None}, {}),
        ({"properties": {"a": {"if": False, "else": INTEGER}}}, {"a": None}, {}),
        ({"type": "array", "items": POINT}, [{"x": None}, {"x": 1, "name": None}], [{}, {"x": 1}]),
        ({"properties": {"p": POINT}}, '{"p": "{\\"x\\": null}"}', {"p": {}}),
        (
            {"anyOf": [tagged("a"), {**POINT, "required": ["name"]}]},
            {"name": "n", "x": None},
            {"name": "n"},
        ),
        (
            {"properties": {"properties": {"properties": {"properties": INTEGER}}}},
            {"properties": {"properties": None}},
            {"properties": {}},
        ),
    ],
)
def test_null_is_left_out_where_an_optional_member_takes_none(
    schema: Any, sent: Any, meant: Any
) -> None:
    assert read(sent, {"type": "object", **schema} if "properties" in schema else schema) == meant


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"properties": {"a": INTEGER}, "required": ["a"]}, {"a": None}),
        ({"properties": {"a": {"anyOf": [INTEGER, NULL]}}}, {"a": None}),
        ({"additionalProperties": INTEGER}, {"a": None}),
        (
            {"properties": {"properties": {"additionalProperties": INTEGER}}},
            {"properties": {"properties": None}},
        ),
        ({"patternProperties": {"a": INTEGER}}, {"a": None}),
        ({"properties": {"a": INTEGER}, "additionalProperties": False}, {"b": None}),
        ({"items": INTEGER}, [None]),
        ({"properties": {"a": {"items": INTEGER}}}, {"a": [None]}),
        ({"properties": {"0": {"prefixItems": [INTEGER]}}}, {"0": [None]}),
        (INTEGER, None),
        ({"properties": {"a": TEXT}}, {"a": "null"}),
    ],
)
def test_every_other_null_stays(schema: Any, sent: Any) -> None:
    assert read(sent, schema) == sent


@pytest.mark.parametrize("sent", [{"x": "1"}, [{"x": None}], {"deep": [{"x": "[]", "name": None}]}])
def test_what_was_sent_is_not_changed(sent: Any) -> None:
    anywhere = {
        "anyOf": [
            POINT,
            {"type": "array", "items": {"$ref": "#"}},
            {"type": "object", "properties": {"deep": {"$ref": "#"}}, "required": ["deep"]},
        ]
    }
    before = copy.deepcopy(sent)
    read(sent, anywhere)
    assert sent == before


def test_a_reading_tells_what_it_changed_in_one_short_line() -> None:
    errors = SchemaValidator(
        {"properties": {"a": {**INTEGERS, "maxItems": 999}, "b": INTEGER}}
    ).find_errors
    sent = {"a": json.dumps(["1"] * 20), "b": None}
    *_, told = (
        reading.describe("arguments") for reading in generate_readings(sent, errors(sent), errors)
    )
    assert told.startswith('arguments.a: "[\\"1\\", \\"1\\", ')
    assert "; arguments.b: null left out; " in told
    assert told.endswith('; arguments.a[7]: "1" read as 1; 12 more')
    assert len(told) < 600


def test_more_levels_of_quotes_than_anyone_sends_are_given_up() -> None:
    deep: Any = 1
    for _ in range(12):
        deep = json.dumps([deep]) if len(json.dumps(deep)) < 100_000 else [deep]
    nested = {"anyOf": [INTEGER, {"type": "array", "items": {"$ref": "#"}}]}
    errors = SchemaValidator(nested).find_errors
    assert len(list(generate_readings(deep, errors(deep), errors))) == 8
    assert not is_read(deep, errors)


LEVEL = {"enum": [1, 2], "description": "1 = LOW, 2 = HIGH."}
COLOUR = {"enum": ["red", "blue"], "description": "red = RED, blue = BLUE."}
ODD = {"enum": [1, 2], "description": "1 = true, 2 = null."}


@pytest.mark.parametrize(
    ("schema", "sent", "meant"),
    [
        (LEVEL, "LOW", 1),
        (LEVEL, "HIGH", 2),
        (LEVEL, "low", "low"),
        (LEVEL, "2", 2),
        (COLOUR, "BLUE", "blue"),
        (COLOUR, "red", "red"),
        ({"type": "integer", **LEVEL}, "LOW", 1),
        ({"type": "array", "items": LEVEL}, ["LOW", 2], [1, 2]),
        ({"type": "array", "items": LEVEL}, '["LOW", 2]', [1, 2]),
        ({"type": "array", "items": LEVEL}, "LOW", "LOW"),
        ({"anyOf": [LEVEL, NULL]}, "LOW", 1),
        ({"anyOf": [NULL, {"anyOf": [BOOLEAN, LEVEL]}]}, "HIGH", 2),
        ({"anyOf": [{"type": "array", "items": LEVEL}, INTEGER]}, ["HIGH"], [2]),
        ({"anyOf": [{"type": "array", "items": LEVEL}, INTEGER]}, "HIGH", "HIGH"),
        # The same name in two branches, for one value and for two.
        ({"anyOf": [LEVEL, {"enum": [1, 3], "description": "1 = LOW, 3 = MID."}]}, "LOW", 1),
        ({"anyOf": [LEVEL, {"enum": [2, 1], "description": "2 = LOW, 1 = HIGH."}]}, "LOW", "LOW"),
        # A name that is JSON, too.
        (ODD, "true", 1),
        ({"anyOf": [ODD, BOOLEAN]}, "true", "true"),
        ({"anyOf": [ODD, BOOLEAN]}, "false", False),
    ],
)
def test_the_name_of_a_member_is_read_as_its_value_if_it_has_one_meaning(
    schema: dict[str, Any], sent: Any, meant: Any
) -> None:
    found = read(sent, schema)
    assert (found, type(found)) == (meant, type(meant))


@pytest.mark.parametrize(
    ("schema", "choices", "meant"),
    [
        ({"enum": [1, 2]}, [{"LOW": 1}], 1),
        ({"const": 1}, [{"LOW": 1}], 1),
        ({"enum": [1, 2]}, [{"OTHER": 1}, {"LOW": 2}], 2),
        ({"enum": [1, 2]}, [{"LOW": 3}], "LOW"),
        ({"const": 1}, [{"LOW": 2}], "LOW"),
        ({"enum": [1, 2]}, [{"LOW": 1}, {"LOW": 2}], "LOW"),
        ({"enum": [1, 2]}, [{"LOW": 1}, {"LOW": 1}], 1),
        ({"enum": [1, 2]}, [{"LOW": True}], "LOW"),
        ({"enum": [1, 2]}, [], "LOW"),
        ({"type": "integer", "minimum": 1}, [{"LOW": 1}], "LOW"),
    ],
)
def test_names_that_the_schema_does_not_have_are_given_as_choices(
    schema: dict[str, Any], choices: list[dict[str, Any]], meant: Any
) -> None:
    errors = SchemaValidator(schema).find_errors
    found = [reading.value for reading in generate_readings("LOW", errors("LOW"), errors, choices)]

    assert found == ([] if meant == "LOW" else [meant])


@pytest.mark.parametrize(
    ("schema", "sent", "unread_places"),
    [
        # A text that is no integer, and one that is.
        ({"a": INTEGER, "b": INTEGER}, {"a": "1", "b": "two"}, [("type", ("b",))]),
        ({"a": INTEGER, "b": INTEGER}, {"a": "1", "b": "2"}, []),
        # A text that is an integer, but too small.
        ({"a": {**INTEGER, "minimum": 1}}, {"a": "0"}, [("minimum", ("a",))]),
        (
            {"a": {**INTEGER, "minimum": 1}, "b": INTEGER},
            {"a": "0", "b": "two"},
            [("type", ("b",)), ("minimum", ("a",))],
        ),
        # Texts in an array whose items are equal when they are read.
        ({"a": {**INTEGERS, "uniqueItems": True}}, {"a": ["1", 1]}, [("uniqueItems", ("a",))]),
        # A text within an array that was a text itself.
        ({"a": INTEGERS}, {"a": '[1, "b"]'}, [("type", ("a",))]),
        ({"a": INTEGERS}, {"a": ["1", "b"]}, [("type", ("a", 1))]),
        # Null that is left out, of a member that is required.
        (
            {"a": INTEGER, "b": INTEGER, "required": ["a", "b"]},
            {"a": "1", "b": None},
            [("type", ("b",))],
        ),
        (
            {"a": INTEGER, "b": INTEGER, "required": ["a", "b"]},
            {"a": "one", "b": None},
            [("type", ("a",)), ("type", ("b",))],
        ),
        # A member that was missing from the start.
        ({"a": INTEGER, "required": ["a", "z"]}, {"a": "1"}, [("required", ())]),
        (
            {"a": INTEGER, "b": INTEGER, "required": ["a", "z"]},
            {"a": "one", "b": "2"},
            [("required", ()), ("type", ("a",))],
        ),
    ],
)
def test_what_a_reading_does_not_settle_is_left(
    schema: dict[str, Any], sent: Any, unread_places: list[tuple[str, tuple[Any, ...]]]
) -> None:
    required = schema.get("required", [])
    properties = {name: value for name, value in schema.items() if name != "required"}
    errors = SchemaValidator(
        {"type": "object", "properties": properties, "required": required}
    ).find_errors
    *_, reading = generate_readings(sent, errors(sent), errors)

    left = list_unread(errors(sent), errors(reading.value), reading.changes)

    found = [(error.validator, tuple(error.absolute_path)) for error in left]
    assert sorted(found, key=str) == sorted(unread_places, key=str)


@pytest.mark.parametrize(
    ("schema", "sent", "meant"),
    [
        (INTEGER, "5", 5),
        (INTEGERS, '["1"]', [1]),
        (INTEGER, "five", None),
        (INTEGER, 5, None),
        ({"type": "integer", "minimum": 6}, "5", None),
    ],
)
def test_the_first_reading_that_fits_is_found_with_its_changes(
    schema: dict[str, Any], sent: Any, meant: Any
) -> None:
    errors = SchemaValidator(schema).find_errors
    reading = read_value(sent, errors(sent), errors)

    assert is_read(sent, errors) is (meant is not None)
    if meant is None:
        assert reading is None
    else:
        assert reading is not None
        assert reading.value == meant
        assert reading.changes[()][0] == sent


def test_a_value_that_is_nested_too_deeply_is_not_read() -> None:
    def refuse(value: Any) -> list[Any]:
        raise RecursionError

    assert not is_read([], refuse)


VALUES = st.recursive(
    st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
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
def test_any_value_sent_as_json_text_is_read_without_loss(value: Any) -> None:
    assert read(json.dumps(value), WIDE) == value


@given(VALUES)
def test_texts_within_a_value_are_read_as_well(value: Any) -> None:
    sent = [json.dumps(value), {"a": json.dumps([json.dumps(value)])}]
    assert read(sent, WIDE) == [value, {"a": [value]}]


@given(VALUES)
def test_a_value_that_fits_has_no_readings(value: Any) -> None:
    errors = SchemaValidator(WIDE).find_errors
    assert list(generate_readings(value, errors(value), errors)) == []
