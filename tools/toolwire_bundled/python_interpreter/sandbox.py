"""The command line that puts a process into a sandbox of bubblewrap's. Runs nothing.

Strategy. The process sees a file system of its own: Python, the programs and libraries of the
system, all read-only, and one folder in memory to write to. Of a folder that holds more than
Python, such as a project with a virtual environment in place, it sees Python alone. What carries
secrets or leads out of the sandbox (masks.py) is covered up. It has namespaces of its own: no
network, not even the machine's own, and no process but its own to see, signal or trace. They end
with the process, and it ends with the thread that started it, so that nothing it starts can stay
behind, whatever it does to get away. What namespaces leave open, a filter of calls refuses
(syscalls.py).

Before any of that, choom of util-linux makes the process the first that the kernel ends when memory
runs out. The code cannot undo that, since it cannot write to /proc. Where there is no choom the
process does it itself (child.py).

A server that runs as root cannot limit the number of processes of one that runs as root, too, and
would leave it the rights of root over what it sees. So it becomes an unused uid, by setpriv of
util-linux. Otherwise bubblewrap makes a user namespace, and forbids any further one.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from .job import FOLDER_BYTES, SHARED_MEMORY_BYTES
from .masks import find_masked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_TEMPORARY = "/tmp"
FOLDER = f"{_TEMPORARY}/code"  # below it, since Python itself may be in /tmp

_OF_PYTHON = ("bin", "include", "lib", "lib64", "share", "pyvenv.cfg")
"""What of Python's folder belongs to it, and to its packages."""

# Not /usr/src, where images of containers have applications, and other private files may be in
# /usr.
_SYSTEM = (
    *(
        f"/usr/{name}"
        for name in ("bin", "include", "lib", "lib32", "lib64", "libexec", "sbin", "share")
    ),
    *(f"/usr/local/{name}" for name in ("bin", "include", "lib", "lib64", "sbin", "share")),
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"),
)
_SETTINGS = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/fonts",
)

_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"

_NAMESPACES = (
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
)

_FIRST_FREE_USER, _FREE_USERS = 61184, 4336
"""Where systemd takes numbers for users that are not to be anybody: https://systemd.io/UIDS-GIDS/.
"""


def wrap_in_sandbox(
    program: Sequence[str], readable: Iterable[str], *, filter_from: int | None = None
) -> list[str]:
    """The command that runs *program* in a sandbox, in which it can read Python and the folders of
    *readable*.

    From the descriptor *filter_from* it reads what may be asked of the kernel (syscalls.py).

    Raises:
        ToolError: if the programs that this takes are not installed.
    """
    readable = [*map(os.path.abspath, readable)]
    python = [*_list_python_folders()]
    visible, covered = (
        [*_make_visible([*_SYSTEM, *_SETTINGS, *python, *readable])],
        [*_cover_masked(python, readable)],
    )
    choom = shutil.which("choom")
    command = [choom, "-n", "1000", "--"] if choom else []
    command += [
        _find_program("bwrap", "bubblewrap"),
        *_NAMESPACES,
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    command += (
        ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
        if as_root
        else ["--unshare-user", "--disable-userns"]
    )
    command += [
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        *_make_writable("/dev/shm", SHARED_MEMORY_BYTES),
        "--remount-ro",
        "/dev",
    ]
    command += [*_make_writable(_TEMPORARY, FOLDER_BYTES), "--perms", "0777", "--dir", FOLDER]
    command += ["--remount-ro", "/proc"] if choom else []
    command += [*visible, *covered, "--remount-ro", "/", "--chdir", FOLDER]
    command += [] if filter_from is None else ["--seccomp", str(filter_from)]
    command += ["--"]
    if as_root:
        user = str(_FIRST_FREE_USER + int.from_bytes(os.urandom(4)) % _FREE_USERS)
        command += [
            _find_program("setpriv", "util-linux"),
            "--reuid",
            user,
            "--regid",
            user,
            "--clear-groups",
        ]
        command += ["--inh-caps=-all", "--bounding-set=-all"]
    return [*command, *program]


def _find_program(program: str, package: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise ToolError(
            say(
                "{program} is not installed (Debian has it in {package})",
                program=program,
                package=package,
            )
        )
    return path


def _list_python_folders() -> Iterator[str]:
    """Where Python and its packages are: links as they are named and what they lead to."""
    for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix):
        is_environment = os.path.exists(os.path.join(prefix, "pyvenv.cfg"))
        for folder in dict.fromkeys((prefix, os.path.realpath(prefix))):
            for name in _OF_PYTHON:
                # In a project, lib may have more in it than the packages.
                yield os.path.join(
                    folder,
                    name,
                    *((_VERSION,) if is_environment and name.startswith("lib") else ()),
                )


def _make_writable(path: str, size: int) -> list[str]:
    return ["--perms", "1777", "--size", str(size), "--tmpfs", path]


def _make_visible(paths: Iterable[str]) -> Iterator[str]:
    """What shows *paths*, each but once, read-only and in folders that anybody may enter."""
    made, shown = {_TEMPORARY}, set[str]()
    for path in map(os.path.normpath, paths):
        if not os.path.exists(path) or not shown.isdisjoint([path, *_list_parents(path)]):
            continue
        shown.add(path)
        for parent in reversed(_list_parents(path)):
            if parent not in made:
                made.add(parent)
                yield from ("--perms", "0755", "--dir", parent)
        if os.path.islink(path) and path in _SYSTEM:  # as /lib is to usr/lib
            yield from ("--symlink", os.readlink(path), path)
        else:
            yield from ("--ro-bind", path, path)


def _cover_masked(python: Sequence[str], readable: Sequence[str]) -> Iterator[str]:
    """What covers up all that masks.py finds in *readable*, and in what a project may share with
    Python.
    """
    shared = [
        path
        for path in python
        if os.path.basename(path) in ("bin", "share") and not _is_below(path, _SYSTEM)
    ]
    found = dict.fromkeys(
        each for folder in (*shared, *readable) for each in find_masked(folder, python)
    )
    for path, is_folder in found:
        if is_folder:
            yield from ("--perms", "0555", "--size", "4096", "--tmpfs", path, "--remount-ro", path)
        else:
            yield from ("--ro-bind", os.devnull, path)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return not set(folders).isdisjoint([path, *_list_parents(path)])


def _list_parents(path: str) -> list[str]:
    above = os.path.dirname(path)
    return [] if above == "/" else [above, *_list_parents(above)]
