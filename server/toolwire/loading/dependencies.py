"""The packages that a file asks for (`# /// script`, PEP 723): found by uv, or named in a sentence.

Strategy. `uv run` builds an environment with the missing packages in its cache and prints its path;
that path goes to `sys.path` before our own packages. The server imports from it and stays the
process that the host has started: no uv between the two that could outlive a kill, and nothing of
the file runs twice. Imported only for files with a block, and uv runs only after an import has
failed.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from toolwire_schemas.install_command import install_command

from ..errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec

_DISTRIBUTIONS = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "PyMuPDF",
    "github": "PyGithub",
    "pptx": "python-pptx",
    "serial": "pyserial",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
"""The commonest packages whose name on the index is not that of the module."""


class ScriptMetadata:
    """The `# /// script` block of the Python file at *path*; without one, no `dependencies`.

    Raises:
        LoadError: if the block cannot be read.
    """

    def __init__(self, path: str) -> None:
        table = _read_block(path)
        self.dependencies: list[str] = table.get("dependencies", [])
        self.requires_python: str | None = table.get("requires-python")
        self.tools: list[str] = list(table.get("tool", {}))
        is_list = isinstance(self.dependencies, list)
        if not is_list or not all(isinstance(one, str) for one in self.dependencies):
            raise LoadError(
                f"{path}: `dependencies` in its `# /// script` block must be a list of strings"
            )


def _read_block(path: str) -> dict[str, Any]:
    """Return the table in the block of the file at *path*; an empty one without a block."""
    import tokenize
    import tomllib

    try:
        with tokenize.open(path) as file:
            lines = file.read().splitlines()
    except (OSError, SyntaxError, UnicodeDecodeError):  # the import reports it
        return {}
    try:
        return tomllib.loads("\n".join(_find_block(path, lines)))
    except tomllib.TOMLDecodeError as error:
        raise LoadError(f"{path}: its `# /// script` block is not TOML: {error}") from None


def _find_block(path: str, lines: list[str]) -> list[str]:
    """Return the lines of TOML in the block, as PEP 723 says: comments up to the last `# ///`."""
    lines = [line.rstrip() for line in lines]
    count = lines.count("# /// script")
    if count > 1:
        raise LoadError(f"{path} has two `# /// script` blocks; put everything in one")
    if not count:
        return []
    block: list[str] = []
    end = 0
    for line in lines[lines.index("# /// script") + 1 :]:
        if line == "# ///":
            end = len(block)
        if line != "#" and not line.startswith("# "):
            break
        block.append(line[2:])
    return block[:end]


def normalize_name(requirement: str) -> str:
    """Return the normalized name of the distribution in a *requirement* such as `Rich[all]>=13`."""
    found = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    return re.sub(r"[-_.]+", "-", found[1]).lower() if found else ""


def is_installed(requirement: str) -> bool:
    """Return whether a distribution of that name is installed, whatever its version."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution(normalize_name(requirement))
    except (PackageNotFoundError, ValueError):
        return False
    return True


_LOCK = threading.RLock()


def provide_packages(file: str, add_to_path: Callable[[str], None]) -> None:
    """Find modules that nothing else finds in the packages that *file* asks for, from now on."""
    _AskedLast.add_to_path = staticmethod(add_to_path)
    _AskedLast.files[file] = None
    if _AskedLast not in sys.meta_path:
        sys.meta_path.append(_AskedLast)


class _AskedLast:
    """The last finder of `sys.meta_path`, which an import asks for a module that is not
    installed.
    """

    files: ClassVar[dict[str, None]] = {}
    add_to_path: Callable[[str], None]

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        # The standard library tries modules of other systems.
        if path is not None or name in sys.stdlib_module_names:
            return None
        from importlib.machinery import PathFinder

        has_paths = False
        with _LOCK:
            for file in cls.files:
                for folder in _find_paths(file, _time_of_change(file)):
                    cls.add_to_path(folder)
                    has_paths = True
        return PathFinder.find_spec(name) if has_paths else None


def _time_of_change(file: str) -> int:
    return os.stat(file).st_mtime_ns if os.path.exists(file) else 0


@cache
def _find_paths(file: str, _time_of_change: int) -> tuple[str, ...]:
    """Return the import path with the packages that *file* asks for; once for each of its
    versions.
    """
    wanted = ScriptMetadata(file).dependencies
    if all(map(is_installed, wanted)) or find_uv() is None:
        return ()
    try:
        return _build_environment(["--with-requirements", file])
    except LoadError:
        return ()  # uv has said why; the import fails with a remedy


def add_packages(packages: Sequence[str], add_to_path: Callable[[str], None]) -> None:
    """Make *packages*, given as requirements, importable.

    Raises:
        LoadError: if uv is not there, or cannot install them; its own words are on stderr by then.
    """
    if find_uv() is None:
        raise LoadError(
            "--with needs uv (https://docs.astral.sh/uv); without it, run:"
            f" {install_command(*packages)}"
        )
    words: list[str] = []
    for package in packages:
        words += ["--with", package]
    for path in _build_environment(words):
        add_to_path(path)


def _build_environment(words: list[str]) -> tuple[str, ...]:
    """Return the import path of an environment with the packages that *words* ask `uv run` for,
    without ours.
    """
    import json
    import subprocess

    code = "import json, sys; print(json.dumps(sys.path))"
    command = [*format_uv_run(words), "python", "-c", code]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise LoadError("uv cannot install the packages (its message is above)")
    paths = []
    for path in json.loads(done.stdout):
        # The first entry is the environment of this one run, which uv has deleted by now.
        if path not in sys.path and os.path.isdir(path):
            paths.append(path)
    return tuple(paths)


def format_uv_run(words: Sequence[str]) -> list[str]:
    """Return the start of a command that runs in this Python's environment, with what *words* add
    to it.
    """
    return [find_uv() or "uv", "run", "--no-project", "--python", sys.executable, *words, "--"]


def find_uv() -> str | None:
    """Return the path of uv; hosts start servers with a `PATH` that lacks the folders it is usually
    in.
    """
    from shutil import which

    folders = [
        os.environ.get("PATH", os.defpath),
        os.path.dirname(sys.executable),
        os.path.expanduser("~/.local/bin"),
        os.path.expanduser("~/.cargo/bin"),
        "/opt/homebrew/bin",
        "/usr/local/bin",
    ]
    return which("uv", path=os.pathsep.join(folders))


def explain_missing_module(module: str, place: str) -> str:
    """Return a clause with the command that installs what the import of *module* by *place*, maybe
    a file, lacks.
    """
    if module in ("lagent", "groot"):
        return f"; import the names of {module} from toolwire_tools (see MIGRATING.md)"
    wanted = ScriptMetadata(place).dependencies
    if not wanted:
        package = _DISTRIBUTIONS.get(module, module)
        return f"; if {package!r} is a package, install it: {install_command(package)}"
    lacking = [one for one in wanted if not is_installed(one)]
    if not lacking:
        return (
            f"; its `# /// script` block asks for {', '.join(wanted)}, and none of them has"
            f" {module!r}"
        )
    if find_uv() is not None:
        return (
            "; uv could not install what its `# /// script` block asks for (its message is above)"
        )
    return (
        f"; its `# /// script` block asks for it: install uv, or run: {install_command(*lacking)}"
    )
