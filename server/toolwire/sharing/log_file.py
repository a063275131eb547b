"""The log of a shared process: what it and its tools write to standard error."""

from __future__ import annotations

import io
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer

MAX_LOG_BYTES = 1024 * 1024
_KEPT_SECONDS = 24 * 60 * 60.0


def write_without_errors() -> None:
    """Let what tools print be lost if the disk is full: their calls must not fail by it."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        raw = _LossyFile(descriptor, "w", closefd=False)
        buffered = io.BufferedWriter(raw)
        text = io.TextIOWrapper(
            buffered, encoding="utf-8", errors="backslashreplace", line_buffering=True
        )
        setattr(sys, name, text)


class _LossyFile(io.FileIO):
    """A file that takes everything, and loses what cannot be written."""

    def write(self, data: Buffer) -> int:
        """Write *data*, or drop it; return how much it was."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def keep_small(path: str) -> None:
    """Keep the last half of the log at *path* if it is too large."""
    with suppress(OSError):
        if os.stat(path).st_size <= MAX_LOG_BYTES:
            return
        data = read_tail(path, MAX_LOG_BYTES // 2)
        with open(path, "r+b") as file:  # all writers append, so they go on at the new end
            file.truncate(0)
            file.write(data)


def remove_old_logs(folder: str) -> None:
    """Remove the logs in *folder* that have not changed for a day and whose process has ended."""
    names = set(os.listdir(folder))
    for name in names:
        key, ending = os.path.splitext(name)
        if ending != ".log" or f"{key}.sock" in names:
            continue
        path = os.path.join(folder, name)
        with suppress(OSError):
            if time.time() - os.stat(path).st_mtime > _KEPT_SECONDS:
                os.unlink(path)


def read_tail(path: str, max_bytes: int) -> bytes:
    """Return the last lines of the file at *path*, of at most *max_bytes*.

    Raises:
        OSError: if it cannot be read.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= max_bytes:
            return file.read(max_bytes)
        file.seek(size - max_bytes)
        _, _, lines = file.read(max_bytes).partition(b"\n")
        return lines
