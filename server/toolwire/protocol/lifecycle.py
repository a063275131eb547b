"""MCP's two eras: how a client introduces itself, and what every result must carry.

Legacy clients (2024-11-05 to 2025-11-25) shake hands with `initialize`; modern ones (2026-07-28) name their
version in the `_meta` of every request. Which one a request belongs to is decided for each request by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.codes import (
    INVALID_PARAMS,
    LATEST_LEGACY,
    LEGACY_VERSIONS,
    META_CLIENT_CAPABILITIES,
    META_SERVER_INFO,
    META_SUBSCRIPTION_ID,
    META_VERSION,
    METHOD_NOT_FOUND,
    MODERN_VERSIONS,
    UNSUPPORTED_PROTOCOL_VERSION,
)

from ..errors import RequestError

if TYPE_CHECKING:
    from toolwire_schemas.wire.messages import Id

SUPPORTED_VERSIONS = [*MODERN_VERSIONS, *reversed(LEGACY_VERSIONS)]
CAPABILITIES: dict[str, Any] = {"tools": {"listChanged": True}}


class Identity(msgspec.Struct, frozen=True):
    """Who the server says it is. `instructions` are for the model, `None` if there are none."""

    name: str
    version: str
    title: str | None = None
    instructions: str | None = None

    def server_info(self) -> dict[str, str]:
        """Return the `serverInfo` object of MCP."""
        info = {"name": self.name, "version": self.version}
        return info if self.title is None else {**info, "title": self.title}


class Eras:
    """Tells which era a request belongs to, from the request and from what the client has sent before."""

    def __init__(self) -> None:
        self.version: str | None = None
        """The legacy version agreed on; `None` before `initialize`."""
        self.capabilities: Any = None
        """What a legacy client said it can do; `None` if it said nothing."""
        self.insists = False
        """Whether requests must name their version: modern ones have come, and `initialize` never has."""
        self._seen_initialize = False

    def is_modern(self, method: str, params: dict[str, Any]) -> bool:
        """Return whether a request is to be answered as MCP 2026-07-28 says.

        Raises:
            RequestError: if it names a version that is not spoken here, or lacks what that version requires.
        """
        meta = params.get("_meta")
        if meta is not None and type(meta) is dict and META_VERSION in meta:
            _check_modern(meta)
            self.insists = not self._seen_initialize
            return True
        if self.insists and not method.startswith(("initialize", "notifications/", "$/")):
            # Required of requests only: official clients send notifications without it.
            raise RequestError(INVALID_PARAMS, f"params._meta must name the protocol version as {META_VERSION}")
        return False

    def greet(self) -> None:
        """Take note that a client has sent `initialize`, whatever becomes of it."""
        self._seen_initialize, self.insists = True, False

    def greeted(self, params: dict[str, Any], answer: dict[str, Any]) -> None:
        """Take note of what a legacy client said of itself, and of what it was answered."""
        self.version, self.capabilities = answer["protocolVersion"], params.get("capabilities")


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
        raise RequestError(INVALID_PARAMS, f"params._meta[{META_CLIENT_CAPABILITIES!r}] must be an object")


def initialize(identity: Identity, params: dict[str, Any], *, modern: bool) -> dict[str, Any]:
    """Return the answer to `initialize`: the client's version where it is spoken, else the newest that is.

    Raises:
        RequestError: if a modern client asks, or the version is no text.
    """
    if modern:
        versions = ", ".join(MODERN_VERSIONS)
        raise RequestError(METHOD_NOT_FOUND, f"initialize does not exist in {versions}: use server/discover")
    version = params.get("protocolVersion")
    if type(version) is not str:
        raise RequestError(INVALID_PARAMS, "params.protocolVersion must be a string")
    result = {
        "protocolVersion": version if version in LEGACY_VERSIONS else LATEST_LEGACY,
        "capabilities": CAPABILITIES,
        "serverInfo": identity.server_info(),
    }
    return result if identity.instructions is None else {**result, "instructions": identity.instructions}


def discover(identity: Identity) -> dict[str, Any]:
    """Return the answer to `server/discover`, without what `modern_result` adds."""
    result = {"supportedVersions": SUPPORTED_VERSIONS, "capabilities": CAPABILITIES, **UNCACHED}
    return result if identity.instructions is None else {**result, "instructions": identity.instructions}


# A client may keep a list for ttlMs; the tools can change at any time.
UNCACHED: dict[str, Any] = {"ttlMs": 0, "cacheScope": "private"}


def end_of_subscription(identity: Identity, id: Id) -> dict[str, Any]:
    """Return the result that ends `subscriptions/listen`."""
    return modern_result(identity, {"_meta": {META_SUBSCRIPTION_ID: id}})


def modern_result(identity: Identity, result: dict[str, Any]) -> dict[str, Any]:
    """Return *result* with the members that every result of 2026-07-28 carries."""
    meta = {**result.get("_meta", {}), META_SERVER_INFO: identity.server_info()}
    return {"resultType": "complete", **result, "_meta": meta}
