"""Sets one member in a JSON file that people edit, with comments and trailing commas (see
`edits.py`).

Strategy. Blanks in place of comments and trailing commas leave JSON of the same length. `json`
reads that, member by member, and so finds their places. A new member is the first of its object.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from .edits import edit_safely, find_newline, replace_range, set_value
from .safe_write import NotRewritten

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder()


def loads(text: str) -> Any:
    """Return the value of the JSON *text*, which may have comments and trailing commas.

    Raises:
        NotRewritten: if it is not JSON; the message names the line.
    """
    try:
        return json.loads(_blank_comments(text), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise NotRewritten(f"line {error.lineno}: {error.msg.lower()}") from None
    except RecursionError:
        raise NotRewritten("it is nested too deeply") from None
    except ValueError:  # Python limits the digits of a number
        raise NotRewritten("a number in it is too long") from None


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return *text* with *value* at *path*, a name in an object in an object.

    An empty text becomes an object. If a name occurs twice, the last one counts, as in `json`.

    Raises:
        NotRewritten: if *text* is not JSON, or a value on the way to *path* is not an object.
    """
    if not text.strip():
        text = "{}\n"
    return edit_safely(text, path, value, loads=loads, edit=_edit)


def dumps(path: Sequence[str], value: dict[str, Any]) -> str:
    """Return an object that has only *value* at *path*."""
    return json.dumps(set_value({}, path, value), indent=2, ensure_ascii=False)


def _blank_comments(text: str) -> str:
    from toolwire_client.host_config import without_commas, without_comments

    return without_commas(without_comments(text))


def _refuse(word: str) -> None:
    raise NotRewritten(f"{word} is not JSON")


class _Span(NamedTuple):
    """Where a value starts and ends."""

    start: int
    end: int


class _Object(NamedTuple):
    """An object in the text: the places of its braces, and of the values in it."""

    start: int
    end: int
    values: dict[str, _Span]


def _edit(text: str, path: Sequence[str], value: Any) -> str:
    plain = _blank_comments(text)
    span = _Span(_skip_blanks(plain, 0), len(plain))
    for depth, name in enumerate(path):
        if plain[span.start] != "{":
            line = text.count("\n", 0, span.start) + 1
            what = " > ".join(path[:depth]) or "the whole"
            raise NotRewritten(f"line {line}: {what} is not an object")
        holder = _find_members(plain, span.start)
        if name not in holder.values:
            return _insert(text, holder, name, set_value({}, path[depth + 1 :], value))
        span = holder.values[name]
    made = _format(value, text, _find_indent(text, span.start))
    return replace_range(text, span.start, span.end, made)


def _find_members(plain: str, start: int) -> _Object:
    """Return the object whose brace is at *start*."""
    values = {}
    place = _skip_blanks(plain, start + 1)
    while plain[place] != "}":
        name, end_of_name = _DECODER.raw_decode(plain, place)
        colon = _skip_blanks(plain, end_of_name)
        start_of_value = _skip_blanks(plain, colon + 1)
        _, end_of_value = _DECODER.raw_decode(plain, start_of_value)
        values[name] = _Span(start_of_value, end_of_value)
        place = _skip_blanks(plain, end_of_value)
        if plain[place] == ",":
            place = _skip_blanks(plain, place + 1)
    return _Object(start, place, values)


def _skip_blanks(text: str, place: int) -> int:
    while text[place] in _BLANKS:
        place += 1
    return place


def _insert(text: str, holder: _Object, name: str, value: Any) -> str:
    """Return *text* with one more member of *holder*, before the others."""
    start = holder.start + 1
    others = text[start : holder.end]
    key = json.dumps(name, ensure_ascii=False)
    if holder.values and "\n" not in others:
        in_one_line = json.dumps(value, ensure_ascii=False)
        inside = f"{key}: {in_one_line}, {others.lstrip(_BLANKS)}"
        return replace_range(text, start, holder.end, inside)
    newline = find_newline(text)
    outer_indent = _find_indent(text, holder.start)
    indent = outer_indent + _find_unit(text)
    member = f"{newline}{indent}{key}: {_format(value, text, indent)}"
    if holder.values:
        member += ","
    elif not others.strip():  # otherwise it has comments, which stay
        others = newline + outer_indent
    return replace_range(text, start, holder.end, member + others)


def _format(value: Any, text: str, indent: str) -> str:
    """Return *value* as JSON in the layout of *text*, its further lines indented by *indent*."""
    lines = json.dumps(value, indent=_find_unit(text), ensure_ascii=False).split("\n")
    return (find_newline(text) + indent).join(lines)


def _find_unit(text: str) -> str:
    """Return the indentation of the first indented line."""
    found = re.search(r"^([ \t]+)[\"/]", text, re.MULTILINE)
    return found[1] if found else "  "


def _find_indent(text: str, place: int) -> str:
    """Return the spaces at the start of the line of *place*."""
    start = text.rfind("\n", 0, place) + 1
    line = text[start:place]
    return line[: len(line) - len(line.lstrip(" \t"))]
