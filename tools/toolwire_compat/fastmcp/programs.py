"""The programs whose server is adopted: installed commands, and modules that Python runs."""

from __future__ import annotations

import os
import re
import shlex
import sys
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools.errors import RegistrationError

from .adopting import Loader, adopt_files
from .choosing import list_server_tools
from .starting import run_until_server_starts

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.tool import Tool


_PYTHON = re.compile(r"python[\d.]*(\.exe)?")


class Program(msgspec.Struct, frozen=True):
    """A program with its arguments, which are `sys.argv` while it runs."""

    name: str
    arguments: tuple[str, ...] = ()
    is_module: bool = False
    """Whether it runs as `python -m NAME` does."""
    is_file: bool = False
    """Whether it is the path of a file, which runs as `python NAME` does."""

    def __str__(self) -> str:
        return f"-m {self.name}" if self.is_module else self.name


def find_program(text: str) -> Program | None:
    """Return the program that *text* names: `command arguments`, `python -m module arguments` or
    `file.py arguments`; None if no command of this name is installed, or a file has no arguments.
    """
    try:
        name, *arguments = shlex.split(text)
    except ValueError:  # no words, or an open quote
        return None
    if _PYTHON.fullmatch(name) and arguments:
        name, *arguments = arguments
    if name == "-m" and arguments:
        return Program(arguments[0], tuple(arguments[1:]), is_module=True)
    if name.endswith(".py") and arguments and os.path.isfile(name):
        return Program(name, tuple(arguments), is_file=True)
    if _find_script(name) is None:
        return None
    return Program(name, tuple(arguments))


def find_loader(text: str) -> Callable[[], list[Tool]] | None:
    """Return what runs the program that *text* names, and returns its tools; None if *text* names a
    target of another kind.
    """
    program = find_program(text)
    if program is None:
        return None
    return partial(load_program, program)


def find_distribution(text: str) -> str | None:
    """Return the name of the distribution whose program *text* names; None if it names a target of
    another kind.
    """
    program = find_program(text)
    if program is None or program.is_file:
        return None
    if program.is_module:
        for distribution in _find_distributions(program.name):
            return distribution.name
        return None
    script = _find_script(program.name)
    if script is None or script.dist is None:
        return None
    return script.dist.name


def name_program(text: str) -> str:
    """Return the name of the program that *text* names, without its arguments; *text* itself if it
    names a target of another kind.
    """
    program = find_program(text)
    return text if program is None else program.name


def load_program(program: Program) -> list[Tool]:
    """Run *program* until it starts its server, and return the tools of that.

    Raises:
        RegistrationError: if there is no such module.
        NoServerStarted: if it ends before.
        Exception: whatever it raised.
    """
    server = run_until_server_starts(str(program), lambda: _run(program))
    return list_server_tools(server)


def _run(program: Program) -> None:
    if program.is_module:
        _run_module(program)
        return
    if program.is_file:
        sys.argv = [program.name, *program.arguments]
        # At the end: a file there may not take the place of an installed module.
        sys.path.append(os.path.dirname(os.path.realpath(program.name)))
        run_as_main(program.name)
        return
    script = _find_script(program.name)
    assert script is not None
    if script.dist is not None:
        adopt_files(_list_files(script.dist))
    sys.argv = [program.name, *program.arguments]
    function = script.load()
    raise SystemExit(function())  # as the script in the folder of commands does


def _run_module(program: Program) -> None:
    """Run the module of *program* as `python -m` does."""
    for distribution in _find_distributions(program.name):
        adopt_files(_list_files(distribution))
    spec = find_spec(program.name)
    if spec is not None and spec.submodule_search_locations is not None:
        import_module(program.name)
        spec = find_spec(f"{program.name}.__main__")
    if spec is None or spec.origin is None:
        remedy = "name one that Python can run with -m"
        raise RegistrationError("there is no such module", tool=str(program), remedy=remedy)
    sys.argv = [spec.origin, *program.arguments]
    run_as_main(spec.origin, spec.parent or "")


def run_as_main(path: str, package: str = "") -> None:
    """Execute the file at *path* as the module `__main__`, in *package*."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("__main__", path, loader=Loader("__main__", path))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    module.__package__ = package
    sys.modules["__main__"] = module  # where classes of its own are looked up
    spec.loader.exec_module(module)


def _find_script(name: str) -> metadata.EntryPoint | None:
    for script in metadata.entry_points(group="console_scripts", name=name):
        return script
    return None


def _find_distributions(module: str) -> list[metadata.Distribution]:
    top = module.partition(".")[0]
    names = metadata.packages_distributions().get(top, ())
    return [metadata.distribution(name) for name in dict.fromkeys(names)]


def _list_files(distribution: metadata.Distribution) -> list[str]:
    """Return the paths of the modules in Python of *distribution*."""
    paths: list[Any] = []
    for file in distribution.files or ():
        if file.suffix == ".py":
            paths.append(file.locate())
    return [os.path.realpath(path) for path in paths]
