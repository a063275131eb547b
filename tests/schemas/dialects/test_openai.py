"""Functions for OpenAI's APIs, strict ones too, and tools for Anthropic's."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from support.tool_entry_strategies import ENTRIES, SAMPLES, Sample
from toolwire_dialects import Malformed, anthropic, openai
from toolwire_dialects.lint.vendors import check_strict
from toolwire_dialects.openai_strict import NotStrict, make_strict
from toolwire_dialects.strict_arguments import restore_arguments

ADD = {
    "name": "add",
    "description": "Add two numbers.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "integer", "default": 1, "description": "what to add"},
        },
        "required": ["a"],
        "additionalProperties": False,
    },
}
NULL = {"type": "null"}


def test_a_function_is_nested_for_chat_completions_and_flat_for_responses() -> None:
    function = {"name": "add", "description": "Add two numbers.", "parameters": ADD["inputSchema"]}
    assert openai.from_entry(ADD) == {"type": "function", "function": function}
    assert openai.from_entry(ADD, flat=True) == {"type": "function", **function, "strict": False}


def test_a_tool_without_parameters_says_that_it_has_none() -> None:
    assert openai.from_entry({"name": "ping"})["function"] == {
        "name": "ping",
        "parameters": {"type": "object", "properties": {}},
    }
    assert anthropic.from_entry({"name": "ping"}) == {
        "name": "ping",
        "input_schema": {"type": "object"},
    }


def test_a_tool_of_anthropic_has_an_input_schema() -> None:
    assert anthropic.from_entry(ADD) == {
        "name": "add",
        "description": "Add two numbers.",
        "input_schema": ADD["inputSchema"],
    }


@given(ENTRIES.filter(lambda entry: entry["name"]))
def test_any_tool_comes_back(entry: dict[str, Any]) -> None:
    given_as = copy.deepcopy(entry)
    expected = {
        key: value
        for key, value in entry.items()
        if key in ("name", "description", "inputSchema") and value
    }
    assert openai.to_entry(openai.from_entry(entry)) == expected
    assert openai.to_entry(openai.from_entry(entry, flat=True)) == expected
    assert openai.to_entry(openai.from_entry(entry)["function"]) == expected
    tool = anthropic.from_entry(entry)
    assert tool["name"] == entry["name"]
    assert len(tool["input_schema"]["properties"]) == len(entry["inputSchema"]["properties"])
    called = dict.fromkeys(tool["input_schema"]["properties"], 1)
    assert list(anthropic.restore_arguments(called, entry)) == list(
        entry["inputSchema"]["properties"]
    )
    assert entry == given_as


def test_anthropic_gets_names_of_parameters_that_it_takes_and_they_lead_back() -> None:
    schema = {
        "type": "object",
        "properties": {"filter[id]": {}, "a.b": {}},
        "required": ["filter[id]"],
    }
    entry = {"name": "find", "inputSchema": schema}
    assert anthropic.from_entry(entry)["input_schema"] == {
        "type": "object",
        "properties": {"filter_id_": {}, "a.b": {}},
        "required": ["filter_id_"],
    }
    assert anthropic.restore_arguments({"filter_id_": 1, "a.b": 2, "c": 3}, entry) == {
        "filter[id]": 1,
        "a.b": 2,
        "c": 3,
    }
    assert schema["required"] == ["filter[id]"]


@pytest.mark.parametrize(
    ("tool", "where"),
    [
        (5, ""),
        ({"type": "web_search"}, "type"),
        ({"type": "function"}, "name"),
        ({"type": "function", "function": "add"}, "function"),
        ({"type": "function", "function": {}}, "function.name"),
        ({"type": "function", "function": {"name": "add", "parameters": []}}, None),
        (
            {"type": "function", "function": {"name": "add", "parameters": "none"}},
            "function.parameters",
        ),
    ],
)
def test_what_is_no_function_is_refused_with_its_place(tool: Any, where: str | None) -> None:
    if where is None:
        assert openai.to_entry(tool)["inputSchema"] == {
            "type": "object"
        }  # written by languages whose {} is []
        return
    with pytest.raises(Malformed) as caught:
        openai.to_entry(tool)
    assert caught.value.where == where


# --- strict ---------------------------------------------------------------------------------------


def member(schema: Any, *, required: bool = True, **root: Any) -> Any:
    """What a member with this schema becomes in strict mode."""
    names = ["x"] if required else []
    made = make_strict({"type": "object", "properties": {"x": schema}, "required": names, **root})
    assert (made["required"], made["additionalProperties"]) == (["x"], False)
    return made["properties"]["x"]


def test_a_strict_function_wants_everything_and_says_what_null_means() -> None:
    assert openai.from_entry(ADD, strict=True) == {
        "type": "function",
        "function": {
            "name": "add",
            "description": "Add two numbers.",
            "parameters": {
                "type": "object",
                "properties": {
                    "a": {"type": "integer"},
                    "b": {
                        "anyOf": [{"type": "integer"}, NULL],
                        "description": "what to add (null for the default: 1)",
                    },
                },
                "required": ["a", "b"],
                "additionalProperties": False,
            },
            "strict": True,
        },
    }


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "title": "X", "default": "a"}, {"type": "string"}),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "format": "uri"}, {"type": "string", "description": '(format: "uri")'}),
        ({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^a"}),
        (
            {"type": "string", "pattern": "(?=a)"},
            {"type": "string", "description": '(pattern: "(?=a)")'},
        ),
        (
            {"type": "string", "minLength": 1, "description": "a name"},
            {"type": "string", "description": "a name (minLength: 1)"},
        ),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        (
            {"enum": ["a", 1, None]},
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [1]}, NULL]},
        ),
        (
            {"type": ["string", "null"], "enum": ["a", None]},
            {"anyOf": [{"type": "string", "enum": ["a"]}, NULL]},
        ),
        ({"type": "string", "enum": ["a", None]}, {"type": "string", "enum": ["a"]}),
        (
            {"type": ["string", "integer"], "minimum": 1, "description": "which"},
            {
                "anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}],
                "description": "which",
            },
        ),
        ({"oneOf": [{"type": "string"}, {"anyOf": [NULL]}]}, {"anyOf": [{"type": "string"}, NULL]}),
        (
            {"allOf": [{"type": "string"}], "description": "it"},
            {"type": "string", "description": "it"},
        ),
        ({"allOf": [{"type": "string"}, {"pattern": "a"}]}, {"type": "string", "pattern": "a"}),
        (
            {
                "allOf": [{"properties": {"y": NULL}, "required": ["y"]}],
                "properties": {"z": NULL},
                "description": "both",
            },
            {
                "type": "object",
                "properties": {"z": NULL, "y": NULL},
                "required": ["z", "y"],
                "additionalProperties": False,
                "description": "both",
            },
        ),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
            {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "description": "(uniqueItems: true)",
            },
        ),
        (
            {"type": "array", "prefixItems": [{"type": "string"}, NULL]},
            {
                "type": "array",
                "items": {"anyOf": [{"type": "string"}, NULL]},
                "description": '(prefixItems: [{"type": "string"}, {"type": "null"}])',
            },
        ),
        (
            {"type": "object", "properties": {"y": NULL}, "anyOf": [{"required": ["y"]}]},
            {
                "type": "object",
                "properties": {"y": NULL},
                "required": ["y"],
                "additionalProperties": False,
                "description": '(anyOf: [{"required": ["y"]}])',
            },
        ),
        (
            {"type": "object", "oneOf": [{"properties": {"y": NULL}, "required": ["y"]}]},
            {
                "type": "object",
                "properties": {"y": NULL},
                "required": ["y"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_what_strict_mode_cannot_enforce_is_said_in_words(schema: Any, expected: Any) -> None:
    assert member(schema) == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "string"},
            {"anyOf": [{"type": "string"}, NULL], "description": "(null to leave it out)"},
        ),
        ({"type": ["string", "null"], "default": None}, {"anyOf": [{"type": "string"}, NULL]}),
        (
            {
                "anyOf": [{"type": "string"}, {"type": "integer"}],
                "description": "which",
                "default": 1,
            },
            {
                "anyOf": [{"type": "string"}, {"type": "integer"}, NULL],
                "description": "which (null for the default: 1)",
            },
        ),
    ],
)
def test_what_may_be_left_out_may_be_null(schema: Any, expected: Any) -> None:
    assert member(schema, required=False) == expected


def test_definitions_are_strict_and_references_have_no_siblings() -> None:
    tree = {"type": "object", "properties": {"of": {"$ref": "#/definitions/Tree"}}}
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/definitions/Tree", "description": "it"},
            "b": {"$ref": "#/definitions/Tree"},
        },
        "required": ["a", "b"],
        "definitions": {"Tree": tree, "Unused": {}},
    }
    assert make_strict(schema) == {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"$ref": "#/$defs/Tree"}], "description": "it"},
            "b": {"$ref": "#/$defs/Tree"},
        },
        "required": ["a", "b"],
        "additionalProperties": False,
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {
                    "of": {
                        "anyOf": [{"$ref": "#/$defs/Tree"}, NULL],
                        "description": "(null to leave it out)",
                    }
                },
                "required": ["of"],
                "additionalProperties": False,
            }
        },
    }


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({}, "properties.x"),
        (True, "properties.x"),
        ({"description": "any"}, "properties.x"),
        ({"type": "array"}, "properties.x.items"),
        ({"type": "array", "items": {}}, "properties.x.items"),
        ({"type": "object"}, "properties.x"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "properties.x"),
        (
            {"type": "object", "properties": {"y": NULL}, "additionalProperties": True},
            "properties.x",
        ),
        ({"anyOf": [NULL, {}]}, "properties.x.anyOf[1]"),
        ({"enum": [{"a": 1}]}, "properties.x"),
        ({"type": "string", "enum": [1]}, "properties.x"),
        ({"$ref": "#/$defs/nowhere"}, "properties.x"),
        ({"$ref": "#/$defs/Circle"}, "properties.x"),
        ({"$ref": "#/$defs/Deep"}, "#/$defs/Deep.properties.y"),
        ({"type": "strin"}, "properties.x.type"),
    ],
)
def test_what_has_no_strict_form_is_refused_with_its_place(schema: Any, where: str) -> None:
    definitions = {
        "Circle": {"$ref": "#/$defs/Circle"},
        "Deep": {"type": "object", "properties": {"y": {}}},
    }
    with pytest.raises(NotStrict) as caught:
        member(schema, **{"$defs": definitions})
    assert caught.value.where == where


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf", "enum", "not", "$ref"])
def test_strict_mode_wants_a_plain_object_at_the_root(word: str) -> None:
    value = {"not": {}, "$ref": "#"}.get(word, [{}])
    with pytest.raises(NotStrict) as caught:
        make_strict({"type": "object", word: value})
    assert caught.value.where == word


def test_what_is_too_large_for_strict_mode_is_refused() -> None:
    with pytest.raises(NotStrict, match="1,000 values of enums"):
        member({"enum": [str(number) for number in range(1001)]})


def test_a_null_for_a_missing_member_is_removed_and_a_meant_one_stays() -> None:
    schema = {
        "type": "object",
        "properties": {
            "optional": {"type": "string"},
            "nullable": {"type": ["string", "null"]},
            "needed": NULL,
            "tree": {"anyOf": [{"$ref": "#/$defs/Tree"}, NULL]},
        },
        "required": ["needed"],
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {
                    "of": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                    "height": {"type": "number"},
                },
            }
        },
    }
    given_as = {
        "optional": None,
        "nullable": None,
        "needed": None,
        "unknown": None,
        "tree": {"height": None, "of": [{"height": 1, "of": None}]},
    }
    assert openai.restore_arguments(given_as, {"name": "f", "inputSchema": schema}) == {
        "nullable": None,
        "needed": None,
        "unknown": None,
        "tree": {"of": [{"height": 1}]},
    }


@pytest.mark.parametrize("wrong", [{"a": "x", "b": [None]}, {"a": {"c": None}}, {}])
def test_what_does_not_fit_stays_for_the_tool_to_refuse(wrong: dict[str, Any]) -> None:
    assert restore_arguments(wrong, ADD["inputSchema"]) == wrong


@given(SAMPLES)
def test_a_strict_call_says_what_the_tool_takes(sample: Sample) -> None:
    schema, arguments, filled = sample
    given_as = copy.deepcopy(sample)
    made = make_strict(schema)
    Draft202012Validator.check_schema(made)
    assert list(check_strict(made)) == []
    Draft202012Validator(made).validate(filled)
    assert restore_arguments(filled, schema) == arguments
    assert sample == given_as


@given(ENTRIES)
def test_any_tool_is_strict_or_refused(entry: dict[str, Any]) -> None:
    with contextlib.suppress(NotStrict):
        made = make_strict(entry["inputSchema"])
        assert list(check_strict(made)) == []
        restore_arguments(dict.fromkeys(made["properties"]), entry["inputSchema"])


def test_a_circle_of_alternatives_ends() -> None:
    circle = {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/A"}}, "$defs": {"A": circle}}
    assert restore_arguments({"x": 5}, schema) == {"x": 5}
