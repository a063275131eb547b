"""The part of a process's output that is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_tools.processes.bounded_output import BoundedOutput


def output_of(*chunks: bytes, start: int, end: int) -> BoundedOutput:
    output = BoundedOutput(most_at_start=start, most_at_end=end)
    for chunk in chunks:
        output.add(chunk)
    return output


@pytest.mark.parametrize(
    ("start", "end", "kept"),
    [
        (5, 0, (b"abcde", b"")),
        (4, 0, (b"abcd", b"")),
        (0, 5, (b"", b"abcde")),
        (0, 4, (b"", b"bcde")),
        (3, 2, (b"abc", b"de")),
        (2, 2, (b"ab", b"de")),
        (9, 9, (b"abcde", b"")),
        (2, 9, (b"ab", b"cde")),
        (0, 0, (b"", b"")),
    ],
)
def test_the_first_and_the_last_bytes_are_kept_up_to_their_limits(
    start: int, end: int, kept: tuple[bytes, bytes]
) -> None:
    output = output_of(b"abcde", start=start, end=end)

    assert (output.start, output.end, output.total_bytes) == (*kept, 5)


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (5, 0, "abcde"),
        (3, 2, "abcde"),
        (0, 5, "abcde"),
        (2, 2, "ab\n[... 1 bytes left out ...]\nde"),
        (4, 0, "abcd\n[... 1 bytes left out ...]\n"),
        (0, 4, "\n[... 1 bytes left out ...]\nbcde"),
    ],
)
def test_the_text_has_a_note_exactly_if_bytes_were_dropped(start: int, end: int, text: str) -> None:
    assert output_of(b"abcde", start=start, end=end).decode_text() == text


def test_a_character_between_both_parts_is_whole_and_one_that_was_cut_is_left_out() -> None:
    data = "aüb".encode()

    assert output_of(data, start=2, end=2).decode_text() == "aüb"
    assert output_of(data, start=2, end=0).decode_text() == "a\n[... 2 bytes left out ...]\n"
    assert output_of(data, start=0, end=2).decode_text() == "\n[... 2 bytes left out ...]\nb"


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert output_of(b"a\xffb", start=9, end=0).decode_text() == "a\ufffdb"


@given(st.lists(st.binary(max_size=8), max_size=8), st.integers(0, 12), st.integers(0, 12))
def test_the_size_of_the_chunks_makes_no_difference(
    chunks: list[bytes], start: int, end: int
) -> None:
    in_pieces = output_of(*chunks, start=start, end=end)
    whole = output_of(b"".join(chunks), start=start, end=end)

    assert (in_pieces.start, in_pieces.end) == (whole.start, whole.end)
    assert in_pieces.decode_text() == whole.decode_text()
