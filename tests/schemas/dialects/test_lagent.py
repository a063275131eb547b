"""Lagent's description dicts: read as people write them by hand, and written for any tool."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.tool_entry_strategies import ENTRIES, NAMES, TEXTS
from toolwire_dialects import Malformed, lagent

BOLD = {
    "name": "bold",
    "description": "a function used to make text bold",
    "parameters": [{"name": "text", "type": "STRING", "description": "input content"}],
    "required": ["text"],
}
EMPHASIS = {
    "name": "PhraseEmphasis",
    "description": "a toolkit which provides different styles of text emphasis",
    "api_list": [BOLD, {**BOLD, "name": "italic"}],
}
LIST_ARGS = {
    "name": "list_args",
    "description": "Return arguments in dict format",
    "parameters": [
        {"name": "a", "type": "STRING", "description": "a"},
        {"name": "b", "type": "NUMBER", "description": "b"},
        {"name": "c", "type": "FLOAT", "description": "c"},
    ],
    "required": ["a", "b"],
    "return_data": [
        {"name": "a", "description": "a", "type": "STRING"},
        {"name": "b", "description": "b", "type": "BOOLEAN"},
        {"name": "c", "description": "c"},
    ],
}


def parameter(**words: Any) -> dict[str, Any]:
    """The schema that a parameter with these keys comes to."""
    entry = lagent.to_entry({"name": "f", "parameters": [{"name": "x", **words}]})
    schema: dict[str, Any] = entry["inputSchema"]["properties"]["x"]
    return schema


def written(schema: dict[str, Any], **root: Any) -> dict[str, Any]:
    """The keys behind the name of a parameter with this schema."""
    entry = {"name": "f", "inputSchema": {"type": "object", "properties": {"x": schema}, **root}}
    made: dict[str, Any] = lagent.from_entry(entry)["parameters"][0]
    assert list(made)[:3] == ["name", "type", "description"]
    return {key: value for key, value in made.items() if key not in ("name", "description")}


def test_a_description_written_by_hand_becomes_an_entry() -> None:
    assert lagent.to_entry(BOLD) == {
        "name": "bold",
        "description": "a function used to make text bold",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "input content"}},
            "required": ["text"],
            "additionalProperties": False,
        },
    }


def test_return_data_becomes_the_output_schema_and_comes_back() -> None:
    entry = lagent.to_entry(LIST_ARGS)
    assert entry["outputSchema"] == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "a"},
            "b": {"type": "boolean", "description": "b"},
            "c": {"description": "c"},
        },
    }
    returned = lagent.from_entry(entry)["return_data"]
    assert returned == LIST_ARGS["return_data"]
    assert list(returned[0]) == ["name", "description", "type"]


def test_what_is_returned_without_a_name_is_passed_over() -> None:
    assert "outputSchema" not in lagent.to_entry(
        {**BOLD, "return_data": [{"description": "bold text"}]}
    )


@pytest.mark.parametrize(
    ("written_as", "meant"),
    [
        ("STRING", "string"),
        ("NUMBER", "number"),
        ("FLOAT", "number"),
        ("BOOLEAN", "boolean"),
        ("INTEGER", "integer"),
        ("OBJECT", "object"),
        ("DICT", "object"),
    ],
)
def test_types_are_read_in_any_case(written_as: str, meant: str) -> None:
    for name in (written_as, written_as.lower(), written_as.capitalize()):
        assert parameter(type=name) == {"type": meant}


@pytest.mark.parametrize("name", ["Array", "LIST", "array", "List"])
def test_an_array_has_items_for_the_clients_that_insist_on_them(name: str) -> None:
    assert parameter(type=name) == {"type": "array", "items": {}}
    assert parameter(type=name, items={"type": "STRING"}) == {
        "type": "array",
        "items": {"type": "string"},
    }


@pytest.mark.parametrize("words", [{}, {"type": "ANY"}, {"type": "Waypoint"}, {"type": ""}])
def test_without_a_known_type_any_value_is_taken(words: dict[str, Any]) -> None:
    assert parameter(**words) == {}


def test_a_parameter_may_have_one_of_several_types() -> None:
    assert parameter(type=["STRING", "ARRAY"], items={"type": "STRING"}) == {
        "type": ["string", "array"],
        "items": {"type": "string"},
    }
    assert parameter(type=["Array", "list", "null"]) == {"type": ["array", "null"], "items": {}}
    assert parameter(type=["STRING", "ANY"]) == parameter(type=[]) == {}


def test_words_of_json_schema_in_a_parameter_are_kept_and_others_are_not() -> None:
    assert parameter(type="STRING", enum=["m", "km"], default="m", required=True, colour="red") == {
        "type": "string",
        "enum": ["m", "km"],
        "default": "m",
    }


def test_a_toolkit_becomes_a_tool_for_each_of_its_apis() -> None:
    assert [entry["name"] for entry in lagent.to_entries(EMPHASIS)] == [
        "PhraseEmphasis.bold",
        "PhraseEmphasis.italic",
    ]
    assert lagent.to_entries(BOLD) == [lagent.to_entry(BOLD)]
    with pytest.raises(Malformed, match="toolkit"):
        lagent.to_entry(EMPHASIS)


@pytest.mark.parametrize(
    ("description", "where"),
    [
        (None, ""),
        ([BOLD], ""),
        ({}, "name"),
        ({**BOLD, "name": ""}, "name"),
        ({**BOLD, "name": 5}, "name"),
        ({**BOLD, "description": None}, "description"),
        ({**BOLD, "parameters": {"text": "STRING"}}, "parameters"),
        ({**BOLD, "parameters": ["text"]}, "parameters[0]"),
        ({**BOLD, "parameters": [{"type": "STRING"}]}, "parameters[0].name"),
        ({**BOLD, "parameters": [{"name": "text", "type": str}]}, "parameters[0].type"),
        ({**BOLD, "parameters": [{"name": "text"}, {"name": "text"}]}, "parameters[1].name"),
        ({**BOLD, "required": "text"}, "required"),
        ({**BOLD, "required": ["text", "txt"]}, "required[1]"),
        ({**BOLD, "required": [["text"]]}, "required[0]"),
        ({**BOLD, "return_data": [5]}, "return_data[0]"),
        ({**BOLD, "$defs": []}, "$defs"),
        ({"name": "kit", "api_list": None}, "api_list"),
        ({"name": "", "api_list": [BOLD]}, "name"),
        (
            {"name": "kit", "api_list": [BOLD, {**BOLD, "parameters": [{}]}]},
            "api_list[1].parameters[0].name",
        ),
        ({"name": "kit", "api_list": [BOLD, BOLD]}, "api_list[1].name"),
    ],
)
def test_what_is_malformed_is_named_with_its_place(description: Any, where: str) -> None:
    with pytest.raises(Malformed) as caught:
        lagent.to_entries(description)
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer", "default": 1, "title": "X"}, {"type": "NUMBER"}),
        ({"type": "number"}, {"type": "FLOAT"}),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": None}, {"type": "BOOLEAN"}),
        ({"type": ["string", "null"], "enum": ["a", None]}, {"type": "STRING", "enum": ["a"]}),
        ({"type": "array", "items": {}}, {"type": "Array"}),
        (
            {"type": "array", "items": {"type": "integer"}},
            {"type": "Array", "items": {"type": "integer"}},
        ),
        ({}, {"type": "ANY"}),
        ({"type": "null"}, {"type": "ANY"}),
        (
            {"type": ["string", "integer"]},
            {"type": "ANY", "anyOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        ({"$ref": "#/nowhere"}, {"type": "ANY", "$ref": "#/nowhere"}),
    ],
)
def test_a_schema_gets_the_nearest_type_and_words_for_what_that_does_not_say(
    schema: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert written(schema) == expected


def test_the_type_is_found_behind_references_and_circles_end() -> None:
    definitions = {"A": {"$ref": "#/$defs/B"}, "B": {"type": "object"}, "C": {"$ref": "#/$defs/C"}}
    assert written({"$ref": "#/$defs/A"}, **{"$defs": definitions}) == {
        "type": "OBJECT",
        "$ref": "#/$defs/A",
    }
    assert written({"$ref": "#/$defs/C"}, **{"$defs": definitions})["type"] == "ANY"


# --- for any input --------------------------------------------------------------------------------

BY_HAND = st.lists(
    st.fixed_dictionaries(
        {
            "name": NAMES.filter(bool),
            "type": st.sampled_from(["STRING", "FLOAT", "BOOLEAN", "Array", "OBJECT", "ANY"]),
        },
        optional={"enum": st.lists(TEXTS, min_size=1)},
    ).flatmap(lambda item: TEXTS.map(lambda said: {**item, "description": said})),
    unique_by=lambda item: item["name"],
    max_size=4,
).flatmap(
    lambda parameters: st.fixed_dictionaries(
        {
            "name": NAMES.filter(bool),
            "description": TEXTS,
            "parameters": st.just(parameters),
            "required": st.lists(
                st.sampled_from([item["name"] for item in parameters]), unique=True
            )
            if parameters
            else st.just([]),
        }
    )
)


@given(BY_HAND)
def test_what_is_written_by_hand_comes_back_as_it_was(description: dict[str, Any]) -> None:
    given_as = copy.deepcopy(description)
    entry = lagent.to_entry(description)
    Draft202012Validator.check_schema(entry["inputSchema"])
    assert lagent.from_entry(entry) == description == given_as


@given(ENTRIES.filter(lambda entry: entry["name"]))
def test_of_any_tool_the_names_and_what_is_required_come_back(entry: dict[str, Any]) -> None:
    given_as = copy.deepcopy(entry)
    description = lagent.from_entry(entry)
    assert entry == given_as
    assert list(description)[:4] == ["name", "description", "parameters", "required"]
    assert [item["name"] for item in description["parameters"]] == list(
        entry["inputSchema"]["properties"]
    )
    named = [item for item in description["parameters"] if item["name"]]
    required = [name for name in description["required"] if name]
    back = lagent.to_entry(
        {**description, "parameters": named, "required": required, "return_data": []}
    )
    assert back["name"] == entry["name"]
    assert back["inputSchema"].get("required", []) == [
        name for name in entry["inputSchema"]["required"] if name
    ]
