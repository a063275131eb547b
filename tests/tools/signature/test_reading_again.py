"""Arguments that do not fit as sent: they are accepted if they have one reading that fits, and
refused when strict.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import enum
import json
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import msgspec
import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.examples import examples
from support.recording_caller import RecordingCaller
from support.type_strategies import FORMATS, HINTS, fitting
from toolwire_schemas.json_schema.lossless import generate_readings
from toolwire_tools import make_tool
from toolwire_tools.errors import ArgumentsError
from toolwire_tools.schema.validator import ToolSchemaValidator
from toolwire_tools.signature import Signature, read_signature


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Point:
    x: int
    y: int = 7


class Options(TypedDict, total=False):
    depth: int
    tags: list[str]


class Size(NamedTuple):
    width: int
    height: int = 1


class Model(pydantic.BaseModel):
    n: int
    names: list[str] = []


@dataclasses.dataclass
class Circle:
    radius: float
    inside: list[Circle | Square] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Square:
    side: float
    inside: list[Circle | Square] = dataclasses.field(default_factory=list)


def takes(hint: Any, **others: Any) -> Signature:
    def tool(x: Any, y: int = 7, **more: Any) -> None: ...

    def closed(x: Any, y: int = 7) -> None: ...

    function = tool if others else closed
    function.__annotations__ = {"x": hint, "y": int, **others}
    return read_signature(function, tool="tool")


def read(hint: Any, value: Any) -> Any:
    return takes(hint).arguments.bind({"x": value})[1]["x"]


@pytest.mark.parametrize(
    ("hint", "sent", "meant"),
    [
        (int, "5", 5),
        (int, "5.0", 5),
        (float, "5", 5.0),
        (bool, "true", True),
        (int | None, "null", None),
        (Level, "2", Level.HIGH),
        (Literal[1, 2], "2", 2),
        (Annotated[int, msgspec.Meta(ge=1)], "2", 2),
        (list[int], "[1, 2]", [1, 2]),
        (list[int], ["1", 2.0], [1, 2]),
        (set[int], '["1", 2]', {1, 2}),
        (tuple[int, str], '["1", "1"]', (1, "1")),
        (dict[str, int], '{"a": "1"}', {"a": 1}),
        (dict[int, int], '{"1": "1"}', {1: 1}),
        (list[str] | None, '["1"]', ["1"]),
        (int | list[int], "[1]", [1]),
        (Point, '{"x": "1", "y": null}', Point(1)),
        (list[Point], ['{"x": 1}', {"x": "2"}], [Point(1), Point(2)]),
        (Options, {"depth": None, "tags": '["a"]'}, {"tags": ["a"]}),
        (Size, {"width": "3"}, Size(3)),
        (Size, '{"width": 3, "height": null}', Size(3)),
        (Model, '{"n": "1", "names": null}', Model(n=1)),
        (Circle, {"radius": "1", "inside": '[{"side": "2"}]'}, Circle(1, [Square(2)])),
        (dict, "{}", {}),
        (list, "[null]", [None]),
    ],
)
def test_what_does_not_fit_is_read_as_meant(hint: Any, sent: Any, meant: Any) -> None:
    found = read(hint, sent)
    assert (found, type(found)) == (meant, type(meant))
    assert takes(hint).arguments.bind(json.dumps({"x": sent})) == ((), {"x": meant})
    with pytest.raises(ArgumentsError):
        takes(hint).arguments.bind({"x": sent}, strict=True)


@pytest.mark.parametrize(
    ("hint", "sent"),
    [
        (str, "5"),
        (str, "[1]"),
        (str | int, "5"),
        (str | list[int], "[1]"),
        (str | None, "null"),
        (Literal["5", 5], "5"),
        (Any, "[1]"),
        (object, "null"),
        (list[str], ["1", "null", "[]"]),
        (dict[str, str], {"a": "1"}),
        (dict, {"a": "1", "b": None}),
        (int | None, None),
    ],
)
def test_what_fits_is_never_touched(hint: Any, sent: Any) -> None:
    caller = RecordingCaller()
    assert takes(hint).arguments.bind({"x": copy.deepcopy(sent)}, False, caller)[1]["x"] == sent
    assert takes(hint).arguments.bind({"x": copy.deepcopy(sent), "y": "3"}) == (
        (),
        {"x": sent, "y": 3},
    )
    assert caller.logged == []


def test_null_for_an_optional_argument_means_the_default() -> None:
    def tool(
        a: int,
        b: int = 5,
        c: list[str] = ["x"],  # noqa: B006
        d: str = "d",
        e: int | None = 3,
    ) -> list[Any]:
        return [a, b, c, d, e]

    sent = {"a": 1, "b": None, "c": None, "d": None, "e": None}
    result = make_tool(tool).call(sent, RecordingCaller())
    assert result["structuredContent"] == {"result": [1, 5, ["x"], "d", None]}
    assert sent == {"a": 1, "b": None, "c": None, "d": None, "e": None}
    with pytest.raises(ArgumentsError) as caught:
        make_tool(tool).call({"a": None}, RecordingCaller())
    assert caught.value.faults == [("arguments.a", "null is not an integer")]


def test_further_keywords_are_read_too_but_their_nulls_stay() -> None:
    found = takes(int, more=float).arguments
    assert found.bind({"x": "1", "other": "2.5"}) == ((), {"x": 1, "other": 2.5})
    with pytest.raises(ArgumentsError):
        found.bind({"x": 1, "other": None})


GIVEN = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "when": {"oneOf": [{"type": "integer"}, {"$ref": "#/$defs/day"}]},
        "tree": {"$ref": "#/$defs/tree"},
    },
    "patternProperties": {"^is_": {"type": "boolean"}},
    "additionalProperties": False,
    "$defs": {
        "day": {"type": "object", "properties": {"day": {"type": "integer"}}, "required": ["day"]},
        "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
    },
}


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"n": "1"}, {"n": 1}),
        ({"n": None}, {}),
        ({"when": '{"day": "3"}'}, {"when": {"day": 3}}),
        ({"tree": '[[], "[[]]"]'}, {"tree": [[], [[]]]}),
        ({"is_new": "true"}, {"is_new": True}),
        ('{"n": 1}', {"n": 1}),
        ({"n": "1.0"}, {"n": 1.0}),
    ],
)
def test_schemas_written_by_hand_are_obeyed_in_the_same_way(sent: Any, meant: Any) -> None:
    def tool(**arguments: Any) -> None: ...

    found = read_signature(tool, tool="tool", input_schema=GIVEN).arguments
    assert found.bind(sent) == ((), meant)
    with pytest.raises(ArgumentsError):
        found.bind(sent, strict=True)


@pytest.mark.parametrize(
    ("sent", "faults"),
    [
        ({"x": "five"}, [("arguments.x", '"five" is not an integer')]),
        ({"x": "5.5"}, [("arguments.x", '"5.5" is not an integer')]),
        ('{"x": 1', [("arguments", '"{\\"x\\": 1" is not an object')]),
        ('{"x": 1, "x": 1}', [("arguments", '"{\\"x\\": 1, \\"x\\": 1}" is not an object')]),
        ("5", [("arguments", '"5" is not an object')]),
    ],
)
def test_what_has_no_reading_is_refused_as_it_was_sent(sent: Any, faults: Any) -> None:
    for strict in (True, False):
        with pytest.raises(ArgumentsError) as caught:
            takes(int).arguments.bind(sent, strict)
        assert sorted(caught.value.faults) == faults


def _error_of_python() -> str:
    """Return what this version of Python says of a day that its month does not have."""
    with pytest.raises(ValueError, match="day") as caught:
        dt.datetime.fromisoformat("2026-02-30T09:00:00")
    return str(caught.value)


@pytest.mark.parametrize(
    ("hint", "sent", "meant"),
    [
        (int, 3.0, 3),
        (int | str, 3.0, 3),
        (int | None, 3.0, 3),
        (int | bool, 3.0, 3),
        (int | Literal["a"], 3.0, 3),
        (Literal[1, 2], 1.0, 1),
        (list[int], [3.0], [3]),
        (dict[str, int], {"a": 3.0}, {"a": 3}),
        (tuple[int, float], [3.0, 3.0], (3, 3.0)),
        (tuple[int, ...], [3.0, 4.0], (3, 4)),
        (Options, {"depth": 3.0}, {"depth": 3}),
        (Point, {"x": 3.0}, Point(3)),
        (list[int] | dict[str, float], [3.0], [3]),
        # Fractions are taken, too.
        (float, 3.0, 3.0),
        (int | float, 3.0, 3.0),
        (float | Literal[3], 3.0, 3.0),
        (list[int | float], [3.0, 3.5], [3.0, 3.5]),
        (list[int] | dict[str, float], {"a": 3.0}, {"a": 3.0}),
        # Nothing is said of them.
        (Any, 3.0, 3.0),
        (list, [3.0], [3.0]),
        (dict, {"a": 3.0}, {"a": 3.0}),
        # Floats are exact up to 2**53.
        (int, 2.0**53, 2**53),
        (int, -(2.0**53), -(2**53)),
    ],
)
def test_a_whole_number_is_an_integer_where_no_fraction_is_taken(
    hint: Any, sent: Any, meant: Any
) -> None:
    # That 7.0 is no int makes every argument be read again.
    _, found = takes(hint).arguments.bind({"x": sent, "y": 7.0}, strict=True)

    assert repr(found) == repr({"x": meant, "y": 7})


@pytest.mark.parametrize("sent", [2.0**53 + 2, -(2.0**53) - 2, 1e300])
def test_a_whole_number_beyond_the_exact_floats_is_refused(sent: float) -> None:
    with pytest.raises(ArgumentsError) as caught:
        read(int, sent)
    [(fault, _)] = caught.value.faults
    assert fault == "arguments.x"


def test_a_value_that_cannot_be_judged_is_refused_with_the_reason() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(ArgumentsError) as caught:
        takes(list[Any] | int).arguments.bind({"x": deep, "y": 7.0})
    assert caught.value.faults == [("arguments", "is nested too deeply")]


@pytest.mark.parametrize(
    ("hint", "sent", "faults"),
    [
        (int, {"x": "1", "y": "two"}, [("arguments.y", '"two" is not an integer')]),
        (int, {"x": "1", "z": 1}, [("arguments.z", "is unknown; known here: x, y")]),
        (int, {"x": None, "y": "2"}, [("arguments.x", "null is not an integer")]),
        (int, {"y": "2"}, [("arguments.x", "is missing")]),
        (list[int], {"x": ["1", "b"], "y": None}, [("arguments.x[1]", '"b" is not an integer')]),
        (
            list[int],
            {"x": '[1, "b"]', "y": "2"},
            [("arguments.x", '"[1, \\"b\\"]" is not an array')],
        ),
        (
            Point,
            {"x": {"x": "1", "y": "b"}, "y": "2"},
            [("arguments.x.y", '"b" is not an integer')],
        ),
        (
            dt.datetime,
            {"x": "2026-02-30T09:00:00", "y": "2"},
            [("arguments.x", _error_of_python())],
        ),
    ],
)
def test_what_is_refused_is_not_blamed_on_what_was_read(hint: Any, sent: Any, faults: Any) -> None:
    with pytest.raises(ArgumentsError) as caught:
        takes(hint).arguments.bind(sent)
    assert caught.value.faults == faults
    with pytest.raises(ArgumentsError):
        takes(hint).arguments.bind(sent, strict=True)


@pytest.mark.parametrize(
    ("sent", "faults"),
    [
        ({"n": "0"}, [("arguments.n", "0 is less than 1")]),
        ('{"n": "0"}', [("arguments.n", "0 is less than 1")]),
        (
            {"n": "0", "x": "b"},
            [
                ("arguments.n", "0 is less than 1"),
                ("arguments.x", '"b" is neither an integer nor null'),
            ],
        ),
        ({"n": "1", "x": "0"}, [("arguments.x", "0 is less than 1")]),
        ({"n": "1", "many": "[1, 2, 3]"}, [("arguments.many", "has 3 items, at most 2 are taken")]),
        (
            {"n": "1", "many": ["-1", "b"]},
            [
                ("arguments.many[0]", "-1 is less than 0"),
                ("arguments.many[1]", '"b" is not an integer'),
            ],
        ),
        ({"n": "1", "many": ["0", "b"]}, [("arguments.many[1]", '"b" is not an integer')]),
    ],
)
def test_a_reading_that_breaks_a_bound_is_refused_for_the_bound(sent: Any, faults: Any) -> None:
    def tool(
        n: Annotated[int, msgspec.Meta(ge=1)],
        x: Annotated[int, msgspec.Meta(ge=1)] | None = None,
        many: Annotated[list[Annotated[int, msgspec.Meta(ge=0)]], msgspec.Meta(max_length=2)] = [],  # noqa: B006
    ) -> None: ...

    with pytest.raises(ArgumentsError) as caught:
        read_signature(tool, tool="tool").arguments.bind(sent)
    assert sorted(caught.value.faults) == faults


def test_what_only_the_reading_brings_is_reported() -> None:
    def tool(**arguments: Any) -> None: ...

    items = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    schema = {"type": "object", "properties": {"x": items, "y": {"type": "integer"}}}
    found = read_signature(tool, tool="tool", input_schema=schema).arguments
    with pytest.raises(ArgumentsError) as caught:
        found.bind({"x": ["1", 1], "y": "2"})
    assert caught.value.faults == [("arguments.x", "has items that are equal")]


def test_what_was_changed_is_logged_for_debugging() -> None:
    caller = RecordingCaller()
    takes(list[int]).arguments.bind({"x": json.dumps([1] * 1000), "y": None}, False, caller)
    [(level, message, fields)] = caller.logged
    assert (level, fields) == ("debug", {})
    assert message.startswith('arguments.x: "[1, 1, 1')
    assert message.endswith("arguments.y: null left out")
    assert len(message) < 300


# Work

DEEP = (5, 30, 400)


@pytest.mark.parametrize("depth", DEEP)
@pytest.mark.parametrize("last", [{"side": 1}, {"side": "1"}, {"side": "x"}, {}])
def test_the_levels_of_a_union_that_contains_itself_do_not_multiply_the_work(
    depth: int, last: Any
) -> None:
    # Unbounded, 30 levels take days.
    value = last
    for _ in range(depth):
        value = {"side": 1, "inside": [value]}
    try:
        found = read(Circle | Square, value)
    except ArgumentsError:
        assert depth > 5 or last not in ({"side": 1}, {"side": "1"})
    else:
        assert isinstance(found, Square)


def test_deep_or_long_texts_are_given_up_without_being_read() -> None:
    found = takes(int | list[int] | dict[str, int] | None).arguments
    for text in ("[" * 10**6, "1" * 10**7, '{"a":' * 10**5, "-" + "0" * 10**6, " " * 10**6):
        with pytest.raises(ArgumentsError):
            found.bind({"x": text})


# Properties

LAX = settings(
    max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@LAX
@given(st.data())
def test_a_value_that_fits_is_read_as_if_strict(data: st.DataObject) -> None:
    found = takes(data.draw(HINTS, "hint")).arguments
    sent = data.draw(fitting(found.input_schema, found.input_schema), "arguments")
    caller = RecordingCaller()
    try:
        strictly = found.bind(copy.deepcopy(sent), strict=True)
    except ArgumentsError:
        return
    assert repr(found.bind(sent, False, caller)) == repr(strictly)
    assert caller.logged == []


@st.composite
def garbled(draw: st.DrawFn, value: Any) -> Any:
    """The value with some of it as JSON text, and some more nulls."""
    if isinstance(value, list):
        value = [draw(garbled(item)) for item in value]
    elif isinstance(value, dict):
        value = {name: draw(garbled(member)) for name, member in value.items()}
        value |= dict.fromkeys(
            draw(st.sets(st.sampled_from(["y", "x", "label", "count", "when", "zz"]), max_size=1))
        )
    return json.dumps(value) if draw(st.integers(0, 5)) == 0 else value


@LAX
@given(st.data())
def test_what_is_accepted_after_reading_fits_the_schema(data: st.DataObject) -> None:
    found = takes(data.draw(HINTS, "hint")).arguments
    fits = data.draw(fitting(found.input_schema, found.input_schema), "arguments")
    sent = data.draw(garbled(fits), "sent")
    before = copy.deepcopy(sent)
    outcomes = []
    for strict in (True, False):
        try:
            outcomes.append(repr(found.bind(sent, strict)))
        except ArgumentsError as error:
            outcomes.append(error)
    assert sent == before
    strictly, leniently = outcomes
    if isinstance(leniently, ArgumentsError):
        assert isinstance(strictly, ArgumentsError)
        assert leniently.faults
    elif isinstance(strictly, ArgumentsError):
        errors = ToolSchemaValidator(found.input_schema).find_errors
        *_, last = generate_readings(sent, errors(sent), errors)
        assert Draft202012Validator(found.input_schema, format_checker=FORMATS).is_valid(last.value)
    else:
        assert strictly == leniently
