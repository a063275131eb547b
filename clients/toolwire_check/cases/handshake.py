"""Requests of many conversations: the handshake, probes, and the list of tools with all its
pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import codec
from toolwire_schemas.wire.messages import (
    LEGACY_VERSIONS,
    META_CLIENT_CAPABILITIES,
    META_CLIENT_INFO,
    META_VERSION,
)

if TYPE_CHECKING:
    from .server_process import ServerUnderTest


_CLIENT = {"name": "toolwire-check", "version": "1"}
_MAX_PAGES = 1000


def is_modern(revision: str) -> bool:
    """Whether every request of this *revision* names it, so that there is no handshake."""
    return bool(revision) and revision not in LEGACY_VERSIONS


def make_meta(revision: str) -> dict[str, Any]:
    """Return the `_meta` that a request of this *revision* must have."""
    if not is_modern(revision):
        return {}
    return {META_VERSION: revision, META_CLIENT_INFO: _CLIENT, META_CLIENT_CAPABILITIES: {}}


def complete_message(message: Any, revision: str) -> Any:
    """Return *message* with the members that every message, or every request of this *revision*,
    must have.
    """
    if not isinstance(message, dict):
        return message
    whole = {"jsonrpc": "2.0", **message}
    if is_modern(revision) and "id" in message and isinstance(message.get("params", {}), dict):
        params = message.get("params", {})
        whole["params"] = {**params, "_meta": {**make_meta(revision), **params.get("_meta", {})}}
    return whole


def make_probe(identity: str, revision: str) -> dict[str, Any]:
    """Return the cheapest request that every server of this *revision* answers."""
    method = "server/discover" if is_modern(revision) else "ping" if revision else "tools/list"
    return complete_message({"id": identity, "method": method}, revision)  # type: ignore[no-any-return]


def make_initialize(identity: str, revision: str) -> dict[str, Any]:
    """Return the request that a conversation of a legacy *revision* begins with."""
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": _CLIENT}
    return {"jsonrpc": "2.0", "id": identity, "method": "initialize", "params": params}


INITIALIZED = codec.encode({"jsonrpc": "2.0", "method": "notifications/initialized"})


class Obstacle(msgspec.Struct, frozen=True):
    """Why a conversation cannot start. *is_choice* if the server chose another revision, as MCP
    allows.
    """

    why: str
    is_choice: bool = False


def open_session(server: ServerUnderTest, revision: str, patience: float) -> Obstacle | None:
    """Do the handshake of this *revision*. Return the obstacle, `None` if it succeeded."""
    if is_modern(revision):
        return None
    answer = server.request(make_initialize("open", revision), patience)
    if answer is None:
        silence = f"nothing came in {patience:g} s (--start-timeout)"
        return Obstacle(f"initialize was not answered: {find_trouble(server) or silence}")
    result = answer.get("result")
    if not isinstance(result, dict):
        return Obstacle(f"initialize was answered with {answer.get('error')}")
    server.send(INITIALIZED)
    spoken = result.get("protocolVersion")
    if spoken == revision or spoken not in LEGACY_VERSIONS:  # cases judge an unknown revision
        return None
    return Obstacle(f"offered {revision}, the server speaks {spoken}", is_choice=True)


def find_trouble(server: ServerUnderTest, subject: str = "it") -> str:
    """Return why a server cannot answer any more; empty if it may still."""
    ended = server.conversation.ended
    return server.conversation.flood or (f"{subject} {ended}" if ended else "")


def list_all_tools(
    server: ServerUnderTest, revision: str, patience: float, label: str
) -> tuple[list[Any], str]:
    """Return the entries on all pages of `tools/list`, and what is wrong with the pages; empty if
    nothing.
    """
    entries: list[Any] = []
    seen: list[str] = []
    while True:
        params = {"cursor": seen[-1]} if seen else {}
        # which no other request of this conversation has
        identity = f"{label}-{len(server.conversation.events)}"
        request = {"id": identity, "method": "tools/list", "params": params}
        answer = server.request(complete_message(request, revision), patience)
        result = (answer or {}).get("result")
        if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return entries, "tools/list was not answered with a list of tools"
        entries += result["tools"]
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str):
            return entries, ""
        if cursor in seen:
            return entries, f"the cursor {cursor!r} leads in a circle"
        if len(seen) >= _MAX_PAGES:
            return entries, f"there are more than {_MAX_PAGES} pages"
        seen.append(cursor)
