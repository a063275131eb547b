"""One type hint, three facts: its JSON Schema, what msgspec checks, and how the author's value is made from that.

Strategy. msgspec converts JSON data in C, but some hints it refuses (`Path`, mixed enums, `str | datetime`,
unions of dataclasses) and some it reads too kindly (it drops the unknown members of a dataclass). So each
hint gets a *native* type, which msgspec is good at, and a *build* step for the rest. Most hints need no
build at all. `types.py` makes shapes from hints; this file knows how shapes combine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Union

import msgspec
from toolwire_schemas.language import say

from .annotations import BOUNDS, LENGTHS

Schema = dict[str, Any]
Build = Callable[[Any], Any]

ALL_KINDS = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})


QUICK, WALK, JUDGE = 0, 1, 2
"""msgspec makes a result plain and checks it; or a walk in Python makes it plain; or jsonschema must check it, too."""


class Refused(ValueError):
    """A value that a build step does not take; *path* leads to it from the outside.

    *private* says that *sentence* is the message of an exception raised by the tool author's code.
    """

    def __init__(self, sentence: str, path: tuple[str | int, ...] = (), *, private: bool = False) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.path = path
        self.private = private

    def below(self, step: str | int) -> Refused:
        """The same refusal, seen from one level further out."""
        return Refused(self.sentence, (step, *self.path), private=self.private)


class TypePlan(msgspec.Struct, frozen=True):
    """What one type hint means on the wire and in Python."""

    schema: Schema
    msgspec_type: Any = Any
    """The type msgspec converts JSON data to."""
    convert: Build | None = None
    """Makes the author's value from the native one; None if they are the same."""
    kinds: frozenset[str] = ALL_KINDS
    """JSON types that may occur."""
    is_identity: bool = False
    """The JSON data, once checked, is the author's value already."""
    union_order: int = 0
    """In a union, members of a lower rank are tried first."""
    check_level: int = QUICK
    """What making results plain and checking them takes: `QUICK`, `WALK` or `JUDGE`."""

    def load(self, value: Any) -> Any:
        """Make the author's value from JSON data.

        Raises:
            Refused: if *value* does not fit.
        """
        try:
            native = msgspec.convert(value, self.msgspec_type)
        except NOT_CONVERTED as error:
            raise refusal(error) from None
        return native if self.convert is None else self.convert(native)

    def with_schema(self, **members: Any) -> TypePlan:
        """The same shape with members added to its schema."""
        return msgspec.structs.replace(self, schema={**self.schema, **members})


NOT_CONVERTED = (msgspec.ValidationError, UnicodeEncodeError)
"""What `msgspec.convert` raises for a value that it does not take; the second for half of a character, `"\\ud800"`."""


def refusal(error: Exception) -> Refused:
    """One of these as a refusal: "sentence - at `$.a[2]`" has its path (indices that msgspec hides are left out)."""
    if isinstance(error, UnicodeEncodeError):
        return Refused(say("has half of a character in it (a lone surrogate), which is no text"))
    sentence, _, place = str(error).partition(" - at `")
    steps: list[str | int] = []
    for step in place.rpartition("$")[2].rstrip("`").replace("[...]", "").replace("[", ".[").split(".")[1:]:
        steps.append(int(step[1:-1]) if step[:1] == "[" and step[1:-1].isdigit() else step)
    return Refused(sentence, tuple(steps))


def guarded(make: Build, *, private: bool = False) -> Build:
    """A build step that turns the ValueErrors of *make* into refusals, *private* if *make* is the tool author's."""

    def build(value: Any) -> Any:
        try:
            return make(value)
        except Refused:
            raise
        except (ValueError, TypeError, ArithmeticError) as error:
            raise Refused(str(error) or type(error).__name__, private=private) from error

    return build


def optional(shape: TypePlan) -> TypePlan:
    """The shape, or null."""
    if takes_null(shape.schema):
        return shape
    make = shape.convert

    def build(value: Any) -> Any:
        return None if value is None else make(value)  # type: ignore[misc]

    return msgspec.structs.replace(
        shape,
        schema=any_of([shape.schema, {"type": "null"}]),
        msgspec_type=either([shape.msgspec_type, None]),
        convert=None if make is None else build,
        kinds=shape.kinds | {"null"},
    )


def takes_null(schema: Schema) -> bool:
    """True if null fits *schema*; of a reference nothing is known."""
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return any(map(takes_null, schema[word]))
    return "$ref" not in schema and None in schema.get("enum", [None]) and schema.get("type", "null") == "null"


def either(natives: Sequence[Any]) -> Any:
    """The union of native types."""
    return Union[tuple(natives)]  # noqa: UP007 (an operator takes no sequence)


def union(shapes: Sequence[TypePlan]) -> TypePlan:
    """A value of any of the shapes: msgspec's own union if JSON types tell them apart, else the first that fits."""
    schema = any_of([shape.schema for shape in shapes])
    kinds = frozenset[str]().union(*(shape.kinds for shape in shapes))
    same = all(shape.is_identity for shape in shapes)
    care = max(shape.check_level for shape in shapes)
    rank = max(shape.union_order for shape in shapes)
    if _told_apart(shapes):
        return TypePlan(schema, either([shape.msgspec_type for shape in shapes]), None, kinds, same, rank, care)
    candidates = sorted(shapes, key=lambda shape: shape.union_order)
    return TypePlan(schema, Any, _first_of(candidates), kinds, False, rank, care)


def _told_apart(shapes: Sequence[TypePlan]) -> bool:
    """True if no JSON type occurs twice (int and float is fine: msgspec prefers the exact one)."""
    seen: set[str] = set()
    for shape in shapes:
        kinds = {"number"} if shape.msgspec_type is float else set(shape.kinds)
        if shape.convert is not None or shape.msgspec_type is Any or seen & kinds or _is_fragile(shape.msgspec_type):
            return False
        seen |= kinds
    return True


def _is_fragile(native: Any) -> bool:
    """True for types that msgspec's unions must not combine with anything but None.

    msgspec 0.22 loses count of what belongs to whom when a union holds a constrained type and an array, object or
    fixed tuple: `str` with a pattern and `list[int]` crashes the process. (Every pair of types was tried.)
    """
    if getattr(native, "__origin__", None) is Union:
        return any(_is_fragile(member) for member in native.__args__)
    return hasattr(native, "__metadata__") or _has_places(native)


def _has_places(native: Any) -> bool:
    """True for a tuple with a type for each place."""
    return getattr(native, "__origin__", None) is tuple and native.__args__[-1:] != (...,)


def _first_of(shapes: Sequence[TypePlan]) -> Build:
    def build(value: Any) -> Any:
        kind = _kind(value)
        refusal: Refused | None = None
        for shape in shapes:
            if kind & shape.kinds:
                try:
                    return shape.load(value)
                except Refused as refused:
                    refusal = refusal or refused
        raise refusal or Refused(say("no member of the union takes {type}", type=type(value).__name__))

    return build


_KINDS = {
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"integer", "number"}),
    type(None): frozenset({"null"}),
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
}


def _kind(value: Any) -> frozenset[str]:
    return _KINDS.get(type(value), ALL_KINDS)


def any_of(schemas: Sequence[Schema]) -> Schema:
    """A schema for any of the given ones: flat, without repetitions, null last, and no `anyOf` round a single one.

    Integers are numbers, so they are left out next to numbers.
    """
    flat: list[Schema] = []
    for schema in schemas:
        for member in schema["anyOf"] if schema.keys() == {"anyOf"} else [schema]:
            if member not in flat:
                flat.append(member)
    if {} in flat:
        return {}
    flat = [one for one in flat if one.get("type") != "integer" or {**one, "type": "number"} not in flat]
    flat.sort(key=lambda member: member == {"type": "null"})
    return flat[0] if len(flat) == 1 else {"anyOf": flat}


def each(item: TypePlan, container: Callable[[Any], Any] | None) -> Build | None:
    """A build step for an array of *item*, put into *container* unless that is None."""
    make = item.convert
    if make is None:
        return None if container is None else guarded(container)

    def build(values: Any) -> Any:
        built = []
        for index, value in enumerate(values):
            try:
                built.append(make(value))
            except Refused as refused:
                raise refused.below(index) from refused.__cause__
        return built

    if container is None:
        return build
    wrap = guarded(container)
    return lambda values: wrap(build(values))


def in_turn(items: Sequence[TypePlan]) -> Build | None:
    """A build step for a tuple whose places have shapes of their own."""
    makes = [item.convert for item in items]
    if not any(makes):
        return None

    def build(values: Any) -> Any:
        built = []
        for index, (make, value) in enumerate(zip(makes, values, strict=True)):
            try:
                built.append(value if make is None else make(value))
            except Refused as refused:
                raise refused.below(index) from refused.__cause__
        return tuple(built)

    return build


def entries(key: Build | None, value: Build | None, container: Callable[[Any], Any] | None) -> Build | None:
    """A build step for a mapping, from those of its keys and values."""
    if key is None and value is None:
        return container

    def build(mapping: Any) -> Any:
        built = {}
        for name, item in mapping.items():
            try:
                built[name if key is None else key(name)] = item if value is None else value(item)
            except Refused as refused:
                raise refused.below(str(name)) from refused.__cause__
        return built if container is None else container(built)

    return build


_NUMBER_WORDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTH_WORDS = {
    "string": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}


def constrain(shape: TypePlan, constraints: dict[str, Any]) -> TypePlan:
    """The shape narrowed by msgspec's constraints (`ge`, `max_length`, `pattern`, …).

    Raises:
        TypeError: if one of them says nothing about such a type.
    """
    words = _words(shape)
    if _has_places(shape.msgspec_type):
        raise TypeError("its length is settled already")
    if unknown := constraints.keys() - words.keys():
        raise TypeError(f"the constraint {min(unknown)} does not fit the type")
    narrowed = msgspec.structs.replace(shape, msgspec_type=Annotated[shape.msgspec_type, msgspec.Meta(**constraints)])
    return narrowed.with_schema(**_in_words(shape, constraints))


def _in_words(shape: TypePlan, constraints: dict[str, Any]) -> Schema:
    """The members of a schema that say the same as *constraints*, as far as it can say it."""
    words = _words(shape)
    size = _characters if "contentEncoding" in shape.schema else _json
    return {words[name]: size(value) for name, value in constraints.items() if name in words}


def _characters(length: int) -> int:
    """Return the length of *length* bytes in Base64."""
    return 4 * ((length + 2) // 3)


def _words(shape: TypePlan) -> dict[str, str]:
    kind = shape.schema.get("type")
    if kind in ("integer", "number"):
        return _NUMBER_WORDS
    return _LENGTH_WORDS.get(str(kind), {})


def _json(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def compared(shape: TypePlan, constraints: dict[str, Any]) -> TypePlan:
    """The shape with bounds or lengths checked in Python, after building: for Decimal, dates and the like."""
    make = shape.convert

    def build(value: Any) -> Any:
        built = value if make is None else make(value)
        for name, limit in constraints.items():
            if not _HOLDS[name](built, limit):
                raise Refused(say(_SAID[name], limit=limit))
        return built

    checked = msgspec.structs.replace(shape, convert=guarded(build), is_identity=False)
    return checked.with_schema(**_in_words(shape, constraints))


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "ge": lambda value, limit: bool(value >= limit),
    "gt": lambda value, limit: bool(value > limit),
    "le": lambda value, limit: bool(value <= limit),
    "lt": lambda value, limit: bool(value < limit),
    "multiple_of": lambda value, limit: not value % limit,
    "min_length": lambda value, limit: len(value) >= limit,
    "max_length": lambda value, limit: len(value) <= limit,
}
_SAID = {
    "ge": "must be at least {limit}",
    "gt": "must be greater than {limit}",
    "le": "must be at most {limit}",
    "lt": "must be less than {limit}",
    "multiple_of": "must be a multiple of {limit}",
    "min_length": "must be no shorter than {limit}",
    "max_length": "must be no longer than {limit}",
}
COMPARABLE = frozenset((*BOUNDS, *LENGTHS))
