"""What there is to log about a server."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from toolwire_schemas.output import Output
from toolwire_schemas.wire.codec import EncodingError, encode

from ..protocol.events import Event, Noise, Notice, Said


class LogEntry(msgspec.Struct, frozen=True):
    """One thing that is worth noting.

    `level` is one of MCP's: debug, info, notice, warning, error, critical, alert, emergency. `source` is `server` for
    what the server logs through the protocol, `output` for lines on its output that are no messages, `client` for what
    is noticed here. `data` is what the server sent, which is text or any other JSON.
    """

    level: str
    source: Literal["server", "output", "client"]
    text: str
    data: Any = None


OnLog = Callable[[LogEntry], object]


def log(event: Event, on_log: OnLog) -> None:
    """Hand *event* to *on_log*, if it is one to be logged; what that raises goes to our stderr."""
    entry = _entry(event)
    if entry is None:
        return
    try:
        on_log(entry)
    except Exception:  # the outer edge of a thread that has to go on reading
        Output(sys.stderr).line(traceback.format_exc())


def _entry(event: Event) -> LogEntry | None:
    match event:
        case Said(level=level, data=data):
            return LogEntry(level, "server", data if isinstance(data, str) else _json(data), data)
        case Noise(text=text):
            return LogEntry("warning", "output", text)
        case Notice(method=method, params=params):
            return LogEntry("debug", "client", f"ignored: {method}", params)
    return None


def _json(data: Any) -> str:
    try:
        return encode(data).decode()
    except EncodingError:  # nested deeper than is written here
        return repr(data)
