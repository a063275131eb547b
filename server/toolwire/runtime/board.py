"""Which tools run, in memory that another process can read."""

from __future__ import annotations

import os

SLOTS = 512
NAME_BYTES = 64
_NAMES = 4096


class Board:
    """A number for each thread or task that runs a tool.

    `marks[slot] = codes[name]` means that a tool runs, `marks[slot] = 0` that none does.
    """

    def __init__(self) -> None:
        self.marks = memoryview(bytearray(2 * SLOTS)).cast("H")
        self.codes = _Codes()
        self._free = list(range(SLOTS - 1, 0, -1))

    def take_slot(self) -> int:
        """Return a free slot; 0, which is shared, if all are taken."""
        try:
            return self._free.pop()
        except IndexError:
            return 0

    def give_back(self, slot: int) -> None:
        """Clear and free *slot*."""
        self.marks[slot] = 0
        if slot:
            self._free.append(slot)

    def share(self) -> int:
        """Move into shared memory; return a descriptor of it. Existing marks are lost."""
        import mmap

        size = 2 * SLOTS + (_NAMES + 1) * NAME_BYTES
        descriptor = os.memfd_create("toolwire")
        try:
            os.ftruncate(descriptor, size)
            memory = memoryview(mmap.mmap(descriptor, size))
        except BaseException:
            os.close(descriptor)
            raise
        self.codes.share(memory[2 * SLOTS :])
        self.marks = memory[: 2 * SLOTS].cast("H")
        return descriptor


class _Codes(dict[str, int]):
    """A number from 1 for each name; 0 beyond the limit."""

    _shared: memoryview | None = None

    def __missing__(self, name: str) -> int:
        code = self[name] = len(self) + 1 if len(self) < _NAMES else 0
        self._publish(name, code)
        return code

    def share(self, memory: memoryview) -> None:
        """Write each name to its place in *memory*, from now on."""
        self._shared = memory
        for name, code in list(self.items()):
            self._publish(name, code)

    def _publish(self, name: str, code: int) -> None:
        if self._shared is not None and code:
            data = name.encode("utf-8", "replace")[:NAME_BYTES]
            self._shared[code * NAME_BYTES : code * NAME_BYTES + len(data)] = data
