"""Every type a tool may use: the schema it publishes, the JSON it takes, what the function gets,
what is refused.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import ipaddress
import pathlib
import typing
import uuid
from collections.abc import Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    TypedDict,
)

import annotated_types
import attrs
import msgspec
import pydantic
import pydantic.json_schema
import pytest
from toolwire_tools import Image, make_tool, tool_api
from toolwire_tools.errors import ArgumentsError, OutputError, RegistrationError
from toolwire_tools.schema.validator import ToolSchemaValidator
from toolwire_tools.signature import Signature, read_signature


def takes(hint: Any, **default: Any) -> Signature:
    """The signature of a tool with one parameter, `x`, of the type *hint*."""

    def tool(x: Any) -> None: ...

    tool.__annotations__["x"] = hint
    tool.__defaults__ = tuple(default.values()) or None
    return read_signature(tool, tool="tool")


def schema_of(hint: Any, **default: Any) -> Any:
    return takes(hint, **default).arguments.input_schema["properties"]["x"]


def load(hint: Any, value: Any) -> Any:
    return takes(hint).arguments.bind({"x": value}, strict=True)[1]["x"]


def faults(hint: Any, value: Any) -> list[tuple[str, str]]:
    with pytest.raises(ArgumentsError) as caught:
        takes(hint).arguments.bind({"x": value}, strict=True)
    return caught.value.faults


def returning(hint: Any) -> Any:
    def tool() -> Any: ...

    tool.__annotations__["return"] = hint
    return read_signature(tool, tool="tool").returns


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


MOMENT = {
    "type": "string",
    "pattern": (
        "^[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}[Tt"
        " ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]+)?)?"
        "([zZ]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?$"
    ),
    "description": (
        "Date and time, such as 2026-03-01T09:00:00, with an offset if known:"
        " 2026-03-01T09:00:00+02:00."
    ),
}


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    WORD = "word"
    NUMBER = 2
    FRACTION = 2.5
    NOTHING = None


class Shades(enum.Enum):
    LIGHT = (250, 250, 250)
    DARK = (5, 5, 5)


class Mode(enum.StrEnum):
    FAST = "fast"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Point:
    """A place on the map."""

    x: int
    y: Annotated[int, "how far up"] = 0


@dataclasses.dataclass
class Circle:
    center: Point
    radius: float
    tags: list[str] = dataclasses.field(default_factory=list)
    area: float = dataclasses.field(init=False, default=0.0)


@dataclasses.dataclass
class Tree:
    name: str
    children: list[Tree] = dataclasses.field(default_factory=list)


@attrs.define
class Ticket:
    seat: int
    names: list[str] = attrs.Factory(list)
    price: float = attrs.field(init=False, default=9.5)


class Movie(TypedDict):
    name: str
    year: NotRequired[int]


class Odd(TypedDict("Odd", {"content-type": str, "class": int}, total=False)): ...


class Pair(NamedTuple):
    left: int
    right: str = "none"


class Item(msgspec.Struct, rename="camel"):
    item_name: str
    unit_count: int = 1


class Cat(msgspec.Struct, tag="cat"):
    lives: int


class Dog(msgspec.Struct, tag="dog"):
    tricks: list[str]


class User(pydantic.BaseModel):
    name: str
    age: Annotated[int, pydantic.Field(ge=0, description="in years")] = 0
    born: dt.date | None = None


class Node(pydantic.BaseModel):
    value: int
    next: Node | None = None


T = typing.TypeVar("T")


@dataclasses.dataclass
class Box(Generic[T]):
    content: T


UserId = NewType("UserId", int)
POINT = {
    "type": "object",
    "properties": {
        "x": {"type": "integer"},
        "y": {"type": "integer", "description": "how far up", "default": 0},
    },
    "required": ["x"],
    "additionalProperties": False,
    "description": "A place on the map.",
}

# hint, schema, [(JSON, value)], [JSON that is refused]
TYPES: list[tuple[Any, Any, list[tuple[Any, Any]], list[Any]]] = [
    (
        int,
        {"type": "integer"},
        [(3, 3), (3.0, 3), (10**40, 10**40), (-(10**40), -(10**40))],
        [True, "3", 3.5, None],
    ),
    (float, {"type": "number"}, [(3, 3.0), (3.5, 3.5), (2**70, float(2**70))], [True, "3", None]),
    (bool, {"type": "boolean"}, [(True, True)], [1, 0, "true", None]),
    (str, {"type": "string"}, [("", ""), ("é", "é")], [1, None, ["a"]]),
    (None, {"type": "null"}, [(None, None)], [0, "", False]),
    (
        Any,
        {"description": "Any JSON value."},
        [(v, v) for v in (1, 1.0, None, "a", [1], {"a": [None]})],
        [],
    ),
    (object, {"description": "Any JSON value."}, [([1], [1])], []),
    (list, {"type": "array", "items": {}}, [([1, "a"], [1, "a"])], [{}, "ab"]),
    (
        list[int],
        {"type": "array", "items": {"type": "integer"}},
        [([1, 2.0], [1, 2])],
        [["1"], [True], 1],
    ),
    (Sequence[str], {"type": "array", "items": {"type": "string"}}, [(["a"], ["a"])], ["a"]),
    (set[int], {"type": "array", "items": {"type": "integer"}}, [([1, 1, 2], {1, 2})], [{}]),
    (
        frozenset[str],
        {"type": "array", "items": {"type": "string"}},
        [(["a"], frozenset("a"))],
        [[1]],
    ),
    (
        set[Mode],
        {"type": "array", "items": {"type": "string", "enum": ["fast"]}},
        [(["fast"], {Mode.FAST})],
        [["slow"]],
    ),
    (
        collections.deque[int],
        {"type": "array", "items": {"type": "integer"}},
        [([1], collections.deque([1]))],
        [["a"]],
    ),
    (
        tuple[int, ...],
        {"type": "array", "items": {"type": "integer"}},
        [([1, 2], (1, 2)), ([], ())],
        [["a"]],
    ),
    (
        tuple[int, str],
        {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "minItems": 2,
            "maxItems": 2,
        },
        [([1, "a"], (1, "a")), ([1.0, "a"], (1, "a"))],
        [["a", 1], [1], [1, "a", 2]],
    ),
    (
        tuple[float, float],
        {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
        [([1, 2.5], (1.0, 2.5))],
        [[1]],
    ),
    (tuple[()], {"type": "array", "items": {}, "minItems": 0, "maxItems": 0}, [([], ())], [[1]]),
    (dict, {"type": "object"}, [({"a": [1]}, {"a": [1]})], [[]]),
    (
        dict[str, int],
        {"type": "object", "additionalProperties": {"type": "integer"}},
        [({"a": 1.0}, {"a": 1})],
        [{"a": "b"}],
    ),
    (
        Mapping[str, Point],
        {"type": "object", "additionalProperties": POINT},
        [({"a": {"x": 1}}, {"a": Point(1)})],
        [{"a": {"x": 1, "z": 2}}],
    ),
    (
        dict[int, str],
        {
            "type": "object",
            "propertyNames": {"pattern": "^-?[0-9]+$"},
            "additionalProperties": {"type": "string"},
        },
        [({"1": "a", "-2": "b"}, {1: "a", -2: "b"})],
        [{"a": "b"}, {"1.5": "a"}],
    ),
    (
        dict[Color, int],
        {
            "type": "object",
            "propertyNames": {"enum": ["red", "blue"]},
            "additionalProperties": {"type": "integer"},
        },
        [({"red": 1}, {Color.RED: 1})],
        [{"green": 1}],
    ),
    (
        dict[dt.date, Any],
        {"type": "object", "propertyNames": {"format": "date"}},
        [({"2026-03-01": None}, {dt.date(2026, 3, 1): None})],
        [{"soon": 1}],
    ),
    (
        Optional[int],  # noqa: UP045
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        [(1, 1), (None, None), (1.0, 1)],
        ["a", True],
    ),
    (
        int | str | None,
        {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
        [(1, 1), ("1", "1"), (None, None)],
        [1.5, []],
    ),
    (
        int | float,
        {"type": "number"},
        [(1, 1), (1.5, 1.5), (2.0, 2.0), (10**400, 10**400)],
        ["a", True],
    ),
    (
        float | int | None,
        {"anyOf": [{"type": "number"}, {"type": "null"}]},
        [(2**64, 2**64), (None, None)],
        ["a"],
    ),
    (
        Annotated[int | float, msgspec.Meta(ge=0)],
        {"type": "number", "minimum": 0},
        [(10**40, 10**40), (1.5, 1.5), (2.0, 2.0)],
        [-1, -0.5],
    ),
    (
        str | dt.datetime,
        {"anyOf": [{"type": "string"}, MOMENT]},
        [("now", "now"), ("2026-03-01T09:00:00Z", dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC))],
        [1],
    ),
    (
        str | bytes,
        {"anyOf": [{"type": "string"}, {"type": "string", "contentEncoding": "base64"}]},
        [("abcd", "abcd")],
        [1],
    ),
    (
        Point | Movie,
        {
            "anyOf": [
                {**POINT, "title": "Point"},
                {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "year": {"type": "integer"}},
                    "required": ["name"],
                    "additionalProperties": False,
                    "title": "Movie",
                },
            ]
        },
        [({"x": 1}, Point(1)), ({"name": "A"}, {"name": "A"}), ({"x": 1.0}, Point(1))],
        [{}, {"x": 1, "name": "A"}, 3],
    ),
    (
        list[int] | int,
        {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "integer"}]},
        [([1], [1]), (1, 1)],
        ["1"],
    ),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, [("a", "a")], ["c", 1, None]),
    (
        Literal["a", 1, None],
        {
            "anyOf": [
                {"type": "string", "enum": ["a"]},
                {"type": "integer", "enum": [1]},
                {"type": "null"},
            ]
        },
        [("a", "a"), (1, 1), (1.0, 1), (None, None)],
        [True, 2, "b"],
    ),
    (Literal[True], {"type": "boolean", "enum": [True]}, [(True, True)], [False, 1]),
    (Literal[Color.RED], {"type": "string", "enum": ["red"]}, [("red", Color.RED)], ["blue"]),
    (Color, {"type": "string", "enum": ["red", "blue"]}, [("red", Color.RED)], ["RED", 1]),
    (
        Level,
        {"type": "integer", "enum": [1, 2], "description": "1 = LOW, 2 = HIGH."},
        [(1, Level.LOW), (2.0, Level.HIGH)],
        [3, True, "1"],
    ),
    (
        Mixed,
        {
            "anyOf": [
                {"type": "string", "enum": ["word"]},
                {"type": "number", "enum": [2, 2.5]},
                {"type": "null"},
            ],
            "description": "2 = NUMBER, 2.5 = FRACTION.",
        },
        [("word", Mixed.WORD), (2, Mixed.NUMBER), (2.5, Mixed.FRACTION), (None, Mixed.NOTHING)],
        ["x", 3, True],
    ),
    (Shades, {"type": "string", "enum": ["LIGHT", "DARK"]}, [("DARK", Shades.DARK)], ["dark"]),
    (Access, {"type": "integer"}, [(3, Access.READ | Access.WRITE)], ["READ"]),
    (
        Point,
        POINT,
        [({"x": 1}, Point(1)), ({"x": 1.0, "y": 2}, Point(1, 2))],
        [{"x": 1, "z": 1}, {}, [1], {"x": "1"}],
    ),
    (
        Circle,
        {
            "type": "object",
            "properties": {
                "center": POINT,
                "radius": {"type": "number"},
                "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            },
            "required": ["center", "radius"],
            "additionalProperties": False,
        },
        [({"center": {"x": 1}, "radius": 2}, Circle(Point(1), 2.0))],
        [{"center": {"x": 1, "q": 0}, "radius": 2}, {"center": {"x": 1}, "radius": 2, "area": 1}],
    ),
    (
        Movie,
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "year": {"type": "integer"}},
            "required": ["name"],
            "additionalProperties": False,
        },
        [({"name": "A"}, {"name": "A"}), ({"name": "A", "year": 1.0}, {"name": "A", "year": 1})],
        [{"year": 1}, {"name": "A", "x": 1}],
    ),
    (
        Odd,
        {
            "type": "object",
            "properties": {"content-type": {"type": "string"}, "class": {"type": "integer"}},
            "additionalProperties": False,
        },
        [({}, {}), ({"content-type": "a", "class": 1.0}, {"content-type": "a", "class": 1})],
        [{"content_type": "a"}],
    ),
    (
        Pair,
        {
            "type": "object",
            "properties": {
                "left": {"type": "integer"},
                "right": {"type": "string", "default": "none"},
            },
            "required": ["left"],
            "additionalProperties": False,
        },
        [({"left": 1}, Pair(1)), ({"left": 1, "right": "b"}, Pair(1, "b"))],
        [[1, "b"], {"left": "1"}],
    ),
    (
        Item,
        {
            "type": "object",
            "properties": {
                "itemName": {"type": "string"},
                "unitCount": {"type": "integer", "default": 1},
            },
            "required": ["itemName"],
            "additionalProperties": False,
        },
        [({"itemName": "a"}, Item("a")), ({"itemName": "a", "unitCount": 2}, Item("a", 2))],
        [{"item_name": "a"}],
    ),
    (
        Cat | Dog,
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "enum": ["cat"]},
                        "lives": {"type": "integer"},
                    },
                    "required": ["type", "lives"],
                    "additionalProperties": False,
                    "title": "Cat",
                },
                {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "enum": ["dog"]},
                        "tricks": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["type", "tricks"],
                    "additionalProperties": False,
                    "title": "Dog",
                },
            ]
        },
        [({"type": "cat", "lives": 9}, Cat(9)), ({"type": "dog", "tricks": []}, Dog([]))],
        [{"type": "cow"}, {"lives": 9}],
    ),
    (
        User,
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "age": {"type": "integer", "minimum": 0, "description": "in years", "default": 0},
                "born": {
                    "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
                    "default": None,
                },
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        [
            ({"name": "A"}, User(name="A")),
            (
                {"name": "A", "age": 2.0, "born": "2026-03-01"},
                User(name="A", age=2, born=dt.date(2026, 3, 1)),
            ),
        ],
        [{"name": "A", "age": "2"}, {"name": "A", "x": 1}, {"name": "A", "age": -1}],
    ),
    (
        Box[int],
        {
            "type": "object",
            "properties": {"content": {"type": "integer"}},
            "required": ["content"],
            "additionalProperties": False,
        },
        [({"content": 1}, Box(1))],
        [{"content": "a"}],
    ),
    (
        dt.datetime,
        MOMENT,
        [
            ("2026-03-01T09:00:00+02:00", dt.datetime.fromisoformat("2026-03-01T09:00:00+02:00")),
            ("2026-03-01T09:00:00.5", dt.datetime(2026, 3, 1, 9, microsecond=500_000)),
            ("2026-03-01 09:00", dt.datetime(2026, 3, 1, 9)),
            ("2026-03-01t09:00z", dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC)),
        ],
        [
            "2026-03-01",
            "2026-03-01T09",
            "soon",
            0,
            "2026-02-30T00:00:00Z",
            "2026-03-01T09:00:00+0200",
        ],
    ),
    (
        dt.date,
        {"type": "string", "format": "date"},
        [("2026-03-01", dt.date(2026, 3, 1))],
        ["20260301", "2026-02-30"],
    ),
    (
        dt.timedelta,
        {
            "type": "string",
            "pattern": r"^[+-]?P([0-9]+W|([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?)$",
            "description": "Duration, such as P1DT2H30M or -PT0.5S.",
        },
        [
            ("P1DT2H", dt.timedelta(1, 7200)),
            ("P2W", dt.timedelta(14)),
            ("-P2W", dt.timedelta(-14)),
            ("-P1DT0.5S", -dt.timedelta(1, 0.5)),
            ("P1DT", dt.timedelta(1)),
            ("PT", dt.timedelta()),
            ("P", dt.timedelta()),
        ],
        ["1d", 5, "P1Y", "P1W2D", "PT1,5S", "P1.5D", "", "P99999999999D"],
    ),
    (
        uuid.UUID,
        {"type": "string", "format": "uuid"},
        [(str(uuid.UUID(int=7)), uuid.UUID(int=7))],
        ["7", "0" * 32],
    ),
    (pathlib.Path, {"type": "string"}, [("a/b", pathlib.Path("a/b"))], [1]),
    (bytes, {"type": "string", "contentEncoding": "base64"}, [("aGk=", b"hi")], ["a", "a-_=", 1]),
    (
        bytearray,
        {"type": "string", "contentEncoding": "base64"},
        [("aGk=", bytearray(b"hi"))],
        ["a"],
    ),
    (
        ipaddress.IPv4Address,
        {"type": "string", "format": "ipv4"},
        [("1.2.3.4", ipaddress.IPv4Address("1.2.3.4"))],
        ["1.2.3"],
    ),
    (UserId, {"type": "integer"}, [(1, 1)], ["a"]),
    (Final[int], {"type": "integer"}, [(1, 1)], ["a"]),
    (Annotated[int, "a number"], {"type": "integer", "description": "a number"}, [(1, 1)], ["a"]),
    (
        Annotated[int, msgspec.Meta(ge=1, lt=10, description="few", examples=[2])],
        {
            "type": "integer",
            "minimum": 1,
            "exclusiveMaximum": 10,
            "description": "few",
            "examples": [2],
        },
        [(1, 1), (9.0, 9)],
        [0, 10, 10**30],
    ),
    (
        Annotated[int | None, annotated_types.Ge(0)],
        {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
        [(0, 0), (None, None)],
        [-1],
    ),
    (
        Annotated[str, msgspec.Meta(pattern="^[a-z]+$", min_length=2, max_length=3)],
        {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 3},
        [("ab", "ab")],
        ["a", "abcd", "AB"],
    ),
    (
        # A pair that crashes msgspec 0.22 when it meets in one of its unions.
        Annotated[str, msgspec.Meta(pattern="^[a-z]+$")] | list[int],
        {
            "anyOf": [
                {"type": "string", "pattern": "^[a-z]+$"},
                {"type": "array", "items": {"type": "integer"}},
            ]
        },
        [("ab", "ab"), ([1], [1])],
        ["A", ["a"], 1],
    ),
    (
        # Another one.
        Annotated[float, msgspec.Meta(multiple_of=0.5)] | tuple[int, int],
        {
            "anyOf": [
                {"type": "number", "multipleOf": 0.5},
                {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
            ]
        },
        [(1.5, 1.5), ([1, 2], (1, 2))],
        [0.3, [1], "a"],
    ),
    (
        Annotated[list[Annotated[int, annotated_types.Gt(0)]], annotated_types.Len(1, 2)],
        {
            "type": "array",
            "items": {"type": "integer", "exclusiveMinimum": 0},
            "minItems": 1,
            "maxItems": 2,
        },
        [([1], [1])],
        [[], [0], [1, 2, 3]],
    ),
    (
        Annotated[float, annotated_types.Interval(ge=0, le=1)],
        {"type": "number", "minimum": 0, "maximum": 1},
        [(0.5, 0.5), (1, 1.0)],
        [1.5, -1],
    ),
    (
        Annotated[int, pydantic.Field(ge=0, description="count")],
        {"type": "integer", "minimum": 0, "description": "count"},
        [(1, 1), (1.0, 1)],
        [-1, "1"],
    ),
]


@pytest.mark.parametrize(
    ("hint", "schema", "taken", "refused"), TYPES, ids=[str(case[0]) for case in TYPES]
)
def test_a_type_publishes_its_schema_and_reads_what_that_accepts(
    hint: Any, schema: Any, taken: list[tuple[Any, Any]], refused: list[Any]
) -> None:
    assert schema_of(hint) == schema
    for value, expected in taken:
        found = load(hint, value)
        assert (found, type(found)) == (expected, type(expected))
    for value in refused:
        assert faults(hint, value)


def test_decimals_are_exact_from_numbers_and_text() -> None:
    assert [load(decimal.Decimal, value) for value in (1, 0.1, "1.50", "-1e3")] == [
        decimal.Decimal(text) for text in ("1", "0.1", "1.50", "-1e3")
    ]
    assert faults(decimal.Decimal, "NaN")
    assert faults(decimal.Decimal, True)
    assert load(Annotated[decimal.Decimal, annotated_types.Ge(0)], "1") == 1
    assert faults(Annotated[decimal.Decimal, annotated_types.Ge(0)], "-1") == [
        ("arguments.x", "must be at least 0")
    ]


def test_a_time_of_day_needs_neither_seconds_nor_an_offset() -> None:
    assert load(dt.time, "14:30") == dt.time(14, 30)
    assert load(dt.time, "14:30:05Z") == dt.time(14, 30, 5, tzinfo=dt.UTC)
    assert faults(dt.time, "25:00")
    assert schema_of(Annotated[dt.time, msgspec.Meta(tz=True)]) == {
        "type": "string",
        "format": "time",
    }


def test_a_datetime_may_be_declared_to_have_no_offset() -> None:
    naive = Annotated[dt.datetime, msgspec.Meta(tz=False)]
    assert load(naive, "2026-03-01T09:00:00") == dt.datetime(2026, 3, 1, 9)
    assert faults(naive, "2026-03-01T09:00:00Z")


def test_only_types_that_contain_themselves_keep_a_definition() -> None:
    schema = takes(Tree).arguments.input_schema
    assert schema["properties"]["x"] == {"$ref": "#/$defs/Tree"}
    assert schema["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    assert "$defs" not in takes(Circle).arguments.input_schema
    tree = {"name": "a", "children": [{"name": "b"}]}
    assert load(Tree, tree) == Tree("a", [Tree("b")])
    assert faults(Tree, {"name": "a", "children": [{"name": "b", "q": 1}]}) == [
        ("arguments.x.children[0].q", "is unknown; known here: name, children")
    ]


Nested = typing.Union[int, Circle, list["Nested"]]  # noqa: UP007 (`|` takes no text)
Folder = dict[str, typing.Union["Folder", int]]
Endless = typing.Union[str, "Endless"]
Endless1 = Optional["Endless2"]
Endless2 = typing.Union[int, "Endless1"]


def test_types_that_contain_themselves_by_name_are_read_like_classes_that_do() -> None:
    assert schema_of("Folder") == {"$ref": "#/$defs/Folder"}
    assert takes("Folder").arguments.input_schema["$defs"] == {
        "Folder": {
            "type": "object",
            "additionalProperties": {"anyOf": [{"$ref": "#/$defs/Folder"}, {"type": "integer"}]},
        }
    }
    assert load("Folder", {"a": {"b": {}, "c": 1}}) == {"a": {"b": {}, "c": 1}}
    assert faults("Folder", {"a": {"b": "c"}})
    circle = {"center": {"x": 1}, "radius": 1}
    for hint in (Nested, "Nested", typing.ForwardRef("Nested"), "list[Nested]"):
        assert load(hint, [1, [[circle], 2]]) == [1, [[Circle(Point(1), 1)], 2]]
        assert faults(hint, [1, ["a"]])


def test_a_class_of_attrs_is_an_object() -> None:
    assert schema_of(Ticket)["required"] == ["seat"]
    assert load(Ticket, {"seat": 4}) == Ticket(4)
    assert faults(Ticket, {"seat": "x"})[0][0] == "arguments.x.seat"
    assert returning(Ticket).builtins(Ticket(4, ["Ada"])) == {
        "seat": 4,
        "names": ["Ada"],
        "price": 9.5,
    }


def test_results_may_contain_themselves_by_name() -> None:
    returns = returning("Folder")
    assert returns.builtins({"a": {"b": {}, "c": 1}}) == {"a": {"b": {}, "c": 1}}
    with pytest.raises(OutputError):
        returns.builtins({"a": {"b": "c"}})
    assert returning("Nested").builtins([1, [Circle(Point(1), 1.0)]])[1][0]["center"] == {
        "x": 1,
        "y": 0,
    }


@pytest.mark.parametrize("hint", ["Endless", "Endless1", "list[Endless2]"])
def test_a_union_with_itself_is_refused(hint: str) -> None:
    for register in (takes, returning):
        with pytest.raises(RegistrationError, match="is a union with itself"):
            register(hint)


def test_recursive_pydantic_models_are_read() -> None:
    assert load(Node, {"value": 1, "next": {"value": 2}}) == Node(value=1, next=Node(value=2))
    assert faults(Node, {"value": 1, "next": {"value": 2, "q": 1}})


def test_a_default_of_none_means_null_is_taken() -> None:
    assert schema_of(int, x=None) == {
        "anyOf": [{"type": "integer"}, {"type": "null"}],
        "default": None,
    }
    assert takes(int, x=None).arguments.bind({"x": None}) == ((), {"x": None})
    assert takes(int, x=None).arguments.bind({}) == ((), {})


@pytest.mark.parametrize(
    ("hint", "default", "shown"),
    [
        (Color, Color.RED, "red"),
        (dt.date, dt.date(2026, 3, 1), "2026-03-01"),
        (pathlib.Path, pathlib.Path("a"), "a"),
        (Point, Point(1), {"x": 1, "y": 0}),
        (list[int], [1], [1]),
        (set[int], {1}, [1]),
        (decimal.Decimal, decimal.Decimal("1.5"), "1.5"),
        (Shades, Shades.DARK, "DARK"),
    ],
)
def test_defaults_are_shown_as_json(hint: Any, default: Any, shown: Any) -> None:
    assert schema_of(hint, x=default)["default"] == shown


def test_a_default_that_json_cannot_express_is_not_shown() -> None:
    assert "default" not in schema_of(int, x=object())
    assert "default" not in schema_of(float, x=float("nan"))


def test_mutable_defaults_are_left_to_python() -> None:
    seen: list[int] = []

    def tool(x: list[int] = seen) -> None: ...

    assert read_signature(tool, tool="tool").arguments.bind({}) == ((), {})


@pytest.mark.parametrize(
    "hint",
    [
        complex,
        typing.Callable[[], int],
        type[int],
        dict[Point, int],
        typing.IO[str],
        3,
        "nowhere.T",
    ],
)
def test_a_type_without_a_form_in_json_is_refused_at_registration(hint: Any) -> None:
    with pytest.raises(RegistrationError) as caught:
        takes(hint)
    assert caught.value.tool == "tool"
    assert caught.value.parameter == "parameter 'x'"
    assert caught.value.remedy


def test_the_remedy_for_a_type_without_a_form_in_json_names_the_option_that_helps() -> None:
    def taking(sent: complex) -> None: ...

    def giving() -> complex:
        return 1j

    for tool, option in ((taking, "input_schema"), (giving, "output_schema")):
        with pytest.raises(RegistrationError, match=rf"tool_api\({option}="):
            make_tool(tool)
        assert make_tool(tool_api(tool, **{option: {"type": "object"}})).name == tool.__name__


def test_a_type_may_carry_any_metadata() -> None:
    assert schema_of(Annotated[int, {"unhashable": []}, 5, "the text"]) == {
        "type": "integer",
        "description": "the text",
    }
    assert load(list[Annotated[int, {"unhashable": []}]], [1]) == [1]


def test_integers_beyond_64_bits_may_be_choices_and_limits() -> None:
    assert load(Literal[2**70, "a"], 2**70) == 2**70
    assert load(Annotated[int, msgspec.Meta(ge=0)], 2**70) == 2**70
    assert faults(Literal[2**70, "a"], 2**71)


def test_limits_hold_for_what_the_tool_gets() -> None:
    assert faults(Annotated[set[int], msgspec.Meta(min_length=2)], [1, 1]) == [
        ("arguments.x", "must be no shorter than 2")
    ]
    assert load(Annotated[bytes, msgspec.Meta(max_length=3)], "aGlo") == b"hih"
    assert faults(Annotated[bytes, msgspec.Meta(max_length=3)], "aGloYQ==")
    assert faults(Annotated[int, annotated_types.Ge(2**70)], 5)
    assert load(typing.Tuple, [1]) == (1,)  # noqa: UP006


@pytest.mark.parametrize(
    "hint", [set, set[Any], frozenset[list[int]], set[dict[str, int]], set[int | list[int]]]
)
def test_what_cannot_be_in_a_set_is_the_callers_fault(hint: Any) -> None:
    [(place, _)] = faults(hint, [{}] if hint == set[dict[str, int]] else [[1]])
    assert place == "arguments.x"


def test_integers_in_fractions_too_large_to_be_exact_are_named() -> None:
    assert faults(int, 1e300)[0][0] == "arguments.x"


def test_a_constructor_that_refuses_is_named_with_its_place() -> None:
    @dataclasses.dataclass
    class Even:
        n: int

        def __post_init__(self) -> None:
            if self.n % 2:
                raise ValueError(f"{self.n} is odd")

    assert faults(list[Even], [{"n": 2}, {"n": 3}]) == [("arguments.x[1]", "3 is odd")]


@pytest.mark.parametrize(
    ("hint", "value", "plain"),
    [
        (int, 3, 3),
        (int, 10**40, 10**40),
        (float, 2.5, 2.5),
        (float, 3, 3),
        (bool, True, True),
        (None, None, None),
        (list[int], [1], [1]),
        (set[str], {"a"}, ["a"]),
        (tuple[int, str], (1, "a"), [1, "a"]),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (dict[int, str], {1: "a"}, {"1": "a"}),
        (dict[str, Any], {"a": [1, None, Point(1)]}, {"a": [1, None, {"x": 1, "y": 0}]}),
        (Color, Color.RED, "red"),
        (Mixed, Mixed.FRACTION, 2.5),
        (Shades, Shades.DARK, "DARK"),
        (list[int] | Shades, Shades.DARK, "DARK"),
        (Point, Point(1, 2), {"x": 1, "y": 2}),
        (
            Circle,
            Circle(Point(1), 2),
            {"center": {"x": 1, "y": 0}, "radius": 2, "tags": [], "area": 0.0},
        ),
        (Tree, Tree("a", [Tree("b")]), {"name": "a", "children": [{"name": "b", "children": []}]}),
        (Movie, {"name": "A"}, {"name": "A"}),
        (Pair, Pair(1), {"left": 1, "right": "none"}),
        (list[Pair], [Pair(1)], [{"left": 1, "right": "none"}]),
        (Item, Item("a"), {"itemName": "a", "unitCount": 1}),
        (Cat | Dog, Cat(9), {"type": "cat", "lives": 9}),
        (Cat, Cat(9), {"type": "cat", "lives": 9}),
        (User, User(name="A"), {"name": "A", "age": 0, "born": None}),
        (Node, Node(value=1), {"value": 1, "next": None}),
        (dt.datetime, dt.datetime(2026, 3, 1), "2026-03-01T00:00:00"),
        (dt.date, dt.date(2026, 3, 1), "2026-03-01"),
        (dt.time, dt.time(1, 2), "01:02:00"),
        (dt.timedelta, dt.timedelta(seconds=1.5), "PT1.5S"),
        (uuid.UUID, uuid.UUID(int=7), str(uuid.UUID(int=7))),
        (decimal.Decimal, decimal.Decimal("1.50"), "1.50"),
        (pathlib.Path, pathlib.Path("a"), "a"),
        (list[bytes], [b"hi"], ["aGk="]),
        (int | None, None, None),
        (str | dt.datetime, "now", "now"),
        (Point | Movie, {"name": "A"}, {"name": "A"}),
        (Annotated[int, msgspec.Meta(ge=0)], 3, 3),
    ],
)
def test_a_result_becomes_plain_data_that_its_schema_accepts(
    hint: Any, value: Any, plain: Any
) -> None:
    import jsonschema

    returns = returning(hint)
    assert returns.kind == "structured"
    assert returns.output_schema["type"] == "object"
    made = returns.builtins(value)
    assert (made, type(made)) == (plain, type(plain))
    jsonschema.Draft202012Validator(returns.output_schema).validate(
        {"result": made} if returns.wraps else made
    )


@pytest.mark.parametrize(
    ("hint", "value", "place"),
    [
        (int, "3", "result"),
        (int, True, "result"),
        (float, float("nan"), "result"),
        (list[float], [1.0, float("inf")], "result[1]"),
        (dict[str, Any], {"a": [float("nan")]}, "result.a[0]"),
        (list[int], [1, "a"], "result[1]"),
        (Point, Point("a"), "result.x"),  # type: ignore[arg-type]
        (Movie, {"name": "A", "x": 1}, "result.x"),
        (Movie, {}, "result.name"),
        (Color, "green", "result"),
        (dict[str, Any], {"a": object()}, "result.a"),
        (decimal.Decimal, decimal.Decimal("NaN"), "result"),
        (Annotated[int, msgspec.Meta(ge=0)], -1, "result"),
    ],
)
def test_a_result_that_its_schema_refuses_is_named_with_its_place(
    hint: Any, value: Any, place: str
) -> None:
    with pytest.raises(OutputError) as caught:
        returning(hint).builtins(value)
    assert caught.value.faults[0][0] == place


def test_a_choice_of_nothing_is_refused_when_the_tool_is_made() -> None:
    class Nothing(enum.Enum):
        pass

    with pytest.raises(RegistrationError, match="Nothing has no members"):
        takes(Nothing)


def test_flags_are_integers_in_any_spelling_and_the_class_says_which() -> None:
    class Rights(enum.Flag, boundary=enum.STRICT):
        READ = 1
        WRITE = 2

    assert load(Rights, 3.0) is Rights.READ | Rights.WRITE
    [(place, _)] = faults(list[Rights], [1, 8])
    assert place == "arguments.x[1]"


def test_a_member_that_may_be_unset_may_be_missing_in_a_result() -> None:
    class Partial(msgspec.Struct):
        found: int
        note: str | msgspec.UnsetType = msgspec.UNSET

    returns = returning(Partial)
    assert returns.output_schema["required"] == ["found"]
    assert returns.builtins(Partial(1)) == {"found": 1}
    assert returns.builtins(Partial(1, "here")) == {"found": 1, "note": "here"}


def test_content_among_data_is_refused_by_name() -> None:
    @dataclasses.dataclass
    class Page:
        picture: Image

    for made in (lambda: takes(Page), lambda: takes(Image), lambda: returning(Page)):
        with pytest.raises(
            RegistrationError, match=r"Image is content of an answer and no data; .* list\[Image\]"
        ):
            made()


def test_the_length_of_bytes_is_theirs_and_not_that_of_their_base64() -> None:
    pair = Annotated[bytes, msgspec.Meta(min_length=2, max_length=2)]
    assert load(pair, "YWI=") == b"ab"
    assert faults(pair, "YWJj") == [("arguments.x", "must be no longer than 2")]
    assert faults(pair, "YQ==") == [("arguments.x", "must be no shorter than 2")]


@pytest.mark.parametrize(
    ("hint", "value", "place"),
    [
        (bytes, "ab", "arguments.x"),
        (list[bytes], ["YWI=", "ab"], "arguments.x[1]"),
        (
            list[list[Annotated[dt.time, msgspec.Meta(tz=False)]]],
            [["09:00:00", "nine"]],
            "arguments.x[0][1]",
        ),
        (dict[str, Annotated[dt.time, msgspec.Meta(tz=False)]], {"a.b": "nine"}, "arguments.x"),
    ],
)
def test_what_only_msgspec_refuses_is_reported_with_its_place(
    hint: Any, value: Any, place: str
) -> None:
    [(told, sentence)] = faults(hint, value)
    assert told == place
    assert "$" not in sentence


@pytest.mark.parametrize("hint", [int, dt.date, bytes, Level, list[dt.date], dict[str, Level]])
def test_half_of_a_character_is_refused_as_any_other_wrong_value(hint: Any) -> None:
    half = "\ud800"
    assert faults(hint, {list: [half], dict: {"a": half}}.get(typing.get_origin(hint), half))
    assert load(dt.date | str, half) == half


@pytest.mark.parametrize(
    ("step", "value"), [(0.01, 19.99), (0.1, 0.3), (0.1, 1e22), (1e-300, 0.5), (3, 2**70 * 3)]
)
def test_a_multiple_is_one_of_the_numbers_as_they_are_written(step: float, value: float) -> None:
    hint = Annotated[int if isinstance(value, int) else float, annotated_types.MultipleOf(step)]
    assert load(hint, value) == value
    assert returning(hint).builtins(value) == value


def test_what_is_no_multiple_is_refused() -> None:
    assert faults(Annotated[float, annotated_types.MultipleOf(0.01)], 19.995) == [
        ("arguments.x", "19.995 is not a multiple of 0.01")
    ]


def test_a_duration_in_lower_case_is_refused() -> None:
    assert load(dt.timedelta, "P1DT2H") == dt.timedelta(days=1, hours=2)
    assert faults(dt.timedelta, "P1DT2h") == [
        (
            "arguments.x",
            '"P1DT2h" does not fit the description: Duration, such as P1DT2H30M or -PT0.5S.',
        )
    ]


class Branch(pydantic.BaseModel):
    leaves: int = 0


@dataclasses.dataclass
class Twig:
    left: Twig | None = None
    right: Optional[Twig] = None  # noqa: UP045  # the other way to say it


class Linked(TypedDict):
    next: Linked | None


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Branch | None, {"leaves": 1}),
        (list[Branch | None], [None, {"leaves": 1}]),
        (Branch | list[Branch] | None, [{"leaves": 1}]),
        (pydantic.HttpUrl | None, "https://example.org/"),
        (Twig | None, {"left": {"left": None, "right": None}, "right": None}),
        (Linked, {"next": {"next": None}}),
    ],
)
def test_null_is_accepted_in_unions_with_models_and_in_recursive_types(
    hint: Any, value: Any
) -> None:
    returns, accepts = (
        returning(list[hint]),
        ToolSchemaValidator(takes(list[hint]).arguments.input_schema).accepts,
    )
    values = [value, None] if type(None) in typing.get_args(hint) else [value]
    assert returns.builtins(load(list[hint], values)) == values
    assert ToolSchemaValidator(returns.output_schema).accepts({"result": values})
    assert accepts({"x": values})


def test_a_default_of_none_makes_a_model_nullable() -> None:
    assert schema_of(Branch, x=None)["anyOf"][-1] == {"type": "null"}


@pytest.mark.parametrize(
    ("hint", "given", "wrong"),
    [
        (pydantic.HttpUrl, "https://example.org/", "example"),
        (pydantic.SecretStr, "word", 5),
        (pydantic.IPvAnyAddress, "::1", "::x"),
    ],
)
def test_types_of_pydantics_own_are_read_by_pydantic(hint: Any, given: str, wrong: Any) -> None:
    assert type(load(hint, given)) is type(pydantic.TypeAdapter(hint).validate_python(given))
    [(place, _)] = faults(list[hint], [given, wrong])
    assert place == "arguments.x[1]"
    expected = "**********" if hint is pydantic.SecretStr else given
    assert returning(list[hint]).builtins([load(hint, given)]) == [expected]
    assert returning(Any).builtins({"it": load(hint, given)}) == {"it": expected}


def test_a_member_of_a_union_that_pydantic_leaves_out_of_the_schema_is_accepted() -> None:
    hint = int | pydantic.json_schema.SkipJsonSchema[str]

    assert schema_of(hint) == {"type": "integer"}
    assert (load(hint, 1), load(hint, "one")) == (1, "one")
    assert faults(hint, [])


Item = typing.TypeVar("Item")


@dataclasses.dataclass
class Onion(Generic[Item]):
    core: Item
    around: Onion[list[Item]] | None = None


def test_a_type_of_ever_new_forms_is_refused_in_a_sentence() -> None:
    for made in (lambda: takes(Onion[int]), lambda: returning(Onion[int])):
        with pytest.raises(RegistrationError, match="ever new forms of itself"):
            made()


def test_an_alias_of_something_unknown_is_refused_by_its_name() -> None:
    class TypeAliasType:  # that of Python 3.12, which evaluates what it stands for when asked
        __name__ = "Rows"

        @property
        def __value__(self) -> Any:
            raise NameError("name 'Row' is not defined")

    with pytest.raises(
        RegistrationError, match=r"'Rows' cannot be resolved \(name 'Row' is not defined\)"
    ):
        takes(TypeAliasType())


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (uuid.UUID, "123e4567e89b12d3a456426614174000"),
        (Annotated[dt.datetime, msgspec.Meta(tz=True)], "2026-03-01 09:00:00Z"),
        (Annotated[dt.datetime, msgspec.Meta(tz=True)], "2026-03-01T09:00:00"),
    ],
)
def test_text_that_breaks_the_promised_format_is_refused_in_results(hint: Any, text: str) -> None:
    with pytest.raises(OutputError):
        returning(hint).builtins(text)
