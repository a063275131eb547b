"""The answer in a reply that still arrives: the same text, however the reply is cut into pieces."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from toolwire_agent.react.replies.answer_reader import AnswerReader, JsonAnswerReader
from toolwire_client.redaction.hidden import repair_surrogates

CUTS = st.lists(st.integers(0, 400), max_size=30)
ANSWER = {"thought": 'I "know"', "type": "FINAL_ANSWER", "ok": True}


def read(text: str, cuts: list[int]) -> tuple[str, str]:
    """Return the answer and the thought of *text*, which arrives in pieces."""
    reader = JsonAnswerReader()
    places = sorted({0, *cuts, len(text)})
    return "".join(reader.feed(text[start:end]) for start, end in pairwise(places)), reader.thought


@given(
    st.text() | st.text('\\"/\b\r\n\t\ud83d\ude00{}[],:u0'),
    CUTS,
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "```json\n"]),
)
@example("\r\n\ud83d\ude00\ud83d", [*range(400)], True, False, "")
def test_answer_is_the_same_for_any_split_of_the_reply(
    result: str, cuts: list[int], escapes: bool, strict: bool, before: str
) -> None:
    reply: dict[str, Any] = {**ANSWER, "result": result}
    text = before + json.dumps({"reply": reply} if strict else reply, ensure_ascii=escapes)
    assert read(text, cuts) == (repair_surrogates(result), 'I "know"')


@pytest.mark.parametrize(
    "reply",
    [
        {**ANSWER, "ok": False, "result": "no"},
        {"type": "ASK", "content": "result"},
        {
            "type": "ACTION",
            "tool": "t",
            "params": {"type": "FINAL_ANSWER", "ok": True, "result": "no"},
        },
        {"result": "no", "type": "FINAL_ANSWER"},
        {**ANSWER, "result": {"type": "FINAL_ANSWER", "result": "no"}},
        {**ANSWER, "result": ["no"]},
        [{**ANSWER, "result": "no"}][:0],
        "result",
        5,
    ],
)
def test_only_the_result_of_a_final_answer_is_read(reply: Any) -> None:
    text = json.dumps(reply)
    for cuts in ([], [*range(len(text))]):
        assert read(text, cuts)[0] == ""


@given(st.text() | st.text('{}[]",:\\ufalse '), CUTS)
def test_any_text_is_read_to_its_end_without_an_error(text: str, cuts: list[int]) -> None:
    assert read(text, cuts) == read(text, [])


def test_reading_stops_after_the_result_wherever_ok_is() -> None:
    text = (
        '{"type": "FINAL_ANSWER", "result": "5", "ok": true} {"type": "FINAL_ANSWER", "result":'
        ' "6"}'
    )
    assert read(text, [*range(len(text))]) == ("5", "")


def test_whole_text_of_a_native_reply_is_the_answer() -> None:
    assert [AnswerReader().feed(piece) for piece in ("a", " b")] == ["a", " b"]
