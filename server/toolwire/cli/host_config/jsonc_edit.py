"""Sets one member in a JSON file that people edit; comments, order and layout of everything else stay.

Strategy. Blanks in place of comments and trailing commas leave JSON of the same length. `json` reads that, member by
member, and so finds their places. Then two or three places of the text are changed. The result is read again and
compared with the intended value before the caller gets it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder()


class NotJson(Exception):
    """A text is not JSON, or has no object where one is needed. The message names the line."""


def loads(text: str, *, comments: bool = True) -> Any:
    """Return the value of the JSON *text*; with *comments*, comments and trailing commas are allowed.

    Raises:
        NotJson: if it is not JSON.
    """
    plain = _plain(text)
    if not comments and plain != text:
        at = next(at for at, letter in enumerate(plain) if letter != text[at])
        what = "a comma before the end" if text[at] == "," else "a comment"
        raise NotJson(f"line {_line(text, at)}: {what}, which is no JSON")
    try:
        return json.loads(plain, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno}: {error.msg.lower()}") from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    except ValueError:  # Python limits the digits of a number
        raise NotJson("a number in it is too long") from None


def _plain(text: str) -> str:
    from toolwire_client.host_config import without_commas

    return without_commas(_without_comments(text))


def _without_comments(text: str) -> str:
    from toolwire_client.host_config import without_comments

    return without_comments(text)


def _refuse(word: str) -> None:
    raise NotJson(f"{word} is no JSON")


def member(text: str, path: Sequence[str], *, comments: bool = True) -> Any:
    """Return the value at *path*, `None` if it is missing.

    Raises:
        NotJson: if *text* is not JSON.
    """
    value = loads(text, comments=comments) if text.strip() else None
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def with_member(text: str, path: Sequence[str], value: Any, *, comments: bool = True) -> str:
    """Return *text* with *value* at *path*, a name in an object in an object; everything else stays.

    An empty text becomes an object. If a name occurs twice, the last one counts, as in `json`.

    Raises:
        NotJson: if *text* is not JSON, or a value on the way to *path* is not an object.
    """
    if not text.strip():
        return json.dumps(_nested(path, value), indent=2, ensure_ascii=False) + "\n"
    before = loads(text, comments=comments)
    made = _changed(text, path, value)
    try:
        is_meant = loads(made, comments=comments) == _with(before, path, value)
    except NotJson:
        is_meant = False
    if not is_meant:
        raise NotJson("it is laid out in a way that cannot be edited safely")
    return made


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _with(before: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    name, *rest = path
    return {**before, name: _with(before.get(name, {}), rest, value)}


class _Member(msgspec.Struct, frozen=True):
    """The places of a member: where its name starts, and its value from *start* to *end*."""

    name: int
    start: int
    end: int


def _members(plain: str, start: int) -> tuple[dict[str, _Member], int]:
    """Return the members of the object at *start*, in order, and the place of its closing brace."""
    found: dict[str, _Member] = {}
    at = _after_space(plain, start + 1)
    while plain[at] != "}":
        place = at
        name, at = _DECODER.raw_decode(plain, at)
        begin = _after_space(plain, _after_space(plain, at) + 1)  # past the colon
        _, end = _DECODER.raw_decode(plain, begin)
        found.pop(name, None)
        found[name] = _Member(place, begin, end)
        at = _after_space(plain, end)
        if plain[at] == ",":
            at = _after_space(plain, at + 1)
    return found, at


def _after_space(text: str, place: int) -> int:
    while text[place] in _BLANKS:
        place += 1
    return place


def _changed(text: str, path: Sequence[str], value: Any) -> str:
    plain = _plain(text)
    start, end = _after_space(plain, 0), len(plain)
    for depth, name in enumerate(path):
        if plain[start] != "{":
            what = " > ".join(path[:depth]) or "the whole"
            raise NotJson(f"line {_line(text, start)}: {what} is not an object")
        members, brace = _members(plain, start)
        if name not in members:
            last = list(members.values())[-1] if members else None
            return _inserted(text, start, brace, last, name, _nested(path[depth + 1 :], value))
        start, end = members[name].start, members[name].end
    return text[:start] + _written(value, text, _indent_at(text, start)) + text[end:]


def _inserted(text: str, start: int, brace: int, last: _Member | None, name: str, value: Any) -> str:
    """*text* with one more member in the object from *start* to *brace*, after the *last* one."""
    base, newline = _indent_at(text, start), "\r\n" if "\r\n" in text else "\n"
    indent = base + _unit(text) if last is None else _indent_at(text, last.name)
    key = json.dumps(name, ensure_ascii=False)
    line = f"{newline}{indent}{key}: {_written(value, text, indent)}"
    if last is None:
        return text[:brace].rstrip(_BLANKS) + f"{line}{newline}{base}" + text[brace:]
    # The last member may be followed by spaces, comments and a trailing comma.
    rest = text[last.end : brace].rstrip(_BLANKS)
    space = text[last.end + len(rest) : brace]
    if "," not in _without_comments(text)[last.end : brace]:
        rest = f",{rest}"
    if "\n" not in text[start:brace]:
        line = f" {key}: {json.dumps(value, ensure_ascii=False)}"
    elif "\n" not in space:
        space = f"{newline}{base}"
    return text[: last.end] + rest + line + space + text[brace:]


def _written(value: Any, text: str, indent: str) -> str:
    """*value* as JSON in the layout of *text*, its further lines indented by *indent*."""
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (("\r\n" if "\r\n" in text else "\n") + indent).join(lines)


def _unit(text: str) -> str:
    """The indentation of the first indented line."""
    found = re.search(r"^([ \t]+)[\"/]", text, re.MULTILINE)
    return found[1] if found else "  "


def _indent_at(text: str, place: int) -> str:
    """The spaces at the start of the line of *place*."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
