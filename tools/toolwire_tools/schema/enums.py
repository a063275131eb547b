"""Shapes of closed sets of values: `Literal` and `Enum`."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Literal

from toolwire_schemas.language import say

from .shape import ALL_KINDS, Direction, Refused, Schema, TypePlan, any_of
from .to_json import SCALARS, in_json

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORDS = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def literal(members: Sequence[Any], direction: Direction) -> TypePlan:
    """The shape of `Literal[members]`.

    Raises:
        TypeError: for a member that JSON has no form for.
    """
    return _choice([(_plain(member), member) for member in members], direction, None)


def enumeration(cls: type[enum.Enum], direction: Direction) -> TypePlan:
    """The shape of an Enum: its values, or its members' names if some value is no JSON scalar.

    Raises:
        TypeError: if it has no members.
    """
    if not len(cls):
        raise TypeError(f"{cls.__name__} has no members, so that nothing could be chosen")
    pairs = [(value, member) for member, value in in_json(cls).items()]
    natively = all(value == member.value for value, member in pairs)
    natively = natively and cls._missing_.__func__ is enum.Enum._missing_.__func__  # type: ignore[attr-defined]
    return _choice(pairs, direction, cls if natively else None)


def _plain(member: Any) -> Any:
    if isinstance(member, enum.Enum):
        return in_json(type(member))[member]
    if isinstance(member, SCALARS):
        return member
    raise TypeError(f"Literal member {member!r} has no form in JSON")


def _choice(pairs: list[tuple[Any, Any]], direction: Direction, cls: type[enum.Enum] | None) -> TypePlan:
    values = [value for value, _ in pairs]
    types = {type(value) for value in values}
    schema = one_of(values)
    kinds = frozenset(_WORDS[type_] for type_ in types)
    if float in types:
        kinds |= {"integer"}
    unchanged = all(value is member for value, member in pairs)
    # msgspec knows integers of 64 bits here.
    small = all(type(value) is not int or abs(value) < 2**63 for value in values)
    if direction != "lenient" and small and types <= {str, int, type(None)} and (unchanged or direction == "output"):
        return TypePlan(schema, Literal[tuple(values)], None, kinds, True)
    if direction == "input" and cls is not None and small and types in ({str}, {int}):
        return TypePlan(schema, cls, None, kinds)
    table = {(type(value) is bool, value): member for value, member in pairs}

    def build(value: Any) -> Any:
        try:
            return table[type(value) is bool, value]
        except (KeyError, TypeError):
            raise Refused(
                say("{value} is not one of {values}", value=repr(value), values=", ".join(map(repr, values)))
            ) from None

    return TypePlan(schema, Any, build, kinds or ALL_KINDS)


def one_of(values: Sequence[Any]) -> Schema:
    """The schema that allows exactly *values*, each with its type."""
    by_type: dict[str, list[Any]] = {}
    for value in values:
        by_type.setdefault(_WORDS[type(value)], []).append(value)
    if "number" in by_type and "integer" in by_type:
        by_type["number"] = [value for value in values if type(value) in (int, float)]
        del by_type["integer"]
    return any_of([_typed(word, allowed) for word, allowed in by_type.items()])


def _typed(word: str, allowed: list[Any]) -> Schema:
    if word == "null" or (word == "boolean" and len(set(allowed)) == 2):
        return {"type": word}
    return {"type": word, "enum": allowed}
