"""How a conversation of each era begins, and what its messages have in common."""

from __future__ import annotations

from typing import Any

from toolwire_schemas.wire import codec
from toolwire_schemas.wire.codes import LEGACY_VERSIONS, META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_VERSION

_CLIENT = {"name": "toolwire-check", "version": "1"}


def is_modern(revision: str) -> bool:
    """Whether each request of this *revision* names it, so that there is no handshake."""
    return bool(revision) and revision not in LEGACY_VERSIONS


def meta(revision: str) -> dict[str, Any]:
    """Return the `_meta` that a request of this *revision* has to have."""
    if not is_modern(revision):
        return {}
    return {META_VERSION: revision, META_CLIENT_INFO: _CLIENT, META_CLIENT_CAPABILITIES: {}}


def completed(message: Any, revision: str) -> Any:
    """Return *message* with what every message, or every request of this *revision*, has."""
    if not isinstance(message, dict):
        return message
    whole = {"jsonrpc": "2.0", **message}
    if is_modern(revision) and "id" in message and isinstance(message.get("params", {}), dict):
        params = message.get("params", {})
        whole["params"] = {**params, "_meta": {**meta(revision), **params.get("_meta", {})}}
    return whole


def probe(identity: str, revision: str) -> dict[str, Any]:
    """Return the cheapest request that every server of this *revision* answers."""
    method = "server/discover" if is_modern(revision) else "ping" if revision else "tools/list"
    return completed({"id": identity, "method": method}, revision)  # type: ignore[no-any-return]


def initialize(identity: str, revision: str) -> dict[str, Any]:
    """Return the request that a conversation of a legacy *revision* begins with."""
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": _CLIENT}
    return {"jsonrpc": "2.0", "id": identity, "method": "initialize", "params": params}


INITIALIZED = codec.encode({"jsonrpc": "2.0", "method": "notifications/initialized"})
