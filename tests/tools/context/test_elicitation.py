"""What a tool asks the user: the form shown, and the value that comes back."""

from __future__ import annotations

import asyncio
import enum
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest
from support.recording_caller import RecordingCaller
from toolwire_tools import (
    AsyncContext,
    CannotAsk,
    Context,
    Declined,
    Dismissed,
    NotAnswered,
    make_tool,
)
from toolwire_tools.context.elicitation import read_form


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


SIZES = [{"const": "1", "title": "Small"}, {"const": "2", "title": "Large"}]
COLOURS = [{"const": "red", "title": "Red"}, {"const": "blue", "title": "Blue"}]


@dataclass
class Order:
    """An order."""

    name: str
    count: Annotated[int, msgspec.Meta(ge=1, le=9), "How many"]
    size: Size = Size.SMALL
    note: str | None = None


def accept(content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def single(schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"answer": {"title": "Answer", **schema}},
        "required": ["answer"],
    }


MOMENT = {
    "type": "string",
    "description": (
        "Date and time, such as 2026-03-01T09:00:00, with an offset if known:"
        " 2026-03-01T09:00:00+02:00."
    ),
}


@pytest.mark.parametrize(
    ("kind", "schema", "content", "value"),
    [
        (bool, {"type": "boolean"}, True, True),
        (str, {"type": "string"}, "tea", "tea"),
        (int, {"type": "integer"}, 3, 3),
        (int, {"type": "integer"}, 3.0, 3),
        (float, {"type": "number"}, 3, 3.0),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b"),
        (Literal[1, 2], {"type": "string", "enum": ["1", "2"]}, "2", 2),
        (Colour, {"type": "string", "oneOf": COLOURS}, "blue", Colour.BLUE),
        (
            Size,
            {"type": "string", "oneOf": SIZES, "description": "1 = SMALL, 2 = LARGE."},
            "2",
            Size.LARGE,
        ),
        (
            list[Literal["a", "b"]],
            {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            ["b"],
            ["b"],
        ),
        (
            list[Literal[1, 2]],
            {"type": "array", "items": {"type": "string", "enum": ["1", "2"]}},
            ["2"],
            [2],
        ),
        (list[Colour], {"type": "array", "items": {"anyOf": COLOURS}}, ["red"], [Colour.RED]),
        (
            set[Size],
            {"type": "array", "items": {"anyOf": SIZES}},
            ["1", "2"],
            {Size.SMALL, Size.LARGE},
        ),
        (date, {"type": "string", "format": "date"}, "2026-03-01", date(2026, 3, 1)),
        (
            datetime,
            {**MOMENT, "format": "date-time"},
            "2026-03-01T09:00:00",
            datetime(2026, 3, 1, 9),
        ),
    ],
)
def test_a_single_value_is_asked_for_as_one_field(
    kind: Any, schema: Any, content: Any, value: Any
) -> None:
    asked = read_form(kind)

    assert asked.schema == single(schema)
    answer = asked.read(accept({"answer": content}))
    assert (answer, type(answer)) == (value, type(value))


def test_several_fields_are_asked_for_at_once() -> None:
    asked = read_form(Order)

    assert asked.schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name"},
            "count": {
                "type": "integer",
                "title": "Count",
                "description": "How many",
                "minimum": 1,
                "maximum": 9,
            },
            "size": {
                "type": "string",
                "title": "Size",
                "oneOf": SIZES,
                "description": "1 = SMALL, 2 = LARGE.",
            },
            "note": {"type": "string", "title": "Note"},
        },
        "required": ["name", "count"],
    }
    assert asked.read(accept({"name": "tea", "count": 2, "size": "2"})) == Order(
        "tea", 2, Size.LARGE
    )


class WithoutSchema:
    def __init__(self, name: str) -> None:
        self.name = name


@dataclass
class OfContext:
    context: Context


@pytest.mark.parametrize(
    "kind",
    [
        *(
            list[int],
            dict[str, int],
            int | str,
            list[Order],
            Annotated[bytes | int, "x"],
            None,
            object,
            3,
        ),
        *(
            Context,
            AsyncContext,
            Context | None,
            Context | str,
            Annotated[Context, "x"],
            "Context",
            OfContext,
        ),
        *(WithoutSchema, list[WithoutSchema], "Unknown"),
    ],
)
def test_what_no_form_can_ask_for_is_a_type_error(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"^ask: .*; "):
        read_form(kind)


def test_a_tool_that_asks_for_a_context_fails_before_the_user_is_asked() -> None:
    caller = RecordingCaller()

    def tool(context: Context) -> str:
        return str(context.ask("Which?", Context))

    with pytest.raises(
        TypeError, match="ask: the answer is a Context; a form can only ask for text"
    ):
        make_tool(tool).call({}, caller)
    assert caller.asked == []


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"action": "decline"}, Declined),
        ({"action": "cancel"}, Dismissed),
        ({"action": "accept"}, NotAnswered),
        ({"action": "perhaps", "content": {"answer": 1}}, NotAnswered),
        ({}, NotAnswered),
        (accept({}), NotAnswered),
        (accept({"answer": "many"}), NotAnswered),
    ],
)
def test_a_declined_and_a_cancelled_elicitation_are_distinguished(
    answer: Any, error: type[Exception]
) -> None:
    with pytest.raises(error) as raised:
        read_form(int).read(answer)

    assert type(raised.value) is error


def test_a_sync_tool_asks_and_waits() -> None:
    caller = RecordingCaller()
    caller.answers = [accept({"answer": True})]

    def remove(path: str, context: Context) -> str:
        return "removed" if context.ask(f"Remove {path}?") else "kept"

    result = make_tool(remove).call({"path": "/x"}, caller)

    assert result["content"][0]["text"] == "removed"
    assert caller.asked == [("Remove /x?", single({"type": "boolean"}))]


def test_an_async_tool_awaits_the_answer() -> None:
    caller = RecordingCaller()
    caller.answers = [accept({"answer": 4})]

    async def order(context: AsyncContext) -> int:
        return await context.ask("How many?", int) * 2  # type: ignore[misc]

    result = asyncio.run(make_tool(order).call_async({}, caller))

    assert result["structuredContent"] == {"result": 8}


def test_a_default_is_for_clients_that_cannot_ask_and_for_nothing_else() -> None:
    caller = RecordingCaller()

    def sure(context: Context) -> bool:
        return context.ask("Sure?", bool, default=False)

    caller.answers = [CannotAsk("no way")]
    assert make_tool(sure).call({}, caller)["structuredContent"] == {"result": False}
    caller.answers = [{"action": "decline"}]
    with pytest.raises(Declined):
        make_tool(sure).call({}, caller)


def test_a_type_is_read_once() -> None:
    assert read_form(Order) is read_form(Order)
    assert read_form(list[Colour]) is read_form(list[Colour])


def test_equal_types_with_choices_in_another_order_have_forms_of_their_own() -> None:
    first, second = Literal["a", "b"], Literal["b", "a"]
    assert first == second
    assert read_form(first).schema["properties"]["answer"]["enum"] == ["a", "b"]
    assert read_form(second).schema["properties"]["answer"]["enum"] == ["b", "a"]


def test_a_type_that_cannot_be_hashed_has_a_form() -> None:
    kind: Any = Annotated[str, {"examples": ["a"]}]
    with pytest.raises(TypeError):
        hash(kind)
    assert read_form(kind).schema == read_form(kind).schema == single({"type": "string"})


NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def test_written_form_is_sent_as_it_is_and_its_answer_is_a_dict() -> None:
    caller = RecordingCaller()
    caller.answers = [{"action": "accept", "content": {"name": "Ada"}}]

    assert Context(caller).ask("Who?", NAMED) == {"name": "Ada"}
    assert caller.asked == [("Who?", NAMED)]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"action": "accept", "content": {}}, NotAnswered),
        ({"action": "accept", "content": {"name": 5}}, NotAnswered),
        ({"action": "accept"}, NotAnswered),
        ({"action": "decline"}, Declined),
        ({"action": "cancel"}, Dismissed),
    ],
)
def test_answer_that_does_not_fit_a_written_form_is_an_error(
    answer: dict[str, Any], error: type[Exception]
) -> None:
    caller = RecordingCaller()
    caller.answers = [answer]

    with pytest.raises(error):
        Context(caller).ask("Who?", NAMED)


@pytest.mark.parametrize(
    "schema", [{}, {"type": "object"}, {"type": "object", "properties": {"name": {"type": 5}}}]
)
def test_schema_of_no_form_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="ask"):
        Context(RecordingCaller()).ask("Who?", schema)
