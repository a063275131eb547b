"""Plans of the types whose JSON form is a single number, string, boolean or null, `Literal` and
`Enum` among them.

Formats are published where both sides mean the same by them. The formats `date-time` and `time`
demand an offset, and `duration` allows neither a sign nor fractions of a second, but tools return
and models send all of these. So arguments have patterns instead, and a format only where the author
demands an offset. In results, where a format or pattern that strict clients check would fail the
call, only `date` and `uuid` are promised.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import functools
import os
import re
import uuid
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal, LiteralString

import msgspec
from toolwire_schemas.json_schema.member_names import write_listing
from toolwire_schemas.language import say

from .shape import (
    ALL_KINDS,
    QUICK,
    WALK,
    Direction,
    Schema,
    TypePlan,
    ValueRefused,
    load,
    make_any_of,
    make_hook,
    plan_basic,
)
from .to_json import SCALARS, is_pure_path, map_enum_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STRING = frozenset({"string"})

_NAMES_TYPES = "TOOLWIRE_NAME_TYPES" in os.environ
"""Whether schemas name the types of texts that no keyword tells apart: `toolwire list` sets the
variable.

They do not for clients: a keyword or format that one does not know makes some APIs of models refuse
all tools.
"""

_HOURS = "([01][0-9]|2[0-3]):[0-5][0-9]"
_OFFSET = rf"[+-]{_HOURS}"
_CLOCK = rf"{_HOURS}(:[0-5][0-9](\.[0-9]+)?)?"
ANY_TIME = rf"^{_CLOCK}(Z|{_OFFSET})?$"
_DECIMAL = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_DATE = "[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}"
_AWARE_MOMENT = rf"^{_DATE}[Tt]{_HOURS}:[0-5][0-9](\.[0-9]+)?([zZ]|{_OFFSET})$"
NAIVE_MOMENT = rf"^{_DATE}[Tt ]{_CLOCK}$"
ANY_MOMENT = rf"^{_DATE}[Tt ]{_CLOCK}([zZ]|{_OFFSET})?$"
DURATION = r"^[+-]?P([0-9]+W|([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?)$"
_UUID = r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$"


def match_exactly(pattern: str) -> Any:
    """Return msgspec's type of a string that matches *pattern*, in which `$` is the very end."""
    return Annotated[str, msgspec.Meta(pattern=pattern.replace("$", r"\Z"))]


def _plan_text(schema: Schema, native: Any = str, rank: int = 0) -> TypePlan:
    return TypePlan({"type": "string", **schema}, native, STRING, native is str, rank)


def _with_name(plan: TypePlan, name: str) -> TypePlan:
    """The same plan, whose schema names the type of Python if that was asked for."""
    if _NAMES_TYPES:
        return plan.with_schema(**{"x-toolwire-type": name})
    return plan


def _plan_pattern(pattern: str, description: str) -> TypePlan:
    return _plan_text({"pattern": pattern}, match_exactly(pattern)).describe_type(description)


def _parse_moment(value: str) -> dt.datetime:
    return dt.datetime.fromisoformat(value.upper())


def _parse_duration(value: str) -> dt.timedelta:
    if weeks := re.fullmatch("([+-]?)P([0-9]+)W", value):
        return dt.timedelta(weeks=int(weeks[1] + weeks[2]))
    # To exclude "P" and "PT" would double the pattern's length, or take a look ahead, which Go and
    # OpenAI do not have.
    if value[-1] in "PT":
        value = value.removesuffix("T") + "T0S"
    made: dt.timedelta = load(value, dt.timedelta)
    return made


ANYTHING = TypePlan({}, Any, is_identity=True, union_order=3, check_level=WALK)

Plans = tuple[TypePlan, TypePlan]
"""For arguments, and for results."""


def _plan_anything() -> Plans:
    return ANYTHING, ANYTHING


def _plan_literal_text() -> Plans:
    plan = _plan_text({}, rank=1)
    return plan, plan


def _plan_base64(kind: type) -> Plans:
    schema = {"contentEncoding": "base64"}
    # After str in a union: many a plain word is valid base64.
    return _plan_text(schema, kind, 2), _plan_text(schema, rank=2)


def _plan_moments() -> Plans:
    given = _plan_pattern(
        ANY_MOMENT,
        "Date and time, such as 2026-03-01T09:00:00, with an offset if known:"
        " 2026-03-01T09:00:00+02:00.",
    )
    return given.build_with(_parse_moment), _plan_text({"description": "Date and time, ISO 8601."})


def _plan_dates() -> Plans:
    plan = _plan_text({"format": "date"}, dt.date)
    return plan, plan


def _plan_times() -> Plans:
    given = _plan_pattern(ANY_TIME, "Time of day, such as 14:30 or 14:30:00+02:00.")
    return given.build_with(dt.time.fromisoformat), _plan_text(
        {"description": "Time of day, ISO 8601."}
    )


def _plan_durations() -> Plans:
    given = _plan_pattern(DURATION, "Duration, such as P1DT2H30M or -PT0.5S.")
    return given.build_with(_parse_duration), _plan_text({"description": "Duration, ISO 8601."})


def _plan_uuids() -> Plans:
    plan = _plan_text({"format": "uuid"}, match_exactly(_UUID))
    return plan.build_with(uuid.UUID), plan


def _plan_decimals() -> Plans:
    numeral = _plan_text({"pattern": _DECIMAL}, match_exactly(_DECIMAL))
    number = TypePlan(
        make_any_of([numeral.schema, {"type": "number"}]),
        numeral.msgspec_type | int | float,
        frozenset({"string", "integer", "number"}),
    )
    return number.build_with(
        lambda value: decimal.Decimal(repr(value) if type(value) is float else value)
    ), numeral


_MAKERS: dict[Any, Callable[[], Plans]] = {
    Any: _plan_anything,
    object: _plan_anything,
    LiteralString: _plan_literal_text,
    **{kind: functools.partial(_plan_base64, kind) for kind in (bytes, bytearray, memoryview)},
    dt.datetime: _plan_moments,
    dt.date: _plan_dates,
    dt.time: _plan_times,
    dt.timedelta: _plan_durations,
    uuid.UUID: _plan_uuids,
    decimal.Decimal: _plan_decimals,
}
"""Make the plans of a type when it is first used: msgspec compiles the patterns, which takes as
long as importing this file.
"""


@functools.cache
def _find_plans(kind: Any) -> Plans:
    return _MAKERS[kind]()


_NAMED = frozenset((dt.datetime, dt.date, dt.time, dt.timedelta, uuid.UUID))

CLOCKS = frozenset((dt.datetime, dt.time))
"""The types whose values may have an offset."""


@functools.cache
def plan_clock(kind: Any, *, has_offset: bool) -> Plans:
    """Return the plans of one of `CLOCKS`, whose values must have an offset, or must not."""
    if kind is dt.datetime:
        if has_offset:
            aware = _plan_text({"format": "date-time"}, match_exactly(_AWARE_MOMENT))
            return aware.build_with(_parse_moment), aware
        naive = _plan_pattern(
            NAIVE_MOMENT, "Date and time without an offset, such as 2026-03-01T09:00:00."
        )
        return _with_name(naive.build_with(_parse_moment), "datetime"), _with_name(
            naive, "datetime"
        )
    native = Annotated[dt.time, msgspec.Meta(tz=has_offset)]
    if has_offset:
        plan = _plan_text({"format": "time"}, native)
    else:
        plan = _with_name(
            _plan_text({"description": "Time of day, such as 14:30:00."}, native), "time"
        )
    return plan, plan


def plan_scalar(hint: Any, direction: Direction) -> TypePlan | None:
    """Return the plan of a type whose JSON form is a single value, or that takes any; None for
    other hints.
    """
    plan = plan_basic(hint, direction)
    if plan is not None or hint not in _MAKERS:
        return plan
    found = _find_plans(hint)[direction == "output"]
    if hint in _NAMED:
        return _with_name(found, hint.__name__)
    return found


# Classes of modules that are not imported for the sake of a table: found by name, built from a
# string.
_FORMATS = {
    "ipaddress.IPv4Address": {"format": "ipv4"},
    "ipaddress.IPv6Address": {"format": "ipv6"},
    "zoneinfo.ZoneInfo": {},
}


def from_text(cls: type, direction: Direction) -> TypePlan | None:
    """Return the plan of a class that is made from one string: paths, addresses, time zones,
    subclasses of str.
    """
    name = f"{cls.__module__}.{cls.__qualname__}"
    is_path = (
        name == "os.PathLike" or cls.__module__.partition(".")[0] == "pathlib" or is_pure_path(cls)
    )
    if name in _FORMATS:
        plan = _plan_text(_FORMATS[name])
    elif is_path:
        plan = _with_name(_plan_text({}, rank=1), "Path")
    elif issubclass(cls, str):
        plan = _plan_text({}, rank=1)
    else:
        return None
    if direction == "output":
        return plan
    if name == "os.PathLike":  # pathlib is expensive, and not needed by descriptions
        return plan.build_with(lambda given: import_module("pathlib").Path(given))
    return plan.build_with(cls, private=name not in _FORMATS)


# Closed sets of values

_WORDS = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def plan_literal(members: Sequence[Any], direction: Direction) -> TypePlan:
    """The plan of `Literal[members]`.

    Raises:
        TypeError: for a member that JSON has no form for.
    """
    return _with_names([(_make_plain(member), member) for member in members], direction, None)


def plan_enumeration(cls: type[enum.Enum], direction: Direction) -> TypePlan:
    """The plan of an Enum: its values, or its members' names if some value is no JSON scalar.

    Raises:
        TypeError: if it has no members.
    """
    if not len(cls):
        raise TypeError(f"{cls.__name__} has no members, so that nothing could be chosen")
    pairs = [(value, member) for member, value in map_enum_values(cls).items()]
    is_native = all(value == member.value for value, member in pairs)
    if is_native:  # unless it takes other values, too
        is_native = cls._missing_.__func__ is enum.Enum._missing_.__func__  # type: ignore[attr-defined]
    return _with_names(pairs, direction, cls if is_native else None)


def _with_names(
    pairs: list[tuple[Any, Any]], direction: Direction, cls: type[enum.Enum] | None
) -> TypePlan:
    """The plan of a choice, with the names of members that are numbers."""
    named = [
        (value, member.name)
        for value, member in pairs
        if isinstance(member, enum.Enum) and type(value) in (int, float)
    ]
    plan = _plan_choice(pairs, direction, cls)
    if named:
        return plan.describe_type(write_listing(named))
    return plan


def _make_plain(member: Any) -> Any:
    if isinstance(member, enum.Enum):
        return map_enum_values(type(member))[member]
    if isinstance(member, SCALARS):
        return member
    raise TypeError(f"Literal member {member!r} has no form in JSON")


def _plan_choice(
    pairs: list[tuple[Any, Any]], direction: Direction, cls: type[enum.Enum] | None
) -> TypePlan:
    values = [value for value, _ in pairs]
    types = {type(value) for value in values}
    schema = make_choice_schema(values)
    kinds = frozenset(_WORDS[type_] for type_ in types)
    if float in types:
        kinds |= {"integer"}
    # Of an Enum whose members go by their names msgspec would send the values.
    care = WALK
    if all(value == getattr(member, "value", value) for value, member in pairs):
        care = QUICK
    if all(map(_is_within_64_bits, values)):  # others are unknown to msgspec
        is_unchanged = direction == "output" or all(value is member for value, member in pairs)
        if is_unchanged and types <= {str, int, type(None)}:
            return TypePlan(schema, Literal[tuple(values)], kinds, True, check_level=care)
        if cls is not None and types in ({str}, {int}):
            return TypePlan(schema, cls, kinds)
    native = make_hook(Any, _make_member_finder(pairs))
    return TypePlan(schema, native, kinds or ALL_KINDS, check_level=care)


def _is_within_64_bits(value: Any) -> bool:
    return type(value) is not int or abs(value) < 2**63


def _make_member_finder(pairs: list[tuple[Any, Any]]) -> Callable[[Any], Any]:
    """Return a function that returns the member of a value, and refuses other values."""
    # For Python, True is 1, and False is 0.
    members = {(type(value) is bool, value): member for value, member in pairs}

    def find_member(value: Any) -> Any:
        try:
            return members[type(value) is bool, value]
        except (KeyError, TypeError):
            known = ", ".join(repr(value) for value, _ in pairs)
            problem = say("{value} is not one of {values}", value=repr(value), values=known)
            raise ValueRefused(problem) from None

    return find_member


def make_choice_schema(values: Sequence[Any]) -> Schema:
    """The schema that allows exactly *values*, each with its type."""
    by_type: dict[str, list[Any]] = {}
    for value in values:
        by_type.setdefault(_WORDS[type(value)], []).append(value)
    if "number" in by_type and "integer" in by_type:
        by_type["number"] = [value for value in values if type(value) in (int, float)]
        del by_type["integer"]
    every = {"null": 1, "boolean": 2}  # how many values these types have
    schemas: list[Schema] = []
    for word, allowed in by_type.items():
        schema: Schema = {"type": word}
        if len(set(allowed)) != every.get(word):
            schema["enum"] = allowed
        schemas.append(schema)
    return make_any_of(schemas)
