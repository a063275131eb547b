"""The members of a class whose instances are JSON objects: dataclass, TypedDict, NamedTuple,
msgspec Struct, attrs.
"""

from __future__ import annotations

import sys
import typing
from typing import Any

import msgspec

from .annotations import Unresolved, get_arguments, get_origin, unwrap_annotation
from .shape import MISSING

if typing.TYPE_CHECKING:
    from collections.abc import Callable


class Field(msgspec.Struct, frozen=True):
    """One member: *name* in Python, *key* in JSON."""

    name: str
    key: str
    hint: Any
    required: bool = True
    default: Any = MISSING
    """The default, if it is a plain value."""
    taken: bool = True
    """False for what a constructor does not take."""
    shown: bool = True
    """False if a result may leave it out."""
    text: str | None = None


class Members(msgspec.Struct, frozen=True):
    """The fields of a class and what makes an instance from them, by their Python names."""

    fields: list[Field]
    make: Callable[..., Any] | None
    """None where the dictionary itself is the instance."""
    tag: tuple[str, str | int] | None = None


def read_members(
    cls: Any, arguments: tuple[Any, ...], names: typing.Mapping[str, Any]
) -> Members | None:
    """Return the members of *cls*, its type parameters replaced by *arguments*, or None if it is no
    such class.

    Raises:
        Unresolved: if an annotation of the class cannot be evaluated.
        TypeError: if the class is of a known sort, but cannot be a JSON object.
    """
    for recognised, read in _SORTS:
        if recognised(cls):
            return read(cls, _read_hints(cls, arguments, names))
    return None


def _read_hints(
    cls: Any, arguments: tuple[Any, ...], names: typing.Mapping[str, Any]
) -> dict[str, Any]:
    # The function's own names come last: they make classes that were defined inside a function
    # known to each other.
    is_local = "<locals>" in cls.__qualname__ or cls.__module__ not in sys.modules
    localns = None
    if is_local:
        localns = {**names, cls.__name__: cls}
    try:
        hints = typing.get_type_hints(cls, localns=localns, include_extras=True)
    except Exception as error:
        raise Unresolved(cls.__name__, error) from None
    parameters = getattr(cls, "__parameters__", ()) or getattr(cls, "__type_params__", ())
    bound = dict(zip(parameters, arguments, strict=False))
    for base in getattr(cls, "__orig_bases__", ()):
        origin = get_origin(base)
        if origin is not None and origin is not typing.Generic:
            inner = [bound.get(argument, argument) for argument in base.__args__]
            bound = dict(zip(getattr(origin, "__parameters__", ()), inner, strict=False)) | bound
    if bound:
        return {name: _substitute(hint, bound) for name, hint in hints.items()}
    return hints


def _substitute(hint: Any, bound: dict[Any, Any]) -> Any:
    if isinstance(hint, typing.TypeVar):
        return bound.get(hint, hint)
    parameters = getattr(hint, "__parameters__", ())
    if not parameters or isinstance(hint, type):
        return hint
    return hint[tuple(bound.get(parameter, parameter) for parameter in parameters)]


def _read_dataclass(cls: Any, hints: dict[str, Any]) -> Members:
    from dataclasses import MISSING as NONE

    fields = []
    for field in cls.__dataclass_fields__.values():
        if field._field_type.name == "_FIELD_INITVAR":
            raise TypeError(f"{cls.__name__} has InitVar members, which cannot be read back")
        if field._field_type.name != "_FIELD":  # a ClassVar
            continue
        required = field.default is NONE and field.default_factory is NONE
        default = (
            field.default if field.default is not NONE else _show_default(field.default_factory)
        )
        text = field.metadata.get("description") or getattr(field, "doc", None)
        fields.append(
            Field(
                field.name, field.name, hints[field.name], required, default, field.init, True, text
            )
        )
    return Members(fields, cls)


def _show_default(factory: Any) -> Any:
    """The value of the factories that are worth showing: empty containers."""
    if factory in (list, dict, set, tuple):
        return factory()
    return MISSING


def _read_typed_dict(cls: Any, hints: dict[str, Any]) -> Members:
    required: set[str] = set(cls.__required_keys__)
    fields = []
    for name, hint in hints.items():
        # With `from __future__ import annotations` the class itself does not see these wrappers.
        qualifiers = _read_qualifiers(hint)
        needed = (name in required or "Required" in qualifiers) and "NotRequired" not in qualifiers
        fields.append(Field(name, name, hint, needed, shown=needed))
    return Members(fields, None)


def _read_qualifiers(hint: Any) -> set[str]:
    found = set()
    while (origin := get_origin(hint)) is not None:
        found.add(str(getattr(origin, "_name", "")))
        arguments = get_arguments(hint)
        if hasattr(hint, "__metadata__"):
            hint = origin
        elif arguments:
            hint = arguments[0]
        else:
            break
    return found


def _read_named_tuple(cls: Any, hints: dict[str, Any]) -> Members:
    defaults = cls._field_defaults
    fields = [
        Field(n, n, hints.get(n, Any), n not in defaults, defaults.get(n, MISSING))
        for n in cls._fields
    ]
    return Members(fields, cls)


def _read_struct(cls: Any, hints: dict[str, Any]) -> Members:
    config = cls.__struct_config__
    if config.array_like:
        raise TypeError(
            f"{cls.__name__} is array_like, which says nothing about its members to a caller"
        )
    fields = []
    for field in msgspec.structs.fields(cls):
        has_default = field.default is not msgspec.NODEFAULT
        default = field.default if has_default else _show_default(field.default_factory)
        hint = hints[field.name]
        may_be_unset = msgspec.UnsetType in get_arguments(unwrap_annotation(hint, {}).hint)
        shown = field.required or not (config.omit_defaults or may_be_unset)
        fields.append(
            Field(field.name, field.encode_name, hint, field.required, default, True, shown)
        )
    tag = None
    if config.tag_field is not None:
        tag = (config.tag_field, config.tag)
    return Members(fields, cls, tag)


def _read_attrs(cls: Any, hints: dict[str, Any]) -> Members:
    fields = []
    for field in cls.__attrs_attrs__:
        nothing = type(field.default).__name__ == "_Nothing"
        factory = getattr(field.default, "factory", None)
        default = field.default
        if nothing:
            default = MISSING
        elif factory is not None:
            default = _show_default(factory)
        name = field.alias or field.name
        fields.append(
            Field(name, field.name, hints.get(field.name, Any), nothing, default, field.init)
        )
    return Members(fields, cls)


_SORTS: list[tuple[Callable[[Any], bool], Callable[[Any, dict[str, Any]], Members]]] = [
    (lambda cls: isinstance(cls, msgspec.StructMeta), _read_struct),
    (
        lambda cls: hasattr(cls, "__required_keys__") and hasattr(cls, "__total__"),
        _read_typed_dict,
    ),
    (
        lambda cls: isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields"),
        _read_named_tuple,
    ),
    (lambda cls: isinstance(cls, type) and hasattr(cls, "__attrs_attrs__"), _read_attrs),
    (lambda cls: isinstance(cls, type) and hasattr(cls, "__dataclass_fields__"), _read_dataclass),
]
