"""Writing a file as a whole, replacing a text in one, and appending to one.

Strategy. A new content is written to a file with a random name in the same folder, which then takes
the place of the old file in one step (rename(2)): a reader sees the old file or the new one, and
after a crash one of them is there. Appending writes to the file itself (O_APPEND), as logs need it:
the file keeps its owner and its other names, other processes that append lose nothing, and the cost
does not grow with the file.
"""

from __future__ import annotations

import binascii
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from .limits import MAX_EDITS_SHOWN
from .reading import check_kind, is_binary, read_bytes
from .roots import name_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

    from .folders import Folder
    from .results import Changed
    from .roots import Located, Places

_MAX_SHOWN = 200


def decode_content(content: str, encoding: str) -> bytes:
    """Return the bytes of *content*.

    Raises:
        ToolError: if it has none.
    """
    try:
        return (
            binascii.a2b_base64(content, strict_mode=True)
            if encoding == "base64"
            else content.encode()
        )
    except UnicodeEncodeError:
        raise ToolError(say("the content is not text in UTF-8")) from None
    except ValueError as error:  # binascii.Error, or another one for letters beyond ASCII
        raise ToolError(
            say("the content is not Base64: {error}", error=str(error).lower())
        ) from None


def write_file(places: Places, path: str, data: bytes, if_exists: str, max_bytes: int) -> Changed:
    """Write *data* to the file at *path*; *if_exists*: fail, replace it or append to it."""
    with places.locate(path, make_folders=True) as there, name_errors(path):
        if not there.name or path.rpartition("/")[2] in ("", "."):
            raise ToolError(say("{path} is a folder; name the file", path=there.path))
        before = get_status(there)
        if before is not None and if_exists == "append":
            return _append(there, data, max_bytes)
        if before is not None and if_exists == "fail":
            raise _Exists(there.path)
        _check_size(there.path, len(data), max_bytes)
        try:
            put(there, lambda file: file.write(data), before, replace=if_exists == "replace")
        except FileExistsError:  # another process has created it since
            if if_exists == "append":
                return _append(there, data, max_bytes)
            raise _Exists(there.path) from None
        return {"path": there.path, "bytes": len(data), "lines": []}


def edit_file(places: Places, path: str, old: str, new: str, count: int, max_bytes: int) -> Changed:
    """Replace *old* by *new*, *count* times, in the file at *path*."""
    if not old:
        raise ToolError(say("say which text to replace: old is empty; write replaces or appends"))
    with places.locate(path) as there, name_errors(path):
        if not there.name:
            raise ToolError(say("{path} is a folder; name the file", path=there.path))
        before = there.folder.look(there.name)
        text = _decode_text(there.path, read_bytes(there.folder, there.name, there.path, max_bytes))
        if (
            old not in text and "\r\n" in text
        ):  # as it is shown to models, who do not see the difference
            old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
        if text.count(old) != count:
            raise ToolError(f"{there.path}: {_explain_count(text, old, count)}")
        lines = _find_lines(text, old, MAX_EDITS_SHOWN)
        data = text.replace(old, new).encode()
        _check_size(there.path, len(data), max_bytes)
        put(there, lambda file: file.write(data), before, replace=True)
        return {"path": there.path, "bytes": len(data), "lines": lines}


class _Exists(ToolError):
    def __init__(self, path: str) -> None:
        super().__init__(
            say('{path} exists; say if_exists="replace" or "append", or edit it', path=path)
        )


def get_status(there: Located) -> os.stat_result | None:
    """Return the status of the plain file at that place, or None if nothing is there.

    Raises:
        ToolError: if it is anything else.
    """
    try:
        found = there.folder.look(there.name)
    except FileNotFoundError:
        return None
    check_kind(found, there.path)
    return found


def put(
    there: Located,
    write: Callable[[IO[bytes]], object],
    before: os.stat_result | None,
    *,
    replace: bool,
) -> None:
    """Put what *write* writes in the place of a file that was as it was *before*.

    Raises:
        ToolError: if the file is protected, or has changed since.
        FileExistsError: if there is a file, unless it is to be replaced.
    """
    if before is not None:
        _check_mode(there.path, before)
    folder, temporary = there.folder, f".toolwire-{os.urandom(8).hex()}"
    fd = folder.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with open(fd, "wb") as file:
            write(file)
            if before is not None:
                _set_owner(fd, before)
                _set_mode(
                    fd, before.st_mode & 0o777
                )  # the new content must not run with its owner's rights
            file.flush()
            os.fsync(fd)
        if before is not None and _has_changed(before, folder.look(there.name)):
            raise ToolError(
                say(
                    "{path} was changed by another program since it was read; read it again",
                    path=there.path,
                )
            )
        _take_its_place(folder, temporary, there.name, replace=replace)
    except BaseException:
        with suppress(OSError):
            folder.remove(temporary)
        raise
    if before is None:
        folder.sync()


def _append(there: Located, data: bytes, max_bytes: int) -> Changed:
    with open(there.folder.open(there.name, os.O_WRONLY | os.O_APPEND), "wb", buffering=0) as file:
        found = os.fstat(file.fileno())
        check_kind(found, there.path)
        _check_mode(there.path, found)
        _check_size(there.path, found.st_size + len(data), max_bytes)
        write_file = 0
        try:
            while write_file < len(data):
                write_file += file.write(data[write_file:]) or 0
            os.fsync(file.fileno())
        except OSError:
            # All or nothing, unless another process has appended to it since.
            if write_file and os.fstat(file.fileno()).st_size == found.st_size + write_file:
                file.truncate(found.st_size)
            raise
        return {"path": there.path, "bytes": os.fstat(file.fileno()).st_size, "lines": []}


def _check_mode(path: str, found: os.stat_result) -> None:
    if not found.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise ToolError(say("{path} is protected against writing", path=path))


def _check_size(path: str, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise ToolError(
            say(
                "{path} would have {size:,} bytes, and files are written up to {max_bytes:,}",
                path=path,
                size=size,
                max_bytes=max_bytes,
            )
        )


def _take_its_place(folder: Folder, temporary: str, name: str, *, replace: bool) -> None:
    """Give the file *temporary* the name *name*. Raises `FileExistsError` if that is taken, unless
    it may replace.
    """
    if replace:
        folder.rename(temporary, name)
        return
    try:
        folder.link(
            temporary, name
        )  # fails if there is something by now, which a rename would replace
        folder.remove(temporary)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without hard links
        folder.rename(temporary, name)


def _set_owner(fd: int, before: os.stat_result) -> None:
    """Keep the owner and the group, as far as this process may give files away."""
    if hasattr(os, "fchown"):
        for owner, group in ((before.st_uid, -1), (-1, before.st_gid)):
            with suppress(PermissionError):
                os.fchown(fd, owner, group)


def _set_mode(fd: int, mode: int) -> None:
    if hasattr(os, "fchmod"):
        os.fchmod(fd, mode)


def _has_changed(before: os.stat_result, now: os.stat_result) -> bool:
    told_apart = ("st_ino", "st_dev", "st_size", "st_mtime_ns")
    return any(getattr(before, field) != getattr(now, field) for field in told_apart)


def _decode_text(path: str, data: bytes) -> str:
    try:
        if not is_binary(data):
            return data.decode()
    except UnicodeDecodeError:
        pass
    raise ToolError(say("{path} is not text in UTF-8, so no text in it can be replaced", path=path))


def _find_lines(text: str, old: str, most: int) -> list[int]:
    """The first lines, as many as *most*, at which *old* begins in *text*."""
    found: list[int] = []
    line, at = 1, 0
    while len(found) < most and (next_one := text.find(old, at)) >= 0:
        line += text.count("\n", at, next_one)
        found.append(line)
        line += old.count("\n")
        at = next_one + len(old)
    return found


def _explain_count(text: str, old: str, count: int) -> str:
    if found := text.count(old):
        lines = ", ".join(map(str, _find_lines(text, old, 10))) + ("…" if found > 10 else "")
        return say(
            "the text is there {found} times, not {count} (lines {lines}); say count={found} to"
            " replace all, or give more of the text around one",
            found=found,
            count=count,
            lines=lines,
        )
    problem = say("there is no such text")
    close = _close_line(text, old)
    if close:
        number, line = close
        problem += say(
            "; the closest is line {number}: {line!r}", number=number, line=line[:_MAX_SHOWN]
        )
    return problem


def _close_line(text: str, old: str) -> tuple[int, str] | None:
    """The line that is most like the first one of *old* that says something."""
    from difflib import get_close_matches

    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")[:_MAX_SHOWN]
    lines = {
        line.strip()[:_MAX_SHOWN]: number
        for number, line in enumerate(text[:500_000].splitlines()[:5000], 1)
    }
    close = get_close_matches(wanted, lines, n=1)
    return (lines[close[0]], close[0]) if close else None
