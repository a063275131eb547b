"""Markdown for pull requests, in which texts of others are code, and so neither markup nor
mentions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolwire_schemas.output import make_printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_CHARS = 65_000
"""GitHub refuses comments of more than 65,536 characters."""
_MAX_CODE = 300
_MAX_FENCE = 4000
_MAX_ROWS = 50
_NOTE_CHARS = 200
"""Space for the note that says what is left out."""
_PUNCTUATION = re.compile(r"[^\w\s]|_", re.ASCII)


def as_code(text: str) -> str:
    """Return *text* as code in one line, also within a table."""
    if not text:
        return ""
    words = text[: 10 * _MAX_CODE].split()
    text = make_printable(" ".join(words)) or " "
    if len(text) > _MAX_CODE:
        text = f"{text[: _MAX_CODE - 1]}…"
    if "|" in text:  # ends the cell of a table, even within backticks
        return as_html(text)
    mark = "`" * (_measure_backticks(text) + 1)
    if text.startswith("`") or text.endswith("`"):
        text = f" {text} "
    return f"{mark}{text}{mark}"


def _measure_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def as_html(text: str) -> str:
    """Return *text* as code where HTML is read, or Markdown, or both."""
    text = make_printable(" ".join(text[:_MAX_CODE].split()))
    return f"<code>{_PUNCTUATION.sub(lambda found: f'&#{ord(found[0])};', text)}</code>"


def fence(lines: Iterable[str]) -> str:
    """Return *lines* as a block of code, cut if they are long."""
    whole = "\n".join(line[:_MAX_FENCE] for line in lines)
    text = make_printable(whole[:_MAX_FENCE])
    more = len(whole) - _MAX_FENCE
    if more > 0:
        text += f"\n… {more:,} more characters"
    mark = "`" * max(3, _measure_backticks(text) + 1)
    return f"{mark}text\n{text}\n{mark}"


def write_table(head: Sequence[str], rows: Sequence[Sequence[str]], total: int = 0) -> list[str]:
    """Return a table of at most fifty *rows*, and the number of further ones of *total*; empty
    without rows.

    Each cell is a word of Toolwire's own, or `as_code`.
    """
    if not rows:
        return []
    shown = rows[:_MAX_ROWS]
    lines = [_format_row(head), "|---" * len(head) + "|", *map(_format_row, shown)]
    table = ["\n".join(lines)]
    left = max(total, len(rows)) - len(shown)
    if left:
        table.append(f"… {left:,} more rows")
    return table


def _format_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def fold_part(title: str, *parts: str) -> str:
    """Return *parts* that a click on *title* shows."""
    inner = "\n\n".join(parts)
    if not inner:
        return ""
    return f"<details><summary>{title}</summary>\n\n{inner}\n\n</details>"


def join_within_limit(parts: Iterable[str], more: int = 0) -> str:
    """Return *parts* as one text of at most `MAX_CHARS` characters, and the number of those that do
    not fit, with *more*.
    """
    found = list(filter(None, parts))
    text = ""
    before = ""
    for number, part in enumerate(found):
        if len(text) + len(part) > MAX_CHARS - _NOTE_CHARS:
            left = len(found) - number + more
            return f"{text}\n\n*{left:,} more parts are too long for a comment.*\n"
        if before.startswith("- ") and part.startswith("- "):
            text += "\n"  # items of one list
        elif before:
            text += "\n\n"
        text += part
        before = part
    return text + "\n"
