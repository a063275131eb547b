"""The name and version of a server whose author gives none: those of the modules of its tools,
never Toolwire's.

Imported for the first client that asks, since finding a distribution takes as long as a start.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_schemas import is_ours

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import Distribution
    from types import ModuleType

    from toolwire_tools import Tool

UNKNOWN_NAME, UNKNOWN_VERSION = "tools", "0.0.0"
"""MCP requires both. Registries and some hosts require a version of three numbers."""

_MAX_NAMES = 3


def identify(tools: Iterable[Tool]) -> tuple[str, str]:
    """Return the name and the version of a server of *tools*."""
    modules = {module.__name__: module for module in _list_modules(tools)}.values()
    name = join_names(map(_find_name, modules)) or UNKNOWN_NAME
    versions = set(filter(None, map(_find_version, modules)))
    if len(versions) != 1:
        return name, UNKNOWN_VERSION
    return name, versions.pop()


def join_names(names: Iterable[str]) -> str:
    """Return one name for a server of several modules or targets; "" without any."""
    first, *more = dict.fromkeys(filter(None, names)) or [""]
    rest = [f"{len(more) - _MAX_NAMES + 1}-more"] if len(more) >= _MAX_NAMES else []
    return "-".join([first, *more[: _MAX_NAMES - 1], *rest])


def _list_modules(tools: Iterable[Tool]) -> Iterator[ModuleType]:
    for tool in tools:
        module = tool.entry.module or _find_module(tool.entry.function)
        if module is None:
            continue
        package = _get_top_name(module)
        if not is_ours(package) and package not in sys.stdlib_module_names:
            yield module


def _find_module(function: Any) -> ModuleType | None:
    """Return the module of *function*; `None` for an entry of another server, which has none."""
    if function is None:
        return None
    if isinstance(function, partial):
        function = function.func
    return sys.modules.get(str(function.__module__))


def _get_top_name(module: ModuleType) -> str:
    return module.__name__.partition(".")[0]


def _get_file(module: ModuleType) -> str:
    return os.path.realpath(getattr(module, "__file__", None) or "")


def _find_name(module: ModuleType) -> str:
    if _get_package(module):
        return _get_top_name(module)
    stem, ending = os.path.splitext(os.path.basename(_get_file(module)))
    return (
        stem if ending else ""
    )  # Python's prompt has no file, and its standard input none with an ending


def _get_package(module: ModuleType) -> str | None:
    return vars(module).get("__package__")  # the `__main__` of IPython has none


def _find_version(module: ModuleType) -> str | None:
    for each in (module, sys.modules.get(_get_top_name(module), module)):
        version = vars(each).get("__version__")
        if isinstance(version, str) and version:
            return version
    is_installed = any(
        part in ("site-packages", "dist-packages") for part in _get_file(module).split(os.sep)
    )
    if not is_installed and not _get_package(module):
        return None  # a file by itself, and the usual case
    from importlib import metadata

    names = [
        _get_top_name(module),
        *(metadata.packages_distributions().get(_get_top_name(module), ()) if is_installed else ()),
    ]
    for name in names:
        try:
            found = metadata.distribution(name)
        except (metadata.PackageNotFoundError, ValueError):
            continue
        if any(
            _get_file(module).startswith(os.path.realpath(root) + os.sep)
            for root in _list_roots(found)
        ):
            return found.version
    return None


def _list_roots(distribution: Distribution) -> Iterator[str]:
    """Yield the folders that hold the files of *distribution*: of an editable one, its project."""
    yield str(distribution.locate_file(""))
    direct = distribution.read_text("direct_url.json")
    if direct is not None:
        import json
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        yield url2pathname(urlsplit(json.loads(direct)["url"]).path)
