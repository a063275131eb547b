"""Groot's `Env`: one call for actions, functions, agents and connected servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import toolwire_schemas

if TYPE_CHECKING:
    from .env import Env as Env

_MODULES = toolwire_schemas.map_names_to_modules(
    {
        ".env": "Env",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = toolwire_schemas.make_importer(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
