"""A default that its own type refuses is refused when the tool is made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum, Flag, IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from support.type_strategies import FORMATS, HINTS, JSON
from toolwire_compat.lagent import BaseAction
from toolwire_tools import RegistrationError, Tool, find_tools, make_tool, tool_api


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Colour(Enum):
    RED = "red"


class Shape(Enum):
    ROUND = (1, 2)


class Rights(Flag):
    READ = 1
    WRITE = 2


@dataclass
class Point:
    x: int
    more: list[int] = field(default_factory=list)


class Pair(NamedTuple):
    a: int = 1
    b: str = "b"


class Words(TypedDict, total=False):
    a: int


class Struct(msgspec.Struct):
    a: int = 1


class Model(BaseModel):
    a: int = 1


class Node(msgspec.Struct):
    inner: Node | None = None


SENTINEL = object()


def tool_with(hint: Any, default: Any, **options: Any) -> Tool:
    def take(value: Any = default) -> None: ...

    take.__annotations__ = {"value": hint}
    return make_tool(tool_api(**options)(take))


FIT: list[tuple[Any, Any]] = [
    *(
        (int, 1),
        (float, 1.5),
        (float, 1),
        (str, ""),
        (bool, False),
        (Any, object),
        (Any, {"a": [1]}),
    ),
    *((int, None), (str, None), (int | None, None), (Point, None), (int, 2.0)),
    *(
        (int, SENTINEL),
        (str, ...),
        (str, msgspec.UNSET),
        (float, math.inf),
        (Decimal, Decimal("NaN")),
    ),
    *(
        (list[int], []),
        (list[int], [1]),
        (list[int], ()),
        (Sequence[int], (1, 2)),
        (set[str], frozenset()),
    ),
    *(
        (dict[str, int], {}),
        (dict[str, int], {"a": 1}),
        (tuple[int, str], (1, "a")),
        (list, []),
        (dict, {}),
    ),
    *((Level, Level.LOW), (Level, 1), (Colour, Colour.RED), (Colour, "red"), (Shape, Shape.ROUND)),
    *(
        (Rights, Rights.READ | Rights.WRITE),
        (Literal["a", 1], "a"),
        (Literal[Level.LOW], Level.LOW),
    ),
    *(
        (Path, Path()),
        (Path, "."),
        (bytes, b"a"),
        (UUID, UUID(int=0)),
        (Decimal, Decimal("1.5")),
        (Decimal, 1),
    ),
    *(
        (date, date(2026, 1, 1)),
        (date, "2026-01-01"),
        (datetime, datetime(2026, 1, 1)),
        (timedelta, timedelta(1)),
    ),
    *(
        (Point, Point(1)),
        (Pair, Pair()),
        (Words, {}),
        (Struct, Struct()),
        (Model, Model()),
        (Node, Node(Node())),
    ),
    *((Annotated[int, msgspec.Meta(ge=1)], 1), (Annotated[int, Field(ge=1)], 1), (int | str, "a")),
    *(
        (int, Field(default=1)),
        (list[int], Field(default_factory=list)),
        (int, Field(default=None)),
    ),
    (list[Point], [Point(1)]),
]
REFUSED: list[tuple[Any, Any]] = [
    *((int, "a"), (int, "1"), (int, 1.5), (int, True), (int, []), (str, 1), (bool, 1)),
    *(
        (bool, "yes"),
        (float, "1.5"),
        (list[int], {}),
        (list[int], ["a"]),
        (list[int], 1),
        (dict[str, int], []),
    ),
    *((Level, 3), (Level, "LOWW"), (Colour, "green"), (Literal["a"], "b"), (tuple[int, str], (1,))),
    *(
        (date, "tomorrow"),
        (datetime, 7),
        (UUID, "x"),
        (Point, {"y": 1}),
        (Point, Pair()),
        (Struct, 1),
    ),
    *((Annotated[int, msgspec.Meta(ge=1)], 0), (Annotated[str, msgspec.Meta(min_length=1)], "")),
    *((int | None, "a"), (int | str, 1.5), (int, Field(default="a")), (Node, {"inner": 1})),
]


def test_defaults_that_fit_or_have_no_form_in_json_are_taken() -> None:
    for hint, default in FIT:
        tool_with(hint, default)


@pytest.mark.parametrize(("hint", "default"), REFUSED)
def test_a_default_that_does_not_fit_its_type_is_refused(hint: Any, default: Any) -> None:
    with pytest.raises(RegistrationError, match="does not fit its type") as refused:
        tool_with(hint, default)
    assert refused.value.parameter == "parameter 'value'"
    assert refused.value.remedy.startswith("give a default")


def test_the_error_names_parameter_default_type_and_remedy() -> None:
    def wait(seconds: int = "ten") -> None: ...  # type: ignore[assignment]

    with pytest.raises(RegistrationError) as refused:
        make_tool(wait)
    assert (
        str(refused.value)
        == "tool 'wait', parameter 'seconds': its default 'ten' does not fit its type int: \"ten\""
        " is not an integer; give a default of this type, or a type that has it: `seconds: int |"
        " str = 'ten'`"
    )


def test_a_default_that_callers_never_see_is_not_checked() -> None:
    tool_with(int, "a", exclude_arguments="value")
    tool_with(int, "a", input_schema={"type": "object"})


def test_an_action_in_this_process_takes_any_default_and_a_server_names_it() -> None:
    class Search(BaseAction):
        """Searches."""

        @tool_api
        def run(self, query: str, most: int = "5") -> str:  # type: ignore[assignment]
            """Search."""
            return f"{query} {most}"

    assert "tea 5" in str(Search()({"query": "tea"}).result)
    with pytest.raises(RegistrationError, match="does not fit its type"):
        find_tools(Search())


@given(HINTS, JSON)
def test_a_published_default_fits_its_published_schema(hint: Any, default: Any) -> None:
    try:
        schema = tool_with(hint, default).describe()["inputSchema"]
    except RegistrationError as error:
        assert "does not fit its type" in error.problem  # noqa: PT017
        schema = tool_with(hint, SENTINEL).describe()["inputSchema"]
        judge = Draft202012Validator(schema, format_checker=FORMATS)
        assert default is not None
        assert not judge.is_valid({"value": default})
        return
    assert Draft202012Validator(schema, format_checker=FORMATS).is_valid({"value": default})


def test_fractions_are_no_type_of_arguments() -> None:
    with pytest.raises(RegistrationError, match="Fraction"):
        tool_with(Fraction, Fraction(1, 2))
