"""Loads the tools of the targets on the command line.

A target is a file (of Python, or of YAML that describes tools), a folder of files, a module, or the
name of bundled or installed tools; `:name` after it picks one of its tools. A wrong target is
reported in one sentence with a remedy; a failure in the user's code is reported with its traceback.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

import msgspec
from toolwire_tools import RegistrationError, Tool, find_offer, find_tools
from toolwire_tools.discovery import import_named
from toolwire_tools.errors import MadeForFastMCP

from ..errors import LoadError
from ..log import error as log_error
from ..log import warning
from . import importing as imports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Target(msgspec.Struct, frozen=True):
    """A target taken apart: where to look, and the `name` that is wanted of it (`None`: all it
    offers).

    `may_be_empty` is for the files of a folder: not all of them have to offer tools.
    """

    place: str
    name: str | None = None
    may_be_empty: bool = False
    load_program: Callable[[], list[Tool]] | None = None
    """Of a program that starts a server to adopt: runs it, and returns the tools."""

    def __str__(self) -> str:
        return self.place if self.name is None else f"{self.place}:{self.name}"

    @property
    def is_bundled(self) -> bool:
        """Whether it names a bundled tool. A folder of that name in the working folder is
        `./Files`.
        """
        if not self.place.isidentifier():
            return False
        from toolwire_bundled import BUNDLED

        return self.place in BUNDLED

    @property
    def is_path(self) -> bool:
        """Whether it names a file or a folder rather than a module."""
        if self.is_bundled or self.load_program:
            return False
        if self.place.endswith((".py", *imports.YAML)) or "/" in self.place or "\\" in self.place:
            return True
        return os.path.exists(self.place)


def parse(text: str) -> Target:
    """Return *text* taken apart; a drive letter (`C:\\tools.py:add`) is part of the place."""
    place, _, name = text.rpartition(":")
    is_name = bool(place) and all(part.isidentifier() for part in name.split("."))
    if not is_name or os.path.exists(text) or (os.name == "nt" and len(place) == 1):
        return Target(text)
    return Target(place, name)


def load(
    targets: Sequence[str],
    *,
    keep_going: bool = False,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    tool_settings: Sequence[str] = (),
    adopt: bool = False,
    may_be_empty: bool = False,
) -> list[Tool]:
    """Return the tools of all *targets* whose names match a pattern of *include* (if any) and none
    of *exclude*.

    A pattern such as `tag:billing` is for tags.

    *tool_settings* are for the bundled ones among them, `Files.roots=DIR` each. With *keep_going*,
    what cannot be loaded is reported on stderr and the rest returned. With *adopt*, files get
    Toolwire's FastMCP even if the package is installed.

    Raises:
        LoadError: if a target cannot be loaded, two tools have one name, or there is no tool at
            all.
    """
    found = _Found()
    faults: list[str] = []
    settings = _group_settings(tool_settings, targets)
    parts = list(_list_parts(targets, keep_going, adopt))
    adopting = nullcontext
    if adopt:
        adopting = import_named("toolwire_compat.fastmcp.adopting:adopt_user_modules")
    for target in parts:
        load_tools = partial(_load_tools, target, settings.get(target.place, ()))
        with _tolerate_faults(keep_going, faults, others=len(parts) > 1), adopting():
            for tool in imports.run_user_code(str(target), load_tools):
                found.add(tool, target)
    if faults and not keep_going:
        raise LoadError("\n".join(faults))
    tools = found.tools
    chosen = [tool for tool in tools if is_chosen(tool, include, exclude)]
    if not chosen and not may_be_empty:
        from .diagnostics.refusals import check_empty

        check_empty(tools, targets, parts)
    return chosen


class _Found:
    """The tools of all targets, each with the target that has it first."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], tuple[Tool, Target]] = {}

    @property
    def tools(self) -> list[Tool]:
        """The tools in the order of the targets."""
        return [tool for tool, _ in self._first.values()]

    def add(self, tool: Tool, target: Target) -> None:
        """Add *tool*, unless it is there already.

        Raises:
            LoadError: if another tool has its name.
        """
        name = tool.kind, tool.entry.name_with(".")
        first, target_of_first = self._first.setdefault(name, (tool, target))
        if first.entry.function != tool.entry.function:
            from .diagnostics.refusals import explain_duplicate

            raise LoadError(explain_duplicate(tool, str(target), str(target_of_first)))


def _group_settings(words: Sequence[str], targets: Sequence[str]) -> dict[str, list[str]]:
    """Return the settings in the *words* of `--set` by bundled tool."""
    if not words:
        return {}
    from .bundled_targets import group_settings

    names = [target.place for target in map(parse, targets) if target.is_bundled]
    return group_settings(words, names)


def _list_parts(targets: Sequence[str], keep_going: bool, adopt: bool) -> Iterator[Target]:
    """Yield each thing to load, once: a folder may hold a file that is named as well."""
    find_loader = import_named("toolwire_compat.fastmcp.programs:find_loader") if adopt else None
    seen: set[Target] = set()
    for text in targets:
        with _tolerate_faults(keep_going, []):
            program = find_loader and find_loader(text)
            named = Target(text, load_program=program) if program else parse(text)
            for target in _split_folder(named):
                place = os.path.realpath(target.place) if target.is_path else target.place
                identity = Target(place, target.name)
                if identity not in seen and Target(place) not in seen:
                    seen.add(identity)
                    yield target


@contextmanager
def _tolerate_faults(keep_going: bool, faults: list[str], others: bool = False) -> Iterator[None]:
    """Log an error and continue with *keep_going*; collect in *faults* the errors that are reported
    together.

    If there are *others* to serve, the error names `--keep-going`.
    """
    try:
        yield
    except (LoadError, RegistrationError) as error:
        text = str(error)
        if hasattr(error, "faults"):  # ConfigError, which is not imported for this
            if text in faults:  # a YAML file is read for the Python file of its tool, and by itself
                return
            faults.append(text)
        if keep_going:
            log_error(text)
        elif not hasattr(error, "faults"):
            rest = "; name the files to serve, or let `toolwire serve --keep-going` serve the rest"
            raise LoadError(f"{text}{rest}" if others else text) from error


def _split_folder(target: Target) -> list[Target]:
    """Return the files of a folder, or *target* itself."""
    if target.is_bundled or target.load_program or not os.path.isdir(target.place):
        return [target]
    from .folders import list_files

    return [Target(file, may_be_empty=True) for file in list_files(target.place, target.name)]


def _load_tools(target: Target, settings: Sequence[str]) -> list[Tool]:
    """Return the tools of *target*; *settings* are those of a bundled tool."""
    if target.is_bundled:
        from . import bundled_targets

        return bundled_targets.load_tools(target.place, target.name, settings)
    if target.load_program:
        return target.load_program()
    if target.is_path:
        return _load_file_tools(target)
    from .modules import find_module_or_installed

    thing = find_module_or_installed(target.place)
    if isinstance(thing, ModuleType):
        return _find_module_tools(thing, target)
    if target.name is not None:
        raise LoadError(
            f"{target.place} is a single installed tool or toolkit; omit :{target.name}"
        )
    return find_tools(thing)


def _load_file_tools(target: Target) -> list[Tool]:
    path = target.place
    if path.endswith(imports.YAML):
        from .yaml_targets import load_tools

        return load_tools(path, target.name)
    module = imports.import_file(path)
    found = _find_module_tools(module, target)
    for ending in imports.YAML:
        description = f"{path[:-3]}_config{ending}"
        if os.path.isfile(description):
            from .yaml_targets import apply_descriptions

            return _with_lifespan(apply_descriptions(found, description), module)
    return found


def _find_module_tools(module: ModuleType, target: Target) -> list[Tool]:
    try:
        return _with_lifespan(_find_offer(module, target), module)
    except MadeForFastMCP as error:
        raise LoadError(f"{target} is {error.PROBLEM}; {error.REMEDY}") from None


def _with_lifespan(tools: list[Tool], module: ModuleType) -> list[Tool]:
    lifespan = vars(module).get("__lifespan__")
    return [tool.with_lifespan(lifespan, module) for tool in tools]


def _find_offer(module: ModuleType, target: Target) -> list[Tool]:
    if "toolwire_compat.fastmcp" in sys.modules:
        from toolwire_compat.fastmcp.choosing import choose_tools

        chosen = choose_tools(module, target.name)
        if chosen is not None:
            return chosen
    if target.name is not None:
        from .named_targets import find_named_tools

        return find_named_tools(module, target.place, target.name)
    offer = find_offer(module)
    if "jsonrpcserver.methods" in sys.modules:
        from .jsonrpc_methods import add_methods

        offer = add_methods(module, offer)
    for skipped in offer.skipped:
        warning(f"{target}: {skipped.name} is not served: {skipped.reason}")
    if not offer.tools and not target.may_be_empty:
        raise LoadError(
            f"{target} offers no tools: define public functions in it, or decorate some with"
            " @tool_api"
        )
    return offer.tools


def is_chosen(tool: Tool, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Return whether the name or a tag of *tool* matches a pattern of *include*, if any, and none
    of *exclude*.
    """
    if not include and not exclude:
        return True
    from ..tool_patterns import matches  # few servers choose

    if include and not matches(tool, include):
        return False
    return not matches(tool, exclude)
