"""Reads the tools of any server as the functions and types of a client, named as one language wants
it.

Strategy. `type_shapes` reads the schemas; this file adds what every client needs in addition: one
function for each tool, a type for its arguments, names by the convention of the language, and which
types contain themselves. Everything is sorted by the tools' own names, so that a server that lists
them in another order changes nothing. The work is linear in the size of the list, but for what
`type_shapes` limits itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ..circles import find_circles
from ..name_mapping import NameRule, Names, split_words
from ..shapes import (
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
from ..tool_entry import Entry, as_json, as_schema, describe, read_text
from ..type_names import LastingDefinitions
from ..type_shapes import ToolShapes
from .source_text import to_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# --- what a printer is given ----------------------------------------------------------------------


class Naming(msgspec.Struct, frozen=True, kw_only=True):
    """How a language writes names, and which shapes cannot stand within another without a name.

    A `NameRule` says which letters a name may have, which words are reserved (they get an
    underscore), and the convention (`camel`, `pascal`, `snake` of `name_mapping`, or `str` for
    none). *members* is for fields of objects, variants of unions and constants. No type gets a name
    of *taken_types*, which the language or the runtime has already.

    With *names_objects*, an object with members has a name wherever it is (Python, Go, Rust, Lua).
    With *names_unions* (Go, Rust), unions and lists of texts have one too. What remains within
    other shapes is then a scalar, an array, an object without members (a map), a reference,
    `ValuesShape([])` (nothing is allowed) or a `UnionShape` of exactly a shape and null. With
    *names_arguments*, the arguments of each tool are a type too (`Function.arguments_type`).
    """

    functions: NameRule
    types: NameRule
    members: NameRule
    taken_types: frozenset[str] = frozenset()
    names_objects: bool = False
    names_unions: bool = False
    names_arguments: bool = False
    text_types: dict[str, str] = {}
    shares_names: bool = False
    """Whether a type and a function cannot have the same name."""


class Field(msgspec.Struct, frozen=True):
    """A member of an object, or an argument. On the wire it is *wire_name*, in the language *name*.

    One that is not required may be absent, which is not null; *shape* allows null if null is
    allowed. *docs* are lines for a comment.
    """

    name: str
    wire_name: str
    shape: Shape
    is_required: bool
    docs: list[str]


class Variant(msgspec.Struct, frozen=True):
    """An alternative of a union, with a name that no other alternative has."""

    name: str
    shape: Shape


class Function(msgspec.Struct, frozen=True):
    """A tool, called *wire_name* in `tools/call` and *name* in the language. *docs* are lines for a
    comment.

    *arguments* may have members and, as `arguments.rest`, members of any other name.
    *arguments_type* is their type if the language names it and they have members. *result* is None
    if the tool has no output schema: then the result is its content blocks. With *is_wrapped*, the
    result is the member `result` of the structured content, else all of it.
    """

    wire_name: str
    name: str
    docs: list[str]
    arguments: ObjectShape
    arguments_type: str | None
    result: Shape | None
    is_wrapped: bool


class Plan(msgspec.Struct, frozen=True):
    """A client of one server, in one language.

    *head* are lines for a comment at the top of the file: what it is and the command that makes it
    again. *command* starts the server, for a default that callers can replace. *types* refer to
    each other in any order; one may be just another name of a scalar, a nullable or an array.
    *package* is the name of a package or module that the caller wants; empty for the usual one.
    With *has_runtime_file*, the runtime is a file next to this one, which is written too.
    """

    naming: Naming
    head: list[str]
    command: list[str]
    types: list[Definition]
    functions: list[Function]
    package: str = ""
    has_runtime_file: bool = False

    def plan_fields(self, shape: ObjectShape) -> list[Field]:
        """Return the members of an object with their names in the language, the required ones
        first.
        """
        wire_names = [member.name for member in shape.members]
        names = Names(wire_names, self.naming.members).theirs
        required: list[Field] = []
        optional: list[Field] = []
        for member in shape.members:
            name, docs = names[member.name], _collect_docs(member)
            field = Field(name, member.name, member.shape, member.is_required, docs)
            fields = required if member.is_required else optional
            fields.append(field)
        return [*required, *optional]

    def plan_variants(self, shape: UnionShape, name: str = "") -> list[Variant]:
        """Return the alternatives of a union, each with a name like `String`, `ItemList` or that of
        its type.

        In a union called *name* they do not repeat it: that of a `Shape` is `Circle` rather than
        `ShapeCircle`.
        """
        whole = split_words(name)
        made: dict[str, Shape] = {}
        for part in shape.parts:
            label = name = self.naming.members.find_nearest(_without(whole, _name_variant(part)))
            number = len(made)  # larger than that of any variant before
            while name in made:
                number += 1
                name = f"{label}{number}"
            made[name] = part
        return [Variant(*each) for each in made.items()]

    def find_circles(self) -> dict[str, frozenset[str]]:
        """Return for each type those that it may hold only by a pointer, since they contain it
        themselves.

        Arrays and maps are pointers already, so what is within them does not count.
        """
        contained = {each.name: frozenset(_iterate_types(each.shape)) for each in self.types}
        circle_of = find_circles(contained)
        found = {}
        for name, others in contained.items():
            circle = circle_of[name]
            found[name] = frozenset(other for other in others if circle_of.get(other) == circle)
        return found


_READINGS = 4
"""How often the tools are read at most, until no two types want one name."""

# --- reading --------------------------------------------------------------------------------------


def read(
    entries: Iterable[Entry],
    naming: Naming,
    *,
    head: Sequence[str] = (),
    command: Sequence[str] = (),
    package: str = "",
    has_runtime_file: bool = False,
) -> Plan:
    """Return the plan of a client for the *entries* of `tools/list`; *head*, *command*,
    *package* and *has_runtime_file* are those of `Plan`.

    Of entries with one name, the first counts; an entry without a name is left out.
    """
    tools: dict[str, Entry] = {}
    for entry in entries:
        if isinstance(entry, dict) and read_text(entry.get("name")):
            tools.setdefault(entry["name"], entry)
    called = Names(tools, naming.functions).theirs
    taken = naming.taken_types.union(called.values() if naming.shares_names else ())
    contested: set[str] = set()
    for _ in range(_READINGS):
        definitions = LastingDefinitions(
            naming.types,
            taken,
            of_objects=naming.names_objects,
            of_unions=naming.names_unions,
            text_types=naming.text_types,
            contested=contested,
        )
        made = [
            _plan_function(entry, called[name], naming, definitions)
            for name, entry in sorted(tools.items())
        ]
        if definitions.clashes <= contested:
            break
        contested |= definitions.clashes
    types = [_with_clean_text(each) for _, needed in made for each in needed]
    functions = [function for function, _ in made]
    lines = to_lines("\n".join(head))
    return Plan(naming, lines, list(command), types, functions, package, has_runtime_file)


def _with_clean_text(definition: Definition) -> Definition:
    description = "\n".join(to_lines(definition.description))
    return msgspec.structs.replace(definition, description=description)


def _plan_function(
    entry: Entry, name: str, naming: Naming, definitions: LastingDefinitions
) -> tuple[Function, list[Definition]]:
    tool = ToolShapes(entry, definitions)
    types = [*tool.argument_types, *tool.result_types]
    arguments_type = None
    if naming.names_arguments and tool.arguments.members:
        arguments_type = definitions.name_arguments(tool.name)
        types.append(
            Definition(
                arguments_type, tool.arguments, f"The arguments of the tool {as_json(tool.name)}."
            )
        )
    docs = to_lines(_collect_texts(entry, tool, name))
    return Function(
        tool.name, name, docs, tool.arguments, arguments_type, tool.result, tool.is_wrapped
    ), types


def _collect_texts(entry: Entry, tool: ToolShapes, name: str) -> str:
    hints = as_schema(entry.get("annotations"))
    title = read_text(entry.get("title")) or read_text(hints.get("title"))
    notes = [f"Tool {as_json(tool.name)}."] if tool.name != name else []
    if hints.get("readOnlyHint") is True:
        notes.append("The server says that it changes nothing.")
    elif hints.get("destructiveHint") is True:
        notes.append("The server says that it may destroy something.")
    returned = ""
    if tool.about_result:
        returned = f"Returns: {tool.about_result}"
    parts = (title if title != name else "", tool.description, returned, " ".join(notes))
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _collect_docs(member: ShapeMember) -> list[str]:
    default = member.schema.get("default")  # null only means that it is optional
    return to_lines(
        describe(member.schema, "" if default is None else f"default: {as_json(default)}")
    )


def _without(whole: list[str], label: str) -> str:
    """*label* without the words at its beginning that *whole* ends in, unless these are all."""
    parts = split_words(label)
    ends = (
        size
        for size in range(len(whole), 0, -1)
        if whole[-size:] == parts[:size] and len(parts) > size
    )
    if whole:
        return " ".join(parts[next(ends, 0) :])
    return label


def _name_variant(shape: Shape) -> str:
    match shape:
        case ScalarShape(kind="any"):
            return "value"
        case ScalarShape(kind=kind, text_type=text_type):
            return text_type or kind
        case ReferenceShape(name=name, label=label):
            return label or name
        case ArrayShape(rest=rest):
            if rest is not None:
                return f"{_name_variant(rest)} list"
            return "list"
        case UnionShape(parts=parts):
            return f"{_name_variant(parts[0])} or null"
        case ValuesShape():
            return "text"
        case ObjectShape():
            return "map"


# --- circles --------------------------------------------------------------------------------------


def _iterate_types(shape: Shape) -> Iterator[str]:
    """The types that a value of *shape* contains without an array or a map between."""
    match shape:
        case ReferenceShape(name=name):
            yield name
        case UnionShape(parts=parts):
            for part in parts:
                yield from _iterate_types(part)
        case ObjectShape(members=members):
            for member in members:
                yield from _iterate_types(member.shape)
        case ArrayShape(first=first):
            for item in first:
                yield from _iterate_types(item)
