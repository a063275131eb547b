"""Which tools run, as the watchdog process reads it."""

from __future__ import annotations

import os
import sys

import pytest
from toolwire.watchdog.board import NAME_BYTES, SLOTS, Board

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="shared memory files are Linux's")


def read_names(board: Board) -> list[str]:
    """Return the names of the marked tools, in the order of the slots."""
    marks = memoryview(os.pread(board.descriptor, 2 * SLOTS, 0)).cast("H")
    names = []
    for code in filter(None, marks):
        name = os.pread(board.descriptor, NAME_BYTES, 2 * SLOTS + code * NAME_BYTES)
        names.append(name.rstrip(b"\0").decode())
    return names


def test_a_thread_keeps_its_slot_for_the_next_tool() -> None:
    board = Board()

    slot = board.mark(0, "add")
    assert read_names(board) == ["add"]

    assert board.mark(slot, "divide") == slot
    assert read_names(board) == ["divide"]


def test_a_tool_of_another_process_is_no_mark() -> None:
    board = Board()
    slot = board.mark(0, "add")

    board.mark(slot, "")

    assert read_names(board) == []


def test_each_thread_has_a_slot_of_its_own() -> None:
    board = Board()

    first, second = board.mark(0, "add"), board.mark(0, "divide")
    board.give_back(first)

    assert first != second
    assert read_names(board) == ["divide"]


def test_without_a_free_slot_nothing_is_marked() -> None:
    board = Board()
    for _ in range(SLOTS - 1):
        board.mark(0, "add")

    assert board.mark(0, "divide") == 0
    assert "divide" not in read_names(board)
