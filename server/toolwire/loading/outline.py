"""Reads from the text of files what a server declares before they are imported.

Strategy. A handshake that waits for slow imports fails in hosts that do not wait. Most files are
*plain*: they define functions, and nothing in their text could make a resource, a prompt or a name
of the server. Then the declared capabilities and the version are known from the text. Of any other
target, only its import can tell.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .targets import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_BYTES = 1024 * 1024
"""A larger file is not read twice."""

# What may make something else than tools, take names from elsewhere, or name the server. Not as a
# regular expression: importing `re` would take longer than all else here.
_NOT_PLAIN = (
    b"resource",
    b"prompt",
    b"fastmcp",
    b"mcpserver",
    b"__tools__",
    b"__all__",
    b"__getattr__",
    b"import *",
    b"from .",
)
_VERSION = b"__version__"


def read_version(targets: Sequence[str]) -> str | None:
    """Return the version of a server of *targets*, of which each is a plain file; "" if they give
    none, `None` if one is not plain.
    """
    versions: set[str] = set()
    for target in targets:
        version = _read_file_version(parse(target).place)
        if version is None:
            return None
        if version:
            versions.add(version)
    return versions.pop() if len(versions) == 1 else ""


def _read_file_version(path: str) -> str | None:
    if not path.endswith(".py") or not _is_by_itself(path):
        return None
    try:
        with open(path, "rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError:  # loading says what is wrong
        return None
    lower = text.lower()
    if len(text) > _MAX_BYTES or any(word in lower for word in _NOT_PLAIN):
        return None
    if _VERSION not in text:
        return ""
    return _read_literal_version(text)


def _read_literal_version(text: bytes) -> str | None:
    """Return the version that *text* sets once, in a line of its own, as a string; else `None`."""
    lines = [line for line in text.splitlines() if _VERSION in line]
    if len(lines) != 1:
        return None
    name, equals, value = lines[0].partition(b"=")
    value = value.strip()
    quote = value[:1]
    version = value[1:-1]
    is_literal = quote in (b'"', b"'") and value.endswith(quote) and quote not in version
    if name.strip() != _VERSION or not equals or name[:1].isspace() or not is_literal:
        return None
    return version.decode("utf-8", "replace")


def _is_by_itself(path: str) -> bool:
    """Return whether the file at *path* is in no package and not installed: those have the version
    of their distribution.
    """
    folder = os.path.dirname(os.path.realpath(path))
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(folder.split(os.sep))
    return not is_installed and not os.path.isfile(os.path.join(folder, "__init__.py"))
