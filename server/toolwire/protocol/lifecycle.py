"""The two eras of MCP: handshake, capabilities, and the members of every result.

Legacy clients (2024-11-05 to 2025-11-25) start with `initialize`; modern ones (2026-07-28) name
their version in the `_meta` of every request. The era is decided for each request by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.messages import (
    INVALID_PARAMS,
    LATEST_LEGACY,
    LEGACY_VERSIONS,
    META_CLIENT_CAPABILITIES,
    META_SERVER_INFO,
    META_VERSION,
    METHOD_NOT_FOUND,
    MODERN_VERSIONS,
    UNSUPPORTED_PROTOCOL_VERSION,
)

from ..errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

SUPPORTED_VERSIONS = [*MODERN_VERSIONS, *reversed(LEGACY_VERSIONS)]


Capabilities = dict[str, Any]
"""An object of MCP; empty if the client declared none."""


class Identity(msgspec.Struct):
    """The name and version of the server; *find* returns those that its author does not give.

    `instructions` are for the model.
    """

    name: str | None
    version: str | None
    title: str | None = None
    instructions: str | None = None
    find: Callable[[], tuple[str, str]] | None = None
    _info: dict[str, Any] | None = None

    def describe_server(self) -> dict[str, Any]:
        """Return the `serverInfo` object of MCP: the same at every call."""
        if self._info is None:
            name, version = self.name, self.version
            if self.find is not None and (name is None or version is None):
                found = self.find()
                name, version = name or found[0], version or found[1]
            title = {} if self.title is None else {"title": self.title}
            self._info = {"name": name or "", "version": version or "", **title}
        return self._info

    def show_as(self, server_info: dict[str, Any], instructions: str | None) -> None:
        """Have the same identity as another server from now on."""
        self._info = server_info
        self.instructions = instructions

    def forget(self) -> None:
        """Make the `serverInfo` anew for the next response: its parts have changed."""
        self._info = None


class Eras:
    """Decides the era of a request, from the request and from those before it."""

    def __init__(self) -> None:
        self.version: str | None = None
        """The legacy version agreed on; `None` before `initialize`."""
        self.capabilities: Capabilities = {}
        """Those of a legacy client."""
        self.requires_version = False
        """Whether requests must name their version: modern ones have come, and `initialize` never
        has.
        """
        self._seen_initialize = False

    def is_modern(self, method: str, params: dict[str, Any]) -> bool:
        """Return whether a request is to be answered by MCP 2026-07-28."""
        meta = params.get("_meta")
        if meta is not None and type(meta) is dict and META_VERSION in meta:
            _check_modern(meta)
            self.requires_version = not self._seen_initialize
            return True
        if self.requires_version and not method.startswith(("initialize", "notifications/", "$/")):
            # Required of requests only: official clients send notifications without it.
            raise RequestError(
                INVALID_PARAMS, f"params._meta must name the protocol version as {META_VERSION}"
            )
        return False

    def record_initialize(self) -> None:
        """Note that a client has sent `initialize`, whatever the response."""
        self._seen_initialize, self.requires_version = True, False

    def record_agreement(self, params: dict[str, Any], result: dict[str, Any]) -> None:
        """Note the capabilities of a legacy client, and the version agreed on."""
        self.version = result["protocolVersion"]
        declared = params.get("capabilities")
        self.capabilities = declared if type(declared) is dict else {}


def can_elicit(capabilities: Capabilities) -> bool:
    """Return whether a client with these *capabilities* can show a form."""
    elicitation = capabilities.get("elicitation")
    # An empty object means forms: other modes came later, and are named.
    return isinstance(elicitation, dict) and (not elicitation or "form" in elicitation)


def _check_modern(meta: dict[str, Any]) -> None:
    version = meta[META_VERSION]
    if type(version) is not str:
        raise RequestError(INVALID_PARAMS, f"params._meta[{META_VERSION!r}] must be a string")
    if version not in MODERN_VERSIONS:
        raise RequestError(
            UNSUPPORTED_PROTOCOL_VERSION,
            f"Unsupported protocol version: {version[:100]}",
            {"supported": SUPPORTED_VERSIONS, "requested": version},
        )
    if type(meta.get(META_CLIENT_CAPABILITIES)) is not dict:
        raise RequestError(
            INVALID_PARAMS, f"params._meta[{META_CLIENT_CAPABILITIES!r}] must be an object"
        )


_LEGACY_TASKS: dict[str, Any] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


def initialize(
    identity: Identity, capabilities: dict[str, Any], params: dict[str, Any], *, modern: bool
) -> dict[str, Any]:
    """Return the result of `initialize`: with the client's version if it is supported, else the
    newest legacy one.
    """
    if modern:
        versions = ", ".join(MODERN_VERSIONS)
        raise RequestError(
            METHOD_NOT_FOUND, f"initialize does not exist in {versions}: use server/discover"
        )
    version = params.get("protocolVersion")
    if type(version) is not str:
        raise RequestError(INVALID_PARAMS, "params.protocolVersion must be a string")
    if version not in LEGACY_VERSIONS:
        version = LATEST_LEGACY
    if version == LATEST_LEGACY:  # the only one with a handshake that has tasks
        capabilities = {**capabilities, "tasks": _LEGACY_TASKS}
    result = {
        "protocolVersion": version,
        "capabilities": capabilities,
        "serverInfo": identity.describe_server(),
    }
    return _add_instructions(result, identity)


def discover(identity: Identity, capabilities: dict[str, Any]) -> dict[str, Any]:
    """Return the result of `server/discover`, for `complete_modern_result`."""
    capabilities = {**capabilities, "extensions": {"io.modelcontextprotocol/tasks": {}}}
    capabilities.pop("tasks", None)  # that of a wrapped server of 2025-11-25
    result = {"supportedVersions": SUPPORTED_VERSIONS, "capabilities": capabilities, **UNCACHED}
    return _add_instructions(result, identity)


def _add_instructions(result: dict[str, Any], identity: Identity) -> dict[str, Any]:
    if identity.instructions is None:
        return result
    return {**result, "instructions": identity.instructions}


# A client may keep a list for ttlMs; what it lists can change at any time.
UNCACHED: dict[str, Any] = {"ttlMs": 0, "cacheScope": "private"}


def complete_modern_result(identity: Identity, result: dict[str, Any]) -> dict[str, Any]:
    """Return *result* with the members that 2026-07-28 requires of every result."""
    meta = {**result.get("_meta", {}), META_SERVER_INFO: identity.describe_server()}
    cached = UNCACHED if "contents" in result else {}  # the values of resources, as lists are
    return {"resultType": "complete", **result, **cached, "_meta": meta}
