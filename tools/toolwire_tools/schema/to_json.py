"""Python values as plain JSON data: dictionaries with string keys, lists, strings, exact numbers,
booleans and None.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import sys
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ..content import Content, encode_base64
from ..errors import OutputError

_LEAVES = {str, int, bool, type(None)}
_MAX_DEPTH = 200
SCALARS = (str, int, float, type(None))


class NotJsonable(ValueError):
    """A value that JSON cannot express; *path* leads to it."""

    def __init__(self, sentence: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.path = path


def to_jsonable(value: Any, depth: int = 0) -> Any:
    """Return *value* as plain JSON data. The value itself is never changed.

    Raises:
        NotJsonable: for NaN, infinities, objects of unknown types, content blocks, keys that are
            equal in JSON, and nesting beyond 200 levels.
    """
    kind = type(value)
    if kind in _LEAVES:
        return value
    if depth > _MAX_DEPTH:
        raise NotJsonable(f"nested more than {_MAX_DEPTH} levels deep")
    if isinstance(kind, enum.EnumMeta):  # before str and int, which an Enum may also be
        if isinstance(value, enum.Flag):
            return value.value
        return map_enum_values(kind)[value]
    for cls in kind.__mro__:
        if make := _TABLE.get(cls):
            return make(value, depth + 1)
    for recognised, make in _BY_LOOKS:
        if recognised(kind):
            return make(value, depth + 1)
    if hasattr(kind, "__await__"):
        raise NotJsonable(
            f"is of type {kind.__name__} and was never awaited; write `await` before it"
        )
    raise NotJsonable(f"{kind.__name__} has no form in JSON")


_SHOWN = 20
"""Steps of a place in messages: data that contains itself is hundreds of levels deep."""


def make_plain_result(value: Any) -> Any:
    """Return the value of a tool as plain JSON data.

    Raises:
        OutputError: naming the place of what JSON cannot express.
    """
    try:
        return to_jsonable(value)
    except NotJsonable as error:
        from toolwire_schemas.json_schema.error_text import format_place

        steps, further = error.path[:_SHOWN], "…" if len(error.path) > _SHOWN else ""
        raise OutputError([(format_place("result", steps) + further, error.sentence)]) from None
    except RecursionError:
        raise OutputError([("result", "is nested too deeply")]) from None


def _convert_array(values: Any, depth: int) -> list[Any]:
    # The kinds are collected at the speed of C; only what is not plain already is visited.
    if set(map(type, values)) <= _LEAVES:
        return list(values)
    made = []
    for index, value in enumerate(values):
        try:
            made.append(value if type(value) in _LEAVES else to_jsonable(value, depth))
        except NotJsonable as error:
            raise NotJsonable(error.sentence, (index, *error.path)) from None
    return made


def _convert_object(mapping: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    made = {}
    for key, value in mapping.items():
        name = key if type(key) is str else _convert_key(key)
        try:
            made[name] = value if type(value) in _LEAVES else to_jsonable(value, depth)
        except NotJsonable as error:
            raise NotJsonable(error.sentence, (name, *error.path)) from None
    if len(made) < len(mapping):
        raise NotJsonable("two of its keys are the same in JSON")
    return made


def _convert_key(key: Any) -> str:
    if isinstance(key, bool):
        if key:
            return "true"
        return "false"
    if key is None:
        return "null"
    name = to_jsonable(key)
    if isinstance(name, str | int | float):
        return str(name)
    raise NotJsonable(f"a key of type {type(key).__name__} has no form in JSON")


def _convert_float(value: float, _: int) -> float:
    if not math.isfinite(value):
        raise NotJsonable(f"{value} has no form in JSON")
    return float(value)


def _convert_tuple(value: tuple[Any, ...], depth: int) -> Any:
    names = getattr(value, "_fields", None)
    if names is None:
        return _convert_array(value, depth)
    return _convert_object(dict(zip(names, value, strict=True)), depth)


def _convert_decimal(value: decimal.Decimal, _: int) -> str:
    if not value.is_finite():
        raise NotJsonable(f"{value} has no form in JSON")
    return str(value)


def _convert_by_msgspec(value: Any, _: int) -> Any:
    try:
        return msgspec.to_builtins(value)
    except (
        TypeError
    ):  # of a subclass, which msgspec does not know: pandas.Timestamp, pendulum.DateTime
        if isinstance(value, bytes | bytearray):
            return encode_base64(bytes(value))
        if isinstance(value, dt.timedelta):
            return str(
                msgspec.to_builtins(dt.timedelta(value.days, value.seconds, value.microseconds))
            )
        if value != value:  # pandas.NaT
            raise NotJsonable(f"{value} has no form in JSON") from None
        return str(value.isoformat())


def _convert_content(value: Content, _: int) -> Any:
    name = type(value).__name__
    raise NotJsonable(
        f"{name} is content of the answer and no data; return it by itself, or a list[{name}]"
    )


def map_enum_values(cls: type[enum.Enum]) -> dict[Any, Any]:
    """Return the JSON value of each member of *cls*."""
    by_value = all(isinstance(member.value, SCALARS) for member in cls)
    return {member: _strip_mixin(member.value) if by_value else member.name for member in cls}


def _strip_mixin(value: Any) -> Any:
    """The value without the subclass that a mixed-in Enum may have made of it."""
    for plain in (bool, str, int, float):
        if isinstance(value, plain):
            if not isinstance(value, enum.Enum):
                return plain(value)
            return plain(value.value)
    return value


def _convert_struct(value: msgspec.Struct, depth: int) -> Any:
    cls = type(value)
    config = cls.__struct_config__
    made: dict[Any, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    for name, key in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):
        if (member := getattr(value, name)) is not msgspec.UNSET:
            made[key] = member
    if config.array_like:
        return _convert_array(list(made.values()), depth)
    if config.omit_defaults:
        kept = msgspec.to_builtins(value, enc_hook=str, str_keys=True)
        made = {key: member for key, member in made.items() if key in kept}
    return _convert_object(made, depth)


def _convert_dataclass(value: Any, depth: int) -> Any:
    fields = type(value).__dataclass_fields__.items()  # among them InitVars and ClassVars
    return _convert_object(
        {
            name: getattr(value, name)
            for name, field in fields
            if field._field_type.name == "_FIELD"
        },
        depth,
    )


def _convert_attrs(value: Any, depth: int) -> Any:
    return _convert_object(
        {field.name: getattr(value, field.name) for field in type(value).__attrs_attrs__}, depth
    )


def _convert_model(value: Any, depth: int) -> Any:
    return to_jsonable(value.model_dump(mode="json", by_alias=True), depth)


def _convert_by_pydantic(value: Any, depth: int) -> Any:
    from pydantic import TypeAdapter

    return to_jsonable(
        TypeAdapter(type(value)).dump_python(value, mode="json", by_alias=True), depth
    )


def is_pure_path(kind: Any) -> bool:
    """True for a class of `pathlib`, or one made from it."""
    pathlib = sys.modules.get("pathlib")
    return pathlib is not None and issubclass(kind, pathlib.PurePath)


Make = Callable[[Any, int], Any]

_TABLE: dict[type, Make] = {
    int: lambda value, _: int(value),
    float: _convert_float,
    str: lambda value, _: str.__str__(value),
    dict: _convert_object,
    list: _convert_array,
    tuple: _convert_tuple,
    set: _convert_array,
    frozenset: _convert_array,
    bytes: _convert_by_msgspec,
    bytearray: _convert_by_msgspec,
    memoryview: lambda value, _: encode_base64(bytes(value)),
    dt.datetime: _convert_by_msgspec,
    dt.date: _convert_by_msgspec,
    dt.time: _convert_by_msgspec,
    dt.timedelta: _convert_by_msgspec,
    uuid.UUID: lambda value, _: str(value),
    decimal.Decimal: _convert_decimal,
    Content: _convert_content,
    msgspec.Struct: _convert_struct,
}

_BY_LOOKS: list[tuple[Callable[[Any], bool], Make]] = [
    (lambda kind: hasattr(kind, "model_dump"), _convert_model),
    (lambda kind: hasattr(kind, "__pydantic_core_schema__"), _convert_by_pydantic),
    (lambda kind: hasattr(kind, "__dataclass_fields__"), _convert_dataclass),
    (lambda kind: hasattr(kind, "__attrs_attrs__"), _convert_attrs),
    (is_pure_path, lambda value, _: str(value)),
    (lambda kind: kind.__module__ in ("ipaddress", "zoneinfo"), lambda value, _: str(value)),
    (
        lambda kind: hasattr(kind, "tolist") and hasattr(kind, "dtype"),
        lambda value, depth: to_jsonable(value.tolist(), depth),
    ),
    (
        lambda kind: hasattr(kind, "keys") and hasattr(kind, "__getitem__"),
        lambda v, depth: _convert_object(dict(v), depth),
    ),
    (
        lambda kind: hasattr(kind, "__iter__") and hasattr(kind, "__len__"),
        lambda v, depth: _convert_array(list(v), depth),
    ),
    (
        lambda kind: hasattr(kind, "__get_pydantic_core_schema__") and "pydantic" in sys.modules,
        _convert_by_pydantic,
    ),
]
