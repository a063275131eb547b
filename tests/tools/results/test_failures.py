"""What a caller is told when a tool fails."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_schemas.wire.codec import decode, encode
from toolwire_tools import ArgumentsError, OutputError, ToolError, make_failure


def told(exception: BaseException, *, mask: bool = False) -> str:
    """The text of a failure that can be sent."""
    result = make_failure(exception, mask=mask, tool="dig")
    assert set(result) == {"content", "isError"}
    assert result["isError"] is True
    (block,) = decode(encode(result))["content"]
    assert block["type"] == "text"
    words: str = block["text"]
    return words


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("exception", "words"),
    [
        (ToolError("The pit is full.\nTry tomorrow."), "The pit is full.\nTry tomorrow."),
        (ArgumentsError([("arguments.a", "is missing")]), "arguments.a: is missing"),
        (ValueError("x"), "ValueError: x"),
        (KeyError("a"), "KeyError: 'a'"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (SystemExit(3), "SystemExit: 3"),
        (ToolError(), "The tool dig failed."),
        (
            OutputError([("result.a", "nan has no form in JSON")]),
            "The tool dig ran, but its result cannot be sent:\nresult.a: nan has no form in JSON",
        ),
        (
            ExceptionGroup("two", [ValueError("x"), ToolError("y")]),
            "ExceptionGroup: two (2 sub-exceptions)\n- ValueError: x\n- y",
        ),
        (ExceptionGroup("one", [ToolError("y")]), "y"),
        (
            ExceptionGroup("outer", [ExceptionGroup("inner", [KeyError(1)]), OSError("z")]),
            "ExceptionGroup: outer (2 sub-exceptions)\n- KeyError: 1\n- OSError: z",
        ),
    ],
)
def test_a_failure_is_reported_in_plain_words(exception: BaseException, words: str) -> None:
    assert told(exception) == words


@pytest.mark.parametrize(
    ("exception", "words"),
    [
        (ToolError("full"), "full"),
        (ArgumentsError([("arguments.a", "is missing")]), "arguments.a: is missing"),
        (
            ArgumentsError([("arguments.a", "secret")], private=True),
            "arguments.a: the tool refuses this value",
        ),
        (ValueError("secret"), "The tool dig failed."),
        (OutputError([("result", "secret")]), "The tool dig failed."),
        (Mute(), "The tool dig failed."),
        (ExceptionGroup("secret", [ValueError("secret")]), "The tool dig failed."),
        (ExceptionGroup("secret", [ToolError("full"), ToolError("full")]), "full"),
        (
            ExceptionGroup("secret", [KeyError("secret"), ToolError("full")]),
            "The tool dig failed.\nfull",
        ),
    ],
)
def test_a_masked_failure_tells_only_what_was_meant_for_the_caller(
    exception: BaseException, words: str
) -> None:
    assert told(exception, mask=True) == words


def test_an_exception_without_words_is_still_reported() -> None:
    assert told(Mute()).startswith("Mute: ")


def test_a_subclass_of_tool_error_speaks_for_itself() -> None:
    class Full(ToolError):
        def __init__(self) -> None:
            super().__init__("full")

    assert told(Full()) == "full"


def test_a_huge_message_is_cut_and_says_so() -> None:
    words = told(ValueError("x" * 100_000))
    assert len(words) < 9000
    assert words.endswith("(91,820 more characters were cut)")


def test_the_words_of_a_tool_are_never_cut() -> None:
    assert told(ToolError("x" * 100_000)) == "x" * 100_000


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=50), st.booleans())
def test_any_text_of_an_exception_survives(text: str, mask: bool) -> None:
    # What UTF-16 cannot pair, UTF-8 cannot carry: it arrives as U+FFFD.
    readable = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert told(ToolError(text), mask=mask) == (readable or "The tool dig failed.")
    assert told(ValueError(text)) == (f"ValueError: {readable}" if text else "ValueError")


@given(
    st.recursive(
        st.builds(ValueError, st.text()),
        lambda inner: st.builds(ExceptionGroup, st.text(), st.lists(inner, min_size=1, max_size=3)),
    )
)
def test_any_group_of_exceptions_is_reported(exception: Any) -> None:
    assert told(exception).startswith(type(exception).__name__)
