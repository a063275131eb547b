"""The place to import Lagent's names from, whichever of its modules defines them there."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from . import _MODULES

if TYPE_CHECKING:
    from . import *  # noqa: F403

_NEW = {"Calculator", "Clock", "CodeExecutor", "Files", "WebSearch"}
"""Bundled tools that Lagent has not."""

_NAMES = {name for name, module in _MODULES.items() if module.startswith((".actions", ".bundled"))}

__all__ = sorted(_NAMES - _NEW | {"tool_api"})


class _Replacement(msgspec.Struct, frozen=True):
    """Names of Lagent without a counterpart, and what is used in their place; `{twin}` is a name
    without Async.
    """

    instead: str
    names: list[str]


class _Names(msgspec.Struct, frozen=True):
    moved: dict[str, str]
    replaced: list[_Replacement]


@cache
def _names() -> _Names:
    """Return the names of Lagent that are not here. They are read when one of them is missed."""
    table = Path(__file__).with_name("lagent_names.json").read_bytes()
    return msgspec.json.decode(table, type=_Names)


def place_of(name: str) -> str | None:
    """Return the module that has Lagent's *name*, or None."""
    return __name__ if name in __all__ else _names().moved.get(name)


def remedy_for(name: str) -> str | None:
    """Return what to use instead of Lagent's *name*, as in "use PPT"; None if it is not known or
    has a place.
    """
    for replacement in _names().replaced:
        if name in replacement.names:
            return replacement.instead.replace("{twin}", name.removeprefix("Async"))
    return None


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(__package__), name)
    place = place_of(name)
    if place is not None:
        raise ImportError(
            f"{name} is not in {__name__}; write: from {place} import {name}", name=__name__
        )
    remedy = remedy_for(name)
    if remedy is not None:
        raise ImportError(f"{name} of Lagent has no counterpart: {remedy}", name=__name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
