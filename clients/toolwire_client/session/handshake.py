"""How client and server find out which revision of MCP they both speak.

Strategy. The modern revision begins with any request, so `server/discover` is asked first; whatever goes wrong with
that leads to the `initialize` of the legacy ones. Servers from before may end, hang or lose their way at a first
request that they do not know: then a new process is asked, and the modern way is not tried on it. A command that was
found to speak a legacy revision is not probed again for as long as this process lives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.wire import codes

from ..errors import BrokenRules, ClientError, RequestFailed, ServerGone, TimedOut
from .request import Exchange

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..waiting.base import Waiting
    from ..waiting.deadline import Limit
    from .connection import Connection

Era = Literal["auto", "modern", "legacy"]

PROBE_SECONDS = 10.0
"""How long a server may take to say that it knows the modern revision. The official client waits as long."""

RECOVERY_SECONDS = 30.0
"""How long one that has not answered that may take for the handshake: it may be starting up, or stuck for good."""

_LEGACY_COMMANDS: set[object] = set()


class Welcome(msgspec.Struct, frozen=True):
    """What a server tells about itself. `version` is the revision spoken."""

    version: str
    server_info: dict[str, Any] = {}
    capabilities: dict[str, Any] = {}
    instructions: str | None = None

    @property
    def tells_of_changes(self) -> bool:
        """Whether the server says that it tells its clients when its tools change."""
        tools = self.capabilities.get("tools")
        return isinstance(tools, dict) and tools.get("listChanged") is True


async def shake_hands(
    launch: Callable[[], Connection],
    waiting: Waiting,
    limit: Limit,
    *,
    era: Era = "auto",
    command: object = None,
) -> tuple[Connection, Welcome]:
    """Return a connection that is ready, and what its server says.

    *launch* starts a server. *command* is what the outcome is remembered by, `None` if by nothing.

    Raises:
        NotStarted: if there is no server.
        ServerGone, RequestFailed, BrokenRules, TimedOut: if it did not get ready.
    """

    async def ready(steps: Callable[[Connection, Waiting, Limit], Awaitable[Welcome]]) -> tuple[Connection, Welcome]:
        connection = launch()
        try:
            return connection, await steps(connection, waiting, limit)
        except BaseException as error:
            await waiting.apart(connection.close)
            if isinstance(error, TimedOut):
                raise TimedOut(_not_ready(connection, limit)) from None
            raise

    if era == "modern":
        return await ready(_discover)
    if era == "legacy":
        return await ready(_initialize)
    if command in _LEGACY_COMMANDS:
        try:
            return await ready(_initialize)
        except ClientError:
            _LEGACY_COMMANDS.discard(command)
            raise
    found = None
    try:
        found = await ready(_discover_or_initialize)
    except (RequestFailed, ServerGone, TimedOut):
        if limit.left() == 0:
            raise
    found = found or await ready(_initialize)
    if command is not None and found[1].version in codes.LEGACY_VERSIONS:
        _LEGACY_COMMANDS.add(command)
    return found


async def _discover_or_initialize(connection: Connection, waiting: Waiting, limit: Limit) -> Welcome:
    try:
        return await _discover(connection, waiting, limit.at_most(PROBE_SECONDS))
    except TimedOut:
        return await _initialize(connection, waiting, limit.at_most(RECOVERY_SECONDS))
    except (RequestFailed, BrokenRules):
        return await _initialize(connection, waiting, limit)


async def _discover(connection: Connection, waiting: Waiting, limit: Limit) -> Welcome:
    with Exchange(connection, waiting) as exchange:
        exchange.send(connection.session.discover())
        answer = await exchange.result(limit)
    offered = answer.get("supportedVersions") if isinstance(answer, dict) else None
    version = codes.MODERN_VERSIONS[-1]
    if not isinstance(offered, list) or version not in offered:
        raise BrokenRules(f"the server does not speak MCP {version}")
    meta = answer.get("_meta")
    return _welcome(connection, version, answer, meta.get(codes.META_SERVER_INFO) if isinstance(meta, dict) else None)


async def _initialize(connection: Connection, waiting: Waiting, limit: Limit) -> Welcome:
    with Exchange(connection, waiting) as exchange:
        exchange.send(connection.session.initialize())
        answer = await exchange.result(limit)
    version = answer.get("protocolVersion") if isinstance(answer, dict) else None
    if version not in codes.LEGACY_VERSIONS:
        raise BrokenRules(f"the server speaks MCP {version!r}, which is not known here")
    welcome = _welcome(connection, version, answer, answer.get("serverInfo"))
    connection.send(connection.session.initialized())
    return welcome


def _welcome(connection: Connection, version: str, answer: dict[str, Any], info: Any) -> Welcome:
    connection.session.version = version
    capabilities, instructions = answer.get("capabilities"), answer.get("instructions")
    return Welcome(
        version=version,
        server_info=info if isinstance(info, dict) else {},
        capabilities=capabilities if isinstance(capabilities, dict) else {},
        instructions=instructions if isinstance(instructions, str) else None,
    )


def _not_ready(connection: Connection, limit: Limit) -> str:
    told = f"the server was not ready {limit}"
    stderr, noise = connection.wire.stderr_tail(), "\n".join(connection.noise_tail)
    told += f"; the end of its stderr:\n{stderr}" if stderr else ", and wrote nothing to its stderr"
    return told + (f"; its output so far is no message:\n{noise}" if noise else "")
