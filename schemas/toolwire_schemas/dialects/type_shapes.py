"""Reads a JSON Schema as a type: one of the few shapes that typed languages and tables for people have.

Strategy. Each schema is read on its own, without following references, so circular ones cost nothing: a
`ReferenceShape` has the pointer, and the writer of a language gives it a name. Conditions that are not types (`if`,
`not`, limits) are left out: a shape allows everything that its schema allows, and maybe more. `ToolShapes` reads the
entry of a tool, `written` puts the declarations of several tools together.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from ..json_schema.linear_regex import Budget, TooExpensive
from ..json_schema.subschemas import target, walk
from .name_mapping import RULES, Names
from .tool_entry import Entry, Schema, described, properties, required, schema_of, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class ScalarShape(msgspec.Struct, frozen=True):
    """A value of one of JSON's plain kinds (string, integer, number, boolean or null), or of `any` kind."""

    kind: str


class ValuesShape(msgspec.Struct, frozen=True):
    """One of these JSON values; an empty list allows no value."""

    values: list[Any]


class ArrayShape(msgspec.Struct, frozen=True):
    """A list that begins with the items *first*. *rest* is the shape of the others; None if no others are allowed."""

    first: list[Shape]
    rest: Shape | None


class Member(msgspec.Struct, frozen=True):
    """A member of an object, with the schema that describes it."""

    name: str
    shape: Shape
    is_required: bool
    schema: Schema


class ObjectShape(msgspec.Struct, frozen=True):
    """An object with known members. *rest* is the shape of members of other names, where the schema mentions them."""

    members: list[Member]
    rest: Shape | None
    title: str = ""
    description: str = ""


class CombinedShape(msgspec.Struct, frozen=True):
    """One of two or more shapes, or all of them at once."""

    parts: list[Shape]
    is_all: bool


class ReferenceShape(msgspec.Struct, frozen=True):
    """The shape that is defined elsewhere in the root schema, such as at `#/$defs/Node`."""

    pointer: str


Shape = ScalarShape | ValuesShape | ArrayShape | ObjectShape | CombinedShape | ReferenceShape

MAX_DEPTH = 50
"""How many levels of a schema are looked at, and worth showing: Python and other readers give up at some hundreds."""

ANYTHING = ScalarShape("any")
NOTHING = ValuesShape([])
_SCALARS = ("string", "integer", "number", "boolean", "null")


class SchemaReader:
    """Reads the schemas within one root schema."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self._depth = 0
        self._budget = Budget()

    def arguments(self) -> ObjectShape:
        """The root itself, always as an object; the members of its parts are put together."""
        shape = self._followed(self.shape(self.root))
        if isinstance(shape, CombinedShape):
            shape = self.together(shape) or shape
        return shape if isinstance(shape, ObjectShape) and shape.members else self._object(self.root)

    def together(self, shape: CombinedShape) -> ObjectShape | None:
        """One object with the members of all parts of *shape*, if these are objects.

        A member is required if one part of an intersection, or all of a union, require it.
        """
        parts = [self._followed(part) for part in shape.parts]
        objects = [part for part in parts if isinstance(part, ObjectShape)]
        members = {member.name: member for part in objects for member in part.members}
        if len(objects) < len(parts) or not members:
            return None
        wanted = [{member.name for member in part.members if member.is_required} for part in objects]
        needed = set.union(*wanted) if shape.is_all else set.intersection(*wanted)
        return ObjectShape(
            [msgspec.structs.replace(member, is_required=name in needed) for name, member in members.items()], None
        )

    def shape(self, schema: Any, defining: str | None = None) -> Shape:
        """Return the shape of *schema*.

        *defining* is the pointer of the definition that this is the whole of: types cannot be their own definition.
        """
        if schema is False:
            return NOTHING
        if self._depth > MAX_DEPTH:
            return ANYTHING
        self._depth += 1
        made = self._shape(schema_of(schema), defining)
        self._depth -= 1
        return made

    def _shape(self, schema: Schema, defining: str | None) -> Shape:
        parts = [self._plain(schema)]
        if "$ref" in schema:
            parts.append(self._reference(text(schema["$ref"]), defining))
        for word in ("anyOf", "oneOf"):
            if isinstance(schema.get(word), list):
                parts.append(_one_of([self.shape(member, defining) for member in schema[word]]))
        if isinstance(schema.get("allOf"), list):
            parts += [self.shape(member, defining) for member in schema["allOf"]]
        return _all_of(parts)

    def definition(self, pointer: str) -> Shape:
        """The shape at the *pointer* of a `ReferenceShape`."""
        return self.shape(self._target(pointer), pointer)

    def _followed(self, shape: Shape) -> Shape:
        seen: set[str] = set()
        while isinstance(shape, ReferenceShape) and shape.pointer not in seen:
            seen.add(shape.pointer)
            shape = self.definition(shape.pointer)
        return shape

    def meaning(self, pointer: str) -> str:
        """A text that is the same for equal definitions at *pointer*, also within other root schemas."""
        try:
            return f"{pointer} {sorted(self._reachable(pointer, _all_references).items(), key=itemgetter(0))}"
        except (RecursionError, TooExpensive):  # nested too deeply, or too large, to be compared
            return f"{pointer} {id(self.root)}"

    def _reachable(self, pointer: str, references_of: Callable[[Schema], list[str]]) -> dict[str, Any]:
        """The definition at *pointer*, and those that its references lead to."""
        found: dict[str, Any] = {}
        ahead = [pointer]
        while ahead:
            if (pointer := ahead.pop()) not in found:
                self._budget.spend()
                found[pointer] = self._target(pointer)
                ahead += references_of(schema_of(found[pointer]))
        return found

    def _plain(self, schema: Schema) -> Shape:
        """The shape without references and combinations."""
        if "const" in schema:
            return ValuesShape([schema["const"]])
        if isinstance(schema.get("enum"), list):
            return ValuesShape(schema["enum"])
        kinds = schema.get("type", _implied(schema))
        return _one_of([self._of_kind(kind, schema) for kind in (kinds if isinstance(kinds, list) else [kinds])])

    def _of_kind(self, kind: Any, schema: Schema) -> Shape:
        if kind == "object":
            made = self._object(schema)
            is_known = made.members or schema.get("additionalProperties") is False
            return made if is_known else ObjectShape([], made.rest or ANYTHING)
        if kind == "array":
            first, items = schema.get("prefixItems"), schema.get("items", {})
            if isinstance(items, list):  # as drafts before 2020-12 have it
                first, items = items, schema.get("additionalItems", {})
            if not isinstance(first, list):
                return ArrayShape([], self.shape(items))
            ends = items is False or schema.get("maxItems") == len(first)
            return ArrayShape([self.shape(item) for item in first], None if ends else self.shape(items))
        return ScalarShape(kind) if kind in _SCALARS else ANYTHING

    def _object(self, schema: Schema) -> ObjectShape:
        needed = set(required(schema))
        members = [
            Member(name, without_description(self.shape(inner)), name in needed, inner)
            for name, inner in properties(schema).items()
        ]
        more = schema.get("additionalProperties", False)
        rest = None if more is False else self.shape(more)
        return ObjectShape(members, rest, text(schema.get("title")), text(schema.get("description")))

    def _reference(self, pointer: str, defining: str | None) -> Shape:
        leads_somewhere = isinstance(self._target(pointer), dict | bool)
        try:
            is_circle = defining is not None and defining in self._reachable(pointer, _direct)
        except TooExpensive:  # thousands of references, each looked through from each other
            return ANYTHING
        return ReferenceShape(pointer) if leads_somewhere and not is_circle else ANYTHING

    def _target(self, pointer: str) -> Any:
        try:
            return target(self.root, pointer)
        except LookupError:
            return None


def without_description(shape: Shape) -> Shape:
    """*shape* without the description that its schema has, where that is shown elsewhere."""
    return msgspec.structs.replace(shape, description="") if isinstance(shape, ObjectShape) else shape


def parts_of(shape: Shape) -> list[Shape]:
    """The shapes directly inside *shape*."""
    match shape:
        case ArrayShape(first=parts, rest=rest):
            return parts if rest is None else [*parts, rest]
        case ObjectShape(members=members, rest=rest):
            return [*(member.shape for member in members), *([] if rest is None else [rest])]
        case CombinedShape(parts=parts):
            return parts
    return []


def references(shape: Shape) -> Iterator[str]:
    """Yield the pointers of all references in *shape*."""
    if isinstance(shape, ReferenceShape):
        yield shape.pointer
    for part in parts_of(shape):
        yield from references(part)


def _one_of(shapes: list[Shape]) -> Shape:
    is_union = [isinstance(shape, CombinedShape) and not shape.is_all for shape in shapes]
    flat = _different(
        [
            part
            for shape, several in zip(shapes, is_union, strict=True)
            for part in (parts_of(shape) if several else [shape])
        ]
    )
    if ANYTHING in flat:
        return ANYTHING
    if len(some := [shape for shape in flat if shape != NOTHING]) < 2:
        return some[0] if some else NOTHING
    return CombinedShape(some, is_all=False)


def _all_of(parts: list[Shape]) -> Shape:
    """The intersection of *parts*: those that restrict hardly anything give way to the others."""
    for vague in ([ANYTHING], [ObjectShape([], ANYTHING), ArrayShape([], ANYTHING)]):
        parts = [part for part in parts if part not in vague] or parts
    parts = _different(parts)
    return parts[0] if len(parts) == 1 else CombinedShape(parts, is_all=True)


def _different(shapes: list[Shape]) -> list[Shape]:
    """*shapes* without repeated simple ones; the others are compared when they are written."""
    is_simple = (ScalarShape, ReferenceShape)
    return list({shape if isinstance(shape, is_simple) else id(shape): shape for shape in shapes}.values())


def _implied(schema: Schema) -> str | None:
    """The type of a schema that does not have the keyword."""
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else None


def _all_references(schema: Schema) -> list[str]:
    return [text(part["$ref"]) for _, part in walk(schema, "") if "$ref" in part]


def _direct(schema: Schema) -> list[str]:
    """The references of *schema* that are not inside an array or object."""
    found = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    for word in ("anyOf", "oneOf", "allOf"):
        for member in schema[word] if isinstance(schema.get(word), list) else []:
            found += _direct(schema_of(member))
    return found


# --- tools ------------------------------------------------------------------------------------------------------------


class ToolShapes:
    """The entry of a tool as shapes."""

    def __init__(self, entry: Entry) -> None:
        self.name, self.description = text(entry.get("name")), text(entry.get("description"))
        self.input = SchemaReader(schema_of(entry.get("inputSchema")))
        self.output = SchemaReader(schema_of(entry.get("outputSchema")))
        self.arguments = self.input.arguments()
        self.result: Shape | None = None
        self.about_result = described(self.output.root)
        match self.output.arguments().members:
            # Structured content has to be an object, so any other result is its only member.
            case [Member(name="result", is_required=True) as result]:
                self.result, self.about_result = result.shape, described(result.schema)
                self.is_wrapped = True
            case _:
                self.is_wrapped = False
                if self.output.root:
                    self.result = without_description(self.output.shape(self.output.root))


class TypeDefinitions:
    """Collects the named types of a text. *taken* are names that functions, or the language itself, have already."""

    def __init__(self, dialect: str, taken: Iterable[str]) -> None:
        self._rule = RULES[dialect]
        self._taken = set(taken)
        self._names: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._waiting: list[str] = []

    def name(self, meaning: str, hint: str, write: Callable[[str], str]) -> str:
        """Return the name of the type with this *meaning*.

        A new type gets a name like *hint*, and *write* writes its definition.
        """
        if meaning in self._names:
            return self._names[meaning]
        words = "".join(letter if letter.isalnum() else " " for letter in hint).split()
        wanted = self._rule.nearest("".join(word[0].upper() + word[1:] for word in words) or "Type")
        name, number = wanted, self._numbers.get(wanted, 1)  # thousands of objects may have the same hint
        while name in self._taken:
            number += 1
            name = f"{wanted}{number}"
        self._numbers[wanted] = number
        self._taken.add(name)
        self._names[meaning] = name
        self._waiting.append(write(name))
        return name

    def defined(self, pointer: str, reader: SchemaReader, write: Callable[[str, Shape], str]) -> str:
        """Return the name of the type that *pointer* refers to in the schema of *reader*."""
        hint = pointer.rpartition("/")[2].strip("#") or "Arguments"
        return self.name(reader.meaning(pointer), hint, lambda name: write(name, reader.definition(pointer)))

    def take(self) -> list[str]:
        """The definitions that were written since the last time."""
        written, self._waiting = self._waiting, []
        return written


def written(
    entries: list[Entry],
    dialect: str,
    function: Callable[[ToolShapes, str, TypeDefinitions], str],
    taken: Iterable[str] = (),
) -> str:
    """Return the functions of tools as a *dialect* has them, the types that each needs above it."""
    names = Names([text(entry.get("name")) for entry in entries], dialect)
    types = TypeDefinitions(dialect, {*taken, *names.ours})
    blocks: list[str] = []
    for entry in entries:
        tool = ToolShapes(entry)
        declared = function(tool, names.theirs[tool.name], types)
        blocks += [*types.take(), declared]
    return "\n\n".join(blocks)
