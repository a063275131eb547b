"""Strategies for any entry of a tool list, for property tests of the code that reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

# What breaks out of a docstring, a comment, a table or a string, and ordinary words.
HOSTILE = [
    "",
    '"""',
    "'''",
    "\\",
    "\\N{",
    "*/",
    "|",
    "\n",
    "\r",
    "\u2028",
    "\x00",
    "\x1b",
    "<b>",
    "`",
    "${x}",
    "é加",
    "#",
]
TEXTS = st.lists(st.sampled_from(["word", " ", *HOSTILE]) | st.text(max_size=5), max_size=6).map(
    "".join
)
NAMES = (
    st.sampled_from(["a", "b", "class", "None", "1st", "a b", "größe", "-", "self", "__proto__"])
    | TEXTS
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=3,
)


def with_words(schema: st.SearchStrategy[dict[str, Any]], **words: st.SearchStrategy[Any]) -> Any:
    """*schema*, sometimes with some of *words* added."""
    return st.builds(
        lambda some, base: {**some, **base}, st.fixed_dictionaries({}, optional=words), schema
    )


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.dictionaries(NAMES, inner, max_size=3).flatmap(
        lambda members: with_words(
            st.just({"type": "object", "properties": members}),
            required=st.lists(st.sampled_from(sorted(members)), unique=True)
            if members
            else st.just([]),
            additionalProperties=st.booleans() | inner,
        )
    )
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        objects,
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda items: {"type": "array", "prefixItems": items}, several),
        st.builds(
            lambda word, members: {word: members},
            st.sampled_from(["anyOf", "oneOf", "allOf"]),
            several,
        ),
        st.builds(lambda wanted: {"anyOf": [wanted, {"type": "null"}], "default": None}, inner),
    )


_SMALL = with_words(
    st.one_of(
        st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"]).map(
            lambda kind: {"type": kind}
        ),
        st.just({}),
        st.sampled_from(["A", "B", "nowhere"]).map(lambda name: {"$ref": f"#/$defs/{name}"}),
        st.just({"type": ["string", "null"]}),
        st.just({"type": ["string", "integer"]}),
        st.lists(JSON, min_size=1, max_size=3).map(lambda values: {"enum": values}),
        JSON.map(lambda value: {"const": value}),
    ),
    description=TEXTS,
    default=JSON,
    title=TEXTS,
    minimum=st.integers(),
    pattern=TEXTS,
    format=st.sampled_from(["date-time", "uri"]),
)
SCHEMAS = st.recursive(
    _SMALL, lambda inner: with_words(_larger(inner), description=TEXTS), max_leaves=4
)


@st.composite
def roots(draw: st.DrawFn) -> dict[str, Any]:
    """Schemas of arguments: objects, which may refer to two definitions, `A` and `B`."""
    members = draw(st.dictionaries(NAMES, SCHEMAS, max_size=3))
    required = draw(st.lists(st.sampled_from(sorted(members)), unique=True)) if members else []
    schema = {"type": "object", "properties": members, "required": required}
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.booleans() | SCHEMAS)
    if draw(st.booleans()):
        schema["$defs"] = {"A": draw(SCHEMAS), "B": draw(SCHEMAS)}
    return schema


ENTRIES = st.builds(
    lambda name, input_schema, more: {"name": name, "inputSchema": input_schema, **more},
    NAMES,
    roots(),
    st.fixed_dictionaries({}, optional={"description": TEXTS, "outputSchema": roots()}),
)

# --- schemas, each with a value that it takes -----------------------------------------------------


class Sample(NamedTuple):
    """A schema, a value that it takes, and that value as it is where everything has to be given."""

    schema: dict[str, Any]
    value: Any
    filled: Any


def sample(schema: dict[str, Any], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Sample]:
    return values.map(lambda value: Sample(schema, value, value))


FIELDS = st.sampled_from(["a", "b", "c", "x y", "class", "größe"])
_PLAIN_SAMPLES = st.one_of(
    sample({"type": "integer"}, st.integers()),
    sample({"type": "integer", "minimum": 0, "exclusiveMaximum": 10}, st.integers(0, 9)),
    sample({"type": "number"}, st.floats(allow_nan=False, allow_infinity=False)),
    sample({"type": "string", "minLength": 0}, TEXTS),
    sample({"type": "boolean"}, st.booleans()),
    sample({"type": "null"}, st.none()),
    sample({"type": "string", "enum": ["m", "km"]}, st.sampled_from(["m", "km"])),
    sample({"type": ["string", "null"], "enum": ["m", None]}, st.sampled_from(["m", None])),
    sample({"enum": [1, "one"]}, st.sampled_from([1, "one"])),
    sample({"const": "it"}, st.just("it")),
    sample({"type": ["integer", "string"], "minimum": 0}, st.sampled_from([1, "x"])),
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Sample]) -> Sample:
    """An object's schema and a value of it, in which some of the optional members are missing."""
    members = draw(
        st.dictionaries(
            FIELDS, st.tuples(inner, st.booleans(), st.booleans()), min_size=1, max_size=4
        )
    )
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: member.schema for name, (member, _, _) in members.items()},
        "required": [name for name, (_, is_required, _) in members.items() if is_required],
    }
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    # If a member may be null, its absence could not be seen afterwards.
    given = [
        name
        for name, (member, is_required, is_given) in members.items()
        if is_required or is_given or Draft202012Validator(member.schema).is_valid(None)
    ]
    value = {name: members[name][0].value for name in given}
    return Sample(
        schema,
        value,
        {name: members[name][0].filled if name in given else None for name in members},
    )


def _containing(inner: st.SearchStrategy[Sample]) -> st.SearchStrategy[Sample]:
    lists = st.tuples(inner, st.integers(0, 2)).map(
        lambda drawn: Sample(
            {"type": "array", "items": drawn[0].schema},
            [drawn[0].value] * drawn[1],
            [drawn[0].filled] * drawn[1],
        )
    )
    nullable = inner.map(lambda one: one._replace(schema={"anyOf": [one.schema, {"type": "null"}]}))
    unions = inner.map(lambda one: one._replace(schema={"oneOf": [APART, one.schema]}))
    tuples = st.lists(inner, min_size=1, max_size=3).map(
        lambda several: Sample(
            {
                "type": "array",
                "prefixItems": [one.schema for one in several],
                "items": {"anyOf": [one.schema for one in several]},
                "minItems": len(several),
                "maxItems": len(several),
            },
            [one.value for one in several],
            [one.filled for one in several],
        )
    )
    return objects(inner) | lists | nullable | unions | tuples


APART = {"type": "object", "properties": {"z": {"type": "integer"}}, "required": ["z"]}
"""A schema that shares no value with the others here, so that it can join any of them in a `oneOf`.
"""

SAMPLES = objects(st.recursive(_PLAIN_SAMPLES, _containing, max_leaves=6))
"""Schemas of arguments, each with arguments that it takes."""
