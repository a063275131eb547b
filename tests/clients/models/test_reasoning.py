"""Thoughts in front of an answer are kept out of it, in whatever pieces it comes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from toolwire_agent.models.http_api.reasoning import ReasoningSplitter


def parted(*pieces: str) -> tuple[str, str, str]:
    """The answer, the thoughts, and what was shown of the answer while it came."""
    thoughts = ReasoningSplitter()
    shown = "".join(thoughts.feed(piece) for piece in pieces)
    return (*thoughts.finish(), shown)


@pytest.mark.parametrize(
    ("text", "answer", "thought"),
    [
        ("plain", "plain", ""),
        ("", "", ""),
        ("  \n", "  \n", ""),
        ("<think>hm</think>yes", "yes", "hm"),
        ("\n<think>\nhm\n</think>\n\nyes", "yes", "hm"),
        ("<thinking>hm</thinking>yes", "yes", "hm"),
        ("<seed:think>hm</seed:think>yes", "yes", "hm"),
        ("◁think▷hm◁/think▷yes", "yes", "hm"),
        ("[THINK]hm[/THINK]yes", "yes", "hm"),
        ("<think></think>yes", "yes", ""),
        ("<think>a</think><think>b</think>yes", "yes", "a\nb"),
        ('<think>{"type": "ACTION"}</think>{"a": 1}', '{"a": 1}', '{"type": "ACTION"}'),
        ("<think>never closed", "", "never closed"),
        ("<thin", "<thin", ""),
        ("<b>bold</b>", "<b>bold</b>", ""),
        ("[1, 2]", "[1, 2]", ""),
        ("yes <think>no</think>", "yes <think>no</think>", ""),
        ('{"thought": "the tag </think> ends it"}', '{"thought": "the tag </think> ends it"}', ""),
        ("the prompt opened it</think>yes", "yes", "the prompt opened it"),
        ("```json\n</think>\n```", "```json\n</think>\n```", ""),
    ],
)
def test_answer_is_the_text_after_the_thoughts(text: str, answer: str, thought: str) -> None:
    assert parted(text)[:2] == (answer, thought)


@example(["<think>", "</think>", " "], [15])
@example(["<think>", "</think>", " ", "a"], [15, 16])
@given(
    st.lists(
        st.sampled_from(
            ["<think>", "</think>", "◁think▷", "◁/think▷", "a", " ", "\n", "<", "{", "thi"]
        ),
        max_size=12,
    ),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_any_split_into_pieces_has_the_same_result(words: list[str], places: list[int]) -> None:
    text = "".join(words)
    edges = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    assert parted(*pieces)[:2] == parted(text)[:2]


@given(st.text(max_size=30), st.text(max_size=30).filter(lambda text: "</think>" not in text))
def test_a_thought_is_never_shown(answer: str, thought: str) -> None:
    _, _, shown = parted(*f"<think>{thought}</think>|{answer}")
    assert shown == f"|{answer}"


def test_long_thoughts_take_no_longer_than_their_length() -> None:
    thoughts = ReasoningSplitter()
    thoughts.feed("<think>")
    for _ in range(200_000):
        assert thoughts.feed("word ") == ""
    assert thoughts.feed("</think>yes") == "yes"
