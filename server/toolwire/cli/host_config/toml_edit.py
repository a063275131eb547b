"""Sets one table in a TOML file that people edit; comments, order and layout of everything else stay.

Strategy. A table is the lines from its header to the next one. Those of the old table are replaced; a new table is the
last of the file. The result is read again and compared with the intended value before the caller gets it.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from .jsonc_edit import UNSAFE, newline, with_value
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


def with_member(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    """Return *text* with the table *value* at *path*.

    Raises:
        NotRewritten: if *text* is not TOML, or has that table in another form, such as an inline one.
    """
    expected = with_value(loads(text), path, value)
    kept, place = _without(text.splitlines(keepends=True), list(path))
    end = newline(text)
    table = dumps(path, value).replace("\n", end) + end
    head, tail = "".join(kept[:place]), "" if place is None else "".join(kept[place:])
    if head and not head.endswith("\n"):
        head += end
    if head and place is None and not head.endswith(end * 2):
        head += end
    made = head + table + tail
    try:
        if tomllib.loads(made) == expected:
            return made
    except tomllib.TOMLDecodeError:
        pass
    raise NotRewritten(UNSAFE)


def dumps(path: Sequence[str], value: dict[str, Any]) -> str:
    """Return *value* as the table at *path*, a line for each member."""
    lines = [f"[{'.'.join(map(_key, path))}]", *(f"{_key(name)} = {_inline(item)}" for name, item in value.items())]
    return "\n".join(lines)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(name)} = {_inline(item)}' for name, item in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)  # strings, lists of them, numbers and booleans look the same in TOML


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _without(lines: list[str], path: list[str]) -> tuple[list[str], int | None]:
    """*lines* without the table at *path* and those in it, and where it was."""
    kept: list[str] = []
    place = None
    is_removed = False
    trailing: list[str] = []  # comments before the next header belong to that
    for line in lines:
        header = _header(line)
        if header is not None:
            kept += trailing
            is_removed = header[: len(path)] == path
            place = len(kept) if is_removed and place is None else place
            trailing = []
        if not is_removed:
            kept.append(line)
        elif not line.strip() or line.lstrip().startswith("#"):
            trailing.append(line)
        else:
            trailing = []
    kept += trailing
    return kept, place


def _header(line: str) -> list[str] | None:
    """The path in a line that starts a table."""
    if not line.lstrip().startswith("["):
        return None
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None  # a line of an array
    path = []
    while value:
        value = value[0] if isinstance(value, list) else value
        if not value:
            break
        (name, value), *_ = value.items()
        path.append(name)
    return path
