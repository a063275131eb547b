"""The files of a folder that may be packed into a bundle: what is private stays at home unless it
is named itself.
"""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from ..errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Iterator

# What keys, certificates with keys and stores of passwords are usually called.
_PRIVATE = (
    ".*",
    "*.env",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.asc",
    "*.gpg",
    "credentials*",
    "secrets*",
    "*.tfstate",
)
_NOT_SOURCES = ("__pycache__", "node_modules")


def is_private(path: str) -> bool:
    """Return whether the file or folder at *path* is packed only if it is named itself: it is
    hidden, or may be a key.

    Modules of Python are no keys, whatever they are called.
    """
    name = os.path.basename(path).lower()
    if name.endswith(".py") and not name.startswith("."):
        return False
    return any(fnmatch(name, pattern) for pattern in _PRIVATE)


def find_files(path: str, left_out: list[str]) -> Iterator[str]:
    """Yield the file at *path*, or the files in the folder there, without compiled ones, bundles
    and environments.

    Private files of a folder are added to *left_out* instead.

    Raises:
        LoadError: for a pipe, a device or a socket, and for a link that leaves its folder.
    """
    if not os.path.isdir(path):
        check_kind(path, os.path.dirname(os.path.abspath(path)))
        yield path
        return
    for folder, folders, names in os.walk(path):
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        for name in [*folders, *names]:
            check_kind(os.path.join(folder, name), path)
        left_out += _find_private(folder, [*folders, *names])
        # `os.walk` goes into those that are left.
        folders[:] = sorted(filter(_may_have_sources, folders))
        for name in sorted(names):
            if not name.endswith(".mcpb") and not is_private(name):
                yield os.path.join(folder, name)


def check_kind(path: str, folder: str) -> None:
    """Do nothing if *path* is a file or folder, and no link that leads out of *folder*.

    Raises:
        LoadError: if it is something else.
    """
    if os.path.islink(path):
        target = os.path.realpath(path)
        if not target.startswith(os.path.join(os.path.realpath(folder), "")):
            raise LoadError(
                f"{path} is a link to {target}, which is outside of its folder: pack that file"
                " itself"
            )
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise LoadError(f"{path} cannot be packed: {error.strerror}") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise LoadError(
            f"{path} cannot be packed: it is {_KINDS.get(stat.S_IFMT(mode), 'no file')}"
        )


_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _may_have_sources(folder: str) -> bool:
    return folder not in _NOT_SOURCES and not is_private(folder)


def _find_private(folder: str, names: list[str]) -> list[str]:
    return sorted(os.path.join(folder, name) for name in names if is_private(name))
