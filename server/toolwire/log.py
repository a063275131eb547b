"""The log of the server: lines on stderr, never anything on the wire.

Strategy. The standard library's `logging` would take a tenth of the start-up time, and wait for
ever for a host that does not read stderr.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolwire_schemas import PACKAGES
from toolwire_tools.errors import OutputError, read_message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

LEVELS = ("debug", "info", "warning", "error", "off")
_FINER = {"notice": "info", "critical": "error", "alert": "error", "emergency": "error"}
"""The levels that only tools use (MCP), each with the level of this log that decides whether it is
written.
"""

_threshold = LEVELS.index("info")
_as_json = False


def configure(*, level: str = "info", as_json: bool = False) -> None:
    """Write lines of at least *level*, as text or as one JSON object a line.

    Raises:
        ValueError: if *level* is not one of `LEVELS`.
    """
    global _threshold, _as_json  # one process, one stderr
    if level not in LEVELS:
        raise ValueError(f"the log level {level!r} is not one of {', '.join(LEVELS)}")
    _threshold, _as_json = LEVELS.index(level), as_json


def get_configuration() -> tuple[str, bool]:
    """Return the level and whether lines are JSON, as configured."""
    return LEVELS[_threshold], _as_json


def debug(message: str, **fields: Any) -> None:
    """Write *message* if the level is debug."""
    write("debug", message, fields)


def info(message: str, **fields: Any) -> None:
    """Write *message* if the level is info or below."""
    write("info", message, fields)


def warning(message: str, **fields: Any) -> None:
    """Write *message* as a warning."""
    global _has_warned
    _has_warned = True
    write("warning", message, fields)


def has_warned() -> bool:
    """Return whether there was a warning in this process."""
    return _has_warned


_has_warned = False


def warn_rarely(topic: str, message: str) -> None:
    """Write *message* as a warning, unless one on the same *topic* was written in the last ten
    seconds.
    """
    now = time.monotonic()
    if now - _last_written.get(topic, -_RARELY_SECONDS) >= _RARELY_SECONDS:
        _last_written[topic] = now
        warning(message)


_RARELY_SECONDS = 10.0
_last_written: dict[str, float] = {}


def error(message: str, **fields: Any) -> None:
    """Write *message* as an error."""
    write("error", message, fields)


def traceback(message: str, exception: BaseException, **fields: Any) -> None:
    """Write *message* as an error, with the traceback of *exception* for the author of the code
    that raised it.
    """
    if _threshold > LEVELS.index("error"):
        return
    where = skip_own_frames(exception.__traceback__)
    if where is None and isinstance(
        exception, OutputError
    ):  # the tool has returned: no line of it is to blame
        trace = f"OutputError: {read_message(exception)}\n"
    else:
        trace = _format_traceback(exception, where or exception.__traceback__)
    if _as_json:
        write("error", message, {**fields, "traceback": trace})
    else:
        write("error", message, fields, trace)


def _format_traceback(exception: BaseException, where: TracebackType | None) -> str:
    try:
        from traceback import (
            format_exception,
        )  # which may fail, too: a tool has opened all the files it can

        return "".join(format_exception(type(exception), exception, where))
    except BaseException as unprintable:  # an exception's own __str__ may raise anything
        return (
            f"{type(exception).__name__}: {read_message(exception)} (no traceback:"
            f" {type(unprintable).__name__})\n"
        )


def skip_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return *trace* from the first line of user code on; `None` if it has none."""
    ours = (*_MACHINERY, *_list_own_folders())
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(ours):
        trace = trace.tb_next
    return trace


def _list_own_folders() -> Iterator[str]:
    """Yield the folders of our packages, those that are imported: none is imported for this."""
    for name in PACKAGES:
        package = sys.modules.get(name)
        if package is not None and package.__file__:
            yield os.path.dirname(package.__file__) + os.sep


_MACHINERY = (
    os.path.dirname(importlib.__file__) + os.sep,
    contextlib.__file__,
    "<frozen importlib",
)


def write(level: str, message: str, fields: dict[str, Any], more: str = "") -> None:
    """Write *message* with *fields* if *level* is not below the configured one; *more* follows on
    lines of its own.

    Lines that stderr does not take within a second are dropped, and from then on nothing waits
    until it takes some.
    """
    global _patience_seconds
    if LEVELS.index(_FINER.get(level, level)) < _threshold:
        return
    line = _format_json if _as_json else _format_text
    # One thread at a time, so that lines do not mix. A process forked at that moment finds the lock
    # held for ever.
    if not _writing.acquire(timeout=_PATIENCE_SECONDS):
        return
    try:
        text = line(level, message, fields) + "\n" + more
        if not _patience_seconds:
            text = "\n" + line("warning", _LEFT_OUT, {}) + "\n" + text
        data = text.encode("utf-8", "backslashreplace")
        for start in range(0, len(data), _PIECE_BYTES):
            if not _has_room(_patience_seconds):
                _patience_seconds = 0.0
                return
            os.write(2, data[start : start + _PIECE_BYTES])
        _patience_seconds = _PATIENCE_SECONDS
    except OSError:  # the host has gone
        return
    finally:
        _writing.release()


_LEFT_OUT = "some lines were dropped here, since stderr was not read"
_PATIENCE_SECONDS = 1.0
_PIECE_BYTES = 4096
"""The size that a pipe with any room takes without blocking: PIPE_BUF on Linux."""

_writing = threading.Lock()
_patience_seconds = _PATIENCE_SECONDS


def _has_room(seconds: float) -> bool:
    """Return whether stderr can be written without blocking, within *seconds*."""
    if sys.platform == "win32":
        return True
    try:
        import select

        poll = select.poll()
    except (ImportError, OSError):  # no descriptor is free to load it
        return True
    poll.register(2, select.POLLOUT)
    return bool(poll.poll(seconds * 1000))


def _format_text(level: str, message: str, fields: dict[str, Any]) -> str:
    shown = " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)
    return f"toolwire: {'' if level == 'info' else level + ': '}{message}" + (
        f" ({shown})" if shown else ""
    )


def _format_json(level: str, message: str, fields: dict[str, Any]) -> str:
    import json

    now = time.time()
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    milliseconds = int(now % 1 * 1000)
    present = {name: value for name, value in fields.items() if value is not None}
    line = {"time": f"{seconds}.{milliseconds:03d}Z", "level": level, "message": message, **present}
    return json.dumps(line, default=str)


def take_over_stderr() -> None:
    """Make Python's own stderr accept any text: a host's filtered environment may leave it only
    ASCII.
    """
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True)
            with suppress(
                OSError
            ):  # asks for the position if stdout was a file, which has become a pipe
                reconfigure(encoding="utf-8", errors="backslashreplace")
