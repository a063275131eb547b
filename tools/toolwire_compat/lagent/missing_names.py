"""Names of Lagent that this package does not have, and what to use instead."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
from toolwire_schemas.misplaced_names import make_missing_error

PACKAGE = __name__.rpartition(".")[0]


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
def _load_names() -> _Names:
    """Return the names of Lagent that are not here. They are read when one of them is missed."""
    table = Path(__file__).with_name("missing_names.json").read_bytes()
    return msgspec.json.decode(table, type=_Names)


def find_other_place(name: str) -> str | None:
    """Return the module of another package that has Lagent's *name*, or None."""
    return _load_names().moved.get(name)


def find_remedy(name: str) -> str | None:
    """Return what to use instead of Lagent's *name*, as in "use PPT"; None if it is not known or
    has a place.
    """
    for replacement in _load_names().replaced:
        if name in replacement.names:
            return replacement.instead.replace("{twin}", name.removeprefix("Async"))
    return None


def make_error(name: str) -> AttributeError | ImportError:
    """Return the error of an import of *name* from this package, with what to write instead."""
    place = find_other_place(name)
    if place is not None:
        return ImportError(
            f"{name} is not in {PACKAGE}; write: from {place} import {name}", name=PACKAGE
        )
    remedy = find_remedy(name)
    if remedy is not None:
        return ImportError(f"{name} of Lagent has no counterpart: {remedy}", name=PACKAGE)
    return make_missing_error(PACKAGE, name)
