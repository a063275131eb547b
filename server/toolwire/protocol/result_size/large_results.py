"""Results that are too large to send: cut, or kept for the client to read. Imported for the first
of them.

Strategy. Blocks of content are sent whole as long as they fit, the smallest first: images, audio
and files are never cut. The first text that does not fit is cut; what else does not fit is left out
or, if results are kept, replaced by links. Structured content is sent whole or not at all, since
half of it would break the output schema. Clients refuse a result without it if the schema is
published, unless the result is an error; so it becomes one.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any
from unicodedata import category

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import DecodingError, decode, encode_plain
from toolwire_tools.resources.resource import ResourceNotFound, ResourceOptions, make_resource

from ... import log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolwire_tools import Entry, Tool

    from ...settings import Settings
    from ..call import Call
    from .result_limit import Limit

Block = dict[str, Any]

_URI = "toolwire://results/{id}/{part}"

_NOTE_BYTES = 1000
"""The most that a note takes, as a block of its own."""

_LINK_BYTES = 250
"""About what a link takes."""

_PREVIEW_BYTES = 4096
"""How much of a text is sent in addition to a link to all of it: for the model to see what it is.
"""

_COMPLETE = " The structured content is complete."
_MISSING = (
    " This is marked as an error because the structured content, which the output schema demands,"
    " does not fit."
)


class LargeResults:
    """What one session sends in place of results that are too large. *kept* receives the resource
    to read them.
    """

    def __init__(self, settings: Settings, kept: dict[str, Tool]) -> None:
        self._settings = settings
        self._keeps = settings.on_large_result == "resource"
        limit = settings.max_result_bytes
        self._part_bytes = max(limit - 4096, limit // 2, 1024)  # an envelope takes the rest
        self._lock = threading.Lock()
        self._kept: dict[str, list[dict[str, bytes]]] = {}  # the oldest first
        self._sizes: dict[str, int] = {}
        self._held = 0
        self.made = 0
        """How many results were made smaller."""
        if self._keeps:
            options = ResourceOptions(
                uri=_URI, description="A part of a result that was too large to send."
            )
            kept[_URI] = make_resource(self.read, options=options, name="large_result")

    def response(self, call: Call, result: dict[str, Any], size: int, limit: Limit) -> bytes | str:
        """Return a response within *limit* in place of *result*, which takes *size* bytes; else the
        error text.
        """
        entry, room = call.entry, limit.room
        if (
            self._settings.on_large_result != "error"
            and call.id is not None
            and entry.kind != "methods"
            and "content" in result
        ):
            empty = messages.response(
                call.id, {**result, "content": [], "structuredContent": 0}, is_plain=True
            )
            smaller = self._smaller(entry, result, limit.words, room - len(empty))
            message = (
                None if smaller is None else messages.response(call.id, smaller, is_plain=True)
            )
            if message is not None and len(message) <= room:  # the size of links is an estimate
                self.made += 1
                log.warning(
                    f"the result of {entry.name} took {size} bytes and was made smaller", id=call.id
                )
                return message
        if not limit.is_of_batch:
            return (
                f"The result of {entry.name} takes {size:,} bytes, and it may take at most"
                f" {limit.words}. Ask for less."
            )
        taken = self._settings.max_result_bytes - room
        return (
            f"This batch's responses take {taken + size:,} bytes, and may take at most"
            f" {limit.words}. Ask for less."
        )

    def _smaller(
        self, entry: Entry, result: dict[str, Any], limit: str, room: int
    ) -> dict[str, Any] | None:
        """Return *result* with content of at most *room* bytes; `None` if that is too little."""
        content = result["content"]
        ending = f" A result of {entry.name[:60]} may take {limit}."
        unstructured = dict(result)
        unstructured.pop("structuredContent", None)
        has_promise = "structuredContent" in result and "outputSchema" in entry.shown
        if has_promise:
            structured = b',"structuredContent":' + encode_plain(result["structuredContent"])
            left = room - len(structured)
            made = self._fit(entry, content, left, _COMPLETE + ending, always=True)
            if made is not None:
                return {**result, "content": made}
            unstructured["isError"] = True
        ending = _MISSING + ending if has_promise else ending
        made = self._fit(entry, content, room, ending, always=has_promise)
        return None if made is None else {**unstructured, "content": made}

    def read(self, id: str, part: int) -> dict[str, Any]:
        """Return a part of a kept result, as the contents of a resource."""
        parts = self._kept.get(id, [])
        if not 0 < part <= len(parts):
            raise ResourceNotFound(
                "This result is not kept, or not any more: a session keeps the latest large"
                f" results, {self._settings.max_kept_bytes:,} bytes in all (--limit"
                " max_kept_bytes). Call the tool again"
            )
        return {member: str(value, "utf-8") for member, value in parts[part - 1].items()}

    def _fit(
        self, entry: Entry, blocks: list[Block], room: int, ending: str, *, always: bool = False
    ) -> list[Block] | None:
        """Return *blocks*, made smaller, with a note about it; `None` if that is not possible."""
        sizes = []
        costs = []
        for block in blocks:
            size = len(encode_plain(block)) + 1
            sizes.append(size)
            costs.append(min(size, self._cost(block, size)))
        left, rest = _fill(room - _NOTE_BYTES - sum(costs), sizes, costs)
        kept_bytes = sum(sizes[at] for at in rest)
        if left < 0 or (self._keeps and kept_bytes > self._settings.max_kept_bytes):
            return None
        if not (rest or always):
            return blocks

        blocks = [*blocks]
        made = {at: [block] for at, block in enumerate(blocks)}
        for at in rest:
            # As the client would read it: pairs of surrogates are joined.
            blocks[at] = decode(encode_plain(blocks[at]))
            made[at] = self._links(entry, blocks[at], sizes[at])
        uris = [link["uri"] for at in sorted(rest) for link in made[at]]
        cut, spare = _find_text_to_cut(blocks, rest, left)
        if cut is None:
            if not always and not any(made.values()):  # only pictures, for example
                return None
            note = f"[{_note(blocks, rest, '', uris)}{ending}]"
            made[len(blocks)] = [{"type": "text", "text": note}]
        else:  # the note is where the text ends
            most = min(spare, _PREVIEW_BYTES) if self._keeps else spare
            head = beginning(blocks[cut]["text"], most)
            text = f"{head}\n[{_note(blocks, rest, head, uris)}{ending}]"
            made[cut] = [{**blocks[cut], "text": text}, *made[cut]]
        return [block for at in sorted(made) for block in made[at]]

    def _cost(self, block: Block, size: int) -> int:
        """Return about how many bytes the links in place of *block* take."""
        return (
            _LINK_BYTES * (size * 5 // (self._part_bytes * 4) + 1)
            if self._contents(block, size)
            else 0
        )

    def _contents(self, block: Block, size: int) -> dict[str, str]:
        """Return *block* as contents of a resource; empty if it cannot be read in one piece, or is
        not to be kept.
        """
        found = {**block, **block.get("resource", {})}
        if not self._keeps or block["type"] == "resource_link":
            return {}
        if "text" in found:
            return {"mimeType": found.get("mimeType") or "text/plain", "text": found["text"]}
        blob: str = found["blob"] if "blob" in found else found["data"]
        media_type = found.get("mimeType") or "application/octet-stream"
        return {"mimeType": media_type, "blob": blob} if size <= self._part_bytes else {}

    def _links(self, entry: Entry, block: Block, size: int) -> list[Block]:
        """Keep *block*; return links to its parts."""
        contents = self._contents(block, size)
        if not contents:
            return []
        text = contents.get("text", "")
        pieces = [contents]
        if text:
            pieces = [{**contents, "text": piece} for piece in _pieces(text, self._part_bytes)]
        parts = []
        for piece in pieces:
            parts.append({member: value.encode() for member, value in piece.items()})
        id = os.urandom(16).hex()  # random, since a client that knows it can read the result
        with self._lock:
            self._kept[id], self._sizes[id] = parts, size
            self._held += size
            while self._held > self._settings.max_kept_bytes:
                oldest = next(iter(self._kept))
                self._held -= self._sizes.pop(oldest)
                del self._kept[oldest]
        links = []
        for number, part in enumerate(parts, 1):
            name = f"{entry.name[:60]}: part {number} of {len(parts)}"
            link = {"type": "resource_link", "uri": _URI.format(id=id, part=number), "name": name}
            raw_size = len(part["text"]) if "text" in part else len(part["blob"]) * 3 // 4
            links.append({**link, "mimeType": contents["mimeType"], "size": raw_size})
        return links


def _fill(room: int, sizes: list[int], costs: list[int]) -> tuple[int, list[int]]:
    """Return the room that is left when as many blocks as fit are sent whole, and the others, the
    smallest first.

    *room* is what is left if no block is: each takes its cost then.
    """
    rest = []
    for at in sorted(range(len(sizes)), key=sizes.__getitem__):
        more = sizes[at] - costs[at]
        if more > room:
            rest.append(at)
        else:
            room -= more
    return room, rest


def _find_text_to_cut(blocks: list[Block], rest: list[int], left: int) -> tuple[int | None, int]:
    """Return the first text of *rest* whose beginning fits into the bytes that are *left*, and how
    many bytes of it; None without one.
    """
    for at in rest:
        if blocks[at]["type"] != "text":
            continue
        spare = left - len(encode_plain({**blocks[at], "text": ""}))
        if spare >= 0:
            return at, spare
    return None, 0


def _note(blocks: list[Block], rest: list[int], head: str, uris: list[str]) -> str:
    """Return what of *blocks* is shown, and how to get the others."""
    total = sum(len(block["text"]) for block in blocks if block["type"] == "text")
    hidden = 0
    others = []
    for at in rest:
        if blocks[at]["type"] == "text":
            hidden += len(blocks[at]["text"])
        else:
            others.append(blocks[at]["type"])
    said = []
    if hidden:
        said.append(f"{total - hidden + len(head):,} of {total:,} characters of text shown")
    if others:
        kinds = ", ".join(sorted(set(others)))
        said.append(f"{len(others)} of {len(blocks)} blocks left out ({kinds})")
    if not said:
        return "All text is shown."
    advice = "Ask for less, such as a part, a page or fewer fields."
    if uris:
        first_and_last = dict.fromkeys((uris[0], uris[-1]))
        advice = f"Read the rest with resources/read: {' to '.join(first_and_last)}."
    return f"Cut: {'; '.join(said)}. {advice}"


def beginning(text: str, most: int) -> str:
    """Return the longest beginning of *text* that takes at most *most* bytes as JSON and does not
    end in a character.

    It ends with a line if one ends nearby. A character is what people see as one, such as an emoji
    of several people.
    """
    data = encode_plain(text[: max(most, 0)])[1:-1][: max(most, 0)]
    while data:
        try:
            end = len(decode(b'"%b"' % data))
        except DecodingError:  # the cut is within an escape or a character of several bytes
            data = data[:-1]
        else:
            return text[: _boundary(text, end)]
    return ""


def _pieces(text: str, most: int) -> Iterator[str]:
    start = 0
    while start < len(text):
        piece = beginning(text[start : start + most + _LONGEST_CHARACTER], most)
        yield piece
        start += len(piece)


_LONGEST_CHARACTER = 32
"""How many code points of one character stay together at most: there are joke texts with hundreds.
"""

_JOINED = (("\u1100", "\u11ff"), ("\U0001f1e6", "\U0001f1ff"))
"""Parts of Korean syllables, and the letters of flags: two neighbours may belong together."""

_JOINS = (("\u200d", "\u200d"), ("\U0001f3fb", "\U0001f3ff"), ("\U000e0020", "\U000e007f"))
"""What belongs to the code point before it, in addition to marks: joiners, skin colours, the tags
of regional flags.
"""


def _boundary(text: str, end: int) -> int:
    if end >= len(text):
        return end
    line = text.rfind("\n", end - min(1000, end // 10), end) + 1
    around = range(end, max(end - _LONGEST_CHARACTER, 0), -1)
    return line or next((at for at in around if not _are_joined(text[at - 1], text[at])), end)


def _are_joined(before: str, after: str) -> bool:
    """Return whether two code points belong to one character: about the rules of Unicode's annex
    29.
    """
    if before + after == "\r\n" or before == "\u200d" or category(after).startswith("M"):
        return True
    if any(first <= before <= last and first <= after <= last for first, last in _JOINED):
        return True
    return any(first <= after <= last for first, last in _JOINS)
