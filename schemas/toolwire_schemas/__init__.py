"""The contract both ends share: message shapes, error codes, JSON codec and framing. No I/O."""

from __future__ import annotations

import sys
import types
from typing import Any


class _Deferred(types.ModuleType):
    """Imports the module of its name when something in it is used."""

    def __getattr__(self, name: str) -> Any:
        from importlib import import_module

        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        vars(self).update(vars(import_module(self.__name__)))
        return object.__getattribute__(self, name)


def _import_msgspec() -> None:
    """Import msgspec without modules that it imports for rare uses: they take half of the time.

    What msgspec takes from typing_extensions (which anyio and jsonschema bring), Python 3.11's own typing has as well.
    """
    hidden: dict[str, Any] = {"typing_extensions": None}
    for name in ("msgspec.inspect", "msgspec.toml", "msgspec.yaml", "textwrap"):
        hidden[name] = _Deferred(name)
    if "msgspec" in sys.modules or hidden.keys() & sys.modules.keys():
        return
    sys.modules.update(hidden)
    try:
        import msgspec  # noqa: F401
    finally:
        for name, module in hidden.items():
            if sys.modules.get(name, sys) is module:
                del sys.modules[name]


_import_msgspec()
