"""Lists of records as tables.

Strategy. The table has the first rows, as a report or a notebook shows it. Its place in the result
is an attribute: a page with a script replaces it by a table of all rows, to sort and to search.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire.codec import encode

from .markup import Child, Html, element, format_count, join_html, table
from .tree import write_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_ROWS = 100
_MAX_COLUMNS = 30
_MAX_TABLES = 5  # in one object
_MAX_CELL_CHARS = 100

Path = tuple[str | int, ...]
"""The members and indexes that lead from a result to a value in it."""


def show_data(value: Any, path: Path, name: str = "") -> Html:
    """Return a JSON value as a tree, with its lists of records as tables."""
    if is_records(value):
        return _show_records(value, path, name)
    if not isinstance(value, dict):
        return write_tree(value, name)
    lists = [member for member, item in value.items() if is_records(item)][:_MAX_TABLES]
    if not lists:
        return write_tree(value, name)
    tables = [_show_records(value[member], (*path, member), member) for member in lists]
    rest = {member: item for member, item in value.items() if member not in lists}
    if rest:
        return join_html(write_tree(rest, name), tables)
    return join_html(tables)


def is_records(value: Any) -> bool:
    """Return whether *value* is a list of two objects or more, with members for a table."""
    if not isinstance(value, list) or len(value) < 2:
        return False
    if not all(isinstance(record, dict) for record in value):
        return False
    return 0 < len(_find_columns(value)) <= _MAX_COLUMNS


def _find_columns(records: Sequence[dict[str, Any]]) -> list[str]:
    """Return the members of all *records*; of many columns only the first."""
    columns: dict[str, None] = {}
    for record in records:
        columns.update(dict.fromkeys(record))
        if len(columns) > _MAX_COLUMNS:
            break
    return list(columns)


def _show_records(records: Sequence[dict[str, Any]], path: Path, name: str) -> Html:
    columns = _find_columns(records)
    rows = [[_write_cell(record, column) for column in columns] for record in records[:_MAX_ROWS]]
    more = len(records) - _MAX_ROWS
    caption = name or "records"
    parts: list[Child] = [table(columns, rows, caption=caption)]
    if more > 0:
        parts.append(element("p", f"… {format_count(more, 'more row')}", class_="cut"))
    return element("div", parts, class_="records wide", tabindex=0, data_at=json.dumps(path))


def _write_cell(record: dict[str, Any], column: str) -> str:
    if column not in record:
        return ""
    value = record[column]
    text = value
    if not isinstance(value, str):
        text = encode(value).decode()
    if len(text) > _MAX_CELL_CHARS:
        return f"{text[:_MAX_CELL_CHARS]}…"
    return str(text)
