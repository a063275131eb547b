"""Tools as a page of Markdown that people read: a table of parameters for each, members of objects indented below.

Strategy. What a server says is prose, and is shown as such, but it cannot leave its place: descriptions of tools are
quotations, in which headings, lists and fences end; in tables, line breaks and bars are written in another way; HTML is
shown as it is written. What a schema defines under a name has a table of its own, so circles cost nothing.
"""

from __future__ import annotations

import re

from .tool_entry import Entry, as_json, described, schema_of, text
from .type_shapes import (
    Anything,
    Array,
    Intersection,
    Member,
    Object,
    Reader,
    Record,
    Reference,
    Scalar,
    Shape,
    Tuple,
    Union,
    Values,
    references,
    result_of,
)

_HEAD = "| {} | type | required | default | description |\n| --- | --- | --- | --- | --- |"
_INDENT = "&emsp;"


def from_entry(entry: Entry) -> str:
    """Return the section about one tool."""
    asked, answer = Reader(schema_of(entry.get("inputSchema"))), Reader(schema_of(entry.get("outputSchema")))
    arguments = asked.arguments()
    parts = [f"## {_code(text(entry.get('name')))}", _quotation(text(entry.get("description")))]
    parts.append(_table("parameter", arguments) if arguments.members else "No parameters.")
    if arguments.rest is not None:
        parts.append(f"And more of any name: {_type(arguments.rest)}.")
    parts += _definitions(asked, arguments)
    if answer.root:
        parts += _returned(answer)
    return "\n\n".join(filter(None, parts))


def from_entries(entries: list[Entry], title: str = "Tools") -> str:
    """Return a page about several tools."""
    return "\n\n".join([f"# {_escaped(title)}", *map(from_entry, entries)])


def _returned(answer: Reader) -> list[str]:
    result, shape = result_of(answer), answer.shape(answer.root)
    if result is not None:
        said = _escaped(described(result.schema))
        return [f"Returns {_type(result.shape)}{said and f': {said}'}", *_definitions(answer, result.shape)]
    said = _escaped(described(answer.root))
    inside = _inside(shape)
    table = [_table("member", Object(inside, None))] if inside else []
    return [f"Returns {_type(shape)}{said and f': {said}'}", *table, *_definitions(answer, shape)]


def _definitions(reader: Reader, shape: Shape) -> list[str]:
    """What *shape* refers to, directly or by way of others, each once."""
    parts: list[str] = []
    ahead = list(references(shape))
    seen: set[str] = set()
    while ahead:
        if (pointer := ahead.pop(0)) in seen:
            continue
        seen.add(pointer)
        defined = reader.definition(pointer)
        ahead += references(defined)
        said = _escaped(defined.description) if isinstance(defined, Object) else ""
        parts.append(f"{_called(pointer)} ({_type(defined)}){said and f': {said}'}")
        if inside := _inside(defined):
            parts.append(_table("member", Object(inside, None)))
    return parts


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(what: str, shape: Object) -> str:
    return "\n".join([_HEAD.format(what), *_rows(shape.members, 0)])


def _rows(members: list[Member], depth: int) -> list[str]:
    rows: list[str] = []
    for member in members:
        cells = (
            _INDENT * depth + _code(member.name),
            _type(member.shape),
            "yes" if member.is_required else "no",
            _code(as_json(member.schema["default"])) if "default" in member.schema else "",
            _escaped(described(member.schema)),
        )
        rows += [f"| {' | '.join(cells)} |", *_rows(_inside(member.shape), depth + 1)]
    return rows


def _inside(shape: Shape) -> list[Member]:
    """The members of the objects that *shape* consists of, or contains."""
    match shape:
        case Object(members=members):
            return members
        case Array(items=inner) | Record(values=inner):
            return _inside(inner)
        case Union(members=parts) | Intersection(members=parts) | Tuple(items=parts):
            return [member for part in parts for member in _inside(part)]
    return []


def _type(shape: Shape) -> str:
    """*shape* in words."""
    match shape:
        case Anything():
            return "any value"
        case Scalar(kind=kind):
            return kind
        case Values(values=values):
            return " or ".join(_code(as_json(value)) for value in values) or "nothing"
        case Array(items=Anything()):
            return "array"
        case Array(items=items):
            return f"array of {_part(items)}"
        case Tuple(items=items, rest=rest):
            end = "" if rest is None else f", then any number of {_part(rest)}"
            return f"array of {', '.join(map(_part, items)) or 'nothing'}{end}"
        case Record(values=Anything()):
            return "object"
        case Record(values=values):
            return f"object of any names, each {_part(values)}"
        case Union(members=members):
            return " or ".join(dict.fromkeys(map(_type, members)))
        case Intersection(members=members):
            return " and ".join(dict.fromkeys(map(_part, members)))
        case Reference(pointer=pointer):
            return _called(pointer)
        case Object():
            return "object"


def _part(shape: Shape) -> str:
    is_several = isinstance(shape, Union | Intersection) or (isinstance(shape, Values) and len(shape.values) > 1)
    return f"({_type(shape)})" if is_several else _type(shape)


def _called(pointer: str) -> str:
    return _code(pointer.removeprefix("#/$defs/").removeprefix("#/definitions/"))


# --- what is safe to write --------------------------------------------------------------------------------------------

_ANY_MARKUP = re.compile(r"[!-/:-@\[-`{-~]")


def _code(words: str) -> str:
    """*words* as code, which is shown letter by letter."""
    words = "".join(letter if letter.isprintable() else as_json(letter)[1:-1] for letter in words)
    if words.strip() == words != "" and not set("|`") & set(words):
        return f"`{words}`"
    return f"<code>{_ANY_MARKUP.sub(lambda found: f'&#{ord(found[0])};', words)}</code>"


def _escaped(words: str) -> str:
    """*words* as prose in one line: in a table, or after other text."""
    return "<br>".join(map(_harmless, words.strip().splitlines()))


def _quotation(words: str) -> str:
    return "\n".join(f"> {_harmless(line)}".rstrip() for line in words.strip().splitlines())


def _harmless(line: str) -> str:
    """*line* with no HTML, images or bars in it; other markup is what its author meant."""
    line = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line.replace("\t", "    ")
    )
    line = re.sub(r"\\(?=[&<>|!])", "&#92;", line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return line.replace("|", "&#124;").replace("![", "!&#91;").rstrip()
