"""Schemas that typed languages can express, with values that fit them: what a mirror has to return
unchanged.

A language's test compiles all examples as one client, since each compilation takes seconds.
"""

from __future__ import annotations

from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from toolwire_check.values import valid_values

Schema = dict[str, Any]
Case = TypeVar("Case")

# Names that languages cannot have as they are, or that they would give to two members.
NAMES = st.sampled_from(
    (
        "a",
        "A",
        "b",
        "type",
        "class",
        "end",
        "func",
        "self",
        "snake_case",
        "snakeCase",
        "x-1",
        "später",
        "2nd",
        "_",
        "ID",
    )
)
TEXTS = st.lists(
    st.sampled_from(("red", "Red", "light green", "", "1", "null", "ß")), min_size=1, unique=True
)
BIG = 2**53 - 1  # the largest whole number that JavaScript knows exactly

SCALARS: st.SearchStrategy[Schema] = st.one_of(
    st.just({"type": "string"}),
    st.just({"type": "boolean"}),
    st.just({"type": "integer", "minimum": -BIG, "maximum": BIG}),
    st.just({"type": "number", "minimum": -1e9, "maximum": 1e9}),
    TEXTS.map(lambda texts: {"type": "string", "enum": texts}),
)
NODE: Schema = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2},
    },
    "required": ["children"],
    "additionalProperties": False,
}


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    members = draw(st.dictionaries(NAMES, inner, min_size=1, max_size=4))
    needed = draw(st.lists(st.sampled_from(sorted(members)), unique=True))
    rest = draw(st.just(False) | SCALARS)
    return {
        "type": "object",
        "properties": members,
        "required": needed,
        "additionalProperties": rest,
    }


def _composed(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    tagged = st.lists(objects(inner), min_size=2, max_size=3).map(
        lambda parts: {
            "anyOf": [_with_tag(part, f"kind {number}") for number, part in enumerate(parts)]
        }
    )
    return st.one_of(
        inner.map(lambda schema: {"anyOf": [schema, {"type": "null"}]}),
        inner.map(lambda schema: {"type": "array", "items": schema, "maxItems": 3}),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda items: {
                "type": "array",
                "prefixItems": items,
                "items": False,
                "minItems": len(items),
            }
        ),
        inner.map(lambda schema: {"type": "object", "additionalProperties": schema}),
        inner.map(
            lambda schema: {
                "anyOf": [
                    {"type": "string"},
                    {"type": "integer", "minimum": 0, "maximum": 9},
                    schema,
                ]
            }
        ),
        tagged,
        objects(inner),
    )


def _with_tag(part: Schema, tag: str) -> Schema:
    properties = {**part["properties"], "kind": {"const": tag}}
    return {**part, "properties": properties, "required": [*part["required"], "kind"]}


SCHEMAS = st.recursive(SCALARS | st.just({"$ref": "#/$defs/node"}), _composed, max_leaves=6)


@st.composite
def mirrored(draw: st.DrawFn) -> tuple[Schema, Any]:
    """A schema and a value that fits it, in which no whole number is written as a fraction."""
    schema = {**draw(SCHEMAS), "$defs": {"node": NODE}}
    return schema, _whole(draw(valid_values(schema)))


def _whole(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_whole(item) for item in value]
        case dict():
            return {name: _whole(member) for name, member in value.items()}
    return value


def examples(cases: st.SearchStrategy[Case], count: int) -> list[Case]:
    """Return *count* cases, to be tried together."""
    found: list[Case] = []

    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found
