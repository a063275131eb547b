"""Strategies for any type hint, and for values that probably fit a schema."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import uuid
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import annotated_types
import msgspec
from hypothesis import strategies as st
from jsonschema import FormatChecker


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.Enum):
    ONE = 1
    HALF = 0.5
    NONE = None


class Shade(enum.Enum):
    LIGHT = (1, 2)


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0
    label: str | None = None


@dataclasses.dataclass
class Tree:
    value: int
    children: list[Tree] = dataclasses.field(default_factory=list)


class Movie(TypedDict):
    name: str
    year: NotRequired[int]


class Pair(NamedTuple):
    left: int
    right: Color = Color.RED


class Item(msgspec.Struct, rename="camel"):
    item_name: str
    when: dt.date | None = None


SIMPLE: list[Any] = [
    *(
        int,
        float,
        bool,
        str,
        None,
        Any,
        dict,
        list,
        Color,
        Size,
        Shade,
        Point,
        Tree,
        Movie,
        Pair,
        Item,
    ),
    *(dt.datetime, dt.date, dt.time, uuid.UUID),
    *(Literal["a", "b"], Literal[1, "1", None], Literal[True, 2]),
    Annotated[int, annotated_types.Ge(0), annotated_types.Lt(100)],
    Annotated[str, msgspec.Meta(min_length=1, max_length=3, pattern="^[a-c]*$")],
    Annotated[list[int], msgspec.Meta(min_length=1, max_length=2)],
    Annotated[float, annotated_types.MultipleOf(0.5)],
    dict[int, str],
    dict[Color, int],
]


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(lambda hint: list[hint]),  # type: ignore[valid-type]
        inner.map(lambda hint: dict[str, hint]),  # type: ignore[valid-type]
        inner.map(lambda hint: tuple[hint, ...]),  # type: ignore[valid-type]
        st.lists(inner, min_size=1, max_size=3).map(
            lambda hints: tuple.__class_getitem__(tuple(hints))
        ),
        st.tuples(inner, inner).map(either),
        st.tuples(inner, st.just(None)).map(either),
        inner.map(lambda hint: Annotated[hint, "text"]),
    )


def either(hints: tuple[Any, ...]) -> Any:
    from typing import Union

    return Union[hints]  # noqa: UP007


HINTS = st.recursive(st.sampled_from(SIMPLE), composed, max_leaves=4)

TEXTS = st.text(max_size=4) | st.sampled_from(
    (
        *("", "a", "b", "ab", "red", "LIGHT", "1", "-7", "null"),
        *(
            "2026-03-01",
            "2026-03-01T09:00:00Z",
            "2026-03-01T09:00:00",
            "12:30",
            "25:00",
            "12:30:00+02:00",
        ),
        *(str(uuid.UUID(int=7)), uuid.UUID(int=7).hex),
    )
)
NUMBERS = (
    st.sampled_from([0, 1, 2, -1, 0.5, 1.0, 2.0, -0.0, 99, 100, 2**53, 2**64, 10**30, 1.5])
    | st.integers()
)
NAMES = st.sampled_from(
    [
        "x",
        "y",
        "label",
        "value",
        "children",
        "name",
        "year",
        "left",
        "right",
        "itemName",
        "when",
        "1",
    ]
)
JSON: st.SearchStrategy[Any] = st.recursive(
    NUMBERS | TEXTS | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def fitting(draw: st.DrawFn, schema: dict[str, Any], root: dict[str, Any], depth: int = 0) -> Any:
    """A value that probably fits the schema: good enough to reach every yes, wrong often enough to
    reach many a no.
    """
    if depth > 4 or draw(st.integers(0, 19)) == 0:
        return draw(JSON)
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return draw(fitting(draw(st.sampled_from(schema["anyOf"])), root, depth))
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    match schema.get("type"):
        case "object":
            known = schema.get("properties", {})
            wanted = [
                name for name in known if name in schema.get("required", ()) or draw(st.booleans())
            ]
            made = {name: draw(fitting(known[name], root, depth + 1)) for name in wanted}
            if not known:
                for name in draw(st.lists(NAMES | TEXTS, max_size=2)):
                    made[name] = draw(
                        fitting(schema.get("additionalProperties") or {}, root, depth + 1)
                    )
            return made
        case "array":
            places = schema.get("prefixItems")
            if places:
                return [draw(fitting(place, root, depth + 1)) for place in places]
            size = draw(st.integers(schema.get("minItems", 0), schema.get("maxItems", 3)))
            return [draw(fitting(schema["items"], root, depth + 1)) for _ in range(size)]
        case "integer" | "number":
            return draw(NUMBERS)
        case "string":
            return draw(TEXTS)
        case "boolean":
            return draw(st.booleans())
        case "null":
            return None
    return draw(JSON)


# jsonschema checks date-time only where an optional package is installed.
FORMATS = FormatChecker()


@FORMATS.checks("date-time")
def _is_date_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    try:
        return "T" in value and dt.datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
