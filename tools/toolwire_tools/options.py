"""The options of a tool, and where a function carries them."""

from __future__ import annotations

import sys
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ATTRIBUTE = "__tool_options__"
"""Where a decorated function keeps its `Options`: the one mark the decorator leaves."""


class Icon(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An icon of a tool, as MCP has it."""

    src: str
    mimeType: str | None = None  # noqa: N815 (MCP's name)
    sizes: list[str] = []
    theme: Literal["light", "dark"] | None = None

    def __post_init__(self) -> None:
        if not self.src.startswith(("https:", "http:", "data:")):
            raise ValueError(f"src must be an https:, http: or data: URI, not {self.src!r}")
        if "/" not in (self.mimeType or "/"):
            raise ValueError(f'mimeType must be like "image/png", not {self.mimeType!r}')


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `tool_api`; None means *not given*. The decorator checks them by these
    types.
    """

    made_by: ClassVar[str | None] = None
    """The path of the function that makes the tool, if that is not `make_tool`."""

    name: str | None = None
    title: str | None = None
    description: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    timeout_seconds: Annotated[float, msgspec.Meta(gt=0, le=sys.float_info.max)] | None = None
    runs_in: Any = None
    shared: bool = True
    memory_limit: Annotated[int, msgspec.Meta(gt=0)] | None = None
    tags: frozenset[str] = frozenset()
    icons: tuple[Icon, ...] = ()
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    structured: bool = True
    max_result_bytes: Annotated[int, msgspec.Meta(gt=0)] | None = None
    task: Literal["auto", "always", "required", "never"] | None = None
    meta: dict[str, Any] | None = None
    confirm: Any = None
    include_arguments: frozenset[str] | None = None
    exclude_arguments: frozenset[str] = frozenset()
    explode_param: bool = True
    explode_return: bool = False
    returns_named_value: bool = False

    def make_shown_meta(self) -> dict[str, Any]:
        """Return the `_meta` that clients get: with the tags, and the template of the question, or
        true for another.
        """
        shown: dict[str, Any] = {}
        if self.tags:
            shown["toolwire/tags"] = sorted(self.tags)
        if self.meta is not None:
            shown |= self.meta
        if isinstance(self.confirm, str):
            shown["toolwire/confirm"] = self.confirm
        elif self.confirm is not None:
            shown["toolwire/confirm"] = True
        return shown


def get_options(thing: object) -> Options | None:
    """The options that a decorated function, method or partial of one carries; None if not
    decorated.
    """
    found = getattr(thing, ATTRIBUTE, None)
    if found is None and isinstance(thing, partial):  # which hides the attributes of what it wraps
        return get_options(thing.func)
    return _as_options(found)


def _as_options(found: Any) -> Options | None:
    """Return *found* if it is really ours: proxies and mocks have an attribute of any name."""
    if isinstance(found, Options):
        return found
    return None


def find_options(function: Callable[..., Any]) -> Options:
    """Return the options of *function*; a callable object may carry them on its `__call__`."""
    return get_options(function) or get_options(type(function).__call__) or Options()


def name_of(function: Any) -> str:
    """The name a callable goes by: its own, that of what a partial calls, a callable object's
    `name` or class.
    """
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", None) or getattr(function, "name", None)
    if not isinstance(name, str):
        return type(function).__name__
    return name


def get_own_attributes(thing: object) -> Mapping[str, Any]:
    """What *thing* holds in its own `__dict__`, found without asking it: proxies and mocks answer
    anything.
    """
    try:
        found: Mapping[str, Any] = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
    return found


def get_own_options(thing: object) -> Options | None:
    """The options that were put on *thing* itself; None if it is not decorated."""
    return _as_options(get_own_attributes(thing).get(ATTRIBUTE))


def is_stale(*functions: Any) -> bool:
    """Return whether the module of one of *functions* has been loaded again since."""
    for function in functions:
        if not isinstance(function, FunctionType):
            continue
        module = sys.modules.get(function.__module__)
        if getattr(module, "__dict__", None) is not function.__globals__:
            return True
    return False
