"""Plans of containers and unions: what contains other types, and combines their plans."""

from __future__ import annotations

import collections
import collections.abc
import typing
from typing import Annotated, Any, Protocol

import msgspec

from .annotations import Names, unwrap_annotation
from .scalars import ANYTHING, STRING, Direction
from .shape import WALK, Schema, TypePlan, each, entries, in_turn, optional, union

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ARRAY = frozenset({"array"})
OBJECT = frozenset({"object"})
_DICT: Any = dict
_LIST: Any = list
_TUPLE: Any = tuple


class TypeReader(Protocol):
    """What these functions use of `Types`."""

    @property
    def direction(self) -> Direction: ...

    @property
    def names(self) -> Names: ...

    def of(self, hint: Any) -> TypePlan: ...


class Unsupported(TypeError):
    """A type that has no form in JSON, and what to write instead."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


def union_of(types: TypeReader, found: Sequence[Any]) -> TypePlan:
    return joined([types.of(member) for member in found if member is not msgspec.UnsetType])


def joined(shapes: Sequence[TypePlan]) -> TypePlan:
    given = [shape for shape in shapes if shape.schema != {"type": "null"}]
    if not given:
        return shapes[0]
    joined = given[0] if len(given) == 1 else union(given)
    return joined if len(given) == len(shapes) else optional(joined)


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
        return TypePlan(schema, _LIST[item.msgspec_type], each(item, None), ARRAY, check_level=care)
    # Of what cannot be in a set msgspec says so by a TypeError, as if the tool were at fault.
    unhashable = native in (set, frozenset) and item.kinds & (ARRAY | OBJECT)
    if native is not list and (item.convert is not None or unhashable):
        native, container = list, native
    inner = (item.msgspec_type, ...) if native is tuple else item.msgspec_type
    same = item.is_identity and native is list and container is None
    return TypePlan(schema, native[inner], each(item, container), ARRAY, same, check_level=item.check_level)


def fixed_or_homogeneous_tuple(types: TypeReader, arguments: tuple[Any, ...]) -> TypePlan:
    """A tuple: an array of one type, or one with a type for each place."""
    if not arguments or (len(arguments) == 2 and arguments[1] is ...):
        return array(types, arguments[:1], tuple)
    items = [types.of(argument) for argument in arguments if argument != ()]
    native: Any = _TUPLE[tuple(item.msgspec_type for item in items)]
    # msgspec leaves tuples in plain data as they are; only a walk makes lists of them.
    care = max([WALK, *(item.check_level for item in items)])
    return TypePlan(_places([item.schema for item in items]), native, in_turn(items), ARRAY, check_level=care)


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
    build = entries(make_key, value.convert, container)
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
        raise Unsupported(
            f"keys of type {getattr(plain_hint, '__name__', plain_hint)} have no form in JSON", "use str keys"
        )
    members_ = {word: value for word, value in shape.schema.items() if word not in ("type", "description")}
    return (
        (shape.msgspec_type, members_, shape.convert)
        if shape.msgspec_type is not Any
        else (str, members_, shape.convert)
    )


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
