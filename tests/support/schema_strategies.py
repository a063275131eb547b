"""Strategies for any JSON Schema, usual and unusual."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from support.type_strategies import JSON

NAMES = st.sampled_from(("a", "b", "name", "__proto__", "", "x-1"))
PATTERNS = st.sampled_from(
    ("^[a-c]+$", "^x-", "[0-9]{2}", "^(a|b){2,3}$", "\\w", "^\\d{4}-\\d{2}$", "^[^/]*$", "^.{2,5}$")
)
BOUNDS = st.integers(-5, 8) | st.sampled_from((0.5, -2.5, 0.1, 2**53, 1e300, 10**30))
COUNTS = st.integers(0, 3)
STEPS = st.sampled_from((1, 2, 3, 7, 0.5, 0.1, 0.01, 2.5, 10**20))
FORMATS = st.sampled_from(("date", "email", "ipv4", "uuid", "date-time", "color"))
TYPES = st.sampled_from(("null", "boolean", "integer", "number", "string", "array", "object"))
NUMBER = {
    "minimum": BOUNDS,
    "maximum": BOUNDS,
    "exclusiveMinimum": BOUNDS,
    "exclusiveMaximum": BOUNDS,
    "multipleOf": STEPS,
}
STRING = {
    "minLength": COUNTS,
    "maxLength": COUNTS.map(lambda count: count + 2),
    "pattern": PATTERNS,
    "format": FORMATS,
}


def some(
    words: dict[str, st.SearchStrategy[Any]], at_most: int = 3
) -> st.SearchStrategy[dict[str, Any]]:
    """A schema of a few of these *words*."""
    chosen = st.lists(st.sampled_from(sorted(words)), unique=True, max_size=at_most)
    return chosen.flatmap(
        lambda names: st.fixed_dictionaries({name: words[name] for name in names})
    )


def of_type(
    name: str, words: dict[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[dict[str, Any]]:
    return some(words).map(lambda schema: {"type": name, **schema})


LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(("null", "boolean", "integer", "string")).map(lambda name: {"type": name}),
    of_type("integer", NUMBER),
    of_type("number", NUMBER),
    of_type("string", STRING),
    st.lists(TYPES, min_size=1, max_size=3, unique=True).map(lambda names: {"type": names}),
    st.lists(JSON, min_size=1, max_size=3).map(lambda values: {"enum": values}),
    JSON.map(lambda value: {"const": value}),
    st.booleans(),
    st.just({"$ref": "#/$defs/tree"}),
    st.just({"$ref": "#/$defs/leaf"}),
    some({**NUMBER, **STRING}),
)


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    branches = st.lists(inner, min_size=1, max_size=3)
    array = {
        "items": inner,
        "prefixItems": branches,
        "minItems": COUNTS,
        "maxItems": COUNTS,
        "uniqueItems": st.booleans(),
        "contains": inner,
        "minContains": COUNTS,
        "maxContains": COUNTS,
    }
    members = st.dictionaries(NAMES, inner, max_size=3)
    object_ = {
        "properties": members,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": inner,
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        "propertyNames": inner | of_type("string", STRING),
        "minProperties": COUNTS,
        "maxProperties": COUNTS,
        "dependentRequired": st.dictionaries(
            NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2
        ),
        "dependentSchemas": st.dictionaries(NAMES, inner, max_size=1),
    }
    combined = {
        "anyOf": branches,
        "oneOf": branches,
        "allOf": branches,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "type": TYPES,
    }
    tool = members.map(
        lambda properties: {
            "type": "object",
            "properties": properties,
            "required": list(properties)[:1],
        }
    )
    return st.one_of(
        tool,
        of_type("object", object_),
        of_type("array", array),
        some(combined),
        some({**array, **object_, **combined}),
    )


SCHEMAS = st.recursive(LEAVES, composed, max_leaves=8)

TREE = {
    "type": "object",
    "properties": {
        "value": {"$ref": "#/$defs/leaf"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
    },
    "required": ["children"],
}


def documents() -> st.SearchStrategy[Any]:
    """A whole schema, which may refer to itself."""
    return st.builds(_document, SCHEMAS, LEAVES.filter(lambda leaf: "$ref" not in str(leaf)))


def _document(schema: Any, leaf: Any) -> Any:
    return {**schema, "$defs": {"tree": TREE, "leaf": leaf}} if isinstance(schema, dict) else schema
