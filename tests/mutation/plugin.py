"""A plug-in of pytest that plants one fault while a module is imported. No file changes."""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import TYPE_CHECKING, Any

from mutation.mutants import plant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

VARIABLE = "TOOLWIRE_MUTANT"
"""The variable with the module and the number of the fault, as in `package.module:7`."""


class FaultyLoader(SourceFileLoader):
    """Loads a module with one fault."""

    number: int

    def get_code(self, fullname: str) -> CodeType | None:
        """Compile the source with the fault, whatever is cached of the sound one."""
        tree = plant(self.get_data(self.path).decode(), self.number)
        return compile(tree, self.path, "exec", dont_inherit=True)


class FaultyModule(MetaPathFinder):
    """Finds the one module that gets a fault."""

    def __init__(self, name: str, number: int) -> None:
        self._name = name
        self._number = number

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's own spec with another loader."""
        if fullname != self._name:
            return None
        spec: Any = PathFinder.find_spec(fullname, path, target)
        loader = FaultyLoader(fullname, spec.origin)
        loader.number = self._number
        spec.loader = loader
        return spec  # type: ignore[no-any-return]


if VARIABLE in os.environ:
    name, _, number = os.environ[VARIABLE].partition(":")
    assert name not in sys.modules, f"{name} is imported before the fault can be planted"
    sys.meta_path.insert(0, FaultyModule(name, int(number)))
