"""Sets one member in a JSON file that people edit; comments, order and layout of everything else
stay.

Strategy. Blanks in place of comments and trailing commas leave JSON of the same length. `json`
reads that, member by member, and so finds their places. Then one place of the text is changed: a
new member is the first of its object. The result is read again and compared with the intended value
before the caller gets it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from .safe_write import NotRewritten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder()


class NotJson(NotRewritten):
    """A text is not JSON, or has no object where one is needed. The message names the line."""


def loads(text: str) -> Any:
    """Return the value of the JSON *text*, which may have comments and trailing commas.

    Raises:
        NotJson: if it is not JSON.
    """
    try:
        return json.loads(_plain(text), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno}: {error.msg.lower()}") from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    except ValueError:  # Python limits the digits of a number
        raise NotJson("a number in it is too long") from None


def _plain(text: str) -> str:
    from toolwire_client.host_config import without_commas, without_comments

    return without_commas(without_comments(text))


def _refuse(word: str) -> None:
    raise NotJson(f"{word} is not JSON")


def member(text: str, path: Sequence[str], read: Callable[[str], Any] = loads) -> Any:
    """Return the value at *path*, `None` if it is missing; *read* parses another format.

    Raises:
        NotRewritten: if *text* is not of the format.
    """
    value = read(text) if text.strip() else None
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return *text* with *value* at *path*, a name in an object in an object; everything else
    stays.

    An empty text becomes an object. If a name occurs twice, the last one counts, as in `json`.

    Raises:
        NotJson: if *text* is not JSON, or a value on the way to *path* is not an object.
    """
    return verified(text if text.strip() else "{}\n", path, value, loads, _changed)


def verified(
    text: str,
    path: Sequence[str],
    value: Any,
    read: Callable[[str], Any],
    change: Callable[..., str],
) -> str:
    """Return what *change* makes of *text*, the same value but for *value* at *path*.

    Raises:
        NotRewritten: if *text* is not of the format that *read* parses, or *change* made something
            else.
    """
    before, made = read(text), change(text, path, value)
    expected = with_value(before, path, value)
    try:
        if read(made) == expected:
            return made
    except NotRewritten:
        pass
    raise NotJson("it is laid out in a way that cannot be edited safely")


def with_value(before: Any, path: Sequence[str], value: Any) -> Any:
    """Return the objects *before* with *value* at *path*; a missing or null object on the way is
    made.

    Raises:
        NotRewritten: if something on the way is not an object.
    """
    if not path:
        return value
    name, *rest = path
    if not isinstance(before, dict):
        raise NotRewritten(f"there is no place for {name}")
    return {**before, name: with_value(before.get(name) or {}, rest, value)}


def _changed(text: str, path: Sequence[str], value: Any) -> str:
    plain = _plain(text)
    start, end = _after_space(plain, 0), len(plain)
    for depth, name in enumerate(path):
        if plain[start] != "{":
            line, what = text.count("\n", 0, start) + 1, " > ".join(path[:depth]) or "the whole"
            raise NotJson(f"line {line}: {what} is not an object")
        members, brace = _members(plain, start)
        if name not in members:
            return _inserted(
                text,
                start,
                brace,
                name,
                with_value({}, path[depth + 1 :], value),
                is_first=not members,
            )
        start, end = members[name]
    return text[:start] + _write(value, text, _indent_at(text, start)) + text[end:]


def _members(plain: str, start: int) -> tuple[dict[str, tuple[int, int]], int]:
    """Return where the values in the object at *start* begin and end, by name, and the place of its
    closing brace.
    """
    found: dict[str, tuple[int, int]] = {}
    at = _after_space(plain, start + 1)
    while plain[at] != "}":
        name, at = _DECODER.raw_decode(plain, at)
        begin = _after_space(plain, _after_space(plain, at) + 1)  # past the colon
        _, end = _DECODER.raw_decode(plain, begin)
        found[name] = begin, end
        at = _after_space(plain, end)
        if plain[at] == ",":
            at = _after_space(plain, at + 1)
    return found, at


def _after_space(text: str, place: int) -> int:
    while text[place] in _BLANKS:
        place += 1
    return place


def _inserted(text: str, start: int, brace: int, name: str, value: Any, *, is_first: bool) -> str:
    """*text* with one more member in the object from *start* to *brace*."""
    base, key, rest = (
        _indent_at(text, start),
        json.dumps(name, ensure_ascii=False),
        text[start + 1 :],
    )
    if not is_first and "\n" not in text[start:brace]:
        return (
            f"{text[: start + 1]}{key}: {json.dumps(value, ensure_ascii=False)},"
            f" {rest.lstrip(_BLANKS)}"
        )
    indent = base + _unit(text)
    if is_first and not text[start + 1 : brace].strip():
        rest = newline(text) + base + text[brace:]
    comma = "" if is_first else ","
    return (
        f"{text[: start + 1]}{newline(text)}{indent}{key}:"
        f" {_write(value, text, indent)}{comma}{rest}"
    )


def _write(value: Any, text: str, indent: str) -> str:
    """*value* as JSON in the layout of *text*, its further lines indented by *indent*."""
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (newline(text) + indent).join(lines)


def newline(text: str) -> str:
    """Return the line end of *text*."""
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """The indentation of the first indented line."""
    found = re.search(r"^([ \t]+)[\"/]", text, re.MULTILINE)
    return found[1] if found else "  "


def _indent_at(text: str, place: int) -> str:
    """The spaces at the start of the line of *place*."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]
