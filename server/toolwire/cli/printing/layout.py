"""Lays out text for the terminal: tables, lists of tools, and counts."""

from __future__ import annotations

import unicodedata
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from toolwire_schemas.meta_tools import META_CONFIRM
from toolwire_schemas.output import BOLD, DIM, emphasize, make_printable
from toolwire_schemas.tool_table import summarize

if TYPE_CHECKING:
    from collections.abc import Sequence

_DEFAULT_COLUMNS = 100
"""The width of text that does not go to a terminal."""

_MIN_COLUMN = 24
"""A column of a table that has more is not made narrower than this."""

_MAX_UNBROKEN = 50
"""An argument of this length is not wrapped in a list of tools."""

_MAX_PARAMETERS_IN_A_LINE = 2

_INDENT_OF_ARGUMENTS = " " * 8
_INDENT_OF_TEXT = " " * 4

_UNBROKEN = "\N{NO-BREAK SPACE}"
"""A space at which lines are not wrapped."""


def find_width() -> int:
    """Return the columns of the terminal, or those of a page."""
    from shutil import get_terminal_size  # imports all that compresses

    return get_terminal_size((_DEFAULT_COLUMNS, 24)).columns


def format_count(number: int, what: str) -> str:
    """Return a count of *what*: `no tools`, `1 tool`, `2 tools`."""
    if number == 1:
        return f"1 {what}"
    return f"{number or 'no'} {what}s"


# --- lists of tools ---


def format_tools(tools: Sequence[dict[str, Any]], columns: int | None = None) -> str:
    """Return the tools, given as their entries in `tools/list`: arguments and result of each, and
    what it does.
    """
    columns = columns or find_width()
    lines = []
    for tool in tools:
        lines += _format_tool(tool, columns)
    return "\n".join(lines)


def _format_tool(tool: dict[str, Any], columns: int) -> list[str]:
    name = make_printable(str(tool["name"]))
    size = columns - len(_INDENT_OF_ARGUMENTS)
    lines = []
    for row in _split_signature(tool):
        lines += _wrap(_hold_together(row, size), size)
    first, *others = [line.replace(_UNBROKEN, " ") for line in lines]
    lines = [first.replace(name, emphasize(BOLD, name), 1)]
    for line in others:
        lines.append(_INDENT_OF_ARGUMENTS + line)
    for text in (summarize(tool), _describe_question(tool)):
        if not text:
            continue
        for line in _wrap(make_printable(text), columns - len(_INDENT_OF_TEXT)):
            lines.append(_INDENT_OF_TEXT + line)
    return lines


def _split_signature(tool: dict[str, Any]) -> list[list[str]]:
    """Return the parts of each line of a signature: all in one, or from three parameters on one
    parameter in each.
    """
    name, *parts = _list_parts(tool)
    is_result = parts[-1].startswith("-> ")
    parameters = parts[:-1] if is_result else parts
    if len(parameters) <= _MAX_PARAMETERS_IN_A_LINE:
        return [[name + parts[0], *parts[1:]]]
    first = parameters[0].removeprefix("(")
    rows = [[name + "("], [first]]
    for parameter in parameters[1:]:
        rows.append([parameter])
    if is_result:
        rows[-1].append(parts[-1])
    return rows


def _list_parts(tool: dict[str, Any]) -> list[str]:
    """Return the name, each parameter, and the result if it has a type."""
    from toolwire_dialects.python_stub import format_signature

    return [make_printable(str(tool["name"])), *map(make_printable, format_signature(tool))]


def format_signature(tool: dict[str, Any]) -> str:
    """Return the name, the parameters and the result of a tool in one line of any length."""
    name, *parts = _list_parts(tool)
    return name + " ".join(parts)


def _hold_together(parts: Sequence[str], columns: int) -> str:
    """Join *parts*; those that fit into a line are not wrapped."""
    texts = []
    for part in parts:
        if len(part) < min(_MAX_UNBROKEN, columns):
            part = part.replace(" ", _UNBROKEN)
        texts.append(part)
    return " ".join(texts)


def _describe_question(tool: dict[str, Any]) -> str:
    """Return what the list says of the question that *tool* asks before each call; "" without
    one.
    """
    meta = tool.get("_meta")
    question = meta.get(META_CONFIRM) if isinstance(meta, dict) else None
    if not question:
        return ""
    if not isinstance(question, str):
        return "asks first"
    return f"asks first: {' '.join(question.split())}"


# --- tables ---


def format_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], columns: int | None = None
) -> str:
    """Return *rows* below *head*, wrapped to *columns* (by default the terminal's) as far as
    possible.
    """
    safe_rows = [list(map(make_printable, row)) for row in rows]
    widths = _choose_widths([head, *safe_rows], columns or find_width())
    lines = [emphasize(DIM, _join_cells(head, widths))]
    for row in safe_rows:
        wrapped_cells = map(_wrap, row, widths)
        for cells in zip_longest(*wrapped_cells, fillvalue=""):
            first = emphasize(BOLD, _pad(cells[0], widths[0]))
            others = _join_cells(cells[1:], widths[1:])
            lines.append(f"{first}  {others}".rstrip())
    return "\n".join(lines)


def _join_cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(map(_pad, cells, widths)).rstrip()


def _choose_widths(rows: Sequence[Sequence[str]], columns: int) -> list[int]:
    """Return how wide each column is: as its content needs, and where that is too much the last
    ones give way.
    """
    widths = [max(map(_count_columns, cells)) for cells in zip(*rows, strict=True)]
    gaps = 2 * (len(widths) - 1)
    for number in reversed(range(1, len(widths))):
        surplus = sum(widths) + gaps - columns
        if surplus > 0:
            least = min(widths[number], _MIN_COLUMN)
            widths[number] = max(widths[number] - surplus, least)
    return widths


def _wrap(text: str, columns: int) -> list[str]:
    # `textwrap` counts letters, and some are two columns wide.
    columns_of_a_letter = max(1, _count_columns(text) // max(1, len(text)))
    letters = max(1, columns // columns_of_a_letter)
    return wrap(text, letters, break_on_hyphens=False) or [""]


def _pad(text: str, columns: int) -> str:
    return text + " " * (columns - _count_columns(text))


def _count_columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(map(_measure_letter, text))


def _measure_letter(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 1


def cut(text: str, columns: int) -> str:
    """Return *text* with at most *columns*, its end replaced by "…"."""
    while _count_columns(text) > columns:
        text = text[:-2] + "…"
    return text
