"""Functions as prompts: what they are described as, what they get, and which messages their values
become.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recording_caller import RecordingCaller
from toolwire_tools import (
    ArgumentsError,
    Image,
    Message,
    OutputError,
    RegistrationError,
    Tool,
    find_tools,
    prompt,
)

PIXEL = b"\x89PNG\r\n\x1a\n"


def make_prompt_of(function: Any) -> Tool:
    [found] = find_tools(function)
    assert found.kind == "prompts"
    return found


def get(function: Any, **arguments: Any) -> Any:
    return make_prompt_of(function).call(arguments, RecordingCaller())


def text(words: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": words}}


def test_a_prompt_is_described_with_its_arguments() -> None:
    @prompt(title="Review")
    def review(code: str, level: int = 1, tone: Literal["kind", "strict"] = "kind") -> str:
        """Review code.

        Args:
            code: the code
            level: how deep
        """
        return code

    assert make_prompt_of(review).describe() == {
        "name": "review",
        "title": "Review",
        "description": "Review code.",
        "arguments": [
            {"name": "code", "description": "the code", "required": True},
            {
                "name": "level",
                "description": 'how deep (as JSON: {"type":"integer"})',
                "required": False,
            },
            {"name": "tone", "description": "(one of kind, strict)", "required": False},
        ],
    }


@prompt
def echo(
    text: str = "t",
    number: int = 0,
    yes: bool = False,
    day: dt.date | None = None,
    many: list[int] = [],  # noqa: B006
) -> str:
    return repr((text, number, yes, day, many))


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ({"text": "5", "number": "5"}, ("5", 5, False, None, [])),
        ({"yes": "true", "many": "[1, 2]"}, ("t", 0, True, None, [1, 2])),
        ({"day": "2026-01-02"}, ("t", 0, False, dt.date(2026, 1, 2), [])),
        # Fields of a form that were not filled in:
        ({"text": "", "number": "", "yes": "", "day": "", "many": ""}, ("", 0, False, None, [])),
    ],
)
def test_texts_are_read_as_the_hints_say(
    arguments: dict[str, str], values: tuple[Any, ...]
) -> None:
    assert get(echo, **arguments)["messages"] == [text(repr(values))]


@given(st.text())
def test_a_text_arrives_unchanged(words: str) -> None:
    assert get(echo, text=words)["messages"][0]["content"]["text"].startswith(f"({words!r}, ")


@pytest.mark.parametrize("arguments", [{"number": "five"}, {"unknown": "x"}, {"yes": "maybe"}])
def test_a_text_that_is_no_value_of_the_hint_is_refused(arguments: dict[str, str]) -> None:
    with pytest.raises(ArgumentsError):
        get(echo, **arguments)


class TheirMessage:
    """The classes of MCP's Python SDK."""

    role: str
    content: Any

    def __init__(self, role: str, content: Any) -> None:
        self.role, self.content = role, content


IMAGE = Image(PIXEL).make_block()


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("hi", [text("hi")]),
        (["hi", Message("ho", "assistant")], [text("hi"), text("ho", "assistant")]),
        (Message(["see", Image(PIXEL)]), [text("see"), {"role": "user", "content": IMAGE}]),
        (Image(PIXEL), [{"role": "user", "content": IMAGE}]),
        ({"role": "assistant", "content": "hi"}, [text("hi", "assistant")]),
        ({"role": "user", "content": {"type": "text", "text": "hi"}}, [text("hi")]),
        (TheirMessage("assistant", "hi"), [text("hi", "assistant")]),
        ({"a": 1}, [text('{"a":1}')]),
        ([], []),
    ],
)
def test_a_value_becomes_messages(value: Any, messages: list[Any]) -> None:
    @prompt
    def ask() -> Any:
        return value

    assert get(ask) == {"messages": messages}


@pytest.mark.parametrize("value", [None, Message("x", "system"), object()])  # type: ignore[arg-type]
def test_what_is_no_message_is_an_error(value: Any) -> None:
    @prompt
    def ask() -> Any:
        return value

    with pytest.raises(OutputError):
        get(ask)


def test_a_prompt_names_all_its_arguments() -> None:
    @prompt
    def ask(**others: str) -> str:
        return ""

    with pytest.raises(RegistrationError, match=r"^prompt 'ask': .*kwargs"):
        find_tools(ask)
