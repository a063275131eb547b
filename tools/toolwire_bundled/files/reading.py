"""The bytes of a file, and the content blocks that show them."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from toolwire_schemas.language import say
from toolwire_tools.content import Audio, File, Image, Text, detect_media_type, guess_media_type
from toolwire_tools.errors import ToolError

from .limits import MAX_DATA_BYTES, MAX_TEXT
from .roots import name_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .folders import Folder
    from .roots import Places

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Those that models look at."""

_BINARY_BYTES = 8192
"""How far into a file a NUL is looked for, as grep and git do."""


def read(places: Places, path: str, max_bytes: int) -> tuple[str, bytes]:
    """What callers call the file at *path*, and its bytes.

    Raises:
        ToolError: if it is no file, or too large.
    """
    with places.locate(path) as there, name_errors(path):
        if not there.name:
            raise ToolError(say("{path} is a folder; list it", path=there.path))
        return there.path, read_bytes(there.folder, there.name, there.path, max_bytes)


def read_bytes(folder: Folder, name: str, path: str, max_bytes: int) -> bytes:
    """The bytes of the file *name*, which callers call *path*.

    Raises:
        ToolError: if it is no file, or too large.
        OSError: if the system says so.
    """
    check_kind(
        folder.look(name), path
    )  # before it is opened, which can set off something in a device
    fd = folder.open(name, os.O_RDONLY)
    try:
        check_kind(os.fstat(fd), path)
        with open(fd, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            size = os.fstat(fd).st_size
            raise ToolError(
                say(
                    "{path} has {size:,} bytes, and files are read up to {max_bytes:,}",
                    path=path,
                    size=size,
                    max_bytes=max_bytes,
                )
            )
    finally:
        os.close(fd)
    return data


def check_kind(status: os.stat_result, path: str) -> None:
    """Do nothing for a plain file. Raises `ToolError` for anything else."""
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(say("{path} is a folder, not a file", path=path))
    if stat.S_ISLNK(status.st_mode):
        raise ToolError(say("{path} was replaced by a link during the call", path=path))
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(say("{path} is no plain file but a pipe, a device or the like", path=path))


def is_binary(data: bytes) -> bool:
    """Whether *data* is no text."""
    return b"\0" in data[:_BINARY_BYTES] and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def decode_text(data: bytes) -> tuple[str, bool]:
    """*data* as text, and whether all of it is: what is not UTF-8 (or UTF-16 that says so) is
    replaced.
    """
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding), True
    except UnicodeDecodeError:
        return data.decode(encoding, "replace"), False


def make_blocks(
    path: str, data: bytes, first_line: int, lines: int
) -> Sequence[Text | Image | Audio | File]:
    """The blocks that show *data*, the content of the file at *path*; of a text, its *lines*."""
    media_type = detect_media_type(data)
    if media_type is None and not is_binary(data):
        return _make_text_blocks(data, first_line, lines)
    if len(data) > MAX_DATA_BYTES:
        raise ToolError(
            say(
                "{path} is no text and has {count:,} bytes, and data is read up to"
                " {max_data_bytes:,}",
                path=path,
                count=len(data),
                max_data_bytes=MAX_DATA_BYTES,
            )
        )
    if media_type in _PICTURES:
        return [Image(data=data)]
    if media_type is not None and media_type.startswith("audio/"):
        return [Audio(data=data)]
    media_type = media_type or guess_media_type(path) or "application/octet-stream"
    return [File(data=data, name=path.rpartition("/")[2], media_type=media_type)]


def _make_text_blocks(
    data: bytes, first_line: int, lines: int
) -> list[Text | Image | Audio | File]:
    text, is_whole = decode_text(data)
    every = _split_lines(text)
    if first_line == 0:
        raise ToolError(say("lines are counted from 1, and from -1 at the end"))
    start = first_line - 1 if first_line > 0 else max(len(every) + first_line, 0)
    if start and start >= len(every):
        raise ToolError(
            say(
                "there is no line {first_line}: the file has {count}",
                first_line=first_line,
                count=len(every),
            )
        )
    chosen = "".join(every[start : start + max(lines, 0)])
    notes = [] if is_whole else ["It is not all UTF-8: what is not was replaced."]
    end = min(start + max(lines, 0), len(every))
    if len(chosen) > MAX_TEXT:
        cut = chosen[:MAX_TEXT]
        end = start + cut.count("\n")
        chosen = cut[: cut.rfind("\n") + 1] or cut
        notes.append(
            f"A line has more than {MAX_TEXT:,} characters, and was cut." if end == start else ""
        )
    if start or end < len(every):
        more = f"; read on with first_line={end + 1}" if start < end < len(every) else ""
        notes.append(f"These are lines {start + 1} to {end} of {len(every)}{more}.")
    note = " ".join(filter(None, notes))
    return [Text(text=chosen), *([Text(text=note)] if note else ())]


def _split_lines(text: str) -> list[str]:
    """The lines with their ends. (`str.splitlines` knows of more ends than editors and search
    do.)
    """
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else ())]
