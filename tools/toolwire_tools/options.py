"""The options of a tool, checked when they are given."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.did_you_mean import unknown_name

from .byte_sizes import size
from .content.media_types import is_media_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ATTRIBUTE = "__tool_options__"
"""Where a decorated function keeps its `Options`: the one mark the decorator leaves."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `tool_api`; None means *not given*."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    timeout_seconds: float | None = None
    runs_in: str | None = None
    memory_limit: int | None = None
    tags: frozenset[str] = frozenset()
    icons: tuple[dict[str, Any], ...] = ()
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None
    include_arguments: frozenset[str] | None = None
    exclude_arguments: frozenset[str] = frozenset()
    explode_param: bool = True
    explode_return: bool = False
    returns_named_value: bool = False


def checked(given: Mapping[str, Any]) -> Options:
    """The options, each of its type and in its range.

    Raises:
        TypeError: for an option that does not exist, or a value of the wrong type.
        ValueError: for a value out of range.
    """
    values = {}
    for option, value in given.items():
        check = _CHECKS.get(option)
        if check is None:
            raise TypeError(f"tool_api: {unknown_name('option', option, _CHECKS)}")
        values[option] = None if value is None else check(option, value)
    if values.get("memory_limit") is not None and values.get("runs_in") is None:
        raise ValueError('tool_api: memory_limit needs a process of its own; add runs_in="process"')
    if values.get("input_schema") is not None:
        for option in ("include_arguments", "exclude_arguments"):
            if values.get(option) is not None:
                raise ValueError(f"tool_api: {option} does not go with input_schema, which lists the arguments itself")
    return Options(**{option: value for option, value in values.items() if value is not None})


def options_of(thing: object) -> Options | None:
    """The options that a decorated function, method or partial of one carries; None if not decorated."""
    found = getattr(thing, ATTRIBUTE, None)
    if found is None and isinstance(thing, partial):  # which hides the attributes of what it wraps
        return options_of(thing.func)
    return found if isinstance(found, Options) else None


def options_for(function: Callable[..., Any]) -> Options:
    """Return the options of *function*; a callable object may carry them on its `__call__`."""
    return options_of(function) or options_of(type(function).__call__) or Options()


def name_of(function: Any) -> str:
    """The name a callable goes by: its own, that of what a partial calls, a callable object's `name` or class."""
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", None) or getattr(function, "name", None)
    return name if isinstance(name, str) else type(function).__name__


def held(thing: object) -> Mapping[str, Any]:
    """What *thing* holds in its own `__dict__`, found without asking it: proxies and mocks answer anything."""
    try:
        found: Mapping[str, Any] = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
    return found


def marked(thing: object) -> Options | None:
    """The options that were put on *thing* itself; None if it is not decorated."""
    found = held(thing).get(ATTRIBUTE)
    return found if isinstance(found, Options) else None


def _text(option: str, value: Any) -> str:
    text: str = _instance(option, value, str, "a str")
    return text


def _name(option: str, value: Any) -> str:
    text = _text(option, value)
    if not text or not text.isprintable() or text != text.strip():
        raise ValueError(f"tool_api: {option} must be visible text without space around it, not {text!r}")
    return text


def _flag(option: str, value: Any) -> bool:
    flag: bool = _instance(option, value, bool, "True or False")
    return flag


def _seconds(option: str, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"tool_api: {option} must be a number of seconds, not {value!r}")
    if not value > 0 or math.isinf(value):
        raise ValueError(f"tool_api: {option} must be above 0 and finite, not {value!r}; None means no limit")
    return float(value)


def _place(option: str, value: Any) -> str:
    if _text(option, value) != "process":
        raise ValueError(f'tool_api: {option} must be "process", or left out to run in the server, not {value!r}')
    return "process"


def _bytes(option: str, value: Any) -> int:
    if not isinstance(value, int | str) or isinstance(value, bool):
        raise TypeError(f'tool_api: {option} must be a number of bytes or text like "512 MiB", not {value!r}')
    try:
        return size(str(value))
    except ValueError as error:
        raise ValueError(f"tool_api: {option} must be {error}, not {value!r}") from None


def _tags(option: str, value: Any) -> frozenset[str]:
    if isinstance(value, str) or not isinstance(value, Collection):
        raise TypeError(f'tool_api: {option} must be a list of words, like ["files"], not {value!r}')
    return frozenset(_name("a tag", tag) for tag in value)


def _arguments(option: str, value: Any) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset((value,))
    if not isinstance(value, Iterable) or isinstance(value, dict):
        raise TypeError(f'tool_api: {option} must be names of parameters, like ["session"], not {value!r}')
    return frozenset(_name(f"{option}: a name", name) for name in value)


def _mapping(option: str, value: Any) -> dict[str, Any]:
    given: dict[Any, Any] = _instance(option, value, dict, "a dict")
    if not all(isinstance(key, str) for key in given):
        raise TypeError(f"tool_api: {option} must have strings as keys, not {given!r}")
    return given


def _icons(option: str, value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list | tuple):
        raise TypeError(f'tool_api: {option} must be a list like [{{"src": "https://..."}}], not {value!r}')
    return tuple(_icon(f"{option}[{index}]", icon) for index, icon in enumerate(value))


def _icon(option: str, value: Any) -> dict[str, Any]:
    icon = _mapping(option, value)
    for member in icon:
        if member not in _ICON_MEMBERS:
            raise TypeError(f"tool_api: {option} has {unknown_name('member', member, _ICON_MEMBERS)}")
    source = _text(f"{option}.src", icon.get("src", ""))
    if not source.startswith(("https:", "http:", "data:")):
        raise ValueError(f"tool_api: {option}.src must be an https: or data: URI, not {source!r}")
    media_type = _text(f"{option}.mimeType", icon.get("mimeType", "image/png"))
    if not is_media_type(media_type):
        raise ValueError(f'tool_api: {option}.mimeType must be a media type like "image/png", not {media_type!r}')
    sizes = icon.get("sizes", [])
    if not isinstance(sizes, list) or not all(isinstance(size, str) for size in sizes):
        raise TypeError(f'tool_api: {option}.sizes must be a list like ["48x48"], not {sizes!r}')
    if icon.get("theme", "light") not in ("light", "dark"):
        raise ValueError(f'tool_api: {option}.theme must be "light" or "dark", not {icon["theme"]!r}')
    return icon


_ICON_MEMBERS = ("src", "mimeType", "sizes", "theme")


def _instance(option: str, value: Any, wanted: type, words: str) -> Any:
    if not isinstance(value, wanted):
        raise TypeError(f"tool_api: {option} must be {words}, not {value!r}")
    return value


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "name": _name,
    "title": _text,
    "description": _text,
    "read_only": _flag,
    "destructive": _flag,
    "idempotent": _flag,
    "open_world": _flag,
    "timeout_seconds": _seconds,
    "runs_in": _place,
    "memory_limit": _bytes,
    "tags": _tags,
    "icons": _icons,
    "input_schema": _mapping,
    "output_schema": _mapping,
    "meta": _mapping,
    "include_arguments": _arguments,
    "exclude_arguments": _arguments,
    "explode_param": _flag,
    "explode_return": _flag,
    "returns_named_value": _flag,
}
"""Every option with its check; an option is added here, in `Options` and in the decorator's signature."""
