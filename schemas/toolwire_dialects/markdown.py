"""Tools as a page of Markdown that people read: a table of parameters for each, members of objects
indented below.

Strategy. The texts of a server are shown as prose, but cannot leave their place: descriptions of
tools are quotations, in which headings, lists and fences end; in tables, line breaks and bars are
written in another way; HTML is shown as it is written. Each named definition of a schema has a
table of its own, so circles cost nothing.
"""

from __future__ import annotations

import re

from .shapes import (
    ANYTHING,
    ArrayShape,
    Definition,
    ObjectShape,
    ReferenceShape,
    ScalarShape,
    Shape,
    ShapeMember,
    UnionShape,
    ValuesShape,
)
from .tool_entry import Entry, as_json, describe, make_printable
from .type_names import Definitions
from .type_shapes import ToolShapes

_HEAD = "| {} | type | required | default | description |\n| --- | --- | --- | --- | --- |"
_INDENT = "&emsp;"


def from_entry(entry: Entry) -> str:
    """Return the section about one tool."""
    tool = ToolShapes(entry, Definitions())
    parts = [f"## {_quote_code(tool.name)}", _write_quotation(tool.description)]
    parts.append(_write_table("parameter", tool.arguments.members) or "No parameters.")
    if tool.arguments.rest is not None:
        parts.append(f"And more of any name: {_write_type(tool.arguments.rest)}.")
    parts += map(_write_definition, tool.argument_types)
    if tool.result:
        parts.append(_with_description(f"Returns {_write_type(tool.result)}", tool.about_result))
        parts.append(
            "" if tool.is_wrapped else _write_table("member", _list_members_inside(tool.result))
        )
        parts += map(_write_definition, tool.result_types)
    return "\n\n".join(filter(None, parts))


def from_entries(entries: list[Entry]) -> str:
    """Return a page about several tools."""
    return "\n\n".join(["# Tools", *map(from_entry, entries)])


def _write_definition(definition: Definition) -> str:
    words = f"{_quote_code(definition.name)} ({_write_type(definition.shape)})"
    parts = (
        _with_description(words, definition.description),
        _write_table("member", _list_members_inside(definition.shape)),
    )
    return "\n\n".join(filter(None, parts))


def _with_description(words: str, description: str) -> str:
    said = _escape(description)
    if said:
        return f"{words}: {said}"
    return words


def _write_table(what: str, members: list[ShapeMember]) -> str:
    if not members:
        return ""
    return "\n".join([_HEAD.format(what), *_write_rows(members, 0)])


def _write_rows(members: list[ShapeMember], depth: int) -> list[str]:
    rows: list[str] = []
    for member in members:
        cells = (
            _INDENT * depth + _quote_code(member.name),
            _write_type(member.shape),
            "yes" if member.is_required else "no",
            _quote_code(as_json(member.schema["default"])) if "default" in member.schema else "",
            _escape(describe(member.schema)),
        )
        rows += [
            f"| {' | '.join(cells)} |",
            *_write_rows(_list_members_inside(member.shape), depth + 1),
        ]
    return rows


def _list_members_inside(shape: Shape | None) -> list[ShapeMember]:
    """The members of the objects that *shape* consists of, or contains."""
    match shape:
        case ObjectShape(members=[], rest=rest):
            return _list_members_inside(rest)
        case ObjectShape(members=members):
            return members
        case ArrayShape(first=parts, rest=rest):
            return [member for part in (*parts, rest) for member in _list_members_inside(part)]
        case UnionShape(parts=parts):
            return [member for part in parts for member in _list_members_inside(part)]
    return []


def _write_type(shape: Shape) -> str:
    """*shape* in words."""
    match shape:
        case ScalarShape() if shape == ANYTHING:
            return "any value"
        case ScalarShape(kind=kind):
            return kind
        case ValuesShape(values=values):
            return " or ".join(_quote_code(as_json(value)) for value in values) or "nothing"
        case ArrayShape():
            return _write_array(shape)
        case ObjectShape(members=[], rest=rest) if rest is not None and rest != ANYTHING:
            return f"object of any names, each {_write_part(rest)}"
        case ObjectShape():
            return "object"
        case UnionShape(parts=parts):
            return " or ".join(dict.fromkeys(map(_write_type, parts)))
        case ReferenceShape(name=name):
            return _quote_code(name)


def _write_array(shape: ArrayShape) -> str:
    rest = shape.rest
    if rest is None or shape.first:
        first = ", ".join(map(_write_part, shape.first)) or "nothing"
        end = ""
        if rest is not None:
            end = f", then any number of {_write_part(rest)}"
        return f"array of {first}{end}"
    if rest == ANYTHING:
        return "array"
    return f"array of {_write_part(rest)}"


def _write_part(shape: Shape) -> str:
    is_several = isinstance(shape, UnionShape) or (
        isinstance(shape, ValuesShape) and len(shape.values) > 1
    )
    if is_several:
        return f"({_write_type(shape)})"
    return _write_type(shape)


_ANY_MARKUP = re.compile(r"[!-/:-@\[-`{-~]")


def _quote_code(words: str) -> str:
    """Return *words* as code, which is shown letter by letter."""
    shown = ""
    for letter in words:
        shown += letter if letter.isprintable() else as_json(letter).strip('"')
    has_margin = shown != shown.strip()  # which Markdown would remove between backticks
    if shown and not has_margin and "|" not in shown and "`" not in shown:
        return f"`{shown}`"
    return f"<code>{_ANY_MARKUP.sub(_escape_letter, shown)}</code>"


def _escape_letter(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def _escape(words: str) -> str:
    """*words* as prose in one line: in a table, or after other text."""
    return "<br>".join(map(_disarm, words.strip().splitlines()))


def _write_quotation(words: str) -> str:
    return "\n".join(f"> {_disarm(line)}".rstrip() for line in words.strip().splitlines())


def _disarm(line: str) -> str:
    """*line* with no HTML, images or bars in it; other markup is what its author meant."""
    line = make_printable(line.replace("\t", "    "))
    line = re.sub(
        r"\\(?=[&<>|!])",
        "&#92;",
        line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
    )
    return line.replace("|", "&#124;").replace("![", "!&#91;").rstrip()
