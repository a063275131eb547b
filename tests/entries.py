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
