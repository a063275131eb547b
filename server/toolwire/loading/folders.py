"""The files that a folder on the command line means."""

from __future__ import annotations

import os

from ..errors import LoadError
from . import importing as imports


def list_files(folder: str, name: str | None) -> list[str]:
    """Return the paths of the files in *folder* that may offer tools; *name* is that of a tool.

    Raises:
        LoadError: if there is no such file, or a *name*.
    """
    if name is not None:
        raise LoadError(f"{folder} is a folder; name the file: {folder}/FILE.py:{name}")
    names = sorted(name for name in os.listdir(folder) if name[0] not in "_.")
    files = [os.path.join(folder, name) for name in names if name.endswith(".py")]
    if any(name.endswith(imports.YAML) for name in names):
        from .yaml_targets import list_tool_files

        # After the modules, since these may register what runs the tools.
        files += list_tool_files(folder)
    if not files:
        from .diagnostics.refusals import explain_empty_folder

        raise LoadError(explain_empty_folder(folder, names))
    return files
