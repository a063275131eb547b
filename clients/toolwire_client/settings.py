"""The settings of a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.wire.frames import DEFAULT_MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from .protocol.events import OnLog
    from .session.elicitation import OnAsk
    from .session.handshake import Era
    from .transport.base import Transport

START_TIMEOUT_SECONDS = 120.0
"""Long enough for a package runner to download a server first."""


OWN_NAME = "toolwire"
OWN_VERSION = "0.1.0"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """*launch* starts a server. The others are as in `connect`."""

    launch: Callable[[], Transport]
    era: Era = "auto"
    restart: bool | int = False
    on_ask: OnAsk | None = None
    on_log: OnLog | None = None
    start_timeout_seconds: float | None = START_TIMEOUT_SECONDS
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    name: str = OWN_NAME
    version: str = OWN_VERSION
