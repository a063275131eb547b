"""The command that installs packages into the environment of this Python: pip's, pipx's or uv's."""

from __future__ import annotations

import os
import sys


def install_command(*packages: str) -> str:
    """Return the command that adds *packages*, given as requirements, to this environment;
    `toolwire[EXTRA]` is one.
    """
    from importlib.util import find_spec
    from shlex import join

    prefix = sys.prefix
    if os.path.isfile(os.path.join(prefix, "pipx_metadata.json")):
        return join(["pipx", "inject", os.path.basename(prefix), *packages])
    if os.path.isfile(os.path.join(prefix, "uv-receipt.toml")):
        return join(
            ["uv", "tool", "install", "toolwire", *(f"--with={package}" for package in packages)]
        )
    if is_ephemeral():
        return join(["uvx", *(f"--with={package}" for package in packages), "toolwire", "..."])
    if find_spec("pip") is None:  # as in the environments that uv makes
        return join(["uv", "pip", "install", "--python", sys.executable, *packages])
    return join([sys.executable, "-m", "pip", "install", *packages])


def is_ephemeral() -> bool:
    """Return whether this Python runs in an environment of uv's cache, as under `uvx`, which may be
    deleted.
    """
    parts = sys.prefix.replace("\\", "/").split("/")
    return any(part in ("archive-v0", "environments-v2", "builds-v0") for part in parts)
