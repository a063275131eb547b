"""The few shapes of values that typed languages, and tables for people, are written from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .tool_entry import Schema


class ScalarShape(msgspec.Struct, frozen=True):
    """A value of one of JSON's plain kinds (string, integer, number, boolean or null), or of `any`
    kind.

    *text_type* is the type that a text is read as, if the definitions tell such texts apart.
    """

    kind: str
    text_type: str = ""


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
    """The definition of this name; *label* is what the schema calls it as an alternative."""

    name: str
    label: str = ""


Shape = ScalarShape | ValuesShape | ArrayShape | ObjectShape | UnionShape | ReferenceShape


class Definition(msgspec.Struct, frozen=True):
    """A shape with a name, under which others, and the shape itself, refer to it."""

    name: str
    shape: Shape
    description: str


ANYTHING = ScalarShape("any")
NULL = ScalarShape("null")
NOTHING = ValuesShape([])


def unite_shapes(shapes: Iterable[Shape]) -> Shape:
    """Return the shape of values of any of *shapes*."""
    parts: dict[Any, Shape] = {}
    for shape in shapes:
        alternatives = shape.parts if isinstance(shape, UnionShape) else [shape]
        for part in alternatives:
            if part == ANYTHING:
                return ANYTHING
            if part != NOTHING:
                parts[_identify(part)] = part
    different = list(parts.values())
    if not different:
        return NOTHING
    if len(different) == 1:
        return different[0]
    return UnionShape(different)


def _identify(shape: Shape) -> Any:
    """Return what is equal for equal simple shapes; a printer compares the others."""
    match shape:
        case ScalarShape():
            return shape
        case ReferenceShape(name=name):
            return name
    return id(shape)


def read_as_kinds(shape: Shape) -> Shape:
    """Return *shape*, with values of other kinds than text read as these kinds."""
    if not isinstance(shape, ValuesShape) or not shape.values:
        return shape
    texts: dict[str, None] = {}
    kinds: dict[str, Shape] = {}
    for value in shape.values:
        if isinstance(value, str):
            texts[value] = None
        else:
            kind = _name_kind(value)
            kinds[str(kind)] = kind
    choice = ValuesShape(list(texts))
    return unite_shapes([choice, *kinds.values()])


def _name_kind(value: Any) -> Shape:
    """Return the kind of a value that is no text."""
    match value:
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
