"""Writes a typed client of a server's tools, in the language of the program that calls them.

`plan.py` reads the entries of `tools/list` once, as functions and types with the names of one
language. Each language is a file with three names, which `LANGUAGES` makes known:

- `NAMING`, a `Naming`: how names are written there, and which types need one;
- `RUNTIME`, the path of its runtime below `clients/`, such as `go/toolwire.go`, or an empty text;
- `write(plan, runtime)`, which returns the text of one file. *runtime* is the text of the
  runtime, to embed, or None to import it: from the file next to it with `plan.has_runtime_file`,
  else from its package. For a language without a runtime it is an empty text.

Texts of a server are untrusted. They get into comments as texts of the `Plan`, which are printable
(a printer escapes what ends a comment), and into code only as literals, or as names that `NAMING`
allows. `source_text.py` cleans the texts, and the whole file at the end.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .plan import Naming, Plan

RuntimePlace: TypeAlias = Literal["client", "package", "file"]

LANGUAGES = ("typescript", "python", "go", "rust", "lua")


class Printer(Protocol):
    """The module of a language."""

    NAMING: Naming
    RUNTIME: str

    def write(self, plan: Plan, runtime: str | None) -> str:
        """Return the generated file."""


def list_languages() -> tuple[str, ...]:
    """Return the languages that have a printer."""
    return tuple(language for language in LANGUAGES if find_spec(f"{__name__}.{language}"))


def generate(
    language: str,
    entries: Iterable[Any],
    *,
    command: Sequence[str],
    head: Sequence[str],
    runtime_in: RuntimePlace = "client",
    package: str = "",
) -> str:
    """Return a client in an offered *language* for the *entries* of `tools/list`.

    *command* starts the server, and *head* are lines for the comment at the top. The runtime is in
    the client, in a package that it imports, or in a file next to it (`read_runtime_file`).
    *package* is the name of a Go package, and goes before the names of classes in Lua.
    """
    from .plan import read
    from .source_text import clean

    module = _find_printer(language)
    plan = read(
        entries,
        module.NAMING,
        head=head,
        command=command,
        package=package,
        has_runtime_file=runtime_in == "file",
    )
    return clean(module.write(plan, read_runtime(language) if runtime_in == "client" else None))


def read_runtime_file(language: str, package: str = "") -> tuple[str, str]:
    """Return the name and the text of the file with the runtime of an offered *language*."""
    text = read_runtime(language)
    if language == "go":
        text = text.replace("\npackage toolwire\n", f"\npackage {package or 'tools'}\n", 1)
    return f"toolwire{Path(_find_printer(language).RUNTIME).suffix}", text


def read_runtime(language: str) -> str:
    """Return the runtime that the clients of an offered *language* embed or import, or an empty
    text.
    """
    name = _find_printer(language).RUNTIME
    here = Path(__file__)
    folders = (
        here.parent / "runtimes",
        here.parents[3] / "clients",
    )  # of an installed package, of a checkout
    if not name:
        return ""
    return next(folder / name for folder in folders if folder.is_dir()).read_text("utf-8")


def _find_printer(language: str) -> Printer:
    return import_module(f"{__name__}.{language}")
