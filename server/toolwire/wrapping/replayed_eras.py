"""Recorded results, as a host of either era reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.messages import META_SERVER_INFO, META_VERSION

from ..protocol.catalog import LIST_METHODS
from ..protocol.lifecycle import SUPPORTED_VERSIONS, UNCACHED
from . import get_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .exchanges import Exchange

    Object = dict[str, Any]

_MODERN_ONLY = ("resultType", *UNCACHED)


def is_modern(request: Object) -> bool:
    """Return whether *request* is of MCP 2026-07-28."""
    return META_VERSION in get_object(get_object(request, "params"), "_meta")


class Handshake:
    """The identity and capabilities of a recorded server, from its answer to either handshake."""

    def __init__(self, recorded: Iterable[Exchange]) -> None:
        self.result: Object = {}
        """The result of the first handshake that succeeded; empty if none did."""
        self.method = ""
        for exchange in recorded:
            if exchange.method not in ("initialize", "server/discover"):
                continue
            for step in exchange.steps:
                result = get_object(step, "result")
                if result and not self.result:
                    self.result, self.method = result, exchange.method
        info = self.result.get("serverInfo")
        meta = get_object(self.result, "_meta").get(META_SERVER_INFO)
        self.server_info: Object = {"name": "replay", "version": ""}
        for found in (info, meta):
            if isinstance(found, dict):
                self.server_info = found

    def answer(self, request: Object) -> Object | None:
        """Return the result of a handshake in the revision that the host asks for; `None` if the
        recording has none.
        """
        if not self.result:
            return None
        said: Object = {}
        for name in ("capabilities", "instructions"):
            if name in self.result:
                said[name] = self.result[name]
        if request["method"] == "server/discover":
            return {"supportedVersions": SUPPORTED_VERSIONS, **said, **UNCACHED}
        version = get_object(request, "params").get("protocolVersion")
        if version not in messages.LEGACY_VERSIONS:
            version = self.result.get("protocolVersion", messages.LATEST_LEGACY)
        recorded = self.result if self.method == "initialize" else {}
        return {**recorded, **said, "protocolVersion": version, "serverInfo": self.server_info}

    def translate(self, result: Any, request: Object) -> Any:
        """Return a recorded *result* as a host reads it that has sent *request*."""
        if not isinstance(result, dict):
            return result
        if not is_modern(request):
            return _as_legacy(result)
        if request["method"] in LIST_METHODS:
            result = {**UNCACHED, **result}
        meta = {META_SERVER_INFO: self.server_info, **get_object(result, "_meta")}
        cached = UNCACHED if "contents" in result else {}  # as the server does
        return {"resultType": "complete", **cached, **result, "_meta": meta}


def _as_legacy(result: Object) -> Object:
    kept = {name: value for name, value in result.items() if name not in _MODERN_ONLY}
    meta = get_object(kept, "_meta")
    if META_SERVER_INFO not in meta:
        return kept
    kept["_meta"] = {name: value for name, value in meta.items() if name != META_SERVER_INFO}
    if not kept["_meta"]:
        del kept["_meta"]
    return kept
