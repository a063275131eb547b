"""Tools as TypeScript declarations: `export declare function add(args: { a: number; b?: number }): Promise<number>;`.

Strategy. Types are written where they are needed, as TypeScript can; only what a schema defines under a name, and may
refer to itself, becomes an `interface` or `type` above the function that needs it first. What is said of tools and
their parameters stands in JSDoc comments. The text is a module that compiles whatever a server says.
"""

from __future__ import annotations

from typing import Any

from .name_mapping import RULES, Definitions, Names
from .tool_entry import Entry, as_json, described, schema_of, text
from .type_shapes import (
    MAX_DEPTH,
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

_SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_RULE = RULES["typescript"]
_INDENT = "  "
_LINE = 100


def from_entry(entry: Entry) -> str:
    """Return the declaration of one tool, the types it needs above it."""
    return from_entries([entry])


def from_entries(entries: list[Entry]) -> str:
    """Return the declarations of several tools. Their functions are called what `Names(names, "typescript")` says."""
    names = Names([text(entry.get("name")) for entry in entries], "typescript")
    types = Definitions(_RULE, names.ours)
    blocks: list[str] = []
    for entry in entries:
        function = _function(entry, names.theirs[text(entry.get("name"))], types)
        blocks += [*types.take(), function]
    return "\n\n".join(blocks)


def _function(entry: Entry, name: str, types: Definitions) -> str:
    asked, answer = Reader(schema_of(entry.get("inputSchema"))), Reader(schema_of(entry.get("outputSchema")))
    arguments, result = asked.arguments(), result_of(answer)
    given = ""
    if arguments.members or arguments.rest is not None:
        mark = "" if any(member.is_required for member in arguments.members) else "?"
        given = f"args{mark}: {_Writer(asked, types).members_of(arguments, '')}"
    returned = "unknown"
    if answer.root:
        returned = _Writer(answer, types).type_of(result.shape if result else answer.shape(answer.root))
    given_name, about_result = text(entry.get("name")), described(result.schema if result else answer.root)
    said = [
        text(entry.get("description")).strip(),
        f"Tool {as_json(given_name)}." if name != given_name else "",
        f"@returns {about_result}" if about_result else "",
    ]
    return _comment(said) + f"export declare function {name}({given}): Promise<{returned}>;"


class _Writer:
    """Writes the types of one root schema."""

    def __init__(self, reader: Reader, types: Definitions) -> None:
        self._reader = reader
        self._types = types

    def type_of(self, shape: Shape, indent: str = "") -> str:
        """The type for *shape*, in which further lines begin with *indent*."""
        match shape:
            case Anything():
                return "unknown"
            case Scalar(kind=kind):
                return _SCALARS[kind]
            case Values(values=values):
                return " | ".join(_literal(value) for value in values) or "never"
            case Array(items=items):
                return f"{self._part(items, indent)}[]"
            case Tuple(items=items, rest=rest):
                parts = [self.type_of(item, indent) for item in items]
                if rest is not None:
                    parts.append(f"...{self._part(rest, indent)}[]")
                return f"[{', '.join(parts)}]"
            case Record(values=values):
                written = self.type_of(values, indent)
                # A type may refer to itself from within an object, but not as an argument of Record.
                refers = any(True for _ in references(values))
                return f"{{ [key: string]: {written} }}" if refers else f"Record<string, {written}>"
            case Union(members=members):
                return " | ".join(dict.fromkeys(self.type_of(member, indent) for member in members))
            case Intersection(members=members):
                return " & ".join(dict.fromkeys(self._part(member, indent) for member in members))
            case Reference(pointer=pointer):
                return self._definition(pointer)
            case Object():
                return self.members_of(shape, indent)

    def _part(self, shape: Shape, indent: str) -> str:
        written = self.type_of(shape, indent)
        return f"({written})" if isinstance(shape, Union | Intersection | Values) else written

    def members_of(self, shape: Object, indent: str) -> str:
        """An object's members in braces: on a line if they fit and nothing is said about them."""
        inner = indent + _INDENT
        members = [(_said(member), self._member(member, inner)) for member in shape.members]
        if shape.rest is not None:
            members.append(("", "[key: string]: unknown"))
        line = f"{{ {'; '.join(member for _, member in members)} }}"
        if not any(said for said, _ in members) and len(line) <= _LINE and "\n" not in line:
            return line if members else "{}"
        return "\n".join(
            ["{", *(f"{_comment([said], inner)}{inner}{member};" for said, member in members), f"{indent}}}"]
        )

    def _member(self, member: Member, indent: str) -> str:
        name = member.name if _is_plain(member.name) else as_json(member.name)
        return f"{name}{'' if member.is_required else '?'}: {self.type_of(member.shape, indent)}"

    def _definition(self, pointer: str) -> str:
        meaning = self._reader.meaning(pointer)
        if known := self._types.known(meaning):
            return known
        name = self._types.name(meaning, pointer.rpartition("/")[2].strip("#") or "Arguments")
        shape = self._reader.definition(pointer)
        if isinstance(shape, Object):
            written = f"{_comment([shape.description])}export interface {name} {self.members_of(shape, '')}"
        else:
            written = f"export type {name} = {self.type_of(shape)};"
        self._types.add(written)
        return name


def _said(member: Member) -> str:
    """What is said about *member*, with its default; that what may be left out is null needs no saying."""
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


def _comment(said: list[str], indent: str = "") -> str:
    """A comment that says it, with a line for each part; nothing if there is nothing to say."""
    lines = [_harmless(line) for part in said if part for line in part.split("\n")]
    if len(lines) < 2:
        return "".join(f"{indent}/** {line} */\n" for line in lines)
    return "\n".join([f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */\n"])


def _harmless(line: str) -> str:
    """*line* without what would end the comment, or tell the compiler something (`@ts-expect-error`)."""
    printable = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line.strip())
    return printable.replace("*/", "*\\/").replace("@ts-", "@ ts-")
