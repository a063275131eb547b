"""Imports msgspec without what it imports for rare uses, which takes half of the time.

It changes `sys.modules` for the whole process, so only the entry points of our own processes call
it: `__main__` and that of workers. A program that imports our packages as libraries imports msgspec
as it is.
"""

from __future__ import annotations

import sys
import types

# as that of `typing`, which `__main__` imports after it has switched garbage collection off
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Deferred(types.ModuleType):
    """Imports the module of its name when something in it is used."""

    def __getattr__(self, name: str) -> Any:
        from importlib import import_module

        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        vars(self).update(vars(import_module(self.__name__)))
        return object.__getattribute__(self, name)


def import_msgspec() -> None:
    """Import msgspec, if it is not imported yet, with its rare modules deferred until they are
    used.

    What msgspec takes from typing_extensions (which anyio and jsonschema bring), Python 3.11's own
    typing has as well.
    """
    hidden: dict[str, Any] = {"typing_extensions": None}
    for name in ("msgspec.inspect", "msgspec.toml", "msgspec.yaml", "textwrap"):
        hidden[name] = _Deferred(name)
    if "msgspec" in sys.modules or hidden.keys() & sys.modules.keys():
        return
    # `uuid`, which msgspec imports, asks for the name of the system. From Python 3.13 on, it does
    # not import `platform` on Linux either.
    if sys.platform == "linux" and "platform" not in sys.modules:
        hidden["platform"] = _Deferred("platform")
        hidden["platform"].system = lambda: "Linux"
    sys.modules.update(hidden)
    try:
        import msgspec  # noqa: F401
    finally:
        for name, module in hidden.items():
            if sys.modules.get(name, sys) is module:
                del sys.modules[name]
