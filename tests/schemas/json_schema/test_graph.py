"""A schema is read once, as a graph, whatever its references multiply to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from support.counted_calls import is_linear
from support.expensive_schemas import SCHEMAS
from support.schema_pairs import VALUES, schemas
from toolwire_schemas.json_schema.bounded_validator import CannotJudge, SchemaValidator
from toolwire_schemas.json_schema.graph import NO_DEFAULT, SchemaGraph, SchemaNode

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
OPTIONAL: Schema = {"type": ["string", "null"]}


def root(schema: Any) -> SchemaNode:
    return SchemaGraph(schema).root


def resolved(schema: Any) -> Any:
    """The schema that *schema* resolves to."""
    return root(schema).resolved.schema


# --- single schemas -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, ("string",)),
        ({"type": ["string", "null"]}, ("string", "null")),
        ({}, ()),
        ({"type": "text"}, ()),
        ({"type": ["string", 3]}, ()),
        (True, ()),
        ("nonsense", ()),
    ],
)
def test_a_missing_or_unknown_type_allows_all_types(schema: Any, types: tuple[str, ...]) -> None:
    assert root(schema).types == types


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"properties": {}}, ("object",)),
        ({"additionalProperties": TEXT}, ("object",)),
        ({"prefixItems": [TEXT]}, ("array",)),
        ({"type": "string", "properties": {}}, ("string",)),
        ({"type": "thing", "properties": {}}, ()),
        ({"minimum": 1}, ()),
    ],
)
def test_keywords_for_members_and_items_make_a_type_likely(
    schema: Schema, types: tuple[str, ...]
) -> None:
    assert root(schema).likely_types == types


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"enum": ["a", 1]}, ("a", 1)),
        ({"const": None}, (None,)),
        ({"enum": "abc"}, None),
        (TEXT, None),
        (False, ()),
    ],
)
def test_constants_and_enums_are_values(schema: Any, values: tuple[Any, ...] | None) -> None:
    assert root(schema).values == values


@pytest.mark.parametrize(
    "schema",
    [
        {"prefixItems": [TEXT, NUMBER], "items": False},
        {"items": [TEXT, NUMBER], "additionalItems": False},
    ],
)
def test_tuples_of_all_drafts_are_alike(schema: Schema) -> None:
    node = root(schema)
    assert [item.schema for item in node.prefix_items] == [TEXT, NUMBER]
    assert node.items is not None
    assert node.items.is_false


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "prefixItems": 3, "items": None},
        {"type": "object", "properties": [], "required": "a", "additionalProperties": None},
        {"anyOf": {}, "allOf": "x", "oneOf": 1, "$ref": [], "title": 3, "description": None},
        {"patternProperties": "x", "enum": {}, "$defs": 1},
    ],
)
def test_keywords_of_the_wrong_type_are_absent(schema: Schema) -> None:
    node = root(schema)
    assert (node.prefix_items, node.properties, node.required) == ((), {}, {})
    assert (node.list_parts(), node.choices, node.title) == ([node], [], "")
    assert (node.pattern_properties, node.values, node.reference) == ({}, None, None)


def test_texts_are_those_of_the_place() -> None:
    schema = {"$ref": "#/$defs/A", "description": "of the place", "default": 1}
    node = root({**schema, "$defs": {"A": {"title": "A", "description": "of all", "minimum": 0}}})
    assert (node.title, node.description, node.default) == ("", "of the place", 1)
    assert (node.resolved.title, node.resolved.description) == ("A", "of all")
    assert node.resolved.default is NO_DEFAULT


# --- null -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "rest"),
    [
        ({"type": ["integer", "null"], "minimum": 1}, {"type": "integer", "minimum": 1}),
        ({"type": ["string", "null"], "enum": ["a", None]}, {"type": "string", "enum": ["a"]}),
        ({"type": ["integer", "string", "null"]}, {"type": ["integer", "string"]}),
        (
            {"anyOf": [TEXT, {"type": "null"}], "description": "d"},
            {"type": "string", "description": "d"},
        ),
        ({"oneOf": [TEXT, {"type": "null"}, NUMBER]}, {"oneOf": [TEXT, NUMBER]}),
        ({"type": ["null"]}, {"type": ["null"]}),
    ],
)
def test_null_is_taken_off_each_way_to_allow_it(schema: Schema, rest: Schema) -> None:
    node = root(schema)
    assert node.is_nullable
    assert node.besides_null.schema == rest


def test_schema_without_null_stays_the_same_node() -> None:
    node = root({"anyOf": [TEXT, NUMBER]})
    assert not node.is_nullable
    assert node.besides_null is node


# --- references -----------------------------------------------------------------------------------


def test_a_described_reference_resolves_to_the_definition_itself() -> None:
    graph = SchemaGraph(
        {
            "properties": {
                "a": {"$ref": "#/$defs/A", "description": "first"},
                "b": {"allOf": [{"$ref": "#/$defs/A"}], "default": "x"},
                "c": {"allOf": [{"$ref": "#/$defs/A"}, {"title": "C"}], "x-order": 1},
                "d": {"$ref": "#/$defs/Alias"},
            },
            "$defs": {"A": TEXT, "Alias": {"$ref": "#/$defs/A"}},
        }
    )
    places = graph.root.properties.values()
    assert {place.resolved for place in places} == {graph.find_target("#/$defs/A")}
    assert [place.reference_name for place in places] == ["A", "", "", "Alias"]


def test_circle_is_a_node_met_again() -> None:
    node = root({"properties": {"next": {"$ref": "#"}, "value": TEXT}})
    assert node.properties["next"].resolved is node
    assert len(list(node.graph.iterate_nodes())) == 3


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/A", "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
    ],
)
def test_reference_to_itself_restricts_nothing(schema: Schema) -> None:
    node = root(schema)
    assert node.resolved is node.graph.anything


@pytest.mark.parametrize(
    "reference",
    ["#/$defs/Missing", "#anchor", "other.json", "https://example.com/schema", "#/$defs/list/3", 7],
)
def test_reference_that_cannot_be_followed_restricts_nothing(reference: Any) -> None:
    node = root({"$ref": reference, "$defs": {"list": [1]}})
    assert node.reference is None
    assert root({"$ref": reference, **TEXT}).resolved.types == ("string",)


@pytest.mark.parametrize("name", ["a b", "a/b", "a~b", "100%", "ä"])
@pytest.mark.parametrize("is_quoted", [True, False])
def test_names_in_references_may_be_percent_encoded(name: str, is_quoted: bool) -> None:
    from urllib.parse import quote

    pointer = name.replace("~", "~0").replace("/", "~1")
    reference = f"#/$defs/{quote(pointer) if is_quoted else pointer}"
    node = root({"$ref": reference, "$defs": {name: TEXT}})
    assert node.resolved.schema is node.graph.document["$defs"][name]
    assert node.reference_name == name


def test_draft_07_ignores_keywords_next_to_a_reference() -> None:
    schema = {"$ref": "#/definitions/A", "maxLength": 3, "definitions": {"A": TEXT}}
    old = root({"$schema": "http://json-schema.org/draft-07/schema#", **schema})
    assert old.resolved.limits == {}
    assert root(schema).resolved.limits == {"maxLength": 3}


@pytest.mark.parametrize(
    ("types", "definition"),
    [
        ("object", {"type": "object", "properties": {}}),
        (["null", "object"], {"type": "object", "properties": {}}),
        ("number", {"type": "integer", "minimum": 1}),
        ("integer", {"type": "integer"}),
    ],
)
def test_a_type_that_the_definition_says_too_adds_nothing(types: Any, definition: Schema) -> None:
    node = root({"type": types, "$ref": "#/$defs/A", "$defs": {"A": definition}})
    assert node.resolved.schema is definition
    assert node.link is node


@pytest.mark.parametrize("types", ["string", "integer"])
def test_a_narrower_type_next_to_a_reference_is_merged(types: str) -> None:
    node = root({"type": types, "$ref": "#/$defs/A", "$defs": {"A": {"type": "number"}}})
    assert node.link is None
    assert node.resolved.types == (("integer",) if types == "integer" else ())
    assert node.resolved.is_false == (types == "string")


# --- allOf ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "merged"),
    [
        ([{"type": "number"}, {"type": "integer"}], {"type": "integer"}),
        ([{"type": ["number", "null"]}, {"type": "integer"}], {"type": "integer"}),
        ([{"type": ["string", "null"]}, {"type": ["null", "string", "array"]}], OPTIONAL),
        ([{"type": "thing"}, TEXT], TEXT),
        ([TEXT, NUMBER], False),
        ([TEXT, False], False),
        ([{"enum": [1, 2, True]}, {"enum": [1.0, "a"]}], {"enum": [1]}),
        ([{"enum": ["a", "b"]}, {"const": "b"}], {"enum": ["b"]}),
        ([{"const": "a"}, {"const": "b"}], False),
        ([{"minimum": 1, "maximum": 9}, {"minimum": 3}], {"minimum": 3, "maximum": 9}),
        ([{"minLength": 1, "maxLength": 5}, {"maxLength": 9}], {"minLength": 1, "maxLength": 5}),
        ([{"pattern": "a"}, {"pattern": "b"}], {"pattern": "a"}),
        ([{"required": ["a"]}, {"required": ["b", "a"]}], {"required": ["a", "b"]}),
        (
            [{"properties": {"a": TEXT}}, {"properties": {"a": NUMBER, "b": TEXT}}],
            {"properties": {"a": {"allOf": [TEXT, NUMBER]}, "b": TEXT}},
        ),
        ([{"items": TEXT}, {"items": NUMBER}], {"items": {"allOf": [TEXT, NUMBER]}}),
        (
            [{"items": [TEXT, TEXT], "additionalItems": False}, {"prefixItems": [NUMBER]}],
            {"prefixItems": [{"allOf": [TEXT, NUMBER]}, TEXT], "items": False},
        ),
        ([{"if": TEXT, "then": False}, {"if": NUMBER, "else": False}], {"if": TEXT, "then": False}),
        ([{"title": "A", **TEXT}, {"title": "B", **TEXT}], {"title": "A", **TEXT}),
        ([{"minimum": "x"}, {"minimum": 1}], {"minimum": "x"}),
        ([{"minimum": 1}, {"minimum": "x"}], {"minimum": 1}),
        ([{"maximum": "x"}, {"maximum": 1}], {"maximum": "x"}),
        ([{"enum": ["a"]}, {"enum": "b"}], {"enum": ["a"]}),
        ([{"enum": "b"}, {"enum": ["a"]}], {"enum": "b"}),
        ([{"required": ["a"]}, {"required": "b"}], {"required": ["a"]}),
        ([{"required": "b"}, {"required": ["a"]}], {"required": "b"}),
        ([{"properties": {"a": TEXT}}, {"properties": [1]}], {"properties": {"a": TEXT}}),
        ([{"properties": [1]}, {"properties": {"a": TEXT}}], {"properties": [1]}),
        ([{"prefixItems": [TEXT]}, {"prefixItems": 1}], {"prefixItems": [TEXT]}),
        ([{"prefixItems": 1}, {"prefixItems": [TEXT]}], {"prefixItems": 1}),
        ([{"uniqueItems": True}, {"uniqueItems": False}], {"uniqueItems": True}),
        ([{"uniqueItems": False}, {"uniqueItems": True}], {"uniqueItems": True}),
    ],
)  # fmt: skip
def test_schemas_for_one_value_become_one(parts: list[Any], merged: Any) -> None:
    assert resolved({"allOf": parts}) == merged


def test_members_that_are_merged_twice_are_one_node() -> None:
    both = {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}
    definitions = {
        "A": {"properties": {"next": both}},
        "B": {"properties": {"next": {"$ref": "#/$defs/A"}}},
    }
    node = root({**both, "$defs": definitions}).resolved
    assert node.properties["next"].resolved is node


def test_alternatives_apply_with_what_is_next_to_them() -> None:
    shape = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "description": "either"}
    node = root({"properties": {"a": TEXT}, **shape})
    assert [node.merge_variant(variant).schema for variant in node.variants] == [
        {"properties": {"a": TEXT}, "required": ["a"]},
        {"properties": {"a": TEXT}, "required": ["b"]},
    ]


def test_alternative_of_the_type_next_to_it_is_itself() -> None:
    definition = {"type": "object", "properties": {"a": TEXT}}
    node = root({"type": "object", "anyOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": definition}})
    assert node.merge_variant(node.variants[0]).schema is definition


# --- exactly what a node says ---------------------------------------------------------------------


def test_only_keywords_that_may_refuse_values_are_assertions() -> None:
    keywords = {"minimum": 1, "title": "A", "x-order": 3, "$defs": {}}
    assert root(keywords).assertions == {"minimum": 1}
    assert root(True).assertions == {}
    assert root(False).assertions == {"enum": []}


def test_target_is_what_references_alone_lead_to() -> None:
    definitions = {
        "A": {"$ref": "#/$defs/B", "description": "An alias."},
        "B": {"$ref": "#/$defs/C", "minimum": 1},
        "C": NUMBER,
        "Circle": {"$ref": "#/$defs/Circle"},
        "Nowhere": {"$ref": "#/$defs/none"},
    }
    graph = SchemaGraph({"$defs": definitions})
    nodes = {name: graph.get_node(schema) for name, schema in definitions.items()}
    assert nodes["A"].target is nodes["B"]
    assert nodes["B"].target is nodes["B"]
    assert nodes["Circle"].target is nodes["Circle"]
    assert nodes["Nowhere"].target is nodes["Nowhere"]


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("properties", ["a", "b"]),
        ("prefixItems", [0, 1]),
        ("anyOf", [0]),
        ("items", [""]),
        ("$ref", [""]),
        ("not", []),
        ("enum", []),
    ],
)
def test_nodes_under_a_keyword_have_their_names_or_places(word: str, names: list[Any]) -> None:
    schema = {
        "properties": {"a": TEXT, "b": NUMBER},
        "prefixItems": [TEXT, NUMBER],
        "anyOf": [TEXT],
        "items": NUMBER,
        "$ref": "#/$defs/A",
        "enum": [1],
        "$defs": {"A": TEXT},
    }
    under = root(schema).find_under(word)
    assert list(under) == names
    assert all(node.schema in (TEXT, NUMBER) for node in under.values())


# --- validity -------------------------------------------------------------------------------------


class Judge:
    """Says whether values fit schemas of a document; no if that cannot be known."""

    def __init__(self, document: Any) -> None:
        self._validator = SchemaValidator(document, dialect=Draft202012Validator, checks=False)

    def accepts(self, schema: Any, value: Any) -> bool | None:
        try:
            return self._validator.is_valid(value, schema)
        except CannotJudge:  # a circle
            return None


@given(schemas(), VALUES)
def test_resolved_schema_accepts_all_that_the_schema_accepts(document: Any, value: Any) -> None:
    judge = Judge(document)
    for node in SchemaGraph(document).iterate_nodes():
        if judge.accepts(node.schema, value):
            assert judge.accepts(node.resolved.schema, value) is not False


@given(schemas(), VALUES)
def test_one_alternative_accepts_all_that_the_schema_accepts(document: Any, value: Any) -> None:
    judge = Judge(document)
    for place in SchemaGraph(document).iterate_nodes():
        node = place.resolved
        if node.variants and judge.accepts(node.schema, value):
            variants = [node.merge_variant(variant).schema for variant in node.variants]
            assert any(judge.accepts(schema, value) is not False for schema in variants)


# --- expensive schemas ----------------------------------------------------------------------------


VISITS: dict[str, Callable[[SchemaGraph], object]] = {
    "nodes": lambda graph: sum(1 for _ in graph.iterate_nodes()),
    "resolved": lambda graph: [node.resolved for node in graph.iterate_nodes()],
    "alternatives": lambda graph: graph.root.list_alternatives(),
}


@pytest.mark.parametrize("kind", SCHEMAS)
@pytest.mark.parametrize("visitor", VISITS)
def test_work_is_linear_in_the_schema(kind: str, visitor: str) -> None:
    make, size = SCHEMAS[kind]
    visit = VISITS[visitor]

    def prepare(times: int) -> Callable[[], object]:
        document = make(size * times)
        return lambda: visit(SchemaGraph(document))

    assert is_linear(prepare)


def test_merges_end_at_a_budget_for_the_whole_schema() -> None:
    """Each definition has one part more than the one before: written out, they are quadratic."""
    size = 2000
    definitions: dict[str, Any] = {"D0": {"minProperties": 0}}
    for number in range(1, size):
        part = {"$ref": f"#/$defs/D{number - 1}"}
        definitions[f"D{number}"] = {"minProperties": number, "allOf": [part]}
    graph = SchemaGraph({"$defs": definitions})
    resolved = [node.resolved for node in graph.root.list_inside()]
    assert resolved[10].schema == {"minProperties": 10}
    assert resolved[-1] is graph.anything
