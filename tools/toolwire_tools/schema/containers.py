"""Plans of containers and unions: what contains other types, and combines their plans."""

from __future__ import annotations

import collections
import collections.abc
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from toolwire_schemas.language import say

from .annotations import get_origin, is_union, unwrap_annotation
from .scalars import ANYTHING, STRING, match_exactly
from .shape import (
    ALL_KINDS,
    WALK,
    Build,
    DecodeHook,
    Schema,
    TypePlan,
    Unsupported,
    ValueRefused,
    load,
    make_any_of,
    make_hook,
    unite_natives,
)
from .shape import allow_null as or_null

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .annotations import Names
    from .shape import Direction

ARRAY = frozenset({"array"})
OBJECT = frozenset({"object"})
_DICT: Any = dict
_LIST: Any = list
_TUPLE: Any = tuple


class TypeReader(Protocol):
    """What these functions use of the reader of hints."""

    direction: Direction
    names: Names

    def plan_type(self, hint: Any) -> TypePlan: ...


def plan_union(plans: Sequence[TypePlan]) -> TypePlan:
    """A value of any of the plans: msgspec's own union if JSON types tell them apart, else the
    first that fits.
    """
    given = [plan for plan in plans if plan.schema != {"type": "null"}]
    if len(given) < len(plans):
        if given:
            return or_null(plan_union(given))
        return plans[0]
    if len(given) == 1:
        return given[0]
    if _are_distinct(plans):
        native = unite_natives([plan.msgspec_type for plan in plans])
    else:
        native = make_hook(Any, _try_each(plans))
    return TypePlan(
        make_any_of([plan.schema for plan in plans]),
        native,
        frozenset[str]().union(*(plan.kinds for plan in plans)),
        all(plan.is_identity for plan in plans) and not isinstance(native, DecodeHook),
        max(plan.union_order for plan in plans),
        max(plan.check_level for plan in plans),
    )


def _are_distinct(plans: Sequence[TypePlan]) -> bool:
    """True if no JSON type occurs twice (int and float is fine: msgspec prefers the exact one)."""
    seen: set[str] = set()
    for plan in plans:
        kinds = {"number"} if plan.msgspec_type is float else set(plan.kinds)
        if plan.msgspec_type is Any or seen & kinds or _is_fragile(plan.msgspec_type):
            return False
        seen |= kinds
    return True


def _is_fragile(native: Any) -> bool:
    """True for types that msgspec's unions must not combine with anything but None: hooks, and some
    of its own.

    msgspec 0.22 loses count of what belongs to whom when a union holds a constrained type and an
    array, object or fixed tuple: `str` with a pattern and `list[int]` crashes the process. (Every
    pair of types was tried.)
    """
    if is_union(native):
        return any(_is_fragile(member) for member in native.__args__)
    has_places = get_origin(native) is tuple and native.__args__[-1:] != (...,)
    return has_places or hasattr(native, "__metadata__") or isinstance(native, DecodeHook)


def _choose_once(known: dict[Any, Any], value: Any, choose: Build) -> Any:
    """Return what *choose* makes of *value*, from *known* if it has been made already.

    Unions within unions would try each value again for each member: an exponential number of times.
    """
    key = id(value), id(choose)
    if key not in known:
        try:
            known[key] = value, choose(value)
        except ValueRefused as refused:
            known[key] = value, refused
    _, chosen = known[key]
    if isinstance(chosen, ValueRefused):
        raise chosen.with_traceback(None)
    return chosen


def _try_each(plans: Sequence[TypePlan]) -> Build:
    candidates = sorted(plans, key=lambda plan: plan.union_order)

    def choose(value: Any) -> Any:
        kind = _KINDS.get(type(value), ALL_KINDS)
        refusal: ValueRefused | None = None
        for plan in candidates:
            if not kind & plan.kinds:
                continue
            try:
                return load(value, plan.msgspec_type)
            except ValueRefused as refused:
                refusal = refusal or refused
        if refusal is None:
            problem = say("no member of the union takes {type}", type=type(value).__name__)
            refusal = ValueRefused(problem)
        raise refusal

    def build(value: Any) -> Any:
        if type(value) not in (dict, list):
            return choose(value)
        known = _converted.get()
        if known is not None:
            return _choose_once(known, value, choose)
        before = _converted.set({})
        try:
            return choose(value)
        finally:
            _converted.reset(before)

    return build


_converted: ContextVar[dict[tuple[int, int], tuple[Any, Any]] | None]
_converted = ContextVar("converted", default=None)
"""The results and refusals of unions inside of another, by value and union.

Otherwise each level of a union that contains itself would double the work. The values are kept for
their ids' sake.
"""

_KINDS = {
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"integer", "number"}),
    type(None): frozenset({"null"}),
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
}


def plan_array(
    types: TypeReader,
    arguments: tuple[Any, ...],
    native: Any = list,
    container: Callable[[Any], Any] | None = None,
    exact: bool = True,
) -> TypePlan:
    """An array of one type.

    *native* is list, set, frozenset or tuple, *container* a class that msgspec does not know. Not
    *exact* means that a result may well be a tuple, which msgspec leaves in plain data; only a walk
    makes a list of it.
    """
    item = ANYTHING
    if arguments:
        item = types.plan_type(arguments[0])
    schema = {"type": "array", "items": item.schema}
    if types.direction == "output":
        care = item.check_level if exact and native is not tuple else max(item.check_level, WALK)
        return TypePlan(schema, _LIST[item.msgspec_type], ARRAY, check_level=care)
    # Of what cannot be in a set msgspec says so by a TypeError, as if the tool were at fault.
    if native in (set, frozenset) and item.kinds & (ARRAY | OBJECT):
        native, container = list, native
    inner = (item.msgspec_type, ...) if native is tuple else item.msgspec_type
    plan = TypePlan(
        schema,
        native[inner],
        ARRAY,
        item.is_identity and native is list,
        check_level=item.check_level,
    )
    if container is None:
        return plan
    return plan.build_with(container)


def plan_tuple(types: TypeReader, arguments: tuple[Any, ...]) -> TypePlan:
    """A tuple: an array of one type, or one with a type for each place."""
    if not arguments or (len(arguments) == 2 and arguments[1] is ...):
        return plan_array(types, arguments[:1], tuple)
    items = [types.plan_type(argument) for argument in arguments if argument != ()]
    schema = _make_tuple_schema([item.schema for item in items])
    native: Any = _TUPLE[tuple(item.msgspec_type for item in items)]
    care = WALK  # msgspec leaves tuples in plain data as they are; only a walk makes lists of them
    for item in items:
        care = max(care, item.check_level)
    return TypePlan(schema, native, ARRAY, check_level=care)


def plan_mapping(
    types: TypeReader, arguments: tuple[Any, ...], container: Callable[[Any], Any] | None = None
) -> TypePlan:
    """A JSON object with members of one type."""
    key, key_schema = _plan_key(types, arguments[0]) if arguments else (str, {})
    value = ANYTHING
    if len(arguments) > 1:
        value = types.plan_type(arguments[1])
    schema: Schema = {"type": "object"}
    if key_schema:
        schema["propertyNames"] = key_schema
    if value.schema:
        schema["additionalProperties"] = value.schema
    # msgspec calls no hook for keys.
    native = key.native if isinstance(key, DecodeHook) else key
    same = value.is_identity and native is str
    plan = TypePlan(schema, _DICT[native, value.msgspec_type], OBJECT, same, 1, value.check_level)
    if isinstance(key, DecodeHook):
        plan = plan.build_with(
            lambda members: {key.make(name): member for name, member in members.items()}
        )
    if container is None or types.direction == "output":
        return plan
    return plan.build_with(container)


def _plan_key(types: TypeReader, hint: Any) -> tuple[Any, Schema]:
    """The type of msgspec's for a key, and the schema of the keys."""
    plain_hint = unwrap_annotation(hint, types.names).hint
    if plain_hint in _KEYS:
        pattern, make = _KEYS[plain_hint]
        native = match_exactly(pattern)
        if types.direction != "output":
            native = make_hook(native, make)
        return native, {"pattern": pattern}
    plan = types.plan_type(hint)
    if plan is ANYTHING:
        return str, {}
    if plan.kinds != STRING:
        name = getattr(plain_hint, "__name__", plain_hint)
        raise Unsupported(f"keys of type {name} have no form in JSON", "use str keys")
    words = dict(plan.schema)
    words.pop("type", None)
    words.pop("description", None)
    return plan.msgspec_type, words


def _make_tuple_schema(schemas: list[Schema]) -> Schema:
    """The schema of a tuple. Draft-07 clients pass over `prefixItems` and read `items`, so both
    tell the truth.
    """
    distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]
    schema: Schema = {"type": "array", "minItems": len(schemas), "maxItems": len(schemas)}
    if len(distinct) > 1:
        schema["prefixItems"] = schemas
        schema["items"] = {"anyOf": distinct}
    else:
        schema["items"] = distinct[0] if distinct else {}
    return schema


_KEYS: dict[Any, tuple[str, Build]] = {
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
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping, collections.defaultdict)

CONTAINERS: dict[Any, Callable[[TypeReader, tuple[Any, ...]], TypePlan]] = {
    list: plan_array,
    **dict.fromkeys(_SEQUENCES, lambda types, arguments: plan_array(types, arguments, exact=False)),
    **dict.fromkeys(_SETS, lambda types, arguments: plan_array(types, arguments, set)),
    frozenset: lambda types, arguments: plan_array(types, arguments, frozenset),
    collections.deque: lambda types, arguments: plan_array(
        types, arguments, container=collections.deque
    ),
    tuple: plan_tuple,
    **dict.fromkeys(_MAPPINGS, plan_mapping),
    collections.OrderedDict: lambda types, arguments: plan_mapping(
        types, arguments, collections.OrderedDict
    ),
    collections.Counter: lambda types, arguments: plan_mapping(
        types, (*(arguments or (str,)), int), collections.Counter
    ),
}
