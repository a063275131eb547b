"""The import statements of a source file, read once for all tests that judge them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple


class SourceImport(NamedTuple):
    """One module of an `import`, or a `from` with its names."""

    module: str
    """Empty for `from . import name`."""
    level: int
    """The number of dots before the module."""
    names: tuple[str, ...]
    line: int
    is_late: bool
    """Whether it is inside a function, or for type checkers alone."""


@cache
def read_imports(path: Path) -> tuple[SourceImport, ...]:
    """Return the imports of the file at *path*, those inside functions included."""
    return tuple(_find_imports(ast.parse(path.read_bytes()), False))


def _find_imports(block: ast.AST, is_late: bool) -> Iterator[SourceImport]:
    if isinstance(block, ast.Import):
        for alias in block.names:
            yield SourceImport(alias.name, 0, (), block.lineno, is_late)
    elif isinstance(block, ast.ImportFrom):
        names = tuple(alias.name for alias in block.names)
        yield SourceImport(block.module or "", block.level, names, block.lineno, is_late)
    is_late_inside = is_late or _runs_later(block)
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for inner in getattr(block, name, ()):
            yield from _find_imports(inner, is_late_inside)


def _runs_later(block: ast.AST) -> bool:
    """Whether *block* is a function, or only type checkers read it."""
    if isinstance(block, ast.If) and isinstance(block.test, ast.Name):
        return block.test.id == "TYPE_CHECKING"
    return isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef)
