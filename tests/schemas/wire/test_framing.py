"""Framing: the same frames whatever the chunks, and the next message after every fault."""

from __future__ import annotations

import itertools
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_schemas.wire.content_length import wrap_with_header
from toolwire_schemas.wire.framing import BOM, AutoFraming, Lines, wrap_line
from toolwire_schemas.wire.messages import Fault, Frame

LIMIT = 2000


def frames_of(data: bytes, cuts: list[int] | None = None) -> list[Frame]:
    framing = AutoFraming(LIMIT)
    frames: list[Frame] = []
    edges = [0, *sorted(cuts or []), len(data)]
    for start, end in itertools.pairwise(edges):
        frames += framing.feed(data[start:end])
    return frames + framing.close()


def frames_byte_by_byte(data: bytes) -> list[Frame]:
    return frames_of(data, list(range(len(data))))


NEXT_AFTER_8 = "Content-Length announced 9 bytes, but the next header came after 8"
ENDED_AFTER_8 = "the stream ended after 8 of 9 bytes announced"
LOST = "out of frame: expected a Content-Length header; skipped to the next one"


def header(length: int, body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (length, body)


GOOD = b'{"id":2}'
MENTION = b'{"Content-Length":1}'
"""A message that looks like a header at first."""


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}\r\n', [b'{"a":1}\r']),
        (b'\n \n\r\n{"a":1}\n\n', [b'{"a":1}']),
        (b'\xef\xbb\xbf{"a":1}\n', [b'{"a":1}']),
        (b'{"the last line needs":"no newline"}', [b'{"the last line needs":"no newline"}']),
        (b"error: none\r\n" + GOOD, [b"error: none\r", GOOD]),
        (b"error: none\nContent-Length: 8\n", [b"error: none", b"Content-Length: 8"]),
        (b"X-Y: 1\r\n\r\n" + GOOD, [b"X-Y: 1\r", GOOD]),
        (b"X: " + b"y" * (LIMIT - 4) + b"\r\n" + GOOD, [b"X: " + b"y" * (LIMIT - 4) + b"\r", GOOD]),
        (b"true", [b"true"]),
        (b"no json\n" + GOOD, [b"no json", GOOD]),
        (b"\xef\xbb", [b"\xef\xbb"]),
        (b"\xef\xbb\xbf" + b" " * (LIMIT - 8) + GOOD, [b" " * (LIMIT - 8) + GOOD]),
        (b"", []),
        (b"\n\n", []),
    ],
)
def test_lines_are_distinguished(data: bytes, expected: list[Frame]) -> None:
    assert frames_of(data) == frames_byte_by_byte(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (header(8, GOOD) + header(8, GOOD), [GOOD, GOOD]),
        (b"content-length:8\n\n" + GOOD, [GOOD]),
        (b"Content-Type: application/json\r\nContent-Length: 8\r\n\r\n" + GOOD, [GOOD]),
        (b"\xef\xbb\xbf\r\n" + header(8, GOOD) + b"\r\n", [GOOD]),
        (header(8, GOOD) + b"\xef\xbb\xbf\n\xef\xbb\xbf" + header(8, GOOD), [GOOD, GOOD]),
        (header(0, b"") + header(8, GOOD), [b"", GOOD]),
        (b"X-Trace: 1\r\nContent-Length: 8\r\n\r\n" + GOOD, [GOOD]),
        (b"\xef\xbb\xbf\r\nDate: x\r\nX-Y-2 :\r\ncontent-length: 8\r\n\r\n" + GOOD, [GOOD]),
        (header(8, GOOD) + b"X-Trace: 1\r\nContent-Length: 8\r\n\r\n" + GOOD, [GOOD, GOOD]),
        (header(29, b'{"a":"Content-Length: 5\\r\\n"}'), [b'{"a":"Content-Length: 5\\r\\n"}']),
    ],
)
def test_headers_tell_messages_apart(data: bytes, expected: list[Frame]) -> None:
    assert frames_of(data) == frames_byte_by_byte(data) == expected


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (header(5, GOOD) + header(8, GOOD), "out of frame: expected a Content-Length header"),
        (header(9, GOOD) + header(8, GOOD), "announced 9 bytes, but the next header came after 8"),
        (
            header(500, GOOD) + header(8, GOOD),
            "announced 500 bytes, but the next header came after 8",
        ),
        (header(10**17, GOOD) + header(8, GOOD), "but the next header came after 8"),
        (b"Content-Type: x\r\n\r\n" + GOOD + header(8, GOOD), "without a Content-Length"),
        (b"Content-Length: many\r\n\r\n" + GOOD + header(8, GOOD), "whole number of bytes"),
        (b"Content-Length: -1\r\n\r\n" + GOOD + header(8, GOOD), "whole number of bytes"),
        (header(8, GOOD) + b"noise\n" + header(8, GOOD), "out of frame"),
        (b"Content-X: " + b"y" * 9000 + b"\r\n\r\n" + header(8, GOOD), "a header of more than"),
        (b"Content-Length: 5\r\nX: " + b"y" * 9000 + header(8, GOOD), "a header of more than"),
        (
            b"Content-Length: 5\r\n" * 300 + b"X: " + b"y" * 9000 + header(8, GOOD),
            "a header of more than",
        ),
        (b"Content-" + b"9" * 9000 + b'"' + header(8, GOOD), "a header of more than"),
        (header(8, GOOD) + b"noise" + header(8, GOOD), "without a Content-Length"),
        (
            b"Content-Length:" + b" " * 70 + b"8\r\n\r\n" + GOOD + header(8, GOOD),
            "whole number of bytes",
        ),
        (header(3000, b"z" * 3000) + header(8, GOOD), "a message of 3000 bytes; the limit is 2000"),
        (header(9, b"") + header(8, GOOD), "the next header came after 0"),
        (header(21, MENTION) + header(8, GOOD), "the next header came after 20"),
        (header(22, MENTION) + header(8, GOOD), "the next header came after 20"),
        (header(8, GOOD) + b"?" + header(8, GOOD), "expected a Content-Length header"),
        (b"Content-X: " + b"y" * 8300 + header(8, GOOD), "a header of more than 8192 bytes"),
    ],
)
def test_after_a_fault_in_the_headers_the_next_message_is_served(data: bytes, told: str) -> None:
    frames = frames_of(data)

    assert any(isinstance(frame, Fault) and told in frame.message for frame in frames)
    assert frames[-1] == GOOD
    assert frames_byte_by_byte(data) == frames


def block_of(size: int) -> bytes:
    """Return a header block of *size* bytes, for a message of 8 bytes."""
    block = b"Content-Length: 8\r\nX: %b\r\n\r\n"
    return block % (b"y" * (size - len(block) + len("%b")))


@pytest.mark.parametrize("before", [b"", header(8, GOOD)], ids=["first", "later"])
@pytest.mark.parametrize(("size", "is_served"), [(8191, True), (8192, True), (8193, False)])
def test_a_header_has_at_most_8192_bytes(before: bytes, size: int, is_served: bool) -> None:
    data = before + block_of(size) + GOOD

    frames = frames_of(data)

    assert (frames[-1] == GOOD) is is_served
    assert any(isinstance(frame, Fault) for frame in frames) is not is_served
    assert frames_byte_by_byte(data) == frames


@pytest.mark.parametrize(("size", "faults"), [(8191, 0), (8192, 1)])
def test_a_header_is_refused_as_soon_as_it_is_too_long(size: int, faults: int) -> None:
    framing = AutoFraming(LIMIT)
    framing.feed(header(8, GOOD))

    assert len(framing.feed(block_of(9000)[:size])) == faults


@pytest.mark.parametrize("wrap", [wrap_line, wrap_with_header])
@pytest.mark.parametrize(("size", "is_served"), [(1999, True), (2000, True), (2001, False)])
def test_a_message_of_the_most_bytes_is_whole_and_one_beyond_is_refused(
    wrap: Callable[[bytes], bytes], size: int, is_served: bool
) -> None:
    message = bytes(ord("a") + index % 26 for index in range(size))
    data = wrap(GOOD) + wrap(message)

    frames = frames_of(data)

    assert (frames == [GOOD, message]) is is_served
    assert isinstance(frames[1], Fault) is not is_served
    assert frames_byte_by_byte(data) == frames
    assert frames_of(data, [len(data) - 300]) == frames


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"{}\n", [b"{}"]),
        (b"\n{}\n", [b"{}"]),
        (b"{}\n[]\n{", [b"{}", b"[]"]),
        (b"null\n", [b"null"]),
        (b"\n" * 4096 + b"Content-Length: 8\n", [b"Content-Length: 8"]),
        (b"\n" * 5000 + b"{}\n", [b"{}"]),
        (b"X: " + b"y" * 9000 + b"\n", [b"X: " + b"y" * 9000]),
        (header(8, GOOD), [GOOD]),
        (header(8, GOOD) + header(9, GOOD), [GOOD]),
        (header(9, GOOD) + header(2, b"")[:-2], [Fault(NEXT_AFTER_8, head=GOOD, tail=GOOD)]),
    ],
)
def test_a_frame_is_returned_with_its_last_byte(data: bytes, expected: list[Frame]) -> None:
    assert AutoFraming(10_000).feed(data) == expected


@pytest.mark.parametrize("size", [20, 511, 512, 513, 1024, 3000])
def test_a_body_that_a_header_ends_is_a_fault_with_its_two_ends(size: int) -> None:
    body = bytes(ord("a") + index % 26 for index in range(size))
    data = header(5000, body) + header(8, GOOD)
    problem = f"Content-Length announced 5000 bytes, but the next header came after {size}"

    frames = frames_of(data)

    assert frames == [Fault(problem, head=body[:512], tail=body[-512:]), GOOD]
    assert frames_byte_by_byte(data) == frames


@pytest.mark.parametrize(
    ("data", "last"),
    [
        (header(9, GOOD), Fault(ENDED_AFTER_8, head=GOOD, tail=GOOD)),
        (header(8, GOOD) + b"Content-Length: 8", Fault("the stream ended inside a header")),
        (header(8, GOOD) + b"\r\n", GOOD),
        (header(8, GOOD) + b"noise?", Fault(LOST)),
    ],
)
def test_the_end_of_the_stream_is_a_fault_inside_a_message_or_a_header(
    data: bytes, last: Frame
) -> None:
    framing = AutoFraming(LIMIT)
    frames = framing.feed(data) + framing.close()

    assert frames[-1] == last
    assert framing.close() == []


@pytest.mark.parametrize("wrap", [wrap_line, wrap_with_header])
def test_a_message_over_the_limit_is_refused_and_its_two_ends_are_kept(wrap: object) -> None:
    assert callable(wrap)
    large = b"<" + b"x" * 4000 + b">"
    data = wrap(GOOD) + wrap(large) + wrap(GOOD)

    first, fault, last = frames_of(data)

    for cut in (3000, 4000, len(data) - 20):
        assert frames_of(data, [cut]) == [first, fault, last]
    assert (first, last) == (GOOD, GOOD)
    assert isinstance(fault, Fault)
    assert fault == Fault(
        "a message of 4002 bytes; the limit is 2000",
        too_large=True,
        head=b"<" + b"x" * 511,
        tail=b"x" * 511 + b">",
    )
    assert frames_byte_by_byte(data) == [first, fault, last]


@pytest.mark.parametrize("start", [b"{", b"Content-Length: 10000000\r\n\r\n"])
def test_a_message_beyond_the_limit_is_not_kept_in_memory(start: bytes) -> None:
    framing = AutoFraming(LIMIT)
    framing.feed(start)
    chunk_bytes = 10_000
    tracemalloc.start()
    try:
        for _ in range(100):
            framing.feed(b"x" * chunk_bytes)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most_bytes < 10 * chunk_bytes


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [GOOD, b'{"a":"Content-Length: 3"}', b"Content-Length: 3\r\n", b"\r\n\r\n", b"x" * 2500]
        ),
        st.sampled_from(
            [
                header(8, GOOD),
                header(3, GOOD),
                header(12, GOOD),
                header(30, GOOD),
                header(4000, GOOD),
            ]
        ),
        st.sampled_from(
            [b"\n", b"\r\n", b"C", b"Content", b"\xef\xbb\xbf", b"content-length: 2\n\n{}"]
        ),
        st.binary(max_size=20),
    ),
    max_size=8,
)


ATTACKS = [
    b"Content-Length: 5\r\nX: " + b"x" * 9000,
    b"Content-Length: 5\r\n",
    b"Content-Length: 5\r\n\r\n",
    b"Content-Length: x\r\n\r\n",
    b"Content-Length: 100000\r\n\r\nContent-Length:",
    b"Content-Length" + b" " * 600,
    b"X-Y: 1\r\n",
    b"X-Y",
    b"\xef\xbb\xbf",
    b" \r\n",
    b"Content-",
]


@given(
    start=st.sampled_from([b"", b"{", header(8, GOOD)]),
    pieces=st.lists(st.one_of(PIECES.map(b"".join), st.sampled_from(ATTACKS)), max_size=8),
    chunk=st.sampled_from([1, 7, 100, 10**9]),
)
def test_every_step_consumes_input(start: bytes, pieces: list[bytes], chunk: int) -> None:
    assert_few_steps(start + b"".join(pieces), chunk)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("start", [b"", header(8, GOOD)])
def test_no_repeated_input_takes_more_than_a_few_steps_a_byte(start: bytes, attack: bytes) -> None:
    assert_few_steps(start + attack * (200_000 // len(attack)), 8192)


def assert_few_steps(data: bytes, chunk: int) -> None:
    """Feed *data* in pieces of *chunk* bytes, and count the calls of functions that this takes."""
    chunks = [data[start : start + chunk] for start in range(0, len(data), chunk)]
    steps_left = 20 * (len(data) + len(chunks)) + 100
    framing = AutoFraming(LIMIT)

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal steps_left
        steps_left -= 1
        if steps_left < 0:
            raise AssertionError("the framing makes steps without consuming input")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for part in chunks:
            framing.feed(part)
        framing.close()
    finally:
        sys.setprofile(before)


@given(start=st.sampled_from([b"", b"{", header(8, GOOD)]), pieces=PIECES, cuts=st.data())
def test_frames_do_not_depend_on_how_the_stream_is_cut(
    start: bytes, pieces: list[bytes], cuts: st.DataObject
) -> None:
    data = start + b"".join(pieces)
    chosen = cuts.draw(st.lists(st.integers(0, len(data)), max_size=10))

    assert frames_of(data, chosen) == frames_of(data)
    assert frames_byte_by_byte(data) == frames_of(data)


@given(st.lists(st.binary().map(lambda data: b"{" + data.replace(b"\n", b" ") + b"}")))
def test_what_is_wrapped_comes_out_again(messages: list[bytes]) -> None:
    assert frames_of(b"".join(map(wrap_line, messages))) == messages
    assert frames_of(b"".join(map(wrap_with_header, messages))) == messages


@pytest.mark.parametrize("blanks", [4000, 4087, 4088, 4095, 4096, 4097, 9000])
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
def test_only_a_few_blanks_may_come_before_the_first_header(blanks: int, before: bytes) -> None:
    data = before + b"\n" * (blanks - len(before)) + header(8, GOOD)

    frames = frames_of(data)

    assert (frames == [GOOD]) is (blanks < 4096)
    assert (
        frames_of(data, [blanks + 1])
        == frames_of(data, [blanks - 1, blanks + 3])
        == frames_byte_by_byte(data)
        == frames
    )


@pytest.mark.parametrize("line", [b"1", b"{}", BOM[:1], BOM[:2], BOM])
def test_a_short_first_line_is_complete_at_its_end_and_not_later(line: bytes) -> None:
    frames = Lines().feed(line + b"\n")
    assert frames == ([] if line == BOM else [line])


@pytest.mark.parametrize("chunk", [1, 3, 100])
@pytest.mark.parametrize(("size", "is_kept"), [(9, True), (10, True), (11, False)])
def test_a_line_of_the_most_bytes_is_kept_and_one_beyond_is_not(
    size: int, is_kept: bool, chunk: int
) -> None:
    lines = Lines(max_message_bytes=10)
    stream = b"a" * size + b"\nnext\n"
    frames = [
        frame
        for start in range(0, len(stream), chunk)
        for frame in lines.feed(stream[start : start + chunk])
    ]

    first, second = frames
    assert (first == b"a" * size) is is_kept
    assert isinstance(first, Fault) is not is_kept
    assert second == b"next"


@pytest.mark.parametrize(
    ("fed", "last"),
    [([], []), ([b"a\n"], []), ([b"a\nb"], [b"b"]), ([b"  "], []), ([BOM[:2]], [BOM[:2]])],
)
def test_the_end_of_the_stream_completes_what_is_left_once(
    fed: list[bytes], last: list[bytes]
) -> None:
    lines = Lines()
    for data in fed:
        lines.feed(data)
    assert lines.close() == last
    assert lines.close() == []
