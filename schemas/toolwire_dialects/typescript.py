"""Tools as TypeScript declarations: `export declare function add(args: { a: number; b?: number }):
Promise<number>;`.

Strategy. Types are written where they are needed, as TypeScript can; only what a schema defines
under a name, and may refer to itself, becomes an `interface` or `type` above the function that
needs it first. Descriptions of tools and their parameters are JSDoc comments. The text is a module
that compiles whatever a server says.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

from toolwire_schemas.json_schema.graph import MAX_DEPTH

from .shapes import (
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
from .type_shapes import ToolShapes, write_functions

_SCALARS = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
_LINE = 100


def from_entry(entry: Entry) -> str:
    """Return the declaration of one tool, the types it needs above it."""
    return from_entries([entry])


def from_entries(entries: list[Entry]) -> str:
    """Return the declarations of several tools. Their functions are called what
    `Names(names, "typescript")` says.
    """
    return write_functions(entries, "typescript", _write_function, write_definition)


def _write_function(tool: ToolShapes, name: str) -> str:
    given = ""
    if tool.arguments.members or tool.arguments.rest is not None:
        mark = "?"
        if any(member.is_required for member in tool.arguments.members):
            mark = ""
        given = f"args{mark}: {write_members(tool.arguments)}"
    said = [
        tool.description.strip(),
        f"Tool {as_json(tool.name)}." if name != tool.name else "",
        f"@returns {tool.about_result}" if tool.about_result else "",
    ]
    returned = "unknown"
    if tool.result:
        returned = write_type(tool.result)
    return comment(*said) + f"export declare function {name}({given}): Promise<{returned}>;"


def write_definition(definition: Definition) -> str:
    """Return the declaration of a named type, with a comment about it."""
    about, shape = comment(definition.description), definition.shape
    if isinstance(shape, ObjectShape):
        return f"{about}export interface {definition.name} {write_members(shape)}"
    return f"{about}export type {definition.name} = {write_type(shape)};"


def write_type(shape: Shape) -> str:
    """Return *shape* as a type, without a newline at its end."""
    match shape:
        case ScalarShape(kind=kind):
            return _SCALARS.get(kind, "unknown")
        case ValuesShape(values=values):
            return " | ".join(_write_literal(value) for value in values) or "never"
        case ArrayShape(first=[], rest=rest) if rest is not None:
            return f"{_write_part(rest)}[]"
        case ArrayShape(first=first, rest=rest):
            members = list(map(write_type, first))
            if rest is not None:
                members.append(f"...{_write_part(rest)}[]")
            return f"[{', '.join(members)}]"
        case UnionShape(parts=parts):
            return " | ".join(dict.fromkeys(map(write_type, parts)))
        case ReferenceShape(name=name):
            return name
        # A type may refer to itself from within an object, but not as an argument of Record.
        case ObjectShape(members=[], rest=ScalarShape() as rest):
            return f"Record<string, {write_type(rest)}>"
        case ObjectShape():
            return write_members(shape)


def _write_part(shape: Shape) -> str:
    if isinstance(shape, UnionShape | ValuesShape):
        return f"({write_type(shape)})"
    return write_type(shape)


def write_members(shape: ObjectShape) -> str:
    """Return an object's members in braces: on a line if they fit and have no comments."""
    members = [_write_member(member) for member in shape.members]
    if shape.rest is not None:
        # It would have to allow the types of the other members.
        others = "unknown" if shape.members else write_type(shape.rest)
        members.append(("", f"[key: string]: {others}"))
    if not members:
        return "{}"
    has_comments = any(about for about, _ in members)
    line = "; ".join(member for _, member in members)
    if not has_comments and len(line) <= _LINE - len("{  }") and "\n" not in line:
        return f"{{ {line} }}"
    body = "".join(f"{about}{member};\n" for about, member in members)
    return f"{{\n{indent(body, '  ')}}}"


def _write_member(member: ShapeMember) -> tuple[str, str]:
    """The comment about a *member*, and its declaration."""
    default = member.schema.get("default")  # null only means that it is optional
    about = comment(
        describe(member.schema, "" if default is None else f"default: {as_json(default)}")
    )
    return (
        about,
        f"{write_key(member.name)}{'' if member.is_required else '?'}: {write_type(member.shape)}",
    )


def write_key(name: str) -> str:
    """Return *name* as that of a member."""
    if name == "__proto__":
        return '["__proto__"]'  # any other form would set the prototype in a literal
    is_plain = name.isascii() and name.replace("$", "_").isidentifier()
    if is_plain:
        return name
    return as_json(name)


def _write_literal(value: Any, depth: int = 0) -> str:
    """The type of one JSON value alone."""
    if depth > MAX_DEPTH:
        return "unknown"
    if isinstance(value, list):
        return f"[{', '.join(_write_literal(item, depth + 1) for item in value)}]"
    if isinstance(value, dict):
        members = (
            f"{as_json(name)}: {_write_literal(item, depth + 1)}" for name, item in value.items()
        )
        if value:
            return f"{{ {'; '.join(members)} }}"
        return "Record<string, never>"
    return as_json(value)


def comment(*said: str) -> str:
    """Return a comment with a line for each line of the parts; an empty text if there are no
    parts.
    """
    text = "\n".join(filter(None, said))
    if not text:
        return ""
    lines = []
    for line in text.split("\n"):
        safe = make_printable(line.strip())
        # Nothing may end the comment, or be an instruction to the compiler (`@ts-expect-error`).
        lines.append(safe.replace("*/", "*\\/").replace("@ts-", "@ ts-"))
    if len(lines) == 1:
        return f"/** {lines[0]} */\n"
    rows = [f" * {line}".rstrip() for line in lines]
    return "\n".join(["/**", *rows, " */\n"])
