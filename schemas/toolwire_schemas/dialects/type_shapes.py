"""Reads a JSON Schema as a type: one of the few shapes that typed languages and tables for people have.

Strategy. A schema is a heap of conditions; a type is one thing. Each schema is read on its own, without following
references, so circles cost nothing: a `Reference` says where to go on, and the writer of a language gives it a name.
What cannot be said as a type (`if`, `not`, limits) is left out: a shape allows what its schema allows, and maybe more.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from ..json_schema.linear_regex import Budget, TooExpensive
from ..json_schema.subschemas import target, walk
from .tool_entry import Schema, properties, required, schema_of, text

if TYPE_CHECKING:
    from collections.abc import Iterator


class Anything(msgspec.Struct, frozen=True):
    """Any JSON value."""


class Scalar(msgspec.Struct, frozen=True):
    """A value of one of JSON's plain kinds: string, integer, number, boolean or null."""

    kind: str


class Values(msgspec.Struct, frozen=True):
    """One of these JSON values; an empty list allows no value."""

    values: list[Any]


class Array(msgspec.Struct, frozen=True):
    """A list of any length."""

    items: Shape


class Tuple(msgspec.Struct, frozen=True):
    """A list that begins with these items. *rest* is the shape of the others; None if no others are allowed."""

    items: list[Shape]
    rest: Shape | None


class Record(msgspec.Struct, frozen=True):
    """An object with members of any name."""

    values: Shape


class Member(msgspec.Struct, frozen=True):
    """A member of an object, with the schema that describes it."""

    name: str
    shape: Shape
    is_required: bool
    schema: Schema


class Object(msgspec.Struct, frozen=True):
    """An object with known members. *rest* are those of other names, where the schema mentions them."""

    members: list[Member]
    rest: Shape | None
    title: str = ""
    description: str = ""


class Union(msgspec.Struct, frozen=True):
    """One of two or more shapes."""

    members: list[Shape]


class Intersection(msgspec.Struct, frozen=True):
    """All of two or more shapes at once."""

    members: list[Shape]


class Reference(msgspec.Struct, frozen=True):
    """What is defined elsewhere in the root schema, such as at `#/$defs/Node`."""

    pointer: str


Shape = Anything | Scalar | Values | Array | Tuple | Record | Object | Union | Intersection | Reference

MAX_DEPTH = 50
"""How many levels of a schema are looked at, and worth showing: Python and other readers give up at some hundreds."""

ANYTHING = Anything()
NOTHING = Values([])
_SCALARS = ("string", "integer", "number", "boolean", "null")


class Reader:
    """Reads the schemas within one root schema."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self._depth = 0
        self._budget = Budget()

    def arguments(self) -> Object:
        """The root itself, which is an object whatever it says; one that is said in parts is put together."""
        shape = self.followed(self.shape(self.root))
        if isinstance(shape, Intersection | Union):
            shape = self.together(shape) or shape
        return shape if isinstance(shape, Object) else self._object(self.root)

    def together(self, shape: Intersection | Union) -> Object | None:
        """One object with the members of all parts of *shape*, if these are objects.

        A member has to be given if one part of an intersection, or all of a union, want it.
        """
        parts = [self.followed(part) for part in shape.members]
        objects = [part for part in parts if isinstance(part, Object)]
        if len(objects) < len(parts):
            return None
        members = {member.name: member for part in objects for member in part.members}
        wanted = [{member.name for member in part.members if member.is_required} for part in objects]
        needed = set.union(*wanted) if isinstance(shape, Intersection) else set.intersection(*wanted)
        return Object(
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
                parts.append(united([self.shape(member, defining) for member in schema[word]]))
        if isinstance(schema.get("allOf"), list):
            parts += [self.shape(member, defining) for member in schema["allOf"]]
        return _all_of(parts)

    def definition(self, pointer: str) -> Shape:
        """The shape of what a `Reference` refers to."""
        return self.shape(self._target(pointer), pointer)

    def followed(self, shape: Shape) -> Shape:
        """What *shape* refers to in the end, if it refers to anything."""
        seen: set[str] = set()
        while isinstance(shape, Reference) and shape.pointer not in seen:
            seen.add(shape.pointer)
            shape = self.definition(shape.pointer)
        return shape

    def meaning(self, pointer: str) -> str:
        """A text that only what means the same as *pointer* has, also within other root schemas."""
        found: dict[str, Any] = {}
        ahead = [pointer]
        try:
            while ahead:
                if (inner := ahead.pop()) not in found:
                    self._budget.spend()
                    found[inner] = self._target(inner)
                    parts = walk(schema_of(found[inner]), "")
                    ahead += [text(part["$ref"]) for _, part in parts if "$ref" in part]
            return f"{pointer} {sorted(found.items(), key=itemgetter(0))}"
        except (RecursionError, TooExpensive):  # nested too deeply, or too large, to be compared
            return f"{pointer} {id(self.root)}"

    def _plain(self, schema: Schema) -> Shape:
        """The shape without what other schemas add to it."""
        if "const" in schema:
            return Values([schema["const"]])
        if isinstance(schema.get("enum"), list):
            return Values(schema["enum"])
        kinds = schema.get("type", _implied(schema))
        return united([self._of_kind(kind, schema) for kind in (kinds if isinstance(kinds, list) else [kinds])])

    def _of_kind(self, kind: Any, schema: Schema) -> Shape:
        if kind == "object":
            made = self._object(schema)
            return (
                made if made.members or schema.get("additionalProperties") is False else Record(made.rest or ANYTHING)
            )
        if kind == "array":
            first, items = schema.get("prefixItems"), schema.get("items", {})
            if isinstance(items, list):  # as drafts before 2020-12 say it
                first, items = items, schema.get("additionalItems", {})
            if not isinstance(first, list):
                return Array(self.shape(items))
            ends = items is False or schema.get("maxItems") == len(first)
            return Tuple([self.shape(item) for item in first], None if ends else self.shape(items))
        return Scalar(kind) if kind in _SCALARS else ANYTHING

    def _object(self, schema: Schema) -> Object:
        needed = set(required(schema))
        members = [Member(name, self.shape(inner), name in needed, inner) for name, inner in properties(schema).items()]
        more = schema.get("additionalProperties", False)
        rest = None if more is False else self.shape(more)
        return Object(members, rest, text(schema.get("title")), text(schema.get("description")))

    def _reference(self, pointer: str, defining: str | None) -> Shape:
        leads_somewhere = isinstance(self._target(pointer), dict | bool)
        try:
            is_circle = defining is not None and defining in self._at_once(pointer)
        except TooExpensive:  # thousands of references, each looked through from each other
            return ANYTHING
        return Reference(pointer) if leads_somewhere and not is_circle else ANYTHING

    def _at_once(self, pointer: str) -> set[str]:
        """The definitions that *pointer* leads to without going into an array or object."""
        seen: set[str] = set()
        ahead = [pointer]
        while ahead:
            if (pointer := ahead.pop()) not in seen:
                self._budget.spend()
                seen.add(pointer)
                ahead += _direct(schema_of(self._target(pointer)))
        return seen

    def _target(self, pointer: str) -> Any:
        try:
            return target(self.root, pointer)
        except LookupError:
            return None


def united(members: list[Shape]) -> Shape:
    """What is one of *members*."""
    flat = _different([part for shape in members for part in (shape.members if isinstance(shape, Union) else [shape])])
    if ANYTHING in flat:
        return ANYTHING
    if len(some := [shape for shape in flat if shape != NOTHING]) < 2:
        return some[0] if some else NOTHING
    return Union(some)


def references(shape: Any) -> Iterator[str]:
    """Yield where *shape* refers to."""
    if isinstance(shape, Reference):
        yield shape.pointer
    elif isinstance(shape, list):
        for item in shape:
            yield from references(item)
    elif isinstance(shape, msgspec.Struct) and not isinstance(shape, Values):
        yield from references([getattr(shape, field) for field in shape.__struct_fields__])


def result_of(output: Reader) -> Member | None:
    """The one member of an output that is only there because structured content has to be an object, if that is so."""
    match output.arguments().members:
        case [Member(name="result", is_required=True) as member]:
            return member
    return None


def _all_of(parts: list[Shape]) -> Shape:
    """What is all of *parts*: those that say hardly anything give way to those that say more."""
    for vague in ([ANYTHING], [Record(ANYTHING), Array(ANYTHING)]):
        parts = [part for part in parts if part not in vague] or parts
    parts = _different(parts)
    return parts[0] if len(parts) == 1 else Intersection(parts)


def _different(shapes: list[Shape]) -> list[Shape]:
    """*shapes* without those that are there twice, as far as they are simple; the others are compared when written."""
    return list({_key(shape): shape for shape in shapes}.values())


def _key(shape: Shape) -> Any:
    match shape:
        case Anything() | Scalar() | Reference():
            return repr(shape)
        case Values(values=[] | [str() | int() | float() | None]):
            return repr(shape)  # 1 and True are equal, but not the same value
    return id(shape)


def _implied(schema: Schema) -> str | None:
    """The type that is meant where none is said."""
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else None


def _direct(schema: Schema) -> list[str]:
    found = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    for word in ("anyOf", "oneOf", "allOf"):
        for member in schema[word] if isinstance(schema.get(word), list) else []:
            found += _direct(schema_of(member))
    return found
