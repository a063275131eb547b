"""The door of a program: what it takes for a call, and its limits. The program is a socket here."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_bundled.programs.door import _MAX_CONCURRENT, DoorLimits, ProgramDoor
from toolwire_bundled.programs.frames import (
    MAX_CALL_BYTES,
    BrokenDoor,
    FrameReader,
    Outcome,
    ProgramCall,
    read_call,
    write_outcome,
)

CALL: dict[str, Any] = {"id": 1, "tool": "add", "positional": [], "arguments": {}, "line": 1}


def frame(value: Any) -> bytes:
    data = json.dumps(value).encode()
    return len(data).to_bytes(4, "big") + data


def call(number: int, **members: Any) -> bytes:
    return frame({**CALL, "id": number, **members})


# Frames


def test_frames_are_read_from_pieces_of_any_size() -> None:
    data = call(1) + call(2, arguments={"a": "é" * 100})
    whole = list(FrameReader().feed(data))
    reader = FrameReader()
    pieces = [each for byte in data for each in reader.feed(bytes([byte]))]

    assert pieces == whole
    assert read_call(whole[1]).arguments == {"a": "é" * 100}


@pytest.mark.parametrize(
    ("size", "is_refused"), [(MAX_CALL_BYTES, False), (MAX_CALL_BYTES + 1, True)]
)
def test_frame_beyond_the_limit_is_refused_before_it_arrives(size: int, is_refused: bool) -> None:
    feeding = FrameReader().feed(size.to_bytes(4, "big"))

    if is_refused:
        with pytest.raises(BrokenDoor):
            list(feeding)
    else:
        assert list(feeding) == []


@pytest.mark.parametrize(
    "members",
    [
        {"id": "1"},
        {"id": -1},
        {"id": 2**53 + 1},
        {"id": 1.5},
        {"tool": None},
        {"positional": {}},
        {"arguments": []},
        {"arguments": None},
        {"line": "x"},
        {"more": 1},
    ],
)
def test_what_is_no_call_is_refused(members: dict[str, Any]) -> None:
    with pytest.raises(BrokenDoor):
        read_call(json.dumps({**CALL, **members}).encode())


@given(st.binary(max_size=200))
def test_any_bytes_are_calls_or_refused(data: bytes) -> None:
    try:
        for each in FrameReader().feed(data):
            assert isinstance(read_call(each), ProgramCall)
    except BrokenDoor:
        pass


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"id": ' + b"9" * 100_000, b"\xff", b""])
def test_malicious_json_is_refused(text: bytes) -> None:
    with pytest.raises(BrokenDoor):
        read_call(text)


def test_result_that_is_no_json_is_a_failure() -> None:
    data = write_outcome(7, Outcome(float("nan")))

    assert data[4:12] == (7).to_bytes(8, "big")
    assert json.loads(data[12:])["failed"].startswith("The result cannot be passed on: ")


# The door


class Inside:
    """The end of the program."""

    def __init__(self, door: ProgramDoor) -> None:
        self._socket = socket.socket(fileno=socket.dup(door.inside))
        self._socket.settimeout(10)
        door.let_go()

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def read(self) -> tuple[int, Any]:
        size = int.from_bytes(self._exactly(4), "big")
        data = self._exactly(size)
        return int.from_bytes(data[:8], "big"), json.loads(data[8:])

    def is_closed(self) -> bool:
        return self._socket.recv(1) == b""

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            assert piece, "the door is closed"
            data += piece
        return data


Opening = Callable[..., tuple[ProgramDoor, Inside, "SimpleQueue[ProgramCall]"]]


@pytest.fixture
def opened() -> Iterator[Opening]:
    """Open doors that put calls into a queue, or answer them at once if *answers*."""
    doors: list[tuple[ProgramDoor, Inside]] = []

    def open_door(
        answers: bool = True, **limits: int
    ) -> tuple[ProgramDoor, Inside, SimpleQueue[ProgramCall]]:
        calls: SimpleQueue[ProgramCall] = SimpleQueue()

        def start(wanted: ProgramCall) -> None:
            calls.put(wanted)
            if answers:
                door.answer(wanted, Outcome(wanted.arguments))

        door = ProgramDoor(start, DoorLimits(**limits))
        doors.append((door, Inside(door)))
        return *doors[-1], calls

    yield open_door
    for door, inside in doors:
        inside.close()
        door.close()


def test_call_is_started_and_answered(opened: Opening) -> None:
    _, inside, calls = opened()

    inside.write(call(5, arguments={"a": [1, None]}, line=3))

    assert inside.read() == (5, {"value": {"a": [1, None]}})
    assert calls.get(timeout=10) == ProgramCall(5, "add", [], {"a": [1, None]}, 3)


def test_calls_beyond_the_limit_fail_and_are_not_started(opened: Opening) -> None:
    _, inside, calls = opened(max_calls=2)

    inside.write(call(1) + call(2) + call(3))

    assert [inside.read()[1].keys() for _ in range(3)] == [{"value"}, {"value"}, {"failed", "data"}]
    assert calls.qsize() == 2


def test_results_beyond_the_limit_of_bytes_fail(opened: Opening) -> None:
    _, inside, _ = opened(max_bytes=1500)

    inside.write(call(1, arguments={"a": "x" * 1000}))

    _, outcome = inside.read()
    assert "1,500 bytes (--limit max_program_bytes)" in outcome["failed"]


def test_calls_beyond_the_limit_of_bytes_close_the_door(opened: Opening) -> None:
    door, inside, _ = opened(max_bytes=1500)

    inside.write(call(1, arguments={"a": "x" * 2000}))

    assert inside.is_closed()
    assert "1,500 bytes" in door.problem


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.1\r\n\r\n", frame([]), frame({}), frame(CALL | {"id": None})]
)
def test_anything_but_calls_closes_the_door(opened: Opening, data: bytes) -> None:
    door, inside, calls = opened()

    inside.write(data)

    assert inside.is_closed()
    assert door.problem
    assert calls.empty()


def test_no_more_calls_of_a_program_run_at_once_than_may(opened: Opening) -> None:
    door, inside, calls = opened(answers=False)
    inside.write(b"".join(call(number) for number in range(_MAX_CONCURRENT + 1)))
    running = [calls.get(timeout=10) for _ in range(_MAX_CONCURRENT)]

    assert calls.empty()
    door.answer(running[0], Outcome(1))

    assert inside.read() == (0, {"value": 1})
    assert calls.get(timeout=10).id == _MAX_CONCURRENT


def test_program_that_reads_nothing_does_not_hold_up_answers(opened: Opening) -> None:
    door, inside, calls = opened(answers=False)
    inside.write(b"".join(call(number) for number in range(10)))

    for _ in range(10):
        door.answer(calls.get(timeout=10), Outcome("x" * 1_000_000))  # returns at once

    assert inside.read()[0] == 0


def test_door_closes_while_a_call_waits_for_its_turn_and_nothing_is_read(opened: Opening) -> None:
    door, inside, calls = opened(answers=False)
    inside.write(b"".join(call(number) for number in range(_MAX_CONCURRENT + 1)))
    for _ in range(_MAX_CONCURRENT):
        door.answer(calls.get(timeout=10), Outcome("x" * 100_000))
    closing = threading.Thread(target=door.close)

    closing.start()
    closing.join(10)

    assert not closing.is_alive()
