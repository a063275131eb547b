"""What `Annotated[...]` says of a type: texts, constraints, and how a plan is narrowed by them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from toolwire_schemas.language import say

from .shape import Refused, Schema, TypePlan, guarded, is_field

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXTS = ("title", "description", "examples")
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
COMPARISONS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "ge": (operator.ge, "must be at least {limit}"),
    "gt": (operator.gt, "must be greater than {limit}"),
    "le": (operator.le, "must be at most {limit}"),
    "lt": (operator.lt, "must be less than {limit}"),
    "multiple_of": (lambda value, limit: not value % limit, "must be a multiple of {limit}"),
    "min_length": (lambda value, limit: len(value) >= limit, "must be no shorter than {limit}"),
    "max_length": (lambda value, limit: len(value) <= limit, "must be no longer than {limit}"),
}
"""Constraints that Python can check where msgspec cannot, with what is said if one does not hold."""
_CONSTRAINTS = (*COMPARISONS, "pattern", "tz")


class Constraints(msgspec.Struct, frozen=True):
    """Texts and constraints collected from one annotation, the outermost winning."""

    texts: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    """Members for the JSON Schema, exactly as the author wrote them."""

    def over(self, inner: Constraints) -> Constraints:
        """These notes, and *inner* where these say nothing."""
        return Constraints(inner.texts | self.texts, inner.constraints | self.constraints, inner.schema | self.schema)


def read(metadata: tuple[Any, ...]) -> Constraints:
    """Return what the members of an `Annotated[...]` after the first say; unknown ones are passed over."""
    texts: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for item in _flat(metadata):
        if isinstance(item, str):
            texts["description"] = item
        elif isinstance(item, msgspec.Meta):
            texts |= _set(item, _TEXTS)
            constraints |= _set(item, _CONSTRAINTS)
            schema |= item.extra_json_schema or {}
        elif isinstance(text := getattr(item, "documentation", None), str):
            texts["description"] = text
        elif not isinstance(item, type):
            constraints |= _set(item, (*_CONSTRAINTS, *(() if is_field(item) else ("tz",))))
            if is_field(item):
                texts |= _set(item, _TEXTS)
    return Constraints(texts, constraints, schema)


def only_describes(field: Any) -> bool:
    """True if a pydantic field says nothing that `read` would lose: no alias, no validator, no strictness."""
    known = {"annotation", "default", "default_factory", "description", "title", "examples", "metadata"}
    said = set(getattr(field, "_attributes_set", known)) - {"annotation"}
    plain = all(any(hasattr(item, name) for name in _CONSTRAINTS) for item in field.metadata)
    strict = any(hasattr(item, "strict") for item in field.metadata)
    return plain and not strict and said <= known | set(_CONSTRAINTS)


def _flat(metadata: tuple[Any, ...]) -> list[Any]:
    """The members, with `Interval`, `Len` and pydantic's fields replaced by the single constraints in them."""
    flat: list[Any] = []
    for item in metadata:
        if is_field(item):
            flat += [*_flat(tuple(item.metadata)), item]
        elif hasattr(item, "__is_annotated_types_grouped_metadata__"):
            flat += list(item)
        else:
            flat.append(item)
    return flat


def _set(item: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(item, name, None)) is not None}


def constrain(shape: TypePlan, constraints: dict[str, Any]) -> TypePlan:
    """The shape narrowed by msgspec's constraints (`ge`, `max_length`, `pattern`, …).

    Raises:
        TypeError: if one of them says nothing about such a type.
    """
    words = _words(shape)
    if "maxItems" in shape.schema:  # a tuple with a type for each place
        raise TypeError("its length is settled already")
    if unknown := constraints.keys() - words.keys():
        raise TypeError(f"the constraint {min(unknown)} does not fit the type")
    narrowed = msgspec.structs.replace(shape, msgspec_type=Annotated[shape.msgspec_type, msgspec.Meta(**constraints)])
    return narrowed.with_schema(**_in_words(shape, constraints))


def _in_words(shape: TypePlan, constraints: dict[str, Any]) -> Schema:
    """The members of a schema that say the same as *constraints*, as far as it can say it."""
    words = _words(shape)
    limit = _in_base64 if "contentEncoding" in shape.schema else _json
    return {words[name]: limit(value) for name, value in constraints.items() if name in words}


def _in_base64(length: int) -> int:
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
            holds, problem = COMPARISONS[name]
            if not holds(built, limit):
                raise Refused(say(problem, limit=limit))
        return built

    checked = msgspec.structs.replace(shape, convert=guarded(build), is_identity=False)
    return checked.with_schema(**_in_words(shape, constraints))
