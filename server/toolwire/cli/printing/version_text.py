"""The text of `toolwire --version`: the version, the commit where one is known, and with `-v` where
the package is and whether files of its checkout have changed.
"""

from __future__ import annotations

import os
import sys

from ... import version
from ...version import __version__

_DIGITS = 12
_GIT_SECONDS = 5.0
_PACKAGE = os.path.dirname(os.path.abspath(version.__file__))
_RECORD = f"{_PACKAGE}-{__version__}.dist-info/direct_url.json"
"""Where an installer records what it has installed, if not from an index (PEP 610). That of an
editable installation is elsewhere; its checkout knows the commit.
"""
_CHECKOUT = os.path.dirname(os.path.dirname(_PACKAGE))
"""The folder of the project if this is a checkout, as an editable installation uses it."""


def write_version(*, is_verbose: bool) -> str:
    """Return the version on one line; if *is_verbose*, the folder of the package and the Python
    follow.
    """
    commit = _find_commit(is_verbose=is_verbose)
    line = f"toolwire {__version__}"
    if commit:
        line += f" (commit {commit})"
    if not is_verbose:
        return line
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{line}\npackage: {_PACKAGE}\nPython {python}: {sys.executable}"


def _find_commit(*, is_verbose: bool) -> str:
    """Return the commit, or an empty text. Only if *is_verbose*, it ends with `-dirty` where files
    of the checkout have changed: git looks at all of them, which takes longer than Python's start.
    """
    commit = _read_installed_commit()
    if commit or not os.path.exists(os.path.join(_CHECKOUT, ".git")):
        return commit
    if not is_verbose:
        commit = _read_head()
    return commit or _describe_checkout()


def _read_installed_commit() -> str:
    """Return the commit that an installer has recorded, or an empty text."""
    try:
        with open(_RECORD, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return ""
    import json  # most installations have no such file

    try:
        return str(json.loads(text)["vcs_info"]["commit_id"])[:_DIGITS]
    except (ValueError, KeyError, TypeError):
        return ""


def _read_head() -> str:
    """Return the commit of the checkout as its files say, or an empty text if only git can tell:
    for a linked worktree, and for references that are packed.
    """
    folder = os.path.join(_CHECKOUT, ".git")
    try:
        head = _read(os.path.join(folder, "HEAD"))
        if head.startswith("ref: "):
            head = _read(os.path.join(folder, head.removeprefix("ref: ")))
    except OSError:
        return ""
    return head[:_DIGITS]


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def _describe_checkout() -> str:
    """Return the commit of the checkout, `-dirty` if files have changed, or an empty text."""
    import subprocess  # installed packages have no checkout

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
