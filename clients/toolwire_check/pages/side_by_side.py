"""The texts and schemas of changed tools, old and new next to each other.

Strategy. A schema is compared as the lines of its JSON, laid out with sorted keys, so that members
in another order are no difference. Lines that are equal and far from a change are left out.
"""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from toolwire_client.pages.markup import Child, Html, cut, element, fold, join_html

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Entry = dict[str, Any]

_PARTS = {
    "title": "Title",
    "description": "Description",
    "inputSchema": "Arguments",
    "outputSchema": "Result",
    "annotations": "Hints",
}
_MAX_LINES = 1000
"""Of one text: the comparison takes time by the square of their number."""
_MAX_TOOLS = 200
_MAX_CHARS = 2000
_WORDS = re.compile(r"\w+|\s+|.")
_CONTEXT = 3
"""Equal lines that are shown before and after a change."""


class Row(NamedTuple):
    """A line of the old text and that of the new one; `None` where one has no such line."""

    old: str | None
    new: str | None

    @property
    def is_equal(self) -> bool:
        """Whether nothing changed in this line."""
        return self.old == self.new


def compare_side_by_side(old: Sequence[Any], new: Sequence[Any]) -> Html:
    """Return, for each tool in both lists that changed, its old and new texts and schemas."""
    before = _index_by_name(old)
    blocks: list[Html] = []
    for name, entry in _index_by_name(new).items():
        parts = _write_changed_parts(before.get(name, entry), entry)
        if parts:
            blocks.append(fold(element("code", name), *parts, open_=not blocks, class_="tool"))
    shown = blocks[:_MAX_TOOLS]
    if len(blocks) > len(shown):
        left_out = f"… {len(blocks) - len(shown):,} more tools"
        shown.append(element("p", left_out, class_="cut"))
    return join_html(*shown)


def _index_by_name(entries: Sequence[Any]) -> dict[str, Entry]:
    return {entry["name"]: entry for entry in entries}


def _write_changed_parts(old: Entry, new: Entry) -> list[Html]:
    parts = []
    for member, heading in _PARTS.items():
        before, after = _split_lines(old.get(member)), _split_lines(new.get(member))
        if before != after:
            parts.append(_write_comparison(heading, align(before, after)))
    return parts


def _split_lines(value: Any) -> list[str]:
    """Return the lines of a text, or of the JSON of another value; none of what is absent."""
    if value is None:
        return []
    text = str(value)
    if not isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    lines = text.split("\n")
    if len(lines) <= _MAX_LINES:
        return lines
    return [*lines[:_MAX_LINES], f"… {len(lines) - _MAX_LINES:,} more lines"]


def align(old: list[str], new: list[str]) -> list[Row]:
    """Return the lines of both texts, with equal ones in one row."""
    rows = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for _, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        before, after = old[old_start:old_end], new[new_start:new_end]
        for number in range(max(len(before), len(after))):
            rows.append(Row(_get_line(before, number), _get_line(after, number)))
    return rows


def _get_line(lines: list[str], number: int) -> str | None:
    if number < len(lines):
        return lines[number]
    return None


def _write_comparison(heading: str, rows: list[Row]) -> Html:
    body = []
    for row in keep_near_changes(rows):
        before = element("td", _mark_differences(row.old, row.new, "del"))
        after = element("td", _mark_differences(row.new, row.old, "ins"))
        body.append(element("tr", before, after))
    columns = [element("th", name, scope="col") for name in ("old", "new")]
    compared = element(
        "table",
        element("caption", heading),
        element("thead", element("tr", columns)),
        element("tbody", body),
        class_="compared",
    )
    return join_html(element("h4", heading), compared)


def keep_near_changes(rows: list[Row]) -> Iterator[Row]:
    """Yield the changed rows and a few before and after each; one row says how many are left
    out.
    """
    shown: set[int] = set()
    for number, row in enumerate(rows):
        if not row.is_equal:
            shown.update(range(number - _CONTEXT, number + _CONTEXT + 1))
    left_out = 0
    for number, row in enumerate(rows):
        if number not in shown:
            left_out += 1
            continue
        if left_out:
            yield _equal_lines(left_out)
        left_out = 0
        yield row
    if left_out:
        yield _equal_lines(left_out)


def _equal_lines(number: int) -> Row:
    text = f"… {number:,} equal line{'' if number == 1 else 's'}"
    return Row(text, text)


def _mark_differences(line: str | None, other: str | None, tag: str) -> Html:
    """Return *line* as code, with the words that *other* lacks in elements *tag*."""
    if line is None:
        return Html("")
    if other is None:
        return element("code", element(tag, cut(line, _MAX_CHARS)))
    if line == other or max(len(line), len(other)) > _MAX_CHARS:
        return element("code", cut(line, _MAX_CHARS))
    words, others = _WORDS.findall(line), _WORDS.findall(other)
    pieces: list[Child] = []
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    for kind, start, end, _, _ in matcher.get_opcodes():
        piece = "".join(words[start:end])
        if kind == "equal":
            pieces.append(piece)
        elif piece:
            pieces.append(element(tag, piece))
    return element("code", pieces)
