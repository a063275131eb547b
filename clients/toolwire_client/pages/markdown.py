"""Markdown for pull requests, in which texts of others are code, and so neither markup nor
mentions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolwire_schemas.output import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_CHARS = 65_000
"""GitHub refuses comments of more than 65,536 characters."""
_MAX_CODE = 300
_MAX_FENCE = 4000
_MAX_ROWS = 50
_PUNCTUATION = re.compile(r"[^\w\s]|_", re.ASCII)


def as_code(text: str, most: int = _MAX_CODE) -> str:
    """Return *text* as code in one line, also within a table."""
    if not text:
        return ""
    text = printable(" ".join(text[: 10 * most].split())) or " "
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    if "|" in text:  # ends the cell of a table, even within backticks
        return as_html(text)
    mark = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if "`" in (text[:1], text[-1:]) else ""
    return f"{mark}{space}{text}{space}{mark}"


def as_html(text: str) -> str:
    """Return *text* as code where HTML is read, or Markdown, or both."""
    text = printable(" ".join(text[:_MAX_CODE].split()))
    return f"<code>{_PUNCTUATION.sub(lambda found: f'&#{ord(found[0])};', text)}</code>"


def fence(lines: Iterable[str]) -> str:
    """Return *lines* as a block of code, cut if they are long."""
    whole = "\n".join(line[:_MAX_FENCE] for line in lines)
    text = printable(whole[:_MAX_FENCE])
    text += f"\n… {len(whole) - _MAX_FENCE:,} more characters" if len(whole) > _MAX_FENCE else ""
    mark = "`" * max(3, *(len(run) + 1 for run in ["", *re.findall("`+", text)]))
    return f"{mark}text\n{text}\n{mark}"


def table_of(head: Sequence[str], rows: Sequence[Sequence[str]], total: int = 0) -> list[str]:
    """Return a table of at most fifty *rows*, and the number of further ones of *total*; empty
    without rows.

    Each cell is a word of Toolwire's own, or `as_code`.
    """
    lines = [f"| {' | '.join(row)} |" for row in rows[:_MAX_ROWS]]
    left = max(total, len(rows)) - len(lines)
    more = [f"… {left:,} more rows"] if left else []
    shown = [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines]
    return ["\n".join(shown), *more] if lines else []


def fold_part(title: str, *parts: str) -> str:
    """Return *parts* that a click on *title* shows."""
    inner = "\n\n".join(parts)
    return f"<details><summary>{title}</summary>\n\n{inner}\n\n</details>" if inner else ""


def join_within_limit(parts: Iterable[str], more: int = 0, most: int = MAX_CHARS) -> str:
    """Return *parts* as one text of at most *most* characters, and the number of those that do not
    fit, with *more*.
    """
    found, text = list(filter(None, parts)), ""
    for number, part in enumerate(found):
        if len(text) + len(part) > most - 200:
            return (
                f"{text}\n\n*{len(found) - number + more:,} more parts are too long for a"
                " comment.*\n"
            )
        is_item = part.startswith("- ") and number > 0 and found[number - 1].startswith("- ")
        text += ("\n" if is_item else "\n\n" if number else "") + part
    return text + "\n"
