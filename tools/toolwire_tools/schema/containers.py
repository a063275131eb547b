"""Plans of containers and unions: what contains other types, and combines their plans."""

from __future__ import annotations

import collections
import collections.abc
import typing
from itertools import repeat
from typing import Annotated, Any, Protocol, Union

import msgspec
from toolwire_schemas.language import say

from .annotations import Names, unwrap_annotation
from .scalars import ANYTHING, STRING
from .shape import (
    ALL_KINDS,
    WALK,
    Build,
    Direction,
    Refused,
    Schema,
    TypePlan,
    Unsupported,
    any_of,
    either,
    guarded,
    optional,
)

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ARRAY = frozenset({"array"})
OBJECT = frozenset({"object"})
_DICT: Any = dict
_LIST: Any = list
_TUPLE: Any = tuple


class TypeReader(Protocol):
    """What these functions use of `Types`."""

    direction: Direction
    names: Names

    def of(self, hint: Any) -> TypePlan: ...


def union_of(types: TypeReader, found: Sequence[Any]) -> TypePlan:
    return joined([types.of(member) for member in found if member is not msgspec.UnsetType])


def joined(shapes: Sequence[TypePlan]) -> TypePlan:
    given = [shape for shape in shapes if shape.schema != {"type": "null"}]
    if not given:
        return shapes[0]
    joined = given[0] if len(given) == 1 else _union(given)
    return joined if len(given) == len(shapes) else optional(joined)


def _union(shapes: Sequence[TypePlan]) -> TypePlan:
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
    has_places = getattr(native, "__origin__", None) is tuple and native.__args__[-1:] != (...,)
    return has_places or hasattr(native, "__metadata__")


def _first_of(shapes: Sequence[TypePlan]) -> Build:
    def build(value: Any) -> Any:
        kind = _KINDS.get(type(value), ALL_KINDS)
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


def _items(makes: Callable[[], Iterable[Build | None]], container: Callable[[Any], Any] | None) -> Build:
    """Return a build step for an array, from those of its items, that puts them into *container*, if there is one."""

    def build(values: Any) -> Any:
        built: list[Any] = []
        try:
            for make, value in zip(makes(), values):  # noqa: B905 (msgspec has checked the length)
                built.append(value if make is None else make(value))
        except Refused as refused:
            raise refused.below(len(built)) from refused.__cause__
        return built

    if container is None:
        return build
    wrap = guarded(container)
    return lambda values: wrap(build(values))


def _each(item: TypePlan, container: Callable[[Any], Any] | None) -> Build | None:
    if item.convert is None:
        return None if container is None else guarded(container)
    return _items(lambda: repeat(item.convert), container)


def _entries(key: Build | None, value: Build | None, container: Callable[[Any], Any] | None) -> Build | None:
    """Return a build step for a mapping, from those of its keys and values."""
    if key is None and value is None:
        return container

    def build(mapping: Any) -> Any:
        built = {}
        try:
            for name, item in mapping.items():
                built[name if key is None else key(name)] = item if value is None else value(item)
        except Refused as refused:
            raise refused.below(str(name)) from refused.__cause__
        return built if container is None else container(built)

    return build


def array(
    types: TypeReader,
    arguments: tuple[Any, ...],
    native: Any = list,
    container: Callable[[Any], Any] | None = None,
    exact: bool = True,
) -> TypePlan:
    """An array of one type.

    *native* is list, set, frozenset or tuple, *container* a class that msgspec does not know. Not *exact* means
    that a result may well be a tuple, which msgspec leaves in plain data; only a walk makes a list of it.
    """
    item = types.of(arguments[0]) if arguments else ANYTHING
    schema = {"type": "array", "items": item.schema}
    if types.direction == "output":
        care = item.check_level if exact and native is not tuple else max(item.check_level, WALK)
        return TypePlan(schema, _LIST[item.msgspec_type], _each(item, None), ARRAY, check_level=care)
    # Of what cannot be in a set msgspec says so by a TypeError, as if the tool were at fault.
    unhashable = native in (set, frozenset) and item.kinds & (ARRAY | OBJECT)
    if native is not list and (item.convert is not None or unhashable):
        native, container = list, native
    inner = (item.msgspec_type, ...) if native is tuple else item.msgspec_type
    same = item.is_identity and native is list and container is None
    return TypePlan(schema, native[inner], _each(item, container), ARRAY, same, check_level=item.check_level)


def fixed_or_homogeneous_tuple(types: TypeReader, arguments: tuple[Any, ...]) -> TypePlan:
    """A tuple: an array of one type, or one with a type for each place."""
    if not arguments or (len(arguments) == 2 and arguments[1] is ...):
        return array(types, arguments[:1], tuple)
    items = [types.of(argument) for argument in arguments if argument != ()]
    native: Any = _TUPLE[tuple(item.msgspec_type for item in items)]
    makes = [item.convert for item in items]
    build = _items(lambda: makes, tuple) if any(makes) else None
    # msgspec leaves tuples in plain data as they are; only a walk makes lists of them.
    care = max([WALK, *(item.check_level for item in items)])
    return TypePlan(_places([item.schema for item in items]), native, build, ARRAY, check_level=care)


def mapping(types: TypeReader, arguments: tuple[Any, ...], container: Callable[[Any], Any] | None = None) -> TypePlan:
    """A JSON object with members of one type."""
    key, key_schema, make_key = _key(types, arguments[0]) if arguments else (str, {}, None)
    value = types.of(arguments[1]) if len(arguments) > 1 else ANYTHING
    schema: Schema = {"type": "object"}
    if key_schema:
        schema["propertyNames"] = key_schema
    if value.schema:
        schema["additionalProperties"] = value.schema
    if types.direction == "output":
        make_key = container = None
    build = _entries(make_key, value.convert, container)
    same = value.is_identity and key is str and build is None
    native: Any = _DICT[key, value.msgspec_type]
    return TypePlan(schema, native, build, OBJECT, same, 1, value.check_level)


def _key(types: TypeReader, hint: Any) -> tuple[Any, Schema, Callable[[Any], Any] | None]:
    """What msgspec checks a key against, the schema of the keys, and how the author's key is made."""
    plain_hint = unwrap_annotation(hint, types.names).hint
    if plain_hint in _KEYS:
        pattern, make = _KEYS[plain_hint]
        return Annotated[str, msgspec.Meta(pattern=pattern.replace("$", r"\Z"))], {"pattern": pattern}, make
    shape = types.of(hint)
    if shape is ANYTHING:
        return str, {}, None
    if shape.kinds != STRING:
        name = getattr(plain_hint, "__name__", plain_hint)
        raise Unsupported(f"keys of type {name} have no form in JSON", "use str keys")
    words = {word: value for word, value in shape.schema.items() if word not in ("type", "description")}
    return str if shape.msgspec_type is Any else shape.msgspec_type, words, shape.convert


def _places(schemas: list[Schema]) -> Schema:
    """The schema of a tuple. Draft-07 clients pass over `prefixItems` and read `items`, so both tell the truth."""
    distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
    schema: Schema = {"type": "array", "minItems": len(schemas), "maxItems": len(schemas)}
    if len(distinct) > 1:
        schema["prefixItems"] = schemas
    schema["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": distinct} if distinct else {}
    return schema


_KEYS: dict[Any, tuple[str, Callable[[str], Any]]] = {
    int: ("^-?[0-9]+$", int),
    float: (r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$", float),
    bool: ("^(true|false)$", lambda key: key == "true"),
}


_SEQUENCES = (
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Collection,
    collections.abc.Iterable,
    collections.abc.Reversible,
)
_SETS = (set, collections.abc.Set, collections.abc.MutableSet)
RECOUNTED = (*_SETS, frozenset, bytes, bytearray, memoryview)
"""Types of another length than their JSON: equal items are one, and four characters of Base64 up to three bytes."""
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping, collections.defaultdict)

CONTAINERS: dict[Any, Callable[[TypeReader, tuple[Any, ...]], TypePlan]] = {
    list: array,
    **dict.fromkeys(_SEQUENCES, lambda types, arguments: array(types, arguments, exact=False)),
    **dict.fromkeys(_SETS, lambda types, arguments: array(types, arguments, set)),
    frozenset: lambda types, arguments: array(types, arguments, frozenset),
    collections.deque: lambda types, arguments: array(types, arguments, container=collections.deque),
    tuple: fixed_or_homogeneous_tuple,
    **dict.fromkeys(_MAPPINGS, mapping),
    collections.OrderedDict: lambda types, arguments: mapping(types, arguments, collections.OrderedDict),
    collections.Counter: lambda types, arguments: mapping(types, (*(arguments or (str,)), int), collections.Counter),
}
