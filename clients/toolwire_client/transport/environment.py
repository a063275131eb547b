"""The environment of a server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# The variables that the official clients pass on: a server must not see the keys and tokens in our environment.
# `env=` adds those it needs.
_POSIX = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_WINDOWS = (
    *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE"),
    *("PROGRAMDATA", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "WINDIR"),
)


def server_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that every server inherits, and those of *env*."""
    names = _WINDOWS if os.name == "nt" else _POSIX
    # A value that begins with "()" is an exported shell function.
    passed = {name: os.environ[name] for name in names if name in os.environ}
    return {name: value for name, value in passed.items() if not value.startswith("()")} | dict(env or {})
