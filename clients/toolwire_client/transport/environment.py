"""Which of our environment variables a server is given."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# What the official clients pass on, and for their reason: a server somebody else wrote has no business with
# the keys and tokens in our environment. What it does need is named in `env=`.
_POSIX = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_WINDOWS = (
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
)


def server_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what any server may know of our environment, and *env* on top of it."""
    names = _WINDOWS if os.name == "nt" else _POSIX
    # A value that begins with "()" is an exported shell function.
    passed = {name: os.environ[name] for name in names if name in os.environ}
    return {name: value for name, value in passed.items() if not value.startswith("()")} | dict(env or {})
