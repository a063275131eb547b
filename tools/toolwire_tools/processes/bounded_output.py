"""The part of a process's output that is kept: it may write more than fits into memory."""

from __future__ import annotations


class BoundedOutput:
    """The first *most_at_start* and the last *most_at_end* bytes of a stream.

    The bytes between them are counted and dropped.
    """

    def __init__(self, *, most_at_start: int = 0, most_at_end: int = 0) -> None:
        self.start = bytearray()
        self.end = bytearray()
        self.total_bytes = 0
        self._most_at_start = most_at_start
        self._most_at_end = most_at_end

    def add(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total_bytes += len(data)
        room = self._most_at_start - len(self.start)
        self.start += data[:room]
        self.end += data[room:]
        excess = len(self.end) - self._most_at_end
        if excess > 0:
            del self.end[:excess]

    def decode_text(self) -> str:
        """Return the kept bytes as text, with a note about dropped ones."""
        dropped = self.total_bytes - len(self.start) - len(self.end)
        if dropped == 0:
            return (self.start + self.end).decode("utf-8", "replace")
        # A character may have been cut in two.
        start = self.start.decode("utf-8", "ignore")
        end = self.end.decode("utf-8", "ignore")
        return f"{start}\n[... {dropped:,} bytes left out ...]\n{end}"
