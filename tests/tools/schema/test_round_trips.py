"""What a tool returns it also takes: times, numbers and bytes of any kind, alone and inside of
anything.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import uuid
from typing import Annotated, Any, NamedTuple, TypedDict

import msgspec
import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.examples import examples
from support.recording_caller import RecordingCaller
from support.type_strategies import FORMATS
from toolwire_tools import make_tool
from toolwire_tools.errors import ArgumentsError
from toolwire_tools.schema.validator import ToolSchemaValidator


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    WORD = "1"
    ONE = 1
    HALF = 0.5


class Named(enum.Enum):
    ORIGIN = (0, 0)
    UNIT = (1, 1)


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


def unfolded(moment: Any) -> Any:
    """Drop `fold`, which ISO 8601 cannot express."""
    return moment.replace(fold=0)


def moments(zones: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.datetimes(timezones=zones).map(unfolded)


OFFSETS = st.integers(-1439, 1439).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
ZONES = st.none() | st.just(dt.UTC) | OFFSETS
SIMPLE: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (dt.datetime, moments(ZONES)),
    (Annotated[dt.datetime, msgspec.Meta(tz=True)], moments(OFFSETS)),
    (Annotated[dt.datetime, msgspec.Meta(tz=False)], moments(st.none())),
    (dt.date, st.dates()),
    (dt.time, st.times(timezones=ZONES).map(unfolded)),
    (dt.timedelta, st.timedeltas()),
    (decimal.Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    (uuid.UUID, st.uuids()),
    (bytes, st.binary(max_size=20)),
    (bytearray, st.binary(max_size=20).map(bytearray)),
    (Colour, st.sampled_from(Colour)),
    (Level, st.sampled_from(Level)),
    (Mixed, st.sampled_from(Mixed)),
    (Named, st.sampled_from(Named)),
    (Rights, st.sampled_from([Rights(0), Rights.READ, Rights.READ | Rights.WRITE])),
]
KEYS = (dt.date, uuid.UUID, Colour)


def inside(
    hint: Any, values: st.SearchStrategy[Any], kind: str
) -> tuple[Any, st.SearchStrategy[Any]]:
    """The hint of a container of *hint*, and its values."""
    match kind:
        case "list":
            return list[hint], st.lists(values, max_size=3)
        case "tuple":
            return tuple[hint, int], st.tuples(values, st.integers())
        case "dict":
            return dict[str, hint], st.dictionaries(st.text(max_size=3), values, max_size=3)
        case "optional":
            return hint | None, st.none() | values
        case "dataclass":
            cls = dataclasses.make_dataclass(
                "Record", [("at", hint), ("others", list[hint], dataclasses.field())]
            )
            return cls, st.builds(cls, at=values, others=st.lists(values, max_size=2))
        case "struct":
            struct = msgspec.defstruct("Struct", [("at", hint), ("maybe", hint | None, None)])
            return struct, st.builds(struct, at=values, maybe=st.none() | values)
        case "tuple with names":
            named: Any = NamedTuple("named", [("at", hint), ("n", int)])
            return named, st.builds(named, values, st.integers())
        case _:
            typed: Any = TypedDict("typed", {"at": hint})
            return typed, st.fixed_dictionaries({"at": values})


KINDS = [
    "list",
    "tuple",
    "dict",
    "optional",
    "dataclass",
    "struct",
    "tuple with names",
    "typed dict",
]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """A type, and a value of it."""
    hint, values = draw(st.sampled_from(SIMPLE))
    if hint in KEYS and draw(st.booleans()):
        return dict[hint, int], draw(st.dictionaries(values, st.integers(), max_size=3))
    for kind in draw(st.lists(st.sampled_from(KINDS), max_size=2)):
        hint, values = inside(hint, values, kind)
    return hint, draw(values)


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pairs())
def test_what_a_tool_returns_it_also_takes(pair: tuple[Any, Any]) -> None:
    hint, value = pair
    taken: list[Any] = []

    def back(x: Any) -> Any:
        taken.append(x)
        return x

    back.__annotations__ = {"x": hint, "return": hint}
    tool = make_tool(back)
    sent = json.loads(json.dumps(returned(hint, value)))
    assert Draft202012Validator(tool.describe()["inputSchema"], format_checker=FORMATS).is_valid(
        {"x": sent}
    )
    tool.call({"x": sent}, RecordingCaller(), strict_arguments=True)
    assert repr(taken) == repr([value])


def returned(hint: Any, value: Any) -> Any:
    """The value as the structured content of a tool that returns it, inside of a list so that bytes
    are no file.
    """

    def give() -> Any:
        return [value]

    give.__annotations__ = {"return": list[hint]}
    return make_tool(give).call({}, RecordingCaller())["structuredContent"]["result"][0]


@pytest.mark.parametrize(
    "text", ["2026-03-01T09:00:00", "2026-03-01T09:00:00Z", "2026-03-01T09:00:00.5+02:00"]
)
def test_a_moment_keeps_its_offset_or_has_none(text: str) -> None:
    def later(at: dt.datetime) -> dt.datetime:
        return at + dt.timedelta(days=1)

    result = make_tool(later).call({"at": text}, RecordingCaller())["structuredContent"]["result"]
    assert dt.datetime.fromisoformat(result) == dt.datetime.fromisoformat(text) + dt.timedelta(
        days=1
    )
    assert (
        dt.datetime.fromisoformat(result).utcoffset() == dt.datetime.fromisoformat(text).utcoffset()
    )


def test_an_author_can_demand_an_offset_or_none() -> None:
    def meet(at: Annotated[dt.datetime, msgspec.Meta(tz=True)]) -> None: ...
    def wake(at: Annotated[dt.datetime, msgspec.Meta(tz=False)]) -> None: ...

    assert make_tool(meet).describe()["inputSchema"]["properties"]["at"] == {
        "type": "string",
        "format": "date-time",
    }
    with pytest.raises(ArgumentsError, match="with its offset"):
        make_tool(meet).call({"at": "2026-03-01T09:00:00"}, RecordingCaller())
    with pytest.raises(ArgumentsError, match="without an offset"):
        make_tool(wake).call({"at": "2026-03-01T09:00:00Z"}, RecordingCaller())


class Stay(pydantic.BaseModel):
    at: dt.datetime = pydantic.Field(description="when it begins")
    times: list[dt.time] | None = None
    length: dt.timedelta | None = None
    aware: pydantic.AwareDatetime | None = None
    naive: pydantic.NaiveDatetime | None = None


STAYS = [
    {"at": "2026-03-01T09:00:00"},
    {"at": "2026-03-01T09:00:00.5+02:00", "times": ["14:30:00", "14:30:00Z"], "length": "-PT0.5S"},
    {"at": "2026-03-01 09:00", "times": ["14:30"], "length": "P1DT2H30M"},
    {"at": "2026-03-01T09:00:00Z", "aware": "2026-03-01T09:00:00Z", "naive": "2026-03-01T09:00:00"},
]


@pytest.mark.parametrize("sent", STAYS)
def test_times_in_a_pydantic_model_are_published_as_they_are_taken_and_returned(sent: Any) -> None:
    def later(stay: Stay) -> Stay:
        return stay

    tool = make_tool(later)
    described = tool.describe()
    result = tool.call({"stay": sent}, RecordingCaller())["structuredContent"]
    assert Stay.model_validate(result) == Stay.model_validate(sent)
    for schema, value in (
        (described["inputSchema"], {"stay": sent}),
        (described["outputSchema"], result),
    ):
        assert ToolSchemaValidator(schema).accepts(value)
        Draft202012Validator(schema, format_checker=FORMATS).validate(value)


def test_pydantic_models_publish_a_format_only_where_an_offset_is_demanded() -> None:
    def stay(stay: Stay) -> Stay: ...

    described = make_tool(stay).describe()
    for schema in (described["inputSchema"]["properties"]["stay"], described["outputSchema"]):
        properties = schema["properties"]
        assert [name for name in properties if '"format"' in json.dumps(properties[name])] == [
            "aware"
        ]
        assert properties["at"]["description"].startswith("when it begins")
    for wrong in ({"at": "soon"}, {"at": STAYS[0]["at"], "naive": "2026-03-01T09:00:00Z"}):
        with pytest.raises(ArgumentsError, match="Date and time"):
            make_tool(stay).call({"stay": wrong}, RecordingCaller())


def test_texts_about_a_parameter_come_before_those_of_its_type() -> None:
    def book(
        at: dt.time, level: Level, how: Annotated[Level, "how urgent?"], several: list[Level]
    ) -> None:
        """Book.

        Args:
            at: when to start
            level: what it is worth.
            how: not shown
            several: some
        """

    properties = make_tool(book).describe()["inputSchema"]["properties"]
    assert {name: schema["description"] for name, schema in properties.items()} == {
        "at": "when to start. Time of day, such as 14:30 or 14:30:00+02:00.",
        "level": "what it is worth. 1 = LOW, 2 = HIGH.",
        "how": "how urgent? 1 = LOW, 2 = HIGH.",
        "several": "some",
    }
    assert properties["several"]["items"]["description"] == "1 = LOW, 2 = HIGH."
