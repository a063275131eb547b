"""Writes a bundle, which is a ZIP file."""

from __future__ import annotations

import os
import zipfile
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_UNIX = 3
"""The system whose permissions an entry has."""


def write_archive(folder: Path, bundle: Path) -> str:
    """Write the files in *folder* to *bundle*, the same bytes for the same files, and return its
    SHA-256.
    """
    bundle.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(_list_files(folder)):
            # Its time is that of 1980, when the time of ZIP begins.
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            mode = 0o100755 if os.access(path, os.X_OK) else 0o100644
            entry.external_attr = mode << 16
            entry.create_system = _UNIX
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return sha256(bundle.read_bytes()).hexdigest()


def _list_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path
