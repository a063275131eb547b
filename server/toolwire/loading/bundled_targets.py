"""Loads bundled tools by name, with the settings of `--set`. Imported only for bundled targets."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from toolwire_bundled import BUNDLED, find_class
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_tools import Options, RegistrationError, Tool, ToolError, find_tools, make_tool
from toolwire_tools.context.context import NULL_CALLER
from toolwire_tools.tool import make_function_handler

from ..errors import LoadError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_OF_EVERY_ACTION = frozenset(("description", "parser", "enable", "lang"))
"""Constructor parameters that only programs set."""


def load_tools(name: str, wanted: str | None = None, settings: Sequence[str] = ()) -> list[Tool]:
    """Return the tools of the bundled action *name*, or the one that is *wanted*.

    *settings* are words such as `roots=/tmp`: arguments of its constructor, read as `toolwire call`
    reads a tool's.

    Raises:
        LoadError: if it does not take them, or has no such tool.
    """
    tools = find_tools(_create(name, *settings))
    if wanted is None:
        return tools
    full_name = wanted if wanted.startswith(name) else f"{name}_{wanted}"
    found = [tool for tool in tools if full_name in tool.entry.spellings]
    if found:
        return found
    problem = explain_need(name, wanted)
    if problem is None:
        problem = explain_unknown_name("tool", full_name, [tool.name for tool in tools])
    raise LoadError(f"{name}: {problem}")


def explain_need(name: str, wanted: str) -> str | None:
    """Return why the bundled action *name* may not offer the tool *wanted*, with the setting that
    it needs.
    """
    needs: dict[str, str] = find_class(name).__toolwire_needs__
    return needs.get(wanted.removeprefix(name).lstrip("._"))


@cache
def _create(name: str, *settings: str) -> Any:
    """Return the action *name*: one instance for all of its tools, also after a reload."""
    cls = find_class(name)
    action = cls.__new__(cls)
    constructor = _make_constructor(action, name)
    try:
        arguments = {}
        if settings:
            arguments = _read_settings(settings, constructor)
        make_function_handler(constructor).run(arguments, NULL_CALLER)
    except (UsageError, ToolError, RegistrationError, TypeError, ValueError, OSError) as error:
        raise LoadError(f"{name} cannot be created with these settings: {error}") from None
    return action


def group_settings(words: Iterable[str], names: Iterable[str]) -> dict[str, list[str]]:
    """Return the settings of `--set`, `Files.roots=DIR` each, by tool.

    Raises:
        LoadError: for a tool that is not one of *names*.
    """
    found: dict[str, list[str]] = {name: [] for name in names}
    for word in words:
        name, _, setting = word.partition(".")
        if not found:
            raise LoadError(f"--set {word}: no target is a bundled tool")
        if name not in found:
            raise LoadError(f"--set {word}: {explain_unknown_name('bundled tool', name, found)}")
        found[name].append(setting)
    return found


def make_paths_absolute(word: str) -> str:
    """Return *word* of `--set` with absolute paths, valid in any working folder.

    Raises:
        LoadError: if it cannot be read.
    """
    name, _, setting = word.partition(".")
    if name not in BUNDLED:
        raise LoadError(f"--set {word}: {explain_unknown_name('bundled tool', name, BUNDLED)}")
    cls = find_class(name)
    constructor = _make_constructor(cls.__new__(cls), name)
    try:
        ((parameter, value),) = _read_settings([setting], constructor).items()
    except UsageError as error:
        raise LoadError(f"--set {word}: {error}") from None
    is_path = "Path" in str(cls.__init__.__annotations__.get(parameter))
    schema = constructor.describe()["inputSchema"]["properties"][parameter]
    if not is_path or value is None or value == schema.get("default"):
        return word
    paths = [value] if isinstance(value, str) else value
    absolute_paths = [os.path.abspath(os.path.expanduser(path)) for path in paths]
    if len(absolute_paths) == 1:
        return f"{name}.{parameter}={absolute_paths[0]}"
    from toolwire_schemas.wire.codec import encode

    return f"{name}.{parameter}={encode(absolute_paths).decode()}"


def _make_constructor(action: Any, name: str) -> Tool:
    """Return the constructor of *action* as a tool, which checks settings and describes errors."""
    options = Options(exclude_arguments=_OF_EVERY_ACTION)
    return make_tool(action.__init__, name=name, options=options)


def _read_settings(settings: Sequence[str], constructor: Tool) -> dict[str, Any]:
    from .argument_text import read

    return read(settings, constructor.describe()["inputSchema"])
