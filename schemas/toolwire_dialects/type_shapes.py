"""Reads JSON Schemas as types: the few shapes that typed languages, and tables for people, are
written from.

Strategy. Conditions that are not types (`if`, `not`, limits) are left out: a shape allows
everything that its schema allows, and maybe more. A reference becomes a name, and its target a
definition that is read once, so circles end. Objects in parts (`allOf`) become one; of other
intersections, which few languages have, the first part is the shape. For languages that have no
types without a name, objects within types become definitions too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.member_names import names_in
from toolwire_schemas.json_schema.subschemas import target, walk

from .name_mapping import RULES, Names, Rule
from .tool_entry import Entry, Schema, described, listed, properties, required, schema_of, text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence


class ScalarShape(msgspec.Struct, frozen=True):
    """A value of one of JSON's plain kinds (string, integer, number, boolean or null), or of `any`
    kind.

    *python* is the type of Python that a text is read as, if the definitions tell such texts apart.
    """

    kind: str
    python: str = ""


class ValuesShape(msgspec.Struct, frozen=True):
    """One of these JSON values, with the names that a description gives them; an empty list allows
    no value.
    """

    values: list[Any]
    names: dict[str, Any] = {}


class ArrayShape(msgspec.Struct, frozen=True):
    """A list that begins with the items *first*. *rest* is the shape of the others; None if no
    others are allowed.
    """

    first: list[Shape]
    rest: Shape | None


class ShapeMember(msgspec.Struct, frozen=True):
    """A member of an object, with the schema that describes it."""

    name: str
    shape: Shape
    is_required: bool
    schema: Schema


class ObjectShape(msgspec.Struct, frozen=True):
    """An object with known members. *rest* is the shape of members of other names, where the schema
    mentions them.
    """

    members: list[ShapeMember]
    rest: Shape | None


class UnionShape(msgspec.Struct, frozen=True):
    """One of two or more shapes."""

    parts: list[Shape]


class ReferenceShape(msgspec.Struct, frozen=True):
    """The definition of this name."""

    name: str


Shape = ScalarShape | ValuesShape | ArrayShape | ObjectShape | UnionShape | ReferenceShape


class Definition(msgspec.Struct, frozen=True):
    """A shape with a name, under which others, and the shape itself, refer to it."""

    name: str
    shape: Shape
    description: str


MAX_DEPTH = 50
"""How many levels of a schema are looked at, and worth showing: Python and other readers give up at
some hundreds.
"""
_MAX_STEPS = 50_000
"""How many schemas are read once more, as parts of an object or to compare definitions."""

ANYTHING = ScalarShape("any")
NULL = ScalarShape("null")
NOTHING = ValuesShape([])
_WITHIN = "\0"
_LONGEST = 80
"""Letters of a name that are used in the names of types."""
_SCALARS = ("string", "integer", "number", "boolean", "null")


# --- definitions ----------------------------------------------------------------------------------


class Definitions:
    """Collects the named types of a text in a language with this *rule* for names, or else of a
    page.

    *taken* are names that functions, or the language itself, have already. With *of_objects*,
    objects have to be named. With *of_unions*, unions and lists of texts too; what remains without
    a name is `T | null`, and values that are no texts are read as their kinds. With
    *tells_texts_apart*, a text in Base64 is one of `bytes`, and so on.

    Several types may want one name. Then each gets a number; or, if the name is *contested*, one
    that begins with what the type is within. `clashes` are the names to contest in another reading.
    Names are exact if *contested* is given: alternatives of a union have the constant in their name
    that distinguishes them, too.
    """

    def __init__(
        self,
        rule: Rule | None = None,
        taken: Iterable[str] = (),
        *,
        of_objects: bool = False,
        of_unions: bool = False,
        tells_texts_apart: bool = False,
        contested: Collection[str] | None = None,
    ) -> None:
        self.tells_texts_apart = tells_texts_apart
        self.of_objects, self.of_unions = of_objects, of_unions
        self.clashes: set[str] = set()
        self.is_exact, self._contested = contested is not None, contested or ()
        self._rule = rule
        self._taken = set(taken)
        self._names: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._new: list[Definition] = []

    def name(self, meaning: str, hint: str) -> tuple[str, bool]:
        """Return the name of the type with this *meaning*, and whether it is new and has to be
        added.

        A new type gets a name like the last part of *hint*, which begins with what the type is
        within.
        """
        if meaning in self._names:
            return self._names[meaning], False
        parts = hint.split(_WITHIN)
        likely = (self._write(" ".join(parts[start:])) for start in range(len(parts) - 1, 0, -1))
        wanted = next((name for name in likely if name not in self._contested), "") or self._write(
            " ".join(parts)
        )
        if wanted in self._taken:
            self.clashes.add(wanted)
        name, number = (
            wanted,
            self._numbers.get(wanted, 1),
        )  # thousands of objects may have the same hint
        while name in self._taken:
            number += 1
            name = f"{wanted}{number}"
        self._numbers[wanted] = number
        self._taken.add(name)
        self._names[meaning] = name
        return name, True

    def _write(self, hint: str) -> str:
        if not self._rule:
            return hint
        words = "".join(letter if letter.isalnum() else " " for letter in hint).split()
        return self._rule.nearest("".join(word[0].upper() + word[1:] for word in words) or "Type")

    def add(self, name: str, shape: Shape, description: str) -> None:
        """Add the definition of a new *name*."""
        self._new.append(Definition(name, shape, description))

    def wants_name(self, shape: Shape) -> bool:
        """Return whether *shape* cannot stand within another without a name."""
        match shape:
            case ObjectShape():
                return self.of_objects and bool(shape.members)
            case ValuesShape():
                return self.of_unions and bool(shape.values)
            case UnionShape():
                return self.of_unions
        return False

    def take(self) -> list[Definition]:
        """Return the definitions that were added since the last time."""
        new, self._new = self._new, []
        return new


# --- schemas --------------------------------------------------------------------------------------


NAMED_TYPE = "x-toolwire-type"
"""The keyword with the type of Python that a text is read as, in schemas that `toolwire list` asks
for.
"""

_NAMED_TYPES = frozenset(("datetime", "date", "time", "timedelta", "UUID", "Path"))
_TYPES_OF_FORMATS = {
    "date-time": "datetime",
    "date": "date",
    "time": "time",
    "duration": "timedelta",
    "uuid": "UUID",
    "byte": "bytes",
    "binary": "bytes",
    "base64": "bytes",
    "path": "Path",
    "file-path": "Path",
    "directory-path": "Path",
}
"""The formats of JSON Schema, OpenAPI and pydantic."""


def _python_type_of_text(schema: Schema) -> str:
    """Return the type of Python that a text with this *schema* is read as; empty if that is
    `str`.
    """
    named = schema.get(NAMED_TYPE)
    if (
        isinstance(named, str) and named in _NAMED_TYPES
    ):  # a server of others may write anything there
        return named
    if schema.get("contentEncoding") == "base64":
        return "bytes"
    text_format = schema.get("format")
    return _TYPES_OF_FORMATS.get(text_format, "") if isinstance(text_format, str) else ""


class _Pointer(msgspec.Struct, frozen=True):
    """A reference that has no name yet."""

    pointer: str


class SchemaReader:
    """Reads the schemas within one root schema, and adds what they refer to to *definitions*.

    The definition that is being read is passed along, with those that consist of it, to all that is
    not within one of its members or items: a type cannot be its own definition.
    """

    def __init__(self, root: Schema, definitions: Definitions, owner: str = "arguments") -> None:
        self.root, self._owner = root, owner
        self._definitions = definitions
        self._references: dict[str, ReferenceShape] = {}
        self._waiting: list[str] = []
        self._undefined: set[str] = set()
        self._depth = 0
        self._joining: list[str] = []
        self._steps_left = _MAX_STEPS

    def arguments(self) -> ObjectShape:
        """Return the root itself, always as an object; the members of its parts and alternatives
        are put together.
        """
        bare = {word: value for word, value in self.root.items() if word not in ("anyOf", "oneOf")}
        alternatives = [
            self._together(
                [self._unnamed(part, self._owner) for part in listed(self.root, word)], is_all=False
            )
            for word in ("anyOf", "oneOf")
        ]
        parts = (self._resolved(self._unnamed(bare, self._owner)), *alternatives)
        objects = [part for part in parts if isinstance(part, ObjectShape) and part.members]
        made = (
            objects[0]
            if len(objects) == 1
            else self._together(objects) or self._object(self.root, self._owner)
        )
        self._read_waiting()
        return made

    def result(self, schema: Schema) -> Shape:
        """Return the shape of *schema*, whose description is shown elsewhere."""
        made = self._shape(schema, self._owner, describes=False)
        self._read_waiting()
        return made

    def _shape(
        self, schema: Any, hint: str, defining: tuple[str, ...] = (), *, describes: bool = True
    ) -> Shape:
        """Return the shape of *schema*; *hint* is the name of an object that has no title."""
        made = self._unnamed(schema, hint, defining)
        if isinstance(made, _Pointer):
            return self._reference(made.pointer, defining)
        return self._named(made, schema, hint, describes=describes)

    def _named(self, shape: Shape, schema: Any, hint: str, *, describes: bool = True) -> Shape:
        """The shape itself; a reference to it if it has to be named."""
        title = text(schema_of(schema).get("title"))
        wanted = _within(hint.rpartition(_WITHIN)[0], title) if title else hint
        said = text(schema_of(schema).get("description")) if describes else ""
        if self._definitions.of_unions:
            shape, has_null = self._without_null(shape, wanted)
            if has_null:
                return UnionShape([self._with_name(shape, wanted, said), NULL])
        return self._with_name(shape, wanted, said)

    def _without_null(self, shape: Shape, wanted: str) -> tuple[Shape, bool]:
        """*shape* with values as kinds and without its alternative null, and whether it had one."""
        shape = read_as_kinds(shape)
        if not isinstance(shape, UnionShape):
            return shape, False
        others = [part for part in shape.parts if part != NULL]
        made = [
            self._with_name(part, f"{wanted} text", "") if len(others) > 1 else part
            for part in others
        ]
        return one_of(made), len(others) < len(shape.parts)

    def _with_name(self, shape: Shape, wanted: str, said: str) -> Shape:
        if not self._definitions.wants_name(shape):
            return shape
        name, is_new = self._definitions.name(_meaning(shape), wanted)
        if is_new:
            self._definitions.add(name, shape, said)
        return ReferenceShape(name)

    def _unnamed(self, schema: Any, hint: str, defining: tuple[str, ...] = ()) -> Shape | _Pointer:
        """Return the shape of *schema*; if that is a reference or an object, it has no name."""
        if schema is False:
            return NOTHING
        self._steps_left -= bool(self._joining)
        if self._depth > MAX_DEPTH or (self._joining and self._steps_left < 0):
            return ANYTHING
        self._depth += 1
        schema = schema_of(schema)
        parts: list[Shape | _Pointer] = [self._plain(schema, hint)]
        if "$ref" in schema and isinstance(self._target(text(schema["$ref"])), dict | bool):
            parts.append(_Pointer(text(schema["$ref"])))
        for word in ("anyOf", "oneOf"):
            if isinstance(schema.get(word), list):
                parts.append(self._alternatives(schema[word], hint, defining))
        parts += [self._unnamed(part, hint, defining) for part in listed(schema, "allOf")]
        self._depth -= 1
        # Parts that restrict hardly anything give way to the others.
        for vague in ([ANYTHING], [ObjectShape([], ANYTHING), ArrayShape([], ANYTHING)]):
            parts = [part for part in parts if part not in vague] or parts
        parts = _different(parts)
        return parts[0] if len(parts) == 1 else self._together(parts) or parts[0]

    def _alternatives(self, schemas: list[Any], hint: str, defining: tuple[str, ...]) -> Shape:
        """The union of *schemas*; values that several of them list are one list."""
        made: list[Shape] = []
        values: list[Any] = []
        names: dict[str, Any] = {}
        place = 0
        for schema in schemas:
            tagged = f"{hint} {_tag(schema)}".rstrip() if self._definitions.is_exact else hint
            part = self._unnamed(schema, tagged, defining)
            if isinstance(part, _Pointer):
                made.append(self._reference(part.pointer, defining))
            elif isinstance(part, ValuesShape):
                place = place if values else len(made)
                values += part.values
                names |= part.names
            else:
                made.append(self._named(part, schema, tagged))
        return one_of(
            [*made[:place], self._named(ValuesShape(values, names), {}, hint), *made[place:]]
        )

    def _plain(self, schema: Schema, hint: str) -> Shape:
        """The shape without references and combinations."""
        if "const" in schema:
            return ValuesShape([schema["const"]])
        if isinstance(schema.get("enum"), list):
            return ValuesShape(schema["enum"], names_in(schema))
        kinds = listed(schema, "type") or [schema.get("type", _implied(schema))]
        if len(kinds) == 1:
            return self._of_kind(kinds[0], schema, hint)
        return one_of(
            [self._named(self._of_kind(kind, schema, hint), schema, hint) for kind in kinds]
        )

    def _of_kind(self, kind: Any, schema: Schema, hint: str) -> Shape:
        if kind == "object":
            made = self._object(schema, hint)
            is_known = made.members or schema.get("additionalProperties") is False
            return made if is_known else ObjectShape([], made.rest or ANYTHING)
        if kind == "array":
            first, items = schema.get("prefixItems"), schema.get("items", {})
            if isinstance(items, list):  # as drafts before 2020-12 have it
                first, items = items, schema.get("additionalItems", {})
            if not isinstance(first, list):
                return ArrayShape([], self._shape(items, f"{hint} item"))
            shapes = [self._shape(item, f"{hint} {place}") for place, item in enumerate(first, 1)]
            ends = items is False or schema.get("maxItems") == len(first)
            return ArrayShape(shapes, None if ends else self._shape(items, f"{hint} item"))
        if kind == "string" and self._definitions.tells_texts_apart:
            return ScalarShape(kind, _python_type_of_text(schema))
        return ScalarShape(kind) if kind in _SCALARS else ANYTHING

    def _object(self, schema: Schema, hint: str) -> ObjectShape:
        needed = set(required(schema))
        members = [
            ShapeMember(
                name,
                self._shape(inner, _within(hint, name), describes=False),
                name in needed,
                inner,
            )
            for name, inner in properties(schema).items()
        ]
        more = schema.get("additionalProperties", False)
        return ObjectShape(members, None if more is False else self._shape(more, f"{hint} value"))

    def _together(
        self, parts: Sequence[Shape | _Pointer], *, is_all: bool = True
    ) -> ObjectShape | None:
        """One object with the members of all *parts*, if these are objects.

        A member is required if one part of an intersection, or all of a union, require it.
        """
        objects = [part for part in map(self._resolved, parts) if isinstance(part, ObjectShape)]
        members = {member.name: member for part in objects for member in part.members}
        if len(objects) < len(parts) or not members:
            return None
        wanted = [
            {member.name for member in part.members if member.is_required} for part in objects
        ]
        needed = set.union(*wanted) if is_all else set.intersection(*wanted)
        return ObjectShape(
            [
                msgspec.structs.replace(member, is_required=name in needed)
                for name, member in members.items()
            ],
            None,
        )

    def _resolved(self, part: Shape | _Pointer) -> Shape | _Pointer:
        """The shape that *part* refers to; *part* itself in a circle: an object may be a part of
        its own member.
        """
        if (
            not isinstance(part, _Pointer)
            or part.pointer in self._joining
            or len(self._joining) > MAX_DEPTH
        ):
            return part
        self._joining.append(part.pointer)
        made = self._resolved(self._unnamed(self._target(part.pointer), self._hint(part.pointer)))
        self._joining.pop()
        return made

    # --- references ---

    def _reference(self, pointer: str, defining: tuple[str, ...]) -> Shape:
        if pointer in defining:
            return ANYTHING
        if pointer not in self._references:
            name, is_new = self._definitions.name(self._meaning_at(pointer), self._hint(pointer))
            self._references[pointer] = ReferenceShape(name)
            if is_new:
                self._waiting.append(pointer)
                self._undefined.add(pointer)
        if (
            defining and pointer in self._undefined
        ):  # now, since it may consist of what is being defined
            self._define(pointer, defining)
        return self._references[pointer]

    def _define(self, pointer: str, defining: tuple[str, ...] = ()) -> None:
        self._undefined.discard(pointer)
        schema = self._target(pointer)
        made = self._unnamed(schema, self._hint(pointer), (*defining, pointer))
        if isinstance(made, _Pointer):
            made = self._reference(made.pointer, (*defining, pointer))
        elif self._definitions.of_unions:
            made, has_null = self._without_null(made, self._hint(pointer))
            if has_null:
                made = UnionShape([self._with_name(made, f"{self._hint(pointer)} value", ""), NULL])
        self._definitions.add(
            self._references[pointer].name, made, text(schema_of(schema).get("description"))
        )

    def _read_waiting(self) -> None:
        for pointer in self._waiting:  # it grows on the way
            if pointer in self._undefined:
                self._define(pointer)
        self._waiting.clear()

    def _meaning_at(self, pointer: str) -> str:
        """A text that is the same for equal definitions at *pointer*, also within other root
        schemas.
        """
        found: dict[str, Any] = {}
        ahead = [pointer]
        while ahead and self._steps_left > 0:
            if (at := ahead.pop()) not in found:
                found[at] = self._target(at)
                parts = [part for _, part in walk(schema_of(found[at]), "")]
                self._steps_left -= len(parts)
                ahead += [text(part["$ref"]) for part in parts if "$ref" in part]
        # Definitions that are too large to be compared are different.
        return f"{pointer} {id(self.root) if ahead else sorted(found.items())}"

    def _hint(self, pointer: str) -> str:
        return _within(self._owner, pointer.rpartition("/")[2].strip("#") or "Arguments")

    def _target(self, pointer: str) -> Any:
        try:
            return target(self.root, pointer)
        except LookupError:
            return None


def _within(hint: str, name: str) -> str:
    """The hint at a type that is called *name* within another."""
    return f"{hint}{_WITHIN}{name[:_LONGEST]}" if hint else name[:_LONGEST]


def one_of(shapes: list[Shape]) -> Shape:
    """Return the shape of values of any of *shapes*."""
    flat = _different(
        [
            part
            for shape in shapes
            for part in (shape.parts if isinstance(shape, UnionShape) else [shape])
        ]
    )
    if ANYTHING in flat:
        return ANYTHING
    if len(some := [shape for shape in flat if shape != NOTHING]) < 2:
        return some[0] if some else NOTHING
    return UnionShape(some)


def read_as_kinds(shape: Shape) -> Shape:
    """Return *shape*, with values of other kinds than text read as these kinds."""
    if not isinstance(shape, ValuesShape) or not shape.values:
        return shape
    texts = list(dict.fromkeys(value for value in shape.values if isinstance(value, str)))
    kinds = {str(kind): kind for kind in map(_kind, shape.values) if kind is not None}
    return one_of([*([ValuesShape(texts)] if texts else []), *kinds.values()])


def _kind(value: Any) -> Shape | None:
    """The kind of a value that is no text."""
    match value:
        case str():
            return None
        case None:
            return NULL
        case bool():
            return ScalarShape("boolean")
        case int():
            return ScalarShape("integer")
        case list():
            return ArrayShape([], ANYTHING)
        case dict():
            return ObjectShape([], ANYTHING)
    return ScalarShape("number")


def _tag(schema: Any) -> str:
    """The text that tells an object from the alternatives to it: the constant of one of its
    members.
    """
    for member in properties(schema_of(schema)).values():
        match [member["const"]] if "const" in member else member.get("enum"):
            case [str(value)]:
                return value
    return ""


def _different(shapes: list[Any]) -> list[Any]:
    """*shapes* without repeated simple ones; the others are compared when they are written."""
    is_simple = (ScalarShape, ReferenceShape, _Pointer)
    return list(
        {shape if isinstance(shape, is_simple) else id(shape): shape for shape in shapes}.values()
    )


def _implied(schema: Schema) -> str | None:
    """The type of a schema that does not have the keyword."""
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else None


def _meaning(shape: Shape) -> str:
    if not isinstance(shape, ObjectShape):
        return str(shape)
    members = [
        (member.name, member.shape, member.is_required, described(member.schema))
        for member in shape.members
    ]
    return str((members, shape.rest))


# --- tools ----------------------------------------------------------------------------------------


class ToolShapes:
    """The entry of a tool as shapes, with the *definitions* that they need and earlier tools did
    not.
    """

    def __init__(self, entry: Entry, definitions: Definitions) -> None:
        self.name, self.description = text(entry.get("name")), text(entry.get("description"))
        self.arguments = SchemaReader(
            schema_of(entry.get("inputSchema")), definitions, self.name
        ).arguments()
        self.argument_types = definitions.take()
        output = schema_of(entry.get("outputSchema"))
        members = properties(output)
        # Structured content has to be an object, so any other result is its only member.
        self.is_wrapped = list(members) == ["result"] and "result" in required(output)
        result = members["result"] if self.is_wrapped else output
        self.about_result = described(result)
        self.result = (
            SchemaReader(output, definitions, f"{self.name} result").result(result)
            if output
            else None
        )
        self.result_types = definitions.take()


def write_functions(
    entries: list[Entry],
    dialect: str,
    function: Callable[[ToolShapes, str], str],
    definition: Callable[[Definition], str],
    taken: Iterable[str] = (),
    *,
    of_objects: bool = False,
) -> str:
    """Return the functions of tools as a *dialect* has them, the types that each needs above it.

    *taken* and *of_objects* are those of `Definitions`.
    """
    names = Names([text(entry.get("name")) for entry in entries], dialect)
    definitions = Definitions(RULES.get(dialect), {*taken, *names.ours}, of_objects=of_objects)
    blocks: list[str] = []
    for entry in entries:
        tool = ToolShapes(entry, definitions)
        blocks += map(definition, [*tool.argument_types, *tool.result_types])
        blocks.append(function(tool, names.theirs[tool.name]))
    return "\n\n".join(blocks)
