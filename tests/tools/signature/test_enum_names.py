"""The name of an Enum's member is read as that member, if nothing else fits, and errors and
listings show names.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from support.recording_caller import RecordingCaller
from toolwire_dialects.python_stub import format_signature
from toolwire_dialects.typed_clients import generate
from toolwire_schemas.json_schema.member_names import read_names, with_names, write_listing
from toolwire_tools import ArgumentsError, make_tool
from toolwire_tools.tool import make_function_handler


class Level(IntEnum):
    LOW = 1
    HIGH = 2
    TOP = 2  # another name of HIGH


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Swapped(StrEnum):
    A = "B"
    B = "A"


class Half(Enum):
    NONE = 0.5
    ALL = 1.0


class Odd(Enum):
    """Its names are JSON."""

    true = 1
    null = 2


class Other(IntEnum):
    """The names of Level for other values."""

    LOW = 2
    HIGH = 1


class Mixed(Enum):
    WORD = "word"
    NUMBER = 3


class Shape(Enum):
    """Goes by its names, since no value is a JSON scalar."""

    ROUND = (1, 2)


@dataclass
class Alarm:
    level: Level
    colours: list[Colour]


def bound(hint: Any, value: Any, *, strict: bool = False) -> Any:
    def take(value: Any) -> None: ...

    take.__annotations__ = {"value": hint}
    _, keywords = make_function_handler(make_tool(take)).bind({"value": value}, strict)
    return keywords["value"]


READ: list[tuple[Any, Any, Any]] = [
    (Level, "LOW", Level.LOW),
    (Level, "TOP", Level.HIGH),
    (Level, 2, Level.HIGH),
    (Level, "2", Level.HIGH),
    (Colour, "RED", Colour.RED),
    (Colour, "red", Colour.RED),
    (Half, "NONE", Half.NONE),
    (Mixed, "NUMBER", Mixed.NUMBER),
    (Mixed, "WORD", Mixed.WORD),
    (Mixed, "word", Mixed.WORD),
    (Shape, "ROUND", Shape.ROUND),
    (Odd, "true", Odd.true),
    (Level | None, "LOW", Level.LOW),
    (list[Level], ["LOW", 2, "HIGH"], [Level.LOW, Level.HIGH, Level.HIGH]),
    (list[Level], '["LOW"]', [Level.LOW]),
    (dict[str, Level], {"a": "LOW"}, {"a": Level.LOW}),
    (Alarm, {"level": "LOW", "colours": ["RED"]}, Alarm(Level.LOW, [Colour.RED])),
    (Alarm | None, {"level": "LOW", "colours": ["RED"]}, Alarm(Level.LOW, [Colour.RED])),
    (Literal[Level.LOW], "LOW", Level.LOW),
    (Literal[Colour.RED, 7], "RED", Colour.RED),
    # What fits is never changed.
    (Swapped, "A", Swapped.B),
    (Level | str, "LOW", "LOW"),
    (Any, "LOW", "LOW"),
]
REFUSED: list[tuple[Any, Any]] = [
    (Level, "low"),
    (Level, " LOW"),
    (Level, "Level.LOW"),
    (Level, "__class__"),
    (Level, "LOWER"),
    (Odd, "null"),  # may mean that it is absent
    (Level | Other, "LOW"),
    (Literal[Level.LOW], "HIGH"),
    (list[Level], "LOW"),
    (int, "LOW"),
]


@pytest.mark.parametrize(("hint", "sent", "value"), READ)
def test_the_name_of_a_member_is_read_as_that_member(hint: Any, sent: Any, value: Any) -> None:
    assert bound(hint, sent) == value


@pytest.mark.parametrize(("hint", "sent"), REFUSED)
def test_what_is_not_exactly_one_name_is_refused(hint: Any, sent: Any) -> None:
    with pytest.raises(ArgumentsError):
        bound(hint, sent)


@pytest.mark.parametrize(
    ("hint", "sent"), [(Level, "LOW"), (Colour, "RED"), (list[Level], ["LOW"])]
)
def test_strict_arguments_take_no_names(hint: Any, sent: Any) -> None:
    with pytest.raises(ArgumentsError):
        bound(hint, sent, strict=True)


@pytest.mark.parametrize(
    ("hint", "sent", "text"),
    [
        (Level, "LOWW", 'arguments.value: "LOWW" is not one of 1 = LOW, 2 = HIGH'),
        (Level, 7, "arguments.value: 7 is not one of 1 = LOW, 2 = HIGH"),
        (Level | None, "LOWW", 'arguments.value: "LOWW" is not one of 1 = LOW, 2 = HIGH'),
        (list[Level], ["LOW", "x"], 'arguments.value[1]: "x" is not one of 1 = LOW, 2 = HIGH'),
        (Literal[1, 2], 7, "arguments.value: 7 is not one of 1, 2"),
    ],
)
def test_errors_show_the_names_with_their_values(hint: Any, sent: Any, text: str) -> None:
    with pytest.raises(ArgumentsError) as refused:
        bound(hint, sent)
    assert str(refused.value) == text


def test_the_log_says_how_a_name_was_read() -> None:
    def take(level: Level) -> str:
        return level.name

    caller = RecordingCaller()
    assert make_tool(take).call({"level": "LOW"}, caller)["content"][0]["text"] == "LOW"
    assert caller.logged == [("debug", 'arguments.level: "LOW" read as 1', {})]


def test_a_listing_shows_names_and_keeps_plain_values() -> None:
    def take(
        level: Level, some: list[Level] | None, plain: Literal[1, 2], colour: Colour
    ) -> None: ...

    assert format_signature(make_tool(take).describe()) == [
        "(level: Literal[1 = LOW, 2 = HIGH],",
        "some: list[Literal[1 = LOW, 2 = HIGH]] | None,",
        "plain: Literal[1, 2],",
        'colour: Literal["red", "blue"])',
        "-> None",
    ]


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z_]\w{0,9}", fullmatch=True),
        st.integers() | st.floats(allow_nan=False),
    )
)
def test_names_in_a_description_are_those_that_were_written(names: dict[str, Any]) -> None:
    values = list(names.values())
    schema = {
        "enum": values,
        "description": "What it is for. "
        + write_listing((value, name) for name, value in names.items()),
    }
    assert read_names(schema) == names
    assert len(with_names(values, names)) == len(values)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"enum": [1, 2]},
        {"description": "1 = LOW, 2 = HIGH."},
        {"enum": [1, 2], "description": "1 = LOW."},
        {"enum": [1, 2], "description": "1 = LOW, 2 = HIGH. And more."},
        {"enum": [1, 2], "description": "11 = LOW, 2 = HIGH."},
        {"enum": [1, 2], "description": "1 = SAME, 2 = SAME."},
        {"enum": [1, 2], "description": ["1 = LOW, 2 = HIGH."]},
        {
            "enum": list(range(101)),
            "description": write_listing((value, f"N{value}") for value in range(101)),
        },
    ],
)
def test_a_description_that_does_not_name_each_value_names_none(schema: Any) -> None:
    assert read_names(schema) == {}


class Task(BaseModel):
    level: Level
    levels: list[Level] = []
    colour: Colour | None = None


def test_models_of_pydantic_name_the_values_of_their_enumerations() -> None:
    def take(task: Task) -> None: ...

    members = make_tool(take).describe()["inputSchema"]["properties"]["task"]["properties"]

    assert members["level"]["description"] == "1 = LOW, 2 = HIGH."
    assert members["levels"]["items"]["description"] == "1 = LOW, 2 = HIGH."
    assert "LOW" not in str(members["colour"])


@pytest.mark.parametrize("language", ["python", "typescript", "go", "rust"])
def test_typed_clients_name_the_values_in_models_and_lists(language: str) -> None:
    def take(level: Level, levels: list[Level], task: Task) -> None: ...

    code = generate(language, [make_tool(take).describe()], command=["server"], head=[])

    assert code.count("1 = LOW, 2 = HIGH.") >= 4
