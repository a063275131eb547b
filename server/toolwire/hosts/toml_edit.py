"""Sets one table in a TOML file that people edit (see `edits.py`).

Strategy. A table is the lines from its header to the next one. Those of the old table are replaced;
a new table is the last of the file.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from .edits import edit_safely, find_newline
from .safe_write import NotRewritten

if TYPE_CHECKING:
    from collections.abc import Sequence


def loads(text: str) -> Any:
    """Return the value of the TOML *text*.

    Raises:
        NotRewritten: if it is not TOML.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotRewritten(f"it is not TOML: {error}") from None


def set_member(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    """Return *text* with the table *value* at *path*.

    Raises:
        NotRewritten: if *text* is not TOML, or has that table in another form, such as an inline
            one.
    """
    return edit_safely(text, path, value, loads=loads, edit=_edit)


def dumps(path: Sequence[str], value: dict[str, Any]) -> str:
    """Return *value* as the table at *path*, a line for each member."""
    header = ".".join(map(_format_key, path))
    lines = [f"[{header}]"]
    lines += [_format_member(name, item) for name, item in value.items()]
    return "\n".join(lines)


def _format_member(name: str, value: Any) -> str:
    return f"{_format_key(name)} = {_format_value(value)}"


def _format_value(value: Any) -> str:
    if isinstance(value, dict):
        members = [_format_member(name, item) for name, item in value.items()]
        return f"{{ {', '.join(members)} }}"
    # Strings, lists of them, numbers and booleans look the same in JSON and TOML.
    return json.dumps(value, ensure_ascii=False)


def _format_key(name: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return name
    return json.dumps(name, ensure_ascii=False)


class _Table(NamedTuple):
    """A table of the file: its *path*, and its lines, the header included."""

    path: list[str]
    lines: list[str]


def _edit(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    newline = find_newline(text)
    made = dumps(path, value).replace("\n", newline) + newline
    kept: list[str] = []
    place = None
    for table in _split_tables(text):
        if table.path[: len(path)] != list(path):
            kept += table.lines
            continue
        if place is None:
            place = len(kept)
        kept += _find_last_comments(table.lines)  # they belong to the next table
    if place is None:
        return text + _find_gap(text, newline) + made
    return "".join([*kept[:place], made, *kept[place:]])


def _split_tables(text: str) -> list[_Table]:
    """Return the tables of *text*; the first one is the root, which has no header."""
    tables = [_Table([], [])]
    for line in text.splitlines(keepends=True):
        path = _read_header(line)
        if path is not None:
            tables.append(_Table(path, []))
        tables[-1].lines.append(line)
    return tables


def _read_header(line: str) -> list[str] | None:
    """Return the path in a line that starts a table; `None` for another line."""
    if not line.lstrip().startswith("["):
        return None
    try:
        table: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None  # a line of an array
    path = []
    while table:
        name, inner = next(iter(table.items()))
        path.append(name)
        is_list_of_tables = isinstance(inner, list)
        table = inner[0] if is_list_of_tables else inner
    return path


def _find_last_comments(lines: Sequence[str]) -> Sequence[str]:
    """Return the comments and empty lines at the end of *lines*."""
    start = len(lines)
    while start and lines[start - 1].lstrip()[:1] in ("", "#"):
        start -= 1
    return lines[start:]


def _find_gap(text: str, newline: str) -> str:
    """Return what is missing for an empty line at the end of *text*."""
    if not text or text.endswith(newline * 2):
        return ""
    if text.endswith("\n"):
        return newline
    return newline * 2
