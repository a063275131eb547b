"""Which tools run, in memory that the watchdog process can read. Imported with the watchdog."""

from __future__ import annotations

import mmap
import os
import sys

SLOTS = 512
NAME_BYTES = 64
_NAMES = 4096
_BYTES = 2 * SLOTS + (_NAMES + 1) * NAME_BYTES


class Board:
    """A number for each thread or task that runs a tool: its name's code, 0 for no tool.

    `descriptor` is that of the shared memory: the numbers, then the name of each code.

    Raises:
        OSError: if the system has no shared memory files (they exist on Linux), or no descriptor is
            free.
    """

    def __init__(self) -> None:
        self.descriptor = _open_memory()
        try:
            os.ftruncate(self.descriptor, _BYTES)
            memory = memoryview(mmap.mmap(self.descriptor, _BYTES))
        except BaseException:
            os.close(self.descriptor)
            raise
        self.marks = memory[: 2 * SLOTS].cast("H")
        self.codes = _Codes(memory[2 * SLOTS :])
        self._free = list(range(SLOTS - 1, 0, -1))

    def take_slot(self, name: str) -> int:
        """Mark a free slot with a tool's *name*, and return it; 0, which is shared, if all are
        taken.
        """
        try:
            slot = self._free.pop()
        except IndexError:
            return 0
        self.marks[slot] = self.codes[name]
        return slot

    def mark(self, slot: int, name: str) -> int:
        """Mark *slot*, or a free one for 0, with a tool's *name*, empty for no tool; return it."""
        if not slot:
            return self.take_slot(name)
        self.marks[slot] = self.codes[name]
        return slot

    def give_back(self, slot: int) -> None:
        """Clear and free *slot*."""
        self.marks[slot] = 0
        self._free.append(slot)


def _open_memory() -> int:
    if sys.platform != "linux":
        raise OSError("this system has no shared memory files")
    return os.memfd_create("toolwire")


class _Codes(dict[str, int]):
    """A number from 1 for each name, written to its place in *memory*; 0 beyond the limit."""

    def __init__(self, memory: memoryview) -> None:
        super().__init__({"": 0})
        self._memory = memory

    def __missing__(self, name: str) -> int:
        code = self[name] = len(self) if len(self) <= _NAMES else 0
        data = name.encode("utf-8", "replace")[:NAME_BYTES]
        self._memory[code * NAME_BYTES : code * NAME_BYTES + len(data)] = data
        return code
