"""The text of `toolwire --version`: the version, the commit where one is known, and with `-v` where
the package is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from .settings import __version__

_DIGITS = 12
_GIT_SECONDS = 5.0
_PACKAGE = Path(__file__).parent
_CHECKOUT = _PACKAGE.parents[1]
"""The folder of the project if this is a checkout, as an editable installation uses it."""


def version_text(*, is_verbose: bool) -> str:
    """Return the version on one line; if *is_verbose*, the folder of the package and the Python
    follow.
    """
    commit = _installed_commit() or _checked_out_commit()
    line = f"toolwire {__version__}"
    if commit:
        line += f" (commit {commit})"
    if not is_verbose:
        return line
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{line}\npackage: {_PACKAGE}\nPython {python}: {sys.executable}"


def _installed_commit() -> str:
    """Return the commit that an installer has recorded (PEP 610), or an empty text."""
    try:
        recorded = json.loads(
            metadata.distribution("toolwire").read_text("direct_url.json") or "{}"
        )
        return str(recorded["vcs_info"]["commit_id"])[:_DIGITS]
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        return ""


def _checked_out_commit() -> str:
    """Return the commit of the checkout that this file is in, `-dirty` if files have changed, or an
    empty text.
    """
    if not (_CHECKOUT / ".git").exists():
        return ""
    command = ["git", "describe", "--always", "--exclude=*", f"--abbrev={_DIGITS}", "--dirty"]
    # Variables such as GIT_DIR, as hooks have them, lead to another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            command,
            cwd=_CHECKOUT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
