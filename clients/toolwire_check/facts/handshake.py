"""Requests of many conversations: the handshake, probes, and the list of tools with all its
pages.

A legacy revision starts with `initialize`; in a modern one, each request names its revision in
`_meta`.
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
    from ..judging.conversation import Message
    from .server_process import ServerUnderTest


_CLIENT = {"name": "toolwire-check", "version": "1"}
_MAX_PAGES = 1000  # more than any server has; one that makes cursors for ever must not hang a check


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
    must have. Members that it has stay, and so does a message that is no object.
    """
    if not isinstance(message, dict):
        return message
    whole = {"jsonrpc": "2.0", **message}
    params = message.get("params", {})
    if is_modern(revision) and "id" in message and isinstance(params, dict):
        meta = {**make_meta(revision), **params.get("_meta", {})}
        whole["params"] = {**params, "_meta": meta}
    return whole


def make_probe(identity: str, revision: str) -> Message:
    """Return the cheapest request that every server of this *revision* answers.

    Without a revision there was no handshake, so `ping` may be refused.
    """
    method = "ping" if revision else "tools/list"
    if is_modern(revision):
        method = "server/discover"
    probe: Message = complete_message({"id": identity, "method": method}, revision)
    return probe


def make_initialize(identity: str, revision: str) -> Message:
    """Return the first request of a conversation of a legacy *revision*."""
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
    conversation = server.conversation
    if conversation.flood:
        return conversation.flood
    if conversation.ended:
        return f"{subject} {conversation.ended}"
    return ""


def list_all_tools(
    server: ServerUnderTest, revision: str, patience: float, label: str
) -> tuple[list[Any], str]:
    """Return the entries on all pages of `tools/list`, and what is wrong with the pages; empty if
    nothing.
    """
    entries: list[Any] = []
    cursors: list[str] = []
    params: dict[str, str] = {}
    while True:
        # The number of events makes an id that no other request of this conversation has.
        identity = f"{label}-{len(server.conversation.events)}"
        request = {"id": identity, "method": "tools/list", "params": params}
        answer = server.request(complete_message(request, revision), patience) or {}
        result = answer.get("result")
        if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return entries, "tools/list was not answered with a list of tools"
        entries += result["tools"]
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str):
            return entries, ""
        if cursor in cursors:
            return entries, f"the cursor {cursor!r} leads in a circle"
        if len(cursors) >= _MAX_PAGES:
            return entries, f"there are more than {_MAX_PAGES} pages"
        cursors.append(cursor)
        params = {"cursor": cursor}
