"""Finds the files and packages that targets need on another machine.

Strategy. Imports are read from the source, since functions import as well as files. Modules next to
a file are packed; packages are asked for: those that a `# /// script` block names, or else the
installed ones that are imported.
"""

from __future__ import annotations

import ast
import os
import sys
from importlib import metadata
from typing import TYPE_CHECKING

import msgspec
from toolwire_bundled import BUNDLED
from toolwire_compat.fastmcp.names import PACKAGES as ADOPTED
from toolwire_compat.yaml.files import is_about_a_tool
from toolwire_schemas import PACKAGES

from ..errors import LoadError
from ..loading.dependencies import ScriptMetadata, normalize_name
from ..loading.diagnostics.not_found import explain_missing_file
from ..loading.importing import YAML
from ..loading.targets import parse
from .files import check_kind, find_files, is_private
from .yaml_files import find_run_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from importlib.machinery import ModuleSpec

    from ..loading.targets import Target

FOLDER = "server"
"""The folder of the author's files in a bundle, without the entry point: they cannot shadow what
that imports.
"""


class Contents:
    """The parts of a bundle: *files* by their place in it, the words for `serve` there, and
    packages to install.
    """

    def __init__(self, packages: Sequence[str] = ()) -> None:
        self.files: dict[str, str] = {}
        self.targets: list[str] = []
        self.dependencies = list(packages)
        self.extras: set[str] = set()
        self.requires_python: str | None = None
        self.unpacked: list[str] = []
        self.left_out: list[str] = []
        """Hidden files and keys in the folders that are packed."""
        self._imported: dict[str, str] = {}
        self._private: dict[str, str] = {}
        """Hidden files and keys that commands run, with the YAML file that says so."""
        self._run_in: dict[str, str] = {}
        """The folders in which commands run, likewise."""

    def add_target(self, text: str) -> None:
        """Add what the target *text* of the command line needs.

        Raises:
            LoadError: if it cannot be packed.
        """
        target = parse(text)
        if target.is_bundled:
            self.targets.append(text)
            self.extras |= {BUNDLED[target.place].extra} - {""}
        elif target.is_path:
            self._add_path(target)
        else:
            self._add_module(target)

    def add_adopted(self, text: str) -> None:
        """Add what the target *text* of `--adopt` needs, which may be an installed program.

        Raises:
            LoadError: if it cannot be packed.
        """
        from toolwire_compat.fastmcp.programs import find_distribution

        distribution = find_distribution(text)
        if distribution is None:
            self.add_target(text)
            return
        self._depend_on(distribution)
        self.targets.append(text)

    def add_data(self, path: str, near: str) -> None:
        """Add the file or folder at *path*, where a file in the folder *near* finds it."""
        if not os.path.lexists(path):
            raise LoadError(explain_missing_file(path))
        check_kind(path, os.path.dirname(os.path.abspath(path)))
        root = near
        if os.path.relpath(path, near).startswith(".."):
            root = os.path.dirname(os.path.abspath(path))
        self._add(path, root)

    def _add_path(self, target: Target) -> None:
        place = os.path.abspath(target.place)
        if not os.path.exists(place):
            raise LoadError(explain_missing_file(target.place))
        if os.path.isfile(place) and not place.endswith((".py", *YAML)):
            raise LoadError(
                f"{target.place} cannot be packed: its name must end in .py, {' or '.join(YAML)}"
            )
        root = os.path.dirname(place)
        while place.endswith(".py") and os.path.isfile(os.path.join(root, "__init__.py")):
            root = os.path.dirname(root)
        head = os.path.relpath(place, root).split(os.sep)[0]
        self._add(os.path.join(root, head), root)  # a file, or its whole package
        if place.endswith(".py"):
            self._add_metadata(place)
            for ending in YAML:
                description = f"{place[:-3]}_config{ending}"
                if os.path.isfile(description):
                    self._add(description, root)
        packed = msgspec.structs.replace(target, place=_place_in_bundle(place, root))
        self.targets.append(str(packed))

    def _add_metadata(self, file: str) -> None:
        block = ScriptMetadata(file)
        self.dependencies += block.dependencies
        self.requires_python = block.requires_python or self.requires_python
        self.unpacked += [f"[tool.{name}]" for name in block.tools]

    def _add_module(self, target: Target) -> None:
        spec = _find_spec(target.place)
        if spec is None:
            raise LoadError(
                f"no module {target.place!r} to pack; a file is named with its ending, as in"
                " tools.py"
            )
        head = target.place.partition(".")[0]
        distributions = metadata.packages_distributions().get(head)
        if distributions:
            self._depend_on(distributions[0])
            self.targets.append(str(target))
        elif spec.origin and os.path.isfile(spec.origin):
            self._add_path(msgspec.structs.replace(target, place=spec.origin))
        else:
            raise LoadError(f"the module {target.place!r} has no file that can be packed")

    def _depend_on(self, distribution: str) -> None:
        if normalize_name(distribution) not in map(normalize_name, self.dependencies):
            self.dependencies.append(f"{distribution}>={metadata.version(distribution)}")

    def _add(self, path: str, root: str) -> None:
        for file in find_files(path, self.left_out):
            place = _place_in_bundle(file, root)
            other = self.files.setdefault(place, file)
            if other != file:
                raise LoadError(
                    f"{other} and {file} would have one name in the bundle; rename one, or pack"
                    " their folder"
                )
            if file.endswith(".py"):
                self._follow_imports(file, root)
            elif file.endswith(YAML) and is_about_a_tool(file):
                self.extras.add("yaml")
                self._follow_names(file, root)

    def _follow_imports(self, file: str, root: str) -> None:
        for name, is_optional in _find_imports(file):
            module = _find_local_module(name, [os.path.dirname(file), root])
            if module is None:
                self._imported.setdefault(name, "" if is_optional else file)
            elif module not in self.files.values():
                self._add(module, os.path.dirname(module))

    def _follow_names(self, file: str, root: str) -> None:
        """Add the files that the tools of a YAML file run, and note the folders that they run
        in.
        """
        files, folders = find_run_files(file)
        folder = os.path.dirname(os.path.abspath(file))
        for path in files:
            if os.path.relpath(path, folder).startswith(".."):
                raise LoadError(
                    f"{file} runs {path}, which is not in its folder and cannot be packed with it"
                )
            if is_private(path):
                self._private[path] = file
            elif path not in self.files.values():
                self._add(path, root)
        for place in folders:
            self._run_in[place] = file

    def _check_commands(self) -> None:
        packed = {os.path.realpath(file) for file in self.files.values()}
        for path, file in self._private.items():
            if os.path.realpath(path) not in packed:
                raise LoadError(
                    f"{file} runs {path}, which is hidden or may be a key: pack it by --add {path}"
                )
        for folder, file in self._run_in.items():
            inside = os.path.join(os.path.realpath(folder), "")
            if not any(path.startswith(inside) for path in packed):
                raise LoadError(
                    f"{file} runs a command in {folder}, which the bundle would lack: add it by"
                    f" --add {folder}"
                )

    def settle(self) -> None:
        """Add the installed packages that are imported, unless the author has named packages.

        Raises:
            LoadError: if something that the tools need would be missing: an imported module that is
                neither packed nor installed, a private file that a command runs, a folder in which
                one runs.
        """
        self._check_commands()
        if self.dependencies:
            return
        installed = metadata.packages_distributions()
        for name, file in self._imported.items():
            if name in installed:
                self._depend_on(installed[name][0])
            elif file and name not in ADOPTED:  # those that are not installed are Toolwire's own
                remedy = f"put {name}.py next to it, or name its package: --with PACKAGE"
                raise LoadError(f"{file} imports {name}, which the bundle would lack; {remedy}")


def _place_in_bundle(path: str, root: str) -> str:
    return "/".join([FOLDER, *os.path.relpath(path, root).split(os.sep)])


def _find_spec(module: str) -> ModuleSpec | None:
    """Return where Python finds *module*, in the working folder, too."""
    from importlib.util import find_spec

    sys.path.append(os.getcwd())
    try:
        return find_spec(module)
    except ImportError:
        return None
    finally:
        sys.path.remove(os.getcwd())


def _find_local_module(name: str, folders: Sequence[str]) -> str | None:
    """Return the package *name* in one of *folders*, or else the file of that name."""
    places = [os.path.join(folder, name) for folder in folders]
    for place in places:
        if os.path.isdir(place):
            return place
    for place in places:
        file = f"{place}.py"
        if os.path.exists(file):
            return file
    return None


def _find_imports(file: str) -> Iterator[tuple[str, bool]]:
    """Yield the top-level modules that *file* imports from elsewhere, and whether it can do
    without.
    """
    # An import in a `try` is optional; one for type checkers alone is not needed.
    waiting: list[tuple[ast.AST, bool]] = [(_parse(file), False)]
    while waiting:
        node, is_optional = waiting.pop()
        inner: Iterable[ast.AST] = ast.iter_child_nodes(node)
        names: list[str] = []
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(level=0, module=str(name)):
                names = [name]
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                inner = node.orelse
            case ast.Try():
                is_optional = True
        for child in inner:
            waiting.append((child, is_optional))
        for name in names:
            head = name.partition(".")[0]
            if head not in sys.stdlib_module_names and head not in PACKAGES:
                yield head, is_optional


def _parse(file: str) -> ast.Module:
    with open(file, "rb") as source:
        text = source.read()
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise LoadError(f"{file}, line {error.lineno}: {error.msg}") from None
    except ValueError as error:
        raise LoadError(f"{file} cannot be read: {error}") from None
