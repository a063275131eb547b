"""Sets one table in a TOML file that people edit; comments, order and layout of everything else
stay.

Strategy. A table is the lines from its header to the next one. Those of the old table are replaced;
a new table is the last of the file. The result is read again and compared with the intended value
before the caller gets it.
"""

from __future__ import annotations

import json
import re
import tomllib
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from .jsonc_edit import newline, verified
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
        NotRewritten: if *text* is not TOML, or has that table in another form, such as an inline
            one.
    """
    return verified(text, path, value, loads, _changed)


def dumps(path: Sequence[str], value: dict[str, Any]) -> str:
    """Return *value* as the table at *path*, a line for each member."""
    lines = [
        f"[{'.'.join(map(_key, path))}]",
        *(f"{_key(name)} = {_inline(item)}" for name, item in value.items()),
    ]
    return "\n".join(lines)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return (
            f"{{ {', '.join(f'{_key(name)} = {_inline(item)}' for name, item in value.items())} }}"
        )
    return json.dumps(
        value, ensure_ascii=False
    )  # strings, lists of them, numbers and booleans look the same in TOML


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _changed(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    end, place = newline(text), None
    made = dumps(path, value).replace("\n", end) + end
    kept: list[str] = []
    for header, lines in _tables(text):
        if header[: len(path)] != [*path]:
            kept += lines
            continue
        place = len(kept) if place is None else place
        comments = [
            *takewhile(
                lambda line: not line.strip() or line.lstrip().startswith("#"), reversed(lines)
            )
        ]
        kept += reversed(comments)  # they belong to the next table
    if place is None:
        gap = "" if not text or text.endswith(end * 2) else end if text.endswith("\n") else end * 2
        return text + gap + made
    return "".join([*kept[:place], made, *kept[place:]])


def _tables(text: str) -> list[tuple[list[str], list[str]]]:
    """The path and the lines of each table."""
    found: list[tuple[list[str], list[str]]] = [([], [])]
    for line in text.splitlines(keepends=True):
        if (header := _header(line)) is not None:
            found.append((header, []))
        found[-1][1].append(line)
    return found


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
