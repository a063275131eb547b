"""Entries of tools as anybody's server may list them, for property tests of what reads them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

# What breaks out of a docstring, a comment, a table or a string, beside ordinary words.
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
TEXTS = st.lists(st.sampled_from(["word", " ", *HOSTILE]) | st.text(max_size=5), max_size=6).map("".join)
NAMES = st.sampled_from(["a", "b", "class", "None", "1st", "a b", "größe", "-", "self", "__proto__"]) | TEXTS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def with_words(schema: st.SearchStrategy[dict[str, Any]], **words: st.SearchStrategy[Any]) -> Any:
    """*schema*, sometimes with some of *words* beside what it says."""
    return st.builds(lambda some, base: {**some, **base}, st.fixed_dictionaries({}, optional=words), schema)


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.dictionaries(NAMES, inner, max_size=3).flatmap(
        lambda members: with_words(
            st.just({"type": "object", "properties": members}),
            required=st.lists(st.sampled_from(sorted(members)), unique=True) if members else st.just([]),
            additionalProperties=st.booleans() | inner,
        )
    )
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        objects,
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda items: {"type": "array", "prefixItems": items}, several),
        st.builds(lambda word, members: {word: members}, st.sampled_from(["anyOf", "oneOf", "allOf"]), several),
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
SCHEMAS = st.recursive(_SMALL, lambda inner: with_words(_larger(inner), description=TEXTS), max_leaves=6)


@st.composite
def roots(draw: st.DrawFn) -> dict[str, Any]:
    """Schemas of arguments: objects, which may refer to two definitions, `A` and `B`."""
    members = draw(st.dictionaries(NAMES, SCHEMAS, max_size=4))
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

# --- schemas, each with a value that it takes -------------------------------------------------------------------------

FIELDS = st.sampled_from(["a", "b", "c", "x y", "class", "größe"])
Pair = tuple[dict[str, Any], Any]
_PLAIN_PAIRS: st.SearchStrategy[Pair] = st.one_of(
    st.integers().map(lambda value: ({"type": "integer"}, value)),
    st.integers(0, 9).map(lambda value: ({"type": "integer", "minimum": 0, "exclusiveMaximum": 10}, value)),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: ({"type": "number"}, value)),
    TEXTS.map(lambda value: ({"type": "string"}, value)),
    st.booleans().map(lambda value: ({"type": "boolean"}, value)),
    st.just(({"type": "null"}, None)),
    st.sampled_from(["m", "km"]).map(lambda value: ({"type": "string", "enum": ["m", "km"]}, value)),
    st.sampled_from(["m", None]).map(lambda value: ({"type": ["string", "null"], "enum": ["m", None]}, value)),
    st.sampled_from([1, "one"]).map(lambda value: ({"enum": [1, "one"]}, value)),
    st.just(({"const": "it"}, "it")),
    st.sampled_from([1, "x"]).map(lambda value: ({"type": ["integer", "string"]}, value)),
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Pair]) -> Pair:
    """An object's schema and a value of it, in which some of the optional members are missing."""
    pairs = draw(st.dictionaries(FIELDS, st.tuples(inner, st.booleans(), st.booleans()), min_size=1, max_size=4))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema for name, ((schema, _), _, _) in pairs.items()},
        "required": [name for name, (_, is_required, _) in pairs.items() if is_required],
    }
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    given = {name: value for name, ((_, value), is_required, is_given) in pairs.items() if is_required or is_given}
    return schema, given


def _containing(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    lists = inner.flatmap(
        lambda pair: st.sampled_from([[], [pair[1]], [pair[1]] * 2]).map(
            lambda value: ({"type": "array", "items": pair[0]}, value)
        )
    )
    nullable = inner.map(lambda pair: ({"anyOf": [pair[0], {"type": "null"}]}, pair[1]))
    unions = inner.map(lambda pair: ({"oneOf": [APART, pair[0]]}, pair[1]))
    tuples = st.lists(inner, min_size=1, max_size=3).map(
        lambda pairs: (
            {
                "type": "array",
                "prefixItems": [schema for schema, _ in pairs],
                "items": {"anyOf": [schema for schema, _ in pairs]},
                "minItems": len(pairs),
                "maxItems": len(pairs),
            },
            [value for _, value in pairs],
        )
    )
    return objects(inner) | lists | nullable | unions | tuples


APART = {"type": "object", "properties": {"z": {"type": "integer"}}, "required": ["z"]}
"""What no other schema here has values of, so that it can stand beside any of them in a `oneOf`."""

PAIRS = objects(st.recursive(_PLAIN_PAIRS, _containing, max_leaves=6))
"""Schemas of arguments, each with arguments that it takes."""
