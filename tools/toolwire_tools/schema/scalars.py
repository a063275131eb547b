"""Shapes of the types whose JSON form is a single number, string, boolean or null.

Formats are published where both sides mean the same by them. A `datetime` argument must carry an offset, as
RFC 3339 and the format `date-time` demand; a `time` need not, so it has a pattern instead of the format. In
results, where tools return naive times, fractions of a second and negative durations, a format that strict
clients check would fail the call, so only `date` and `uuid` are promised.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
import sys
import uuid
from typing import TYPE_CHECKING, Annotated, Any, LiteralString

import msgspec
from toolwire_schemas.language import say

from .shape import NOT_CONVERTED, WALK, Direction, Refused, TypePlan, basic, guarded

if TYPE_CHECKING:
    from collections.abc import Callable

_EXACT = 2**53

_OFFSET = "(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
_HOURS = "([01][0-9]|2[0-3]):[0-5][0-9]"
TIME_PATTERN = rf"^{_HOURS}(:[0-5][0-9](\.[0-9]+)?)?{_OFFSET}?$"
DECIMAL_PATTERN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_DATE_TIME = rf"\A[0-9]{{4}}-(0[1-9]|1[0-2])-[0-9]{{2}}[Tt]{_HOURS}:[0-5][0-9](\.[0-9]+)?([zZ]|{_OFFSET})\Z"
_UUID = r"\A[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z"

STRING = frozenset({"string"})


def text(
    schema: dict[str, Any], native: Any = str, build: Callable[[Any], Any] | None = None, rank: int = 0
) -> TypePlan:
    """A shape whose JSON form is a string."""
    same = native is str and build is None
    return TypePlan({"type": "string", **schema}, native, build, STRING, same, rank)


def integral(value: Any) -> int:
    """Return an integer for a JSON number that JSON Schema calls one, such as 3.0."""
    if type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        if abs(value) <= _EXACT:
            return int(value)
        raise Refused(
            say("{value!r} is too large a fraction to be an exact integer; write out its digits", value=value)
        )
    raise Refused(say("{value!r} is not an integer", value=value))


_moment = guarded(lambda value: dt.datetime.fromisoformat(value.upper()))


def _datetime(direction: Direction) -> TypePlan:
    if direction == "output":
        return text({"description": "Date and time, ISO 8601."})
    return _datetime_clock(True, direction)


def _time(direction: Direction) -> TypePlan:
    if direction == "output":
        return text({"description": "Time of day, ISO 8601."})
    native = Annotated[str, msgspec.Meta(pattern=TIME_PATTERN.replace("$", r"\Z"))]
    return text({"pattern": TIME_PATTERN}, native, guarded(dt.time.fromisoformat)).with_schema(
        description="Time of day, such as 14:30 or 14:30:00+02:00."
    )


def _timedelta(direction: Direction) -> TypePlan:
    if direction == "output":
        return text({"description": "Duration, ISO 8601."})

    def build(value: str) -> dt.timedelta:
        if weeks := re.fullmatch("P([0-9]+)W", value):
            return dt.timedelta(weeks=int(weeks[1]))
        if value != value.upper():  # which msgspec would take, and the format does not
            raise Refused(say("{value!r} is no duration: its letters are capitals", value=value))
        try:
            return msgspec.convert(value, dt.timedelta)
        except msgspec.ValidationError as error:
            none = "{value!r} is no duration of weeks, days, hours, minutes and seconds: {error}"
            raise Refused(say(none, value=value, error=error)) from None

    return text({"format": "duration"}, str, guarded(build))


def _uuid(direction: Direction) -> TypePlan:
    native = Annotated[str, msgspec.Meta(pattern=_UUID)]
    return text({"format": "uuid"}, native, None if direction == "output" else uuid.UUID)


def _decimal(direction: Direction) -> TypePlan:
    as_text = {"type": "string", "pattern": DECIMAL_PATTERN}
    if direction == "output":
        return text(as_text, Annotated[str, msgspec.Meta(pattern=DECIMAL_PATTERN)])

    def build(value: Any) -> decimal.Decimal:
        if type(value) is str and not re.match(DECIMAL_PATTERN.replace("$", r"\Z"), value):
            raise Refused(say("{value!r} is not a decimal number", value=value))
        if type(value) not in (str, int, float):
            raise Refused(say("{value!r} is not a number", value=value))
        return decimal.Decimal(repr(value) if type(value) is float else value)

    schema = {"anyOf": [as_text, {"type": "number"}]}
    return TypePlan(schema, Any, guarded(build), frozenset({"string", "integer", "number"}))


def _bytes(make: Callable[[bytes], Any] | None) -> Callable[[Direction], TypePlan]:
    def shape(direction: Direction) -> TypePlan:
        # After str in a union: many a plain word is valid base64.
        native: Any = bytes if direction == "input" else str
        build: Any = {"input": make, "lenient": decoded, "output": None}[direction]
        return msgspec.structs.replace(text({"contentEncoding": "base64"}, native, build, rank=2), is_identity=False)

    def decoded(value: str) -> Any:
        data = _from_base64(value)
        return data if make is None else make(data)

    return shape


def _from_base64(value: str) -> bytes:
    try:
        return msgspec.convert(value, bytes)
    except NOT_CONVERTED:
        none = "{value!r} is no Base64, with padding and without spaces, such as 'YWI='"
        raise Refused(say(none, value=value[:40])) from None


def _datetime_clock(aware: bool, direction: Direction) -> TypePlan:
    if aware:
        build = None if direction == "output" else _moment
        return text({"format": "date-time"}, Annotated[str, msgspec.Meta(pattern=_DATE_TIME)], build)
    if direction == "output":
        return text({"description": "Date and time, ISO 8601."}, Annotated[dt.datetime, msgspec.Meta(tz=False)])
    return text(
        {"description": "Date and time without an offset, such as 2026-03-01T09:00:00."},
        Annotated[dt.datetime, msgspec.Meta(tz=False)],
    )


def _time_clock(aware: bool, direction: Direction) -> TypePlan:
    native = Annotated[dt.time, msgspec.Meta(tz=aware)]
    return text({"format": "time"} if aware else {"description": "Time of day, such as 14:30:00."}, native)


CLOCKS: dict[Any, Callable[[bool, Direction], TypePlan]] = {
    dt.datetime: _datetime_clock,
    dt.time: _time_clock,
}
"""Shapes of times that must have an offset, or must not."""

ANYTHING = TypePlan({}, Any, is_identity=True, union_order=3, check_level=WALK)
_SCALARS: dict[Any, Callable[[Direction], TypePlan]] = {
    **dict.fromkeys((Any, object), lambda _: ANYTHING),
    int: lambda _: TypePlan({"type": "integer"}, Any, integral, frozenset({"integer"})),  # 3.0 is one
    LiteralString: lambda _: text({}, rank=1),
    bytes: _bytes(None),
    bytearray: _bytes(bytearray),
    memoryview: _bytes(memoryview),
    dt.datetime: _datetime,
    dt.date: lambda _: text({"format": "date"}, dt.date),
    dt.time: _time,
    dt.timedelta: _timedelta,
    uuid.UUID: _uuid,
    decimal.Decimal: _decimal,
}


def scalar(hint: Any, direction: Direction) -> TypePlan | None:
    """Return the plan of a type whose JSON form is a single value, or that takes any; None for other hints."""
    plan = basic(hint, direction)
    return _SCALARS[hint](direction) if plan is None and hint in _SCALARS else plan


# Classes of modules that are not imported for the sake of a table: found by name, built from a string.
_FORMATS = {
    "ipaddress.IPv4Address": "ipv4",
    "ipaddress.IPv6Address": "ipv6",
    "zoneinfo.ZoneInfo": None,
}


def _path(given: str) -> Any:
    from pathlib import Path  # expensive, and not needed by descriptions

    return Path(given)


def from_text(cls: type, direction: Direction) -> TypePlan | None:
    """Return the shape of a class that is made from one string: paths, addresses, time zones, subclasses of str."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    build = None if direction == "output" else guarded(cls, private=name not in _FORMATS)
    if name in _FORMATS:
        found = _FORMATS[name]
        return text({"format": found} if found else {}, str, build)
    if name == "os.PathLike":
        return text({}, str, None if direction == "output" else _path, rank=1)
    if cls.__module__.partition(".")[0] == "pathlib" or issubclass(cls, str):
        return text({}, str, build, rank=1)
    if pathlib_ := sys.modules.get("pathlib"):
        return text({}, str, build, rank=1) if issubclass(cls, pathlib_.PurePath) else None
    return None
