"""Keeps results that are too large to send, for the client to read by `resources/read`."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from toolwire_tools.resources.resource import ResourceNotFound, ResourceOptions, make_resource

from .cut_text import split_text

if TYPE_CHECKING:
    from toolwire_tools import Tool

    from ...settings import Settings

Block = dict[str, Any]
"""A block of content, such as a text or an image."""

URI = "toolwire://results/{id}/{part}"

_ENVELOPE_BYTES = 4096
"""About what a response takes in addition to the part that it carries."""

_LINK_BYTES = 250
"""About what a link takes."""


class KeptResults:
    """The latest large results of one session, each in parts that fit into a response."""

    def __init__(self, settings: Settings) -> None:
        self._max_bytes = settings.max_kept_bytes
        limit = settings.max_result_bytes
        self._part_bytes = max(limit - _ENVELOPE_BYTES, limit // 2, 1024)
        self._lock = threading.Lock()
        self._parts: dict[str, list[dict[str, bytes]]] = {}  # by id, the oldest first
        self._sizes: dict[str, int] = {}
        self._bytes = 0

    def make_resource(self) -> Tool:
        """Return the resource that reads a part."""
        description = "A part of a result that was too large to send."
        options = ResourceOptions(uri=URI, description=description)
        return make_resource(self.read, options=options, name="large_result")

    def read(self, id: str, part: int) -> dict[str, Any]:
        """Return a part of a kept result, as the contents of a resource."""
        parts = self._parts.get(id, [])
        if not 0 < part <= len(parts):
            raise ResourceNotFound(
                "This result is not kept, or not any more: a session keeps the latest large"
                f" results, {self._max_bytes:,} bytes in all (--limit max_kept_bytes). Call the"
                " tool again"
            )
        return {member: str(value, "utf-8") for member, value in parts[part - 1].items()}

    def has_room(self, size: int) -> bool:
        """Return whether a result of *size* bytes is kept, at the cost of older ones."""
        return size <= self._max_bytes

    def estimate_links(self, block: Block, size: int) -> int:
        """Return about how many bytes the links in place of *block* take; 0 without one."""
        if not self._read_contents(block, size):
            return 0
        # A part may end a fifth earlier, with a line or a character.
        parts = size * 5 // (self._part_bytes * 4) + 1
        return _LINK_BYTES * parts

    def keep(self, name: str, block: Block, size: int) -> list[Block]:
        """Keep *block*, of a result of the tool *name*; return links to its parts."""
        contents = self._read_contents(block, size)
        if not contents:
            return []
        parts = self._split(contents)
        id = os.urandom(16).hex()  # random, since a client that knows it can read the result
        self._add(id, parts, size)
        links = []
        for number, part in enumerate(parts, 1):
            link = {
                "type": "resource_link",
                "uri": URI.format(id=id, part=number),
                "name": f"{name[:60]}: part {number} of {len(parts)}",
                "mimeType": contents["mimeType"],
                "size": _measure_raw(part),
            }
            links.append(link)
        return links

    def _read_contents(self, block: Block, size: int) -> dict[str, str]:
        """Return *block* as contents of a resource; empty if it cannot be read in one piece."""
        if block["type"] == "resource_link":
            return {}
        found = {**block, **block.get("resource", {})}
        media_type = found.get("mimeType")
        if "text" in found:
            return {"mimeType": media_type or "text/plain", "text": found["text"]}
        if size > self._part_bytes:
            return {}
        blob: str = found["blob"] if "blob" in found else found["data"]
        return {"mimeType": media_type or "application/octet-stream", "blob": blob}

    def _split(self, contents: dict[str, str]) -> list[dict[str, bytes]]:
        """Return the parts of *contents*, encoded: a kept text takes no more than its bytes."""
        pieces = [contents]
        if contents.get("text"):
            texts = split_text(contents["text"], self._part_bytes)
            pieces = [{**contents, "text": text} for text in texts]
        parts = []
        for piece in pieces:
            parts.append({member: value.encode() for member, value in piece.items()})
        return parts

    def _add(self, id: str, parts: list[dict[str, bytes]], size: int) -> None:
        with self._lock:
            self._parts[id], self._sizes[id] = parts, size
            self._bytes += size
            while self._bytes > self._max_bytes:
                oldest = next(iter(self._parts))
                self._bytes -= self._sizes.pop(oldest)
                del self._parts[oldest]


def _measure_raw(part: dict[str, bytes]) -> int:
    """Return the bytes of *part* without base64."""
    if "text" in part:
        return len(part["text"])
    return len(part["blob"]) * 3 // 4
