"""What `Annotated[...]` says of a type: texts, constraints, and how a plan is narrowed by them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from toolwire_schemas.language import say

from .annotations import get_origin
from .shape import (
    JUDGE,
    DecodeHook,
    Direction,
    TypePlan,
    Unsupported,
    ValueRefused,
    is_field,
    make_hook,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container

_TEXTS = ("title", "description", "examples")
_NUMBER_WORDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_WORDS = {
    "integer": _NUMBER_WORDS,
    "number": _NUMBER_WORDS,
    "string": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}


def _is_multiple(value: Any, step: Any) -> bool:
    from fractions import Fraction

    if not isinstance(value, int | float):
        return not value % step
    # As written, 19.99 is a multiple of 0.01; the binary fractions are not.
    return not Fraction(str(value)) % Fraction(str(step))


COMPARISONS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "ge": (operator.ge, "must be at least {limit}"),
    "gt": (operator.gt, "must be greater than {limit}"),
    "le": (operator.le, "must be at most {limit}"),
    "lt": (operator.lt, "must be less than {limit}"),
    "multiple_of": (_is_multiple, "must be a multiple of {limit}"),
    "min_length": (lambda value, limit: len(value) >= limit, "must be no shorter than {limit}"),
    "max_length": (lambda value, limit: len(value) <= limit, "must be no longer than {limit}"),
}
"""Constraints that Python can check where msgspec cannot, with the message if one does not hold."""
_CONSTRAINTS = (*COMPARISONS, "pattern", "tz")


class Constraints(NamedTuple):
    """What one annotation says: texts, constraints, and members for the JSON Schema as the author
    wrote them.
    """

    texts: dict[str, Any]
    constraints: dict[str, Any]
    schema: dict[str, Any]


def read(metadata: tuple[Any, ...]) -> Constraints:
    """Return what the members of an `Annotated[...]` after the first say; the last wins, unknown
    ones are ignored.
    """
    texts: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for item in _flatten(metadata):
        if isinstance(item, str):
            texts["description"] = item
        elif isinstance(item, msgspec.Meta):
            texts |= _set(item, _TEXTS)
            constraints |= _set(item, _CONSTRAINTS)
            schema |= item.extra_json_schema or {}
        elif isinstance(text := getattr(item, "documentation", None), str):
            texts["description"] = text
        elif not isinstance(item, type):
            constraints |= _set(item, _CONSTRAINTS)
            if is_field(item):
                texts |= _set(item, _TEXTS)
            else:
                constraints |= _set(item, ("tz",))
    return Constraints(texts, constraints, schema)


def is_only_descriptive(field: Any) -> bool:
    """True if a pydantic field says nothing that `read` would lose: no alias, no validator, no
    strictness.
    """
    known = {
        "annotation",
        "default",
        "default_factory",
        "description",
        "title",
        "examples",
        "metadata",
    }
    said = set(getattr(field, "_attributes_set", known)) - {"annotation"}
    plain = all(any(hasattr(item, name) for name in _CONSTRAINTS) for item in field.metadata)
    strict = any(hasattr(item, "strict") for item in field.metadata)
    return plain and not strict and said <= known | set(_CONSTRAINTS)


def _flatten(metadata: tuple[Any, ...]) -> list[Any]:
    """The members, with `Interval`, `Len` and pydantic's fields replaced by the single constraints
    in them.
    """
    flat: list[Any] = []
    for item in metadata:
        if is_field(item):
            flat += [*_flatten(tuple(item.metadata)), item]
        elif hasattr(item, "__is_annotated_types_grouped_metadata__"):
            flat += list(item)
        else:
            flat.append(item)
    return flat


def _set(item: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(item, name, None)) is not None}


def list_keywords(plan: TypePlan) -> dict[str, str]:
    """Return the keywords of JSON Schema for the constraints that *plan* may have there."""
    return _WORDS.get(str(plan.schema.get("type")), {})


def narrow(plan: TypePlan, constraints: dict[str, Any], direction: Direction) -> TypePlan:
    """The plan narrowed by constraints (`ge`, `max_length`, `pattern`, …).

    msgspec checks those of numbers, strings, lists and dicts. The others are checked in Python once
    the author's value is made: neither a set nor bytes are as long as their JSON.

    Raises:
        Unsupported: if one of them says nothing about such a type.
    """
    words = list_keywords(plan)
    convert: Callable[[Any], Any] = _convert_to_json
    if "contentEncoding" in plan.schema:
        convert = _measure_base64
    schema = {}
    for name, value in constraints.items():
        if name in words:
            schema[words[name]] = convert(value)
    native = _constrain_natively(plan, constraints)
    if native is not None:
        return msgspec.structs.replace(plan, msgspec_type=native).with_schema(**schema)
    is_counted = plan.kinds & {"array", "object"}
    fitting: Container[str] = ()
    if is_counted:
        fitting = words
    elif plan.kinds & _COMPARED:
        fitting = COMPARISONS
    unfit = [name for name in constraints if name not in fitting]
    if unfit:
        problem = f"the constraint {min(unfit)} does not fit the type"
        raise Unsupported(problem, "remove it, or put it on a type it fits")
    if direction == "output" and not is_counted:  # the schema alone says it, if it can be said
        if schema:
            return msgspec.structs.replace(plan, check_level=JUDGE).with_schema(**schema)
        return plan
    native = make_hook(plan.msgspec_type, _make_check(constraints))
    return msgspec.structs.replace(plan, msgspec_type=native).with_schema(**schema)


def _measure_base64(length: int) -> int:
    """Return how long *length* bytes are in base64."""
    return 4 * ((length + 2) // 3)


_COMPARED = {"string", "integer", "number"}


def _constrain_natively(plan: TypePlan, constraints: dict[str, Any]) -> Any:
    """Return the native type of *plan* with *constraints*, or None if msgspec cannot check them as
    the schema does.
    """
    kind = plan.schema.get("type")
    is_known = kind in _COMPARED or get_origin(plan.msgspec_type) in (list, dict)
    if (
        not is_known
        or "contentEncoding" in plan.schema
        or constraints.keys() - list_keywords(plan).keys()
    ):
        return None
    if kind == "number" and "multiple_of" in constraints:  # msgspec divides in binary
        return None
    hook = None
    if isinstance(plan.msgspec_type, DecodeHook):
        hook = plan.msgspec_type
    narrowed: Any = Annotated[
        hook.native if hook else plan.msgspec_type, msgspec.Meta(**constraints)
    ]
    try:
        msgspec.convert(None, narrowed | None)
    except (TypeError, ValueError):  # ValueError: integers beyond 64 bits
        return None
    if hook:
        return make_hook(narrowed, hook.make, private=hook.private)
    return narrowed


def _convert_to_json(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def _make_check(constraints: dict[str, Any]) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        for name, limit in constraints.items():
            holds, problem = COMPARISONS[name]
            if not holds(value, limit):
                raise ValueRefused(say(problem, limit=limit))
        return value

    return check
