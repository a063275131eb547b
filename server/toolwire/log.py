"""What the server says on stderr: one line an event, never anything on the wire.

The standard library's `logging` would take a tenth of the start-up time, so this is the little that is needed.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import toolwire_tools
from toolwire_tools.failures import text_of

if TYPE_CHECKING:
    from types import TracebackType

    from .calls import Call

LEVELS = ("debug", "info", "warning", "error", "off")

_threshold = LEVELS.index("info")
_as_json = False


def configure(*, level: str = "info", as_json: bool = False) -> None:
    """Write what is at least as grave as *level*, as text or as one JSON object a line.

    Raises:
        ValueError: if *level* is none of `LEVELS`.
    """
    global _threshold, _as_json  # one process, one stderr
    if level not in LEVELS:
        raise ValueError(f"the log level {level!r} is none of {', '.join(LEVELS)}")
    _threshold, _as_json = LEVELS.index(level), as_json


def configured() -> tuple[str, bool]:
    """Return the level and whether lines are JSON objects, as `configure` has set them."""
    return LEVELS[_threshold], _as_json


def debug(message: str, **fields: Any) -> None:
    """Write *message* if the level is debug."""
    _write("debug", message, fields)


def info(message: str, **fields: Any) -> None:
    """Write *message* unless only warnings and errors are wanted."""
    _write("info", message, fields)


def warning(message: str, **fields: Any) -> None:
    """Write *message*: something is not as its author will have meant it."""
    _write("warning", message, fields)


def error(message: str, **fields: Any) -> None:
    """Write *message*: something failed."""
    _write("error", message, fields)


def traceback(message: str, exception: BaseException, **fields: Any) -> None:
    """Write *message* as an error, and where *exception* came from, for the author of the code that raised it."""
    if _threshold > LEVELS.index("error"):
        return
    where = users_part(exception.__traceback__) or exception.__traceback__
    try:
        from traceback import format_exception  # which may fail, too: a tool has opened all the files it can

        trace = "".join(format_exception(type(exception), exception, where))
    except BaseException as unprintable:  # an exception's own __str__ may raise anything
        trace = f"{type(exception).__name__}: {text_of(exception)} (no traceback: {type(unprintable).__name__})\n"
    if _as_json:
        _write("error", message, {**fields, "traceback": trace})
    else:
        _write("error", message, fields, trace)


def users_part(trace: TracebackType | None) -> TracebackType | None:
    """Return *trace* from the user's first own line on, without ours before it; `None` if there is none."""
    client = sys.modules.get("toolwire_client")  # which loads models, and is not imported for this
    ours = _OURS if client is None else (*_OURS, os.path.dirname(client.__file__ or "") + os.sep)
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(ours):
        trace = trace.tb_next
    return trace


_OURS = (
    *(os.path.dirname(package.__file__ or "") + os.sep for package in (toolwire_tools, importlib)),
    os.path.dirname(__file__) + os.sep,
    "<frozen importlib",
)


def from_tool(call: Call, level: str, message: str, fields: dict[str, Any]) -> None:
    """Write what a tool logs through its context."""
    _write(level, message, {"tool": call.tool.name, "id": call.id, **fields})


def _write(level: str, message: str, fields: dict[str, Any], more: str = "") -> None:
    if LEVELS.index(level) < _threshold:
        return
    line = _json_line(level, message, fields) if _as_json else _text_line(level, message, fields)
    # One write for the whole line, so that lines of several threads do not mix. Nobody reads stderr after the
    # host has gone; that is no reason to fail.
    with contextlib.suppress(OSError):
        os.write(2, (line + "\n" + more).encode("utf-8", "backslashreplace"))


def _text_line(level: str, message: str, fields: dict[str, Any]) -> str:
    shown = " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)
    return f"toolwire: {'' if level == 'info' else level + ': '}{message}" + (f" ({shown})" if shown else "")


def _json_line(level: str, message: str, fields: dict[str, Any]) -> str:
    import json

    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
    present = {name: value for name, value in fields.items() if value is not None}
    return json.dumps({"time": stamp, "level": level, "message": message, **present}, default=str)


def take_over_stderr() -> None:
    """Make Python's own stderr take any text: a host's filtered environment may leave it only ASCII."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
