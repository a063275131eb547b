"""The events that are kept: numbers, limits, readers that are slow, come back or come late."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.inspect.traffic import MAX_MESSAGE_BYTES, Feed, Traffic


def read(feed: Feed, after: int = 0) -> list[dict[str, Any]]:
    """Return what a reader gets that comes now, until the end of *feed*."""

    async def follow() -> bytes:
        return b"".join([chunk async for chunk in feed.follow(after)])

    feed.close()
    return [json.loads(line) for line in anyio.run(follow).splitlines()]


def numbers(lines: list[dict[str, Any]]) -> list[int]:
    return [line["number"] for line in lines]


def test_a_reader_gets_all_events_in_their_order() -> None:
    feed = Feed()
    for text in "abc":
        feed.add("stderr", text=text)
    assert [(line["number"], line["type"], line["text"]) for line in read(feed)] == [
        (1, "stderr", "a"),
        (2, "stderr", "b"),
        (3, "stderr", "c"),
    ]
    assert numbers(read(feed, after=2)) == [3]


@given(st.integers(0, 30), st.integers(0, 40), st.integers(1, 12))
def test_a_reader_misses_only_what_a_gap_counts(added: int, after: int, kept: int) -> None:
    feed = Feed(max_events=kept)
    for _ in range(added):
        feed.add("changed")
    lines = read(feed, after)
    missed = sum(line.get("dropped", 0) for line in lines if line["type"] == "gap")
    assert missed + len([line for line in lines if line["type"] != "gap"]) == max(0, added - after)
    assert numbers(lines) == sorted(numbers(lines))
    assert numbers(lines)[-1:] == ([added] if added > after else [])


def test_events_beyond_the_limit_of_bytes_are_dropped_oldest_first() -> None:
    feed = Feed(max_bytes=1000)
    for number in range(50):
        feed.add("stderr", text=f"{number} {'x' * 100}")
    gap, *lines = read(feed)
    assert gap["dropped"] + len(lines) == 50
    assert sum(len(json.dumps(line)) for line in lines) < 1200
    assert lines[-1]["text"].startswith("49 ")


def test_a_slow_reader_holds_nothing_up_and_gets_a_gap() -> None:
    feed, got = Feed(max_events=10), list[dict[str, Any]]()
    reads = anyio.Event

    async def scenario() -> None:
        began, go_on = reads(), reads()

        async def read() -> None:
            async for chunk in feed.follow(0):
                got.extend(json.loads(line) for line in chunk.splitlines())
                began.set()
                await go_on.wait()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            feed.add("changed")
            await began.wait()
            for _ in range(1000):
                feed.add("changed")
            feed.close()
            go_on.set()

    anyio.run(scenario)
    assert [(line["number"], line["type"]) for line in got[:3]] == [
        (1, "changed"),
        (991, "gap"),
        (992, "changed"),
    ]
    assert got[1]["dropped"] == 990
    assert got[-1]["number"] == 1001


def test_a_reader_that_does_not_read_holds_little() -> None:
    feed, sizes = Feed(), list[int]()

    async def scenario() -> None:
        for size in [10, 10_000, 200_000] * 20:
            feed.add("event", text="x" * size)
        feed.close()
        sizes.extend([len(chunk) async for chunk in feed.follow(0)])

    anyio.run(scenario)
    assert sum(sizes) > 4_000_000
    assert max(sizes) < 500_000


def test_a_reader_from_beyond_the_end_gets_what_comes() -> None:
    assert read(Feed(), after=1 << 63) == []


def traffic_of(*frames: bytes) -> list[dict[str, Any]]:
    feed = Feed()

    async def scenario() -> None:
        traffic = Traffic(feed)
        for frame in frames:
            traffic.add_frame("server", frame)
        await anyio.sleep(0)

    anyio.run(scenario)
    return [line["entry"] for line in read(feed) if line["type"] == "message"]


def test_a_message_that_is_too_long_leaves_the_others() -> None:
    long = b'{"result": "%b"}' % (b"x" * MAX_MESSAGE_BYTES)
    first, cut, last = traffic_of(b'{"id": 1}', long, b'{"id": 2}')
    assert (first["message"], last["message"]) == ({"id": 1}, {"id": 2})
    assert cut["type"] == "Noise"
    assert cut["text"].startswith("[not kept: a message of 8,388,")


@pytest.mark.parametrize(
    "frame", [b"no json", b"5", b"\xff\xfe", b'{"a": "\\ud800"}', b"[" * 100_000]
)
def test_what_is_no_message_is_noise(frame: bytes) -> None:
    (entry,) = traffic_of(frame)
    assert (entry["type"], entry["text"]) == ("Noise", frame[:2000].decode(errors="replace"))
