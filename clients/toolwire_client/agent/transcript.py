"""A run on file: one event a line, each written before anything else happens.

For readers in other languages the lines are described by the published schema `transcript-event`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas import codec

from .events import Recorded, Started
from .redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping


class BrokenTranscript(ValueError):
    """A file is no transcript, or was written by a version that this one does not know."""


class Transcript:
    """The file *path*, to which events are added. It is made when there is one, for nobody else to read.

    A line that was cut off by a crash is taken away first. Secrets are hidden: keys, what stands under names such as
    `password`, and the values of variables in *environ* whose names end like `..._KEY`.
    """

    def __init__(self, path: str | os.PathLike[str], *, environ: Mapping[str, str] | None = None) -> None:
        self._file: int | None = None
        self._path = Path(path)
        self._redactor = Redactor(environ)

    def add(self, event: Recorded) -> None:
        """Write *event*, and return when it is on disk.

        Raises:
            OSError: if that is not possible.
        """
        if self._file is None:
            self._file = _opened(self._path)
        line = codec.encode(msgspec.to_builtins(self._redactor.event(event))) + b"\n"
        if os.write(self._file, line) < len(line):
            raise OSError(f"{self._path} could not be written: the disk is full")
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file; another event opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __del__(self) -> None:
        self.close()


def load(path: str | os.PathLike[str]) -> list[Recorded]:
    """Return the events of the last exchange in the file *path*. A last line that was cut off does not count.

    Raises:
        OSError: if it cannot be read.
        BrokenTranscript: if it is no transcript; the text says which line is not as it should be.
    """
    lines = Path(path).read_bytes().split(b"\n")
    last = lines.pop()
    if last and _is_whole(last):
        lines.append(last)
    events = [_event(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1) if line.strip()]
    starts = [place for place, event in enumerate(events) if isinstance(event, Started)]
    if not starts:
        raise BrokenTranscript(f"{path} is no transcript: no line of it has the type Started")
    return events[starts[-1] :]


def _event(line: bytes, where: str) -> Recorded:
    try:
        event: Recorded = msgspec.convert(codec.decode(line), Recorded)
    except (codec.DecodingError, msgspec.ValidationError) as error:
        raise BrokenTranscript(f"{where}, is no event of a transcript: {error}") from None
    return event


def _is_whole(line: bytes) -> bool:
    try:
        codec.decode(line)
    except codec.DecodingError:
        return False
    return True


def _opened(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    written = path.read_bytes()
    rest = written[written.rfind(b"\n") + 1 :]
    if rest and _is_whole(rest):
        os.write(file, b"\n")
    elif rest:
        os.ftruncate(file, len(written) - len(rest))
    return file
