"""Tools as TypeScript declarations: `export declare function add(args: { a: number; b?: number }): Promise<number>;`.

Strategy. Types are written where they are needed, as TypeScript can; only what a schema defines under a name, and may
refer to itself, becomes an `interface` or `type` above the function that needs it first. Descriptions of tools and
their parameters are JSDoc comments. The text is a module that compiles whatever a server says.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

from .tool_entry import Entry, as_json, described
from .type_shapes import (
    MAX_DEPTH,
    ArrayShape,
    CombinedShape,
    Member,
    ObjectShape,
    ReferenceShape,
    ScalarShape,
    SchemaReader,
    Shape,
    ToolShapes,
    TypeDefinitions,
    ValuesShape,
    references,
    written,
)

_SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_LINE = 100


def from_entry(entry: Entry) -> str:
    """Return the declaration of one tool, the types it needs above it."""
    return from_entries([entry])


def from_entries(entries: list[Entry]) -> str:
    """Return the declarations of several tools. Their functions are called what `Names(names, "typescript")` says."""
    return written(entries, "typescript", _function)


def _function(tool: ToolShapes, name: str, types: TypeDefinitions) -> str:
    arguments, given = tool.arguments, ""
    if arguments.members or arguments.rest is not None:
        mark = "" if any(member.is_required for member in arguments.members) else "?"
        given = f"args{mark}: {_TypeWriter(tool.input, types).members_of(arguments)}"
    returned = _TypeWriter(tool.output, types).type_of(tool.result) if tool.result else "unknown"
    said = [
        tool.description.strip(),
        f"Tool {as_json(tool.name)}." if name != tool.name else "",
        f"@returns {tool.about_result}" if tool.about_result else "",
    ]
    return _comment(*said) + f"export declare function {name}({given}): Promise<{returned}>;"


class _TypeWriter:
    """Writes the types of one root schema."""

    def __init__(self, reader: SchemaReader, types: TypeDefinitions) -> None:
        self._reader = reader
        self._types = types

    def type_of(self, shape: Shape) -> str:
        """The type for *shape*."""
        match shape:
            case ScalarShape(kind=kind):
                return _SCALARS.get(kind, "unknown")
            case ValuesShape(values=values):
                return " | ".join(_literal(value) for value in values) or "never"
            case ArrayShape(first=[], rest=rest) if rest is not None:
                return f"{self._part(rest)}[]"
            case ArrayShape(first=first, rest=rest):
                parts = [self.type_of(item) for item in first]
                if rest is not None:
                    parts.append(f"...{self._part(rest)}[]")
                return f"[{', '.join(parts)}]"
            case CombinedShape(parts=several, is_all=True):
                return " & ".join(dict.fromkeys(self._part(part) for part in several))
            case CombinedShape(parts=several):
                return " | ".join(dict.fromkeys(self.type_of(part) for part in several))
            case ReferenceShape(pointer=pointer):
                return self._types.defined(pointer, self._reader, self._definition)
            # A type may refer to itself from within an object, but not as an argument of Record.
            case ObjectShape(members=[], rest=rest) if rest is not None and not any(references(rest)):
                return f"Record<string, {self.type_of(rest)}>"
            case ObjectShape():
                return self.members_of(shape)

    def _part(self, shape: Shape) -> str:
        whole = self.type_of(shape)
        return f"({whole})" if isinstance(shape, CombinedShape | ValuesShape) else whole

    def members_of(self, shape: ObjectShape) -> str:
        """An object's members in braces: on a line if they fit and have no comments."""
        members = [(_comment(_said(member)), self._member(member)) for member in shape.members]
        if shape.rest is not None:
            members.append(("", f"[key: string]: {'unknown' if shape.members else self.type_of(shape.rest)}"))
        line = f"{{ {'; '.join(member for _, member in members)} }}"
        if not any(comment for comment, _ in members) and len(line) <= _LINE and "\n" not in line:
            return line if members else "{}"
        body = "".join(f"{comment}{member};\n" for comment, member in members)
        return f"{{\n{indent(body, '  ')}}}"

    def _member(self, member: Member) -> str:
        name = member.name if _is_plain(member.name) else as_json(member.name)
        return f"{name}{'' if member.is_required else '?'}: {self.type_of(member.shape)}"

    def _definition(self, name: str, shape: Shape) -> str:
        if isinstance(shape, ObjectShape):
            return f"{_comment(shape.description)}export interface {name} {self.members_of(shape)}"
        return f"export type {name} = {self.type_of(shape)};"


def _said(member: Member) -> str:
    """The description of *member*, with its default unless that is null, which only means that it is optional."""
    default = member.schema.get("default")
    return described(member.schema, "" if default is None else f"default: {as_json(default)}")


def _is_plain(name: str) -> bool:
    return name.isascii() and name.replace("$", "_").isidentifier()


def _literal(value: Any, depth: int = 0) -> str:
    """The type of one JSON value alone."""
    if depth > MAX_DEPTH:
        return "unknown"
    if isinstance(value, list):
        return f"[{', '.join(_literal(item, depth + 1) for item in value)}]"
    if isinstance(value, dict):
        members = (f"{as_json(name)}: {_literal(item, depth + 1)}" for name, item in value.items())
        return f"{{ {'; '.join(members)} }}" if value else "Record<string, never>"
    return as_json(value)


def _comment(*said: str) -> str:
    """A comment with a line for each part; an empty text if there are no parts."""
    lines = [_harmless(line) for part in said if part for line in part.split("\n")]
    if len(lines) < 2:
        return "".join(f"/** {line} */\n" for line in lines)
    return "\n".join(["/**", *(f" * {line}".rstrip() for line in lines), " */\n"])


def _harmless(line: str) -> str:
    """*line* without what would end the comment, or tell the compiler something (`@ts-expect-error`)."""
    printable = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line.strip())
    return printable.replace("*/", "*\\/").replace("@ts-", "@ ts-")
