"""Finds the shared process that a command line belongs to: its key, its files, its environment.

Every session imports this file before anything else, so it imports little.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import os
import stat

from .words import find_named_variables

# as that of `typing`, which would have to be imported
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VOLATILE = frozenset(
    (
        # shells
        b"_",
        b"OLDPWD",
        b"PWD",
        b"SHLVL",
        # terminals
        b"ALACRITTY_WINDOW_ID",
        b"COLORTERM",
        b"COLUMNS",
        b"GNOME_TERMINAL_SCREEN",
        b"GNOME_TERMINAL_SERVICE",
        b"GPG_TTY",
        b"ITERM_SESSION_ID",
        b"KITTY_PID",
        b"KITTY_WINDOW_ID",
        b"LINES",
        b"SSH_CLIENT",
        b"SSH_CONNECTION",
        b"SSH_TTY",
        b"STY",
        b"TERM",
        b"TERM_PROGRAM",
        b"TERM_PROGRAM_VERSION",
        b"TERM_SESSION_ID",
        b"TMUX",
        b"TMUX_PANE",
        b"VTE_VERSION",
        b"WEZTERM_PANE",
        b"WINDOW",
        b"WINDOWID",
        b"WT_SESSION",
        # desktops and service managers
        b"DESKTOP_STARTUP_ID",
        b"INVOCATION_ID",
        b"JOURNAL_STREAM",
        b"MANAGERPID",
        b"SYSTEMD_EXEC_PID",
        b"XDG_ACTIVATION_TOKEN",
        b"XDG_SESSION_ID",
        b"XDG_VTNR",
        # hosts
        b"CLAUDE_CODE_ENTRYPOINT",
        b"CLAUDE_CODE_SSE_PORT",
        b"CURSOR_TRACE_ID",
        b"VSCODE_CWD",
        b"VSCODE_GIT_IPC_HANDLE",
        b"VSCODE_IPC_HOOK",
        b"VSCODE_IPC_HOOK_CLI",
        b"VSCODE_PID",
    )
)
"""Variables that differ between sessions of one user and that tools do not need. A shared process
does not get them. `--share-env NAME` makes one count.
"""

_KEY_BYTES = 12
_MAX_ADDRESS_BYTES = 107
"""The longest path of a Unix socket on Linux (unix(7))."""


class CannotShare(Exception):
    """Sessions cannot meet here; the text says why."""


class Place:
    """The files of the shared process with *key* in *folder*."""

    def __init__(self, folder: str, key: str) -> None:
        self.folder = folder
        self.key = key
        self.socket = os.path.join(folder, f"{key}.sock")
        self.lock = os.path.join(folder, f"{key}.lock")
        self.log = os.path.join(folder, f"{key}.log")
        self.alive = os.path.join(folder, f"{key}.alive")
        """A named pipe that each session holds open: its hang-up means that all have ended."""
        self.note = ""
        """A sentence about the process for the user; mostly empty."""
        self.stuck_pid = 0
        """The number of the process that listens and does not answer, if there is one."""

    def make_private(self, number: int) -> Place:
        """Return the place of a process that no other session finds: of one for the session of the
        process *number*, or of an old one with this number.
        """
        return Place(self.folder, f"{self.key}-{number}")


def find_place(words: Sequence[str]) -> Place:
    """Return the place of the shared process for a command line of *words*, in this folder and
    environment.

    Raises:
        CannotShare: if there is no private folder for it.
    """
    folder = _find_private_folder()
    place = Place(folder, make_key(words, os.getcwdb(), make_environment(words, os.environb)))
    if len(os.fsencode(place.make_private(2**22).socket)) > _MAX_ADDRESS_BYTES:
        raise CannotShare(f"the path of {folder} is too long for a socket; set XDG_RUNTIME_DIR")
    return place


def make_environment(
    words: Sequence[str], environment: Mapping[bytes, bytes]
) -> dict[bytes, bytes]:
    """Return the variables that count, and that alone reach the shared process."""
    named = {os.fsencode(name) for name in find_named_variables(words)}
    left_out = VOLATILE - named
    return {name: value for name, value in environment.items() if name not in left_out}


def make_key(words: Sequence[str], folder: bytes, environment: Mapping[bytes, bytes]) -> str:
    """Return the name of the process for *words*, run in *folder* with *environment*.

    Sessions with equal keys share. Of the Python and the Toolwire, their places count: a process
    whose files have changed takes no new session (`LoadedFiles`).
    """
    # of `hashlib`, which takes longer to import than all else here
    from _blake2 import blake2b

    digest = blake2b(digest_size=_KEY_BYTES)
    parts = [os.fsencode(sys.executable), os.fsencode(__file__), folder, b"words"]
    parts += map(os.fsencode, words)
    parts.append(b"environment")
    for name in sorted(environment):
        parts += [name, environment[name]]
    for part in parts:
        digest.update(b"%d:" % len(part))  # so that no two lists of parts look alike
        digest.update(part)
    key: str = digest.hexdigest()
    return key


def _find_private_folder() -> str:
    """Return a folder that only this user can enter; create it if necessary."""
    problem = ""
    for folder in list_folders():
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass
        except OSError as error:
            problem = f"{folder} cannot be created: {error.strerror}"
            continue
        check_private(folder)
        return folder
    raise CannotShare(problem)


def list_folders() -> list[str]:
    """Return the folders in which this user's shared processes may be, the preferred one first."""
    user = os.geteuid()
    own = "toolwire"
    of_several_users = f"toolwire-{user}"
    candidates = [
        (os.environ.get("XDG_RUNTIME_DIR", ""), own),
        (f"/run/user/{user}", own),
        (os.environ.get("TMPDIR", ""), of_several_users),
        ("/tmp", of_several_users),
    ]
    folders = [os.path.join(base, name) for base, name in candidates if os.path.isabs(base)]
    return list(dict.fromkeys(folders))


def check_private(folder: str) -> None:
    """Check that only this user can enter *folder*.

    Raises:
        CannotShare: if others can, or it is no folder of this user.
    """
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise CannotShare(f"{folder} is no folder")
    if found.st_uid != os.geteuid():
        raise CannotShare(f"{folder} belongs to another user")
    if found.st_mode & 0o077:
        raise CannotShare(f"others may enter {folder}; run chmod 700 {folder}")
