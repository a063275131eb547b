"""Limits of results in bytes and in tokens: decisions at their edges."""

from __future__ import annotations

from typing import Any

import pytest
from support.server_process import NoHost, answers, call, protocol_of
from toolwire.protocol.batch import Batch
from toolwire.protocol.call import Call, Origin
from toolwire.protocol.result_size.result_limit import limit_of
from toolwire.settings import Settings
from toolwire_schemas.tokens import estimate_tokens
from toolwire_schemas.wire.codec import encode
from toolwire_tools import make_tool, tool_api


def result_of(text: str, own_limit: int | None = None, **settings: Any) -> dict[str, Any]:
    @tool_api(structured=False, max_result_bytes=own_limit)
    def show() -> str:
        return text

    (answer,) = answers(protocol_of(show, **settings), call("show"))
    return answer["result"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("a" * 4003, True),
        ("a" * 4004, False),
        ("你" * 1000, True),
        ("你" * 1001, False),
        ("你" * 500 + "a" * 2003, True),
        ("你" * 500 + "a" * 2004, False),
    ],
)
@pytest.mark.parametrize("mode", ["error", "truncate", "resource"])
def test_a_result_of_the_most_tokens_is_sent_whole_and_one_beyond_is_not(
    text: str, fits: bool, mode: str
) -> None:
    result = result_of(text, max_result_tokens=1000, on_large_result=mode)

    assert (result["content"] == [{"type": "text", "text": text}]) is fits


def test_a_result_that_is_cut_has_about_the_tokens_and_names_the_limit() -> None:
    result = result_of("word " * 4000, max_result_tokens=1000, on_large_result="truncate")

    (block,) = result["content"]
    assert result["isError"] is False
    assert "A result of show may take about 1,000 tokens." in block["text"]
    assert 500 < estimate_tokens(block["text"]) <= 1000


def test_an_error_beyond_the_tokens_names_the_limit_in_tokens() -> None:
    result = result_of("word " * 4000, max_result_tokens=1000)

    assert result["isError"] is True
    assert "at most about 1,000 tokens" in result["content"][0]["text"]


def test_the_tokens_do_not_limit_a_tool_with_a_limit_of_its_own() -> None:
    text = "word " * 4000

    result = result_of(text, own_limit=50_000, max_result_tokens=1000)

    assert result["content"] == [{"type": "text", "text": text}]


@pytest.mark.parametrize(("bytes_more", "fits"), [(0, True), (-1, False)])
def test_a_response_of_the_most_bytes_is_sent_and_one_beyond_is_not(
    bytes_more: int, fits: bool
) -> None:
    @tool_api(structured=False)
    def show() -> str:
        return "a" * 3000

    (whole,) = answers(protocol_of(show), call("show"))
    size = len(encode(whole))

    (answer,) = answers(protocol_of(show, max_result_bytes=size + bytes_more), call("show"))

    assert (answer == whole) is fits


@pytest.mark.parametrize("structured", [True, False])
def test_text_and_structured_content_count_once(structured: bool) -> None:
    def numbers() -> list[str]:
        return ["abcd"] * 500  # 3,501 characters as JSON

    settings = {"max_result_tokens": 900, "structured": structured}
    (answer,) = answers(protocol_of(numbers, **settings), call("numbers"))

    assert answer["result"]["isError"] is False


def limit(
    size: int, text: str = "", taken: int = 0, own: int | None = None, tokens: int | None = None
) -> tuple[int, str, bool]:
    """Return the limit for a response of *size* bytes with *text*, of a tool with the limit *own*,
    in a batch whose other responses have *taken* some bytes of 1,000.
    """

    @tool_api(max_result_bytes=own)
    def show() -> str:
        return text

    batch = Batch(2, lambda _: None)
    batch.size = taken
    origin = Origin(10, batch if taken else None, False)
    tool = make_tool(show)
    made = Call(1, tool.entry, tool.handler, {}, origin, {}, False, NoHost())
    result = {"content": [{"type": "text", "text": text}]}
    settings = Settings(max_result_bytes=1000, max_result_tokens=tokens)
    found = limit_of(made, result, size, settings)
    return found.room, found.words, found.is_of_batch


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"size": 1000}, (1000, "1,000 bytes", False)),
        ({"size": 1001}, (1000, "1,000 bytes", False)),
        ({"size": 60, "own": 50}, (50, "50 bytes", False)),
        ({"size": 2000, "own": 1500}, (1500, "1,500 bytes", False)),
        # What others in a batch have taken.
        ({"size": 1000, "taken": 1}, (999, "1,000 bytes", True)),
        ({"size": 1001, "taken": 1}, (999, "1,000 bytes", False)),
        ({"size": 60, "own": 50, "taken": 950}, (50, "50 bytes", False)),
        ({"size": 50, "own": 50, "taken": 951}, (49, "1,000 bytes", True)),
        # Tokens: a response of as many bytes fits whatever its text.
        ({"size": 100, "tokens": 100, "text": "é" * 100}, (100, "about 100 tokens", False)),
        ({"size": 101, "tokens": 100, "text": "é" * 100}, (101, "about 100 tokens", False)),
        ({"size": 300, "tokens": 100, "text": "é" * 150}, (200, "about 100 tokens", False)),
        ({"size": 900, "tokens": 100, "text": "a" * 800}, (450, "about 100 tokens", False)),
        ({"size": 900, "tokens": 100, "text": "a" * 800, "own": 950}, (950, "950 bytes", False)),
        ({"size": 300, "tokens": 100, "taken": 750}, (250, "1,000 bytes", True)),
    ],
)
def test_the_strictest_limit_decides(given: dict[str, Any], expected: tuple[Any, ...]) -> None:
    assert limit(**given) == expected
