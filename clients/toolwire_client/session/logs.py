"""Log entries about a server."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from toolwire_schemas.output import Output
from toolwire_schemas.wire.codec import EncodingError, encode

from ..protocol.events import Event, LogMessage, Noise, UnknownMessage


class LogEntry(msgspec.Struct, frozen=True):
    """One log entry.

    `level` is one of MCP's: debug, info, notice, warning, error, critical, alert, emergency. `source` is `server` for
    the protocol's log messages, `output` for output lines that are not messages, `client` for remarks of this client.
    `data` is the JSON value that the server sent.
    """

    level: str
    source: Literal["server", "output", "client"]
    text: str
    data: Any = None


OnLog = Callable[[LogEntry], object]


def log(event: Event, on_log: OnLog) -> None:
    """Call *on_log* if *event* is a log entry; an exception of *on_log* is printed to stderr."""
    entry = _entry(event)
    if entry is None:
        return
    try:
        on_log(entry)
    except Exception:  # the reading thread must continue
        Output(sys.stderr).line(traceback.format_exc())


def _entry(event: Event) -> LogEntry | None:
    match event:
        case LogMessage(level=level, data=data):
            return LogEntry(level, "server", data if isinstance(data, str) else _json(data), data)
        case Noise(text=text):
            return LogEntry("warning", "output", text)
        case UnknownMessage(method=method, params=params):
            return LogEntry("debug", "client", f"ignored: {method}", params)
    return None


def _json(data: Any) -> str:
    try:
        return encode(data).decode()
    except EncodingError:  # nested too deeply
        return repr(data)
