"""Negotiates the revision of MCP.

Strategy. The modern revision needs no handshake, so `server/discover` goes first; any failure of it
leads to the `initialize` of the legacy revisions. Legacy servers may end, hang or misbehave after
an unknown first request: then a new process gets `initialize` only, except if the first one has
ended without reading the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.wire import messages

from ..errors import BrokenRules, RequestFailed, ServerGone, TimedOut, with_output
from ..protocol.loose_members import as_object, as_text
from .request import RequestHandle

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolwire_schemas.deadline import Deadline

    from ..waiting.base import Waiting
    from .connection import Connection

Era = Literal["auto", "modern", "legacy"]

PROBE_SECONDS = 10.0
"""The time limit of `server/discover`, as in the official client."""

RECOVERY_SECONDS = 30.0
"""The time limit of `initialize` after an unanswered probe: the server may be starting, or hang."""


class HandshakeResult(msgspec.Struct, frozen=True):
    """A server's description of itself. `version` is the negotiated revision."""

    version: str
    server_info: dict[str, Any] = {}
    capabilities: dict[str, Any] = {}
    instructions: str | None = None

    @property
    def notifies_of_changes(self) -> bool:
        tools = self.capabilities.get("tools")
        return isinstance(tools, dict) and tools.get("listChanged") is True


async def shake_hands(
    launch: Callable[[], Connection],
    waiting: Waiting,
    deadline: Deadline,
    era: Era = "auto",
) -> tuple[Connection, HandshakeResult]:
    """Return a connection that is ready, and what its server declares.

    *launch* starts a server.
    """

    async def prepare(
        steps: Callable[[Connection, Waiting, Deadline], Awaitable[HandshakeResult]],
    ) -> tuple[Connection, HandshakeResult]:
        connection = launch()
        try:
            return connection, await steps(connection, waiting, deadline)
        except BaseException as error:
            await waiting.run_blocking_shielded(connection.close)
            if isinstance(error, TimedOut):
                problem = f"the server was not ready {deadline}"
                stderr = connection.transport.get_stderr_tail()
                noise = connection.get_noise()
                raise TimedOut(with_output(problem, stderr, noise)) from None
            raise

    if era == "modern":
        return await prepare(_discover)
    if era == "legacy":
        return await prepare(_initialize)
    try:
        return await prepare(_discover_or_initialize)
    except (RequestFailed, ServerGone, TimedOut) as error:
        has_not_read = isinstance(error, ServerGone) and not error.has_read
        if deadline.seconds_left == 0 or has_not_read:  # the probe was no reason
            raise
    return await prepare(_initialize)


async def _discover_or_initialize(
    connection: Connection, waiting: Waiting, deadline: Deadline
) -> HandshakeResult:
    try:
        return await _discover(connection, waiting, deadline.limit_to(PROBE_SECONDS))
    except TimedOut:
        return await _initialize(connection, waiting, deadline.limit_to(RECOVERY_SECONDS))
    except (RequestFailed, BrokenRules):
        return await _initialize(connection, waiting, deadline)


async def _discover(
    connection: Connection, waiting: Waiting, deadline: Deadline
) -> HandshakeResult:
    with RequestHandle(connection, waiting) as handle:
        handle.send(connection.protocol.discover())
        answer = await handle.wait_for_result(deadline)
    members = as_object(answer)
    versions = members.get("supportedVersions")
    version = messages.MODERN_VERSIONS[-1]
    if not isinstance(versions, list) or version not in versions:
        raise BrokenRules(f"the server does not speak MCP {version}")
    meta = as_object(members.get("_meta"))
    return _make_welcome(connection, version, members, meta.get(messages.META_SERVER_INFO))


async def _initialize(
    connection: Connection, waiting: Waiting, deadline: Deadline
) -> HandshakeResult:
    with RequestHandle(connection, waiting) as handle:
        handle.send(connection.protocol.initialize())
        answer = as_object(await handle.wait_for_result(deadline))
    version = answer.get("protocolVersion")
    if version not in messages.LEGACY_VERSIONS:
        raise BrokenRules(f"the server speaks MCP {version!r}, which this client does not know")
    welcome = _make_welcome(connection, version, answer, answer.get("serverInfo"))
    connection.send(connection.protocol.notify_initialized())
    return welcome


def _make_welcome(
    connection: Connection, version: str, answer: dict[str, Any], info: Any
) -> HandshakeResult:
    connection.protocol.version = version
    return HandshakeResult(
        version=version,
        server_info=as_object(info),
        capabilities=as_object(answer.get("capabilities")),
        instructions=as_text(answer.get("instructions")),
    )
