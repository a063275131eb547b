"""Events come out the same whatever pieces their bytes come in."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_agent.models.http_api.endpoint import Events

LINES = st.text(
    st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=10
).map(str.encode)
ENDS = st.sampled_from([b"\n", b"\r\n"])


def all_of(*pieces: bytes) -> list[bytes]:
    events = Events()
    return [data for piece in pieces for data in events.feed(piece)] + events.finish()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@given(
    st.lists(st.lists(LINES, min_size=1, max_size=3), max_size=4),
    ENDS,
    st.lists(st.integers(0, 200), max_size=8),
)
def test_events_are_the_same_for_any_split_of_the_stream(
    events: list[list[bytes]], end: bytes, places: list[int]
) -> None:
    written = b"".join(b"".join(b"data: " + line + end for line in event) + end for event in events)
    assert all_of(*cut(written, places)) == [b"\n".join(event) for event in events]


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_any_bytes_have_the_same_result_in_pieces(data: bytes, places: list[int]) -> None:
    assert all_of(*cut(data, places)) == all_of(data)


@pytest.mark.parametrize(
    ("written", "events"),
    [
        (b": a comment\n\ndata: 1\n\n", [b"1"]),
        (b"event: x\nid: 1\nretry: 5\ndata: 1\n\n", [b"1"]),
        (b"data:1\n\n", [b"1"]),
        (b"data:  1\n\n", [b" 1"]),
        (b"data\n\n", [b""]),
        (b"data: 1\ndata: 2\n\n", [b"1\n2"]),
        (b"data: 1", [b"1"]),
        (b"data: 1\r", [b"1"]),
        (b"\n\n\n", []),
        (b"DATA: 1\n\n", []),
    ],
)
def test_lines_outside_events_are_ignored(written: bytes, events: list[bytes]) -> None:
    assert all_of(written) == events


def test_a_long_line_in_many_pieces_takes_no_longer_than_its_length() -> None:
    events = Events()
    for _ in range(100_000):  # each of which would be copied with all before it
        assert events.feed(b"x" * 100) == []
    assert events.feed(b"\n") == []
