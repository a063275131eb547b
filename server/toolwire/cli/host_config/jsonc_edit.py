"""Setting one member in a JSON file that people edit, with everything else in it as it was: comments, order, layout.

Strategy. The text is read once by a small parser that knows where each object and member stands; JSON with `//` and
`/* */` comments and trailing commas is read too. Then two or three places of the text are changed. The outcome is read
again and compared with what it should mean before anybody gets to see it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_PLAIN_SPACE = re.compile(r"[ \t\r\n]*")
_BLANKS = " \t\r\n"
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class NotJson(Exception):
    """A text is not JSON, or not what is wanted of it. The text says what, and in which line."""


class Node(msgspec.Struct, frozen=True):
    """A value in the text, from *start* to *end*. Of objects, the members by name and the start of each name."""

    start: int
    end: int
    value: Any
    members: dict[str, Node] | None = None
    keys: dict[str, int] = {}
    has_trailing_comma: bool = False


def parse(text: str, *, comments: bool = True) -> Node:
    """Return the value that *text* is, with where its parts stand.

    Raises:
        NotJson: if it is no JSON; comments and trailing commas are, with *comments*.
    """
    try:
        return _Parser(text, comments).document()
    except RecursionError:
        raise NotJson("it is nested too deeply") from None


def with_member(text: str, path: Sequence[str], value: Any, *, comments: bool = True) -> str:
    """Return *text* with *value* at *path*, a name in an object in an object; all else in it stays as it is.

    An empty text becomes an object. Of names that occur twice the last counts, as everywhere.

    Raises:
        NotJson: if *text* is no JSON, or there is something other than an object on the way to *path*.
    """
    if not text.strip():
        return json.dumps(_nested(path, value), indent=2, ensure_ascii=False) + "\n"
    root = parse(text, comments=comments)
    made = _changed(text, root, path, value)
    try:
        same = _value(made, comments) == _with(root.value, path, value)
    except (NotJson, RecursionError):
        same = False
    if not same:
        raise NotJson("it is laid out in a way that cannot be edited safely")
    return made


def _changed(text: str, root: Node, path: Sequence[str], value: Any) -> str:
    at = root
    for depth, name in enumerate(path):
        if at.members is None:
            what = " > ".join(path[:depth]) or "the whole"
            raise NotJson(f"line {_line(text, at.start)}: {what} is not an object")
        if name not in at.members:
            return _inserted(text, at, name, _nested(path[depth + 1 :], value))
        at = at.members[name]
    return text[: at.start] + _written(value, text, _indent_at(text, at.start)) + text[at.end :]


def _with(before: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    name, *rest = path
    return {**before, name: _with(before.get(name, {}), rest, value)}


def member(text: str, path: Sequence[str], *, comments: bool = True) -> Any:
    """Return what is at *path*, `None` if there is nothing.

    Raises:
        NotJson: if *text* is no JSON.
    """
    at = _value(text, comments) if text.strip() else None
    for name in path:
        at = at.get(name) if isinstance(at, dict) else None
    return at


def _value(text: str, comments: bool) -> Any:
    """What *text* says; plain JSON is read fifty times faster than by the parser here."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return parse(text, comments=comments).value


def _refuse(word: str) -> None:
    raise ValueError(word)


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _inserted(text: str, parent: Node, name: str, value: Any) -> str:
    """*text* with one more member, the last, in the object *parent*."""
    assert parent.members is not None
    base = _indent_at(text, parent.start)
    end = parent.end - 1  # where the brace is
    if not parent.members:
        indent = base + _unit(text)
        before = text[parent.start + 1 : end]
        line = f"{_newline(text)}{indent}{_member(name, value, text, indent)}{_newline(text)}{base}"
        return text[: parent.start + 1] + before.rstrip(_BLANKS) + line + text[end:]
    last = max(parent.members, key=parent.keys.__getitem__)
    indent = _indent_at(text, parent.keys[last])
    comma = parent.members[last].end
    # Behind the last member come spaces, comments, and a comma if people left one there.
    rest = text[comma:end].rstrip(_BLANKS)
    space = text[comma + len(rest) : end]
    if not parent.has_trailing_comma:
        rest = f",{rest}"
    if "\n" not in text[parent.start : end]:
        line = f" {json.dumps(name, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
    else:
        line = f"{_newline(text)}{indent}{_member(name, value, text, indent)}"
        space = space if "\n" in space else f"{_newline(text)}{base}"
    return text[:comma] + rest + line + space + text[end:]


def _member(name: str, value: Any, text: str, indent: str) -> str:
    return f"{json.dumps(name, ensure_ascii=False)}: {_written(value, text, indent)}"


def _written(value: Any, text: str, indent: str) -> str:
    """*value* as JSON in the layout of *text*, its further lines indented by *indent*."""
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (_newline(text) + indent).join(lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """By what the text indents: what its first indented line begins with."""
    found = re.search(r"^([ \t]+)[\"/]", text, re.MULTILINE)
    return found[1] if found else "  "


def _indent_at(text: str, place: int) -> str:
    """The spaces that the line of *place* begins with."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


class _Parser:
    def __init__(self, text: str, comments: bool) -> None:
        self.text = text
        self.at = 0
        self.comments = comments
        self.space = _SPACE if comments else _PLAIN_SPACE

    def document(self) -> Node:
        self.skip()
        node = self.node()
        self.skip()
        if self.at < len(self.text):
            raise self.fault("something follows its end")
        return node

    def skip(self) -> None:
        found = self.space.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def takes(self, letter: str) -> bool:
        if self.text.startswith(letter, self.at):
            self.at += 1
            return True
        return False

    def fault(self, what: str) -> NotJson:
        if not self.comments and self.text.startswith(("//", "/*"), self.at):
            what = "a comment, which is no JSON"
        return NotJson(f"line {_line(self.text, self.at)}: {what}")

    def node(self) -> Node:
        start = self.at
        if self.takes("{"):
            return self.in_braces(start)
        if self.takes("["):
            return self.in_brackets(start)
        if found := _STRING.match(self.text, start):
            self.at = found.end()
            return Node(start, self.at, self.string(found[0]))
        if found := _SCALAR.match(self.text, start):
            try:
                value = json.loads(found[0])
            except ValueError:  # more digits than Python takes
                raise self.fault("a number that is too long") from None
            self.at = found.end()
            return Node(start, self.at, value)
        raise self.fault("a value is missing" if start == len(self.text) else "no value can begin like this")

    def string(self, text: str) -> str:
        try:
            return str(json.loads(text))
        except ValueError:
            raise self.fault("a string with an unknown escape") from None

    def in_braces(self, start: int) -> Node:
        members: dict[str, Node] = {}
        keys: dict[str, int] = {}
        trailing = False
        self.skip()
        while not self.takes("}"):
            key = self.at
            found = _STRING.match(self.text, key)
            if not found:
                raise self.fault("a name in quotation marks is missing")
            self.at = found.end()
            name = self.string(found[0])
            self.skip()
            if not self.takes(":"):
                raise self.fault("a colon is missing")
            self.skip()
            members[name], keys[name] = self.node(), key
            trailing = self.separated("}")
        value = {name: node.value for name, node in members.items()}
        return Node(start, self.at, value, members, keys, trailing)

    def in_brackets(self, start: int) -> Node:
        values: list[Any] = []
        self.skip()
        while not self.takes("]"):
            values.append(self.node().value)
            self.separated("]")
        return Node(start, self.at, values)

    def separated(self, end: str) -> bool:
        """Go past a comma, if there is one, to the next member or the *end*; True if a comma is just before that."""
        self.skip()
        if not self.takes(","):
            if not self.text.startswith(end, self.at):
                raise self.fault("a comma is missing" if self.at < len(self.text) else f"a {end} is missing at its end")
            return False
        self.skip()
        if not self.text.startswith(end, self.at):
            return False
        if not self.comments:
            raise self.fault("a comma before the end, which is no JSON")
        return True
