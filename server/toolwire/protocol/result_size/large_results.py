"""Results that are too large to send: cut, or kept for the client to read.

Strategy. Blocks of content are sent whole as long as they fit, the smallest first: images, audio
and files are never cut. The first text that does not fit is cut; what else does not fit is left out
or, if results are kept, replaced by links. Structured content is sent whole or not at all, since
half of it would break the output schema. Clients refuse a result without it if the schema is
published, unless the result is an error; so it becomes one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import decode, encode_plain

from ... import log
from .cut_text import cut_end
from .kept_results import URI, Block, KeptResults

if TYPE_CHECKING:
    from toolwire_tools import Entry, Tool

    from ...settings import Settings
    from ..call import Call
    from .result_limit import Limit

_NOTE_BYTES = 1000
"""The most that a note takes, as a block of its own."""

_PREVIEW_BYTES = 4096
"""How much of a text is sent in addition to a link to all of it: for the model to see what it is.
"""

_COMPLETE = " The structured content is complete."
_MISSING = (
    " This is marked as an error because the structured content, which the output schema demands,"
    " does not fit."
)


class _Part(msgspec.Struct, eq=False):
    """A block of a result, which takes *size* bytes, or *cost* bytes for the *links* in its
    place.
    """

    block: Block
    size: int
    cost: int
    is_whole: bool = False
    links: list[Block] = []


class LargeResults:
    """What one session sends in place of results that are too large. *kept* receives the resource
    to read them.
    """

    def __init__(self, settings: Settings, kept: dict[str, Tool]) -> None:
        self._settings = settings
        self._kept: KeptResults | None = None
        self.made = 0
        """How many results were made smaller."""
        if settings.on_large_result == "resource":
            self._kept = KeptResults(settings)
            kept[URI] = self._kept.make_resource()

    def make_response(
        self, call: Call, result: dict[str, Any], size: int, limit: Limit
    ) -> bytes | str:
        """Return a response within *limit* in place of *result*, which takes *size* bytes; else the
        error text.
        """
        name = call.entry.name
        message = self._make_smaller(call, result, limit)
        if message is not None:
            self.made += 1
            log.warning(f"the result of {name} took {size} bytes and was made smaller", id=call.id)
            return message
        if not limit.is_of_batch:
            return (
                f"The result of {name} takes {size:,} bytes, and it may take at most"
                f" {limit.words}. Ask for less."
            )
        size += self._settings.max_result_bytes - limit.room
        return (
            f"This batch's responses take {size:,} bytes, and may take at most {limit.words}."
            " Ask for less."
        )

    def _make_smaller(self, call: Call, result: dict[str, Any], limit: Limit) -> bytes | None:
        """Return a response with a smaller *result*; `None` if that is not possible."""
        is_error_wanted = self._settings.on_large_result == "error"
        is_method = call.entry.kind == "methods"
        if is_error_wanted or is_method or call.id is None or "content" not in result:
            return None
        frame = {**result, "content": [], "structuredContent": 0}
        empty = messages.encode_response(call.id, frame, is_plain=True)
        smaller = self._cut_result(call.entry, result, limit.words, limit.room - len(empty))
        if smaller is None:
            return None
        message = messages.encode_response(call.id, smaller, is_plain=True)
        if len(message) > limit.room:  # the size of links is an estimate
            return None
        return message

    def _cut_result(
        self, entry: Entry, result: dict[str, Any], limit: str, room: int
    ) -> dict[str, Any] | None:
        """Return *result* with content of at most *room* bytes; `None` if that is too little."""
        note = f" A result of {entry.name[:60]} may take {limit}."
        unstructured = dict(result)
        structured = unstructured.pop("structuredContent", None)
        has_promise = "structuredContent" in result and "outputSchema" in entry.shown
        if not has_promise:
            return self._cut_content(entry, unstructured, room, note)
        member = b',"structuredContent":' + encode_plain(structured)
        smaller = self._cut_content(
            entry, result, room - len(member), _COMPLETE + note, is_explained=True
        )
        if smaller is not None:
            return smaller
        unstructured["isError"] = True
        return self._cut_content(entry, unstructured, room, _MISSING + note, is_explained=True)

    def _cut_content(
        self,
        entry: Entry,
        result: dict[str, Any],
        room: int,
        ending: str,
        *,
        is_explained: bool = False,
    ) -> dict[str, Any] | None:
        """Return *result* with content of at most *room* bytes, with a note about what is missing;
        if it *is_explained*, also about nothing. `None` if that is too little.
        """
        parts = [self._measure(block) for block in result["content"]]
        room = _choose_whole(parts, room - _NOTE_BYTES)
        others = sorted((part for part in parts if not part.is_whole), key=_get_size)
        if room < 0 or not self._can_keep(others):
            return None
        if not others and not is_explained:
            return result
        for part in others:
            # As the client would read it: pairs of surrogates are joined.
            part.block = decode(encode_plain(part.block))
            if self._kept is not None:
                part.links = self._kept.keep(entry.name, part.block, part.size)

        cut = _find_text_to_cut(others, room)
        if cut is None and not is_explained and not any(map(_is_sent, parts)):
            return None  # there were only pictures, for example
        return {**result, "content": self._write_content(parts, cut, room, ending)}

    def _write_content(
        self, parts: list[_Part], cut: _Part | None, room: int, ending: str
    ) -> list[Block]:
        """Return what is sent of *parts*, with a note: where the text ends that is *cut*, or as a
        block of its own.
        """
        head = ""
        if cut is not None:
            most = _measure_room(cut, room)
            if self._kept is not None:
                most = min(most, _PREVIEW_BYTES)
            head = cut_end(cut.block["text"], most)
        note = f"[{_describe_cut(parts, head)}{ending}]"
        content = []
        for part in parts:
            if part.is_whole:
                content.append(part.block)
            elif part is cut:
                content.append({**part.block, "text": f"{head}\n{note}"})
            content += part.links
        if cut is None:
            content.append({"type": "text", "text": note})
        return content

    def _measure(self, block: Block) -> _Part:
        size = len(encode_plain(block)) + 1
        cost = 0
        if self._kept is not None:
            cost = min(size, self._kept.estimate_links(block, size))
        return _Part(block, size, cost)

    def _can_keep(self, parts: list[_Part]) -> bool:
        return self._kept is None or self._kept.has_room(sum(map(_get_size, parts)))


def _get_size(part: _Part) -> int:
    return part.size


def _is_sent(part: _Part) -> bool:
    return part.is_whole or bool(part.links)


def _choose_whole(parts: list[_Part], room: int) -> int:
    """Choose as many *parts* as fit into *room*, the smallest first, to be sent whole; return the
    room that is left.
    """
    room -= sum(part.cost for part in parts)
    for part in sorted(parts, key=_get_size):
        more = part.size - part.cost
        if more <= room:
            part.is_whole = True
            room -= more
    return room


def _find_text_to_cut(others: list[_Part], room: int) -> _Part | None:
    """Return the first text of *others* whose beginning fits into *room* bytes."""
    for part in others:
        if part.block["type"] == "text" and _measure_room(part, room) >= 0:
            return part
    return None


def _measure_room(part: _Part, room: int) -> int:
    """Return how many of *room* bytes are left for a text, without the block around it."""
    return room - len(encode_plain({**part.block, "text": ""}))


def _describe_cut(parts: list[_Part], head: str) -> str:
    """Return what of *parts* is shown, *head* included, and how to get the others."""
    others = [part for part in parts if not part.is_whole]
    total, hidden = _count_characters(parts), _count_characters(others)
    kinds = [part.block["type"] for part in others if part.block["type"] != "text"]
    remarks = []
    if hidden:
        shown = total - hidden + len(head)
        remarks.append(f"{shown:,} of {total:,} characters of text shown")
    if kinds:
        names = ", ".join(sorted(set(kinds)))
        remarks.append(f"{len(kinds)} of {len(parts)} blocks left out ({names})")
    if not remarks:
        return "All text is shown."
    advice = "Ask for less, such as a part, a page or fewer fields."
    links = []
    for part in others:
        links += part.links
    if links:
        first_and_last = dict.fromkeys((links[0]["uri"], links[-1]["uri"]))
        advice = f"Read the rest with resources/read: {' to '.join(first_and_last)}."
    return f"Cut: {'; '.join(remarks)}. {advice}"


def _count_characters(parts: list[_Part]) -> int:
    return sum(len(part.block["text"]) for part in parts if part.block["type"] == "text")
