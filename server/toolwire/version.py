"""The version of Toolwire. Refuses to mix two of them in one process, when the package is upgraded
under a running server.

Strategy. Modules that few calls need are imported when one needs them, since importing them at the
start would cost every host time. After an upgrade in place, such an import would bring modules of
another version: names are missing in them, or mean something else. So from the first call on, a
finder is asked first for each of our modules. If the file with the version has changed, and the
version with it, the import fails with a sentence that says so, and the server goes on.
"""

from __future__ import annotations

import errno
import os
import sys

from toolwire_schemas import is_ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

__version__ = "0.1.0"

_FILE = __file__
_START = "__version__ = "


class Upgraded(ImportError):
    """A module that cannot be imported any more, since its file is that of another version."""


class UpgradeGuard:
    """A finder for `sys.meta_path` that finds nothing, and raises `Upgraded` for our modules after
    an upgrade.
    """

    def __init__(self) -> None:
        self._known: tuple[int, int, int] | None = None
        """The state of the file in which it had the version of this process."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return None, which lets the other finders find the module."""
        if not is_ours(name):
            return None
        state = _read_state()
        if state is not None and state == self._known:
            return None
        version = _read_version_on_disk()
        if (
            version == __version__
        ):  # also if it was installed again, or is a checkout that is being edited
            self._known = state
            return None
        now = f"its files are now those of {version}" if version else "its files are gone"
        raise Upgraded(
            f"Toolwire {__version__} runs here, but {now}: restart the server", name=name
        )


def guard_imports() -> None:
    """Refuse imports of our modules from now on if they are of another version than this
    process.
    """
    sys.meta_path.insert(0, UpgradeGuard())


def _read_state() -> tuple[int, int, int] | None:
    try:
        found = os.stat(_FILE)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _read_version_on_disk() -> str:
    """Return the version that the file has now, or an empty text if it cannot be read.

    Raises:
        OSError: if no descriptor is left.
    """
    try:
        with open(_FILE, encoding="utf-8") as file:
            for line in file:
                if line.startswith(_START):
                    return line.removeprefix(_START).strip().strip("\"'")
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):  # this says nothing about the file
            raise
    except ValueError:
        pass
    return ""
