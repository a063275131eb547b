"""Log messages for clients that ask for them (MCP, logging). Imported for the first request that
names a level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import EncodingError
from toolwire_schemas.wire.messages import INVALID_PARAMS, METHOD_NOT_FOUND
from toolwire_tools.context.context import LEVELS

from ..errors import RequestError

if TYPE_CHECKING:
    from .running import CallServices

MAX_LOG_BYTES = 64 * 1024
"""The length at which a log message is cut: it is for a person to read, and must not fill the
client's buffer.
"""


def find_level(level: object, where: str) -> int:
    """Return the place of *level* among the levels of MCP.

    Raises:
        RequestError: if MCP has no such level; *where* is its place in the message.
    """
    if level not in LEVELS:
        raise RequestError(INVALID_PARAMS, f"{where} must be one of {', '.join(LEVELS)}")
    return LEVELS.index(level)


def set_level(host: CallServices, params: dict[str, Any], *, modern: bool) -> None:
    """Have *host* send the messages of at least the level in *params* to its client.

    Raises:
        RequestError: if MCP has no such level, or the request is of the modern era.
    """
    if modern:
        raise RequestError(
            METHOD_NOT_FOUND, "Method not found: logging/setLevel (removed in 2026-07-28)"
        )
    host.log_level = find_level(params.get("level"), "params.level")


def find_wanted_level(call: Any) -> int | None:
    """Return the least severe level of log messages that the client wants from *call*; `None` if it
    wants none.
    """
    is_named = call.origin.modern or call.log_level is not None
    level: int | None = call.log_level if is_named else call.host.log_level
    return level


def send(call: Any, params: dict[str, Any]) -> None:
    """Send the log message *params* of *call*, unless the client does not want it."""
    wanted = find_wanted_level(call)
    if wanted is None or LEVELS.index(params["level"]) < wanted or call.ended:
        return
    message = _encode_notification(params)
    # Asked under the writer's lock: as with progress, no message follows the response.
    call.host.send_notification(
        call, lambda: None if call.ended or call.lingers else message, len(message)
    )


def encode_stray(host: CallServices, level: str, logger: str | None, data: Any) -> bytes | None:
    """Return the log message of no call for the client of *host*; `None` if the client does not
    want it.
    """
    if host.log_level is None or level not in LEVELS or LEVELS.index(level) < host.log_level:
        return None
    return _encode_notification(
        {"level": level, "data": data} | ({"logger": logger} if logger else {})
    )


def _encode_notification(params: dict[str, Any]) -> bytes:
    """Return the notification of the log message *params*.

    The fields of data that cannot be written as JSON become text, and so does data that is too
    long.
    """
    try:
        message = messages.encode_notification("notifications/message", params)
    except EncodingError:
        data = params["data"]
        params = {**params, "data": {name: str(value) for name, value in data.items()}}
        message = messages.encode_notification("notifications/message", params)
    if len(message) <= MAX_LOG_BYTES:
        return message
    data = params["data"] if isinstance(params["data"], str) else repr(params["data"])
    cut = f"{data[: MAX_LOG_BYTES // 8]}… (cut; the message takes {len(message)} bytes)"
    return messages.encode_notification("notifications/message", {**params, "data": cut})
