"""The result in a docstring: entries like `name (type): text`, and those in a list with bullets."""

from __future__ import annotations

import msgspec

from .docstring_types import hint_of, parts

_BULLETS = ("-", "*", "+", "•", "#")
_TYPES = frozenset(("str", "int", "float", "bool", "list", "dict", "tuple", "set", "bytes", "None"))


class Entry(msgspec.Struct, frozen=True):
    """One thing that is returned. *type* is as it is written, *text* may have several lines."""

    name: str | None = None
    type: str | None = None
    text: str = ""


def entries(section: str) -> list[Entry]:
    """The entries of Google's Returns section: each `name (type): text`, without indentation.

    `word: text` is a type if Python has one by that name, and else a name.
    """
    found: list[list[str]] = []
    for line in section.split("\n"):
        begins = not line[:1].isspace() and _unbulleted(line) is None and _cut(line) is not None
        if begins or not found:
            found.append([])
        found[-1].append(line)
    return [_entry(lines) for lines in found if any(lines)]


def _entry(lines: list[str]) -> Entry:
    word, type_, text = (_unbulleted(lines[0]) is None and _cut(lines[0])) or ("", "", lines[0])
    if not type_ and (word in _TYPES or not word.isidentifier()):
        word, type_ = "", word
    return Entry(word or None, type_ or None, "\n".join([text, *lines[1:]]).rstrip())


def bulleted(text: str) -> list[Entry]:
    """The entries in the list below the first line of *text*, nested ones among them: `- name (type): text`.

    Bullets may be missing. A line that begins no entry goes on with the one above.
    """
    first, *rest = text.split("\n")
    lines = [line for line in (rest if _unbulleted(first) is None else [first, *rest]) if line.strip()]
    has_bullets = any(_unbulleted(line) is not None for line in lines)
    found: list[str] = []
    for line in lines:
        item = _unbulleted(line)
        if item is not None or _begins(line, has_bullets):
            found.append(line.strip() if item is None else item)
        elif found:
            found[-1] += " " + line.strip()
    return [_member(item) for item in found]


def _begins(line: str, has_bullets: bool) -> bool:
    """True for an entry without a bullet; where there are bullets, `note: text` belongs to the one above."""
    word, type_, _ = _cut(line) or ("", "", "")
    return bool(word) and (not has_bullets or hint_of(type_) is not None)


def _member(item: str) -> Entry:
    word, type_, text = _cut(item) or _cut(item + ":") or ("", "", item)
    return Entry(word or None, type_ or None, text)


def _unbulleted(line: str) -> str | None:
    """The line without its bullet or number; None if it has none."""
    line = line.strip()
    number, _, item = line.partition(" ")
    if number[:-1].isdigit() and number[-1] in ".)":
        return item.strip()
    bullet, item = line[:1], line.lstrip("#") if line[:1] == "#" else line[1:]
    # -1 is a number, and ** begins what is bold.
    return item.strip() if bullet in _BULLETS and item and item[0] != bullet and not item[0].isdigit() else None


def _cut(line: str) -> tuple[str, str, str] | None:
    """The word, the type in parentheses and the text of `word (type): text`; None if *line* is no such thing."""
    head, *text = min((parts(line, colon, 1) for colon in ":："), key=lambda cut: len(cut[0]))
    word, parenthesis, type_ = head.partition("(")
    if not text or len(parts(word.strip(), " ")) > 1 or (parenthesis and not head.endswith(")")) or not head:
        return None
    return word.strip(" `*'\""), type_.removesuffix(")").strip(), text[0]
