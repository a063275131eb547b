"""The contract both ends share: message shapes, error codes, JSON codec and framing. No I/O."""

from __future__ import annotations

# as that of `typing`, which costs time at the start
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["PACKAGES", "is_ours", "make_importer", "map_names_to_modules"]

PACKAGES = frozenset(
    (
        "toolwire",
        "toolwire_agent",
        "toolwire_bundled",
        "toolwire_check",
        "toolwire_client",
        "toolwire_compat",
        "toolwire_dialects",
        "toolwire_schemas",
        "toolwire_tools",
    )
)
"""The packages of this distribution."""


def is_ours(module: str) -> bool:
    """Return whether *module*, by its dotted name, belongs to this distribution."""
    return module.partition(".")[0] in PACKAGES


# --- public names that are imported at their first use --------------------------------------------
# A server, or a client of one server, needs few of the names that a package offers. `import` of the
# package costs only its table of names then. These functions are here since this file is imported
# by every start anyway.


def map_names_to_modules(names_by_module: dict[str, str]) -> dict[str, str]:
    """Return the module of each public name. *names_by_module* has names separated by blanks."""
    modules = {}
    for module, names in names_by_module.items():
        for name in names.split():
            modules[name] = module
    return modules


def make_importer(package: str, modules: dict[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of *package*, which imports a name from its module.

    *modules* has the module of each name, relative (`.agent`) or absolute.
    """

    def import_name(name: str) -> Any:
        if name not in modules:
            from .misplaced_names import make_missing_error

            raise make_missing_error(package, name)
        import sys
        from importlib import import_module

        value = getattr(import_module(modules[name], package), name)
        setattr(sys.modules[package], name, value)  # the next use does not come here
        return value

    return import_name
