"""From a caller's path to an open folder and a name in it: inside of a root, whatever the path
says.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import msgspec
from toolwire_schemas.did_you_mean import say_unknown_name
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from .folders import open_root
from .limits import MAX_DEPTH, MAX_LINKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .folders import Folder

_NO_ROOTS = (
    "no folder is open to this tool; the server's settings name them, as in --set"
    " Files.roots=FOLDER"
)
_MAX_SHOWN = 200


class Located(msgspec.Struct, frozen=True):
    """Where a path leads: to *name* in *folder*, or to *folder* itself if *name* is empty.

    `path` is what callers call it.
    """

    folder: Folder
    name: str
    path: str


class Places:
    """Folders that are open to callers, the roots.

    A path is relative to the root, or, if there are several, begins with the name of one. An
    absolute path is taken if it begins with that of a root.

    Raises:
        ValueError: if one is no folder.
    """

    def __init__(self, roots: Sequence[str | os.PathLike[str]]) -> None:
        paths = dict.fromkeys(os.path.abspath(os.path.expanduser(root)) for root in roots)
        for path in paths:
            if not os.path.isdir(path):
                raise ValueError(f"there is no folder {path}")
        self._roots: dict[str, str] = {}
        for path in paths:
            self._roots[self._free(os.path.basename(path) or "root")] = path

    def _free(self, name: str) -> str:
        number, free = 1, name
        while free in self._roots:
            number += 1
            free = f"{name}-{number}"
        return free

    @property
    def names(self) -> list[str]:
        """The names of the roots."""
        return list(self._roots)

    def is_above(self, path: str) -> bool:
        """Whether *path* means all of several roots."""
        return len(self._roots) > 1 and not any(part not in ("", ".") for part in path.split("/"))

    @contextmanager
    def locate(self, path: str, *, make_folders: bool = False) -> Iterator[Located]:
        """Where *path* leads to, for as long as this is entered. It does not have to exist.

        With *make_folders*, folders that are missing on the way are made, and removed if this is
        left by an error.

        Raises:
            ToolError: if it leads out of the roots, to nowhere, or not to where a path can lead.
        """
        name, parts = self._split_path(path)
        way = _Way(self._roots[name], make_folders=make_folders)
        try:
            with name_errors(path):
                last = way.follow(parts)
            shown = "/".join(
                [*([name] if len(self._roots) > 1 else ()), *way.names, *([last] if last else ())]
            )
            yield Located(way.folder, last, shown or ".")
        except BaseException:
            way.go_back()
            raise
        finally:
            way.close()

    def _split_path(self, path: str) -> tuple[str, list[str]]:
        """The name of the root that *path* is in, and the parts of the path behind it."""
        if not self._roots:
            raise ToolError(say(_NO_ROOTS))
        _check(path)
        if os.name == "nt":
            path = path.replace("\\", "/")
        if os.path.isabs(path):
            for name, root in self._roots.items():
                inner = _find_parts_below(root, path)
                if inner is not None:
                    return name, inner
            raise ToolError(
                say(
                    "{path} is outside of the folders that are open: {names}",
                    path=_show_path(path),
                    names=", ".join(self._roots),
                )
            )
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if len(self._roots) == 1:
            return self.names[0], parts
        if not parts:
            raise ToolError(say("say which folder: {names}", names=", ".join(self._roots)))
        if parts[0] not in self._roots:
            raise ToolError(
                say(
                    "{path} begins with {unknown_name}",
                    path=_show_path(path),
                    unknown_name=say_unknown_name("open folder", parts[0], self._roots),
                )
            )
        return parts[0], parts[1:]


@contextmanager
def name_errors(path: str) -> Iterator[None]:
    """Tell what the system says of *path* in a sentence that names nothing but that."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0)
        problem = say(reason) if reason else error.strerror or say("it cannot be used")
        raise ToolError(f"{_show_path(path)}: {problem}") from None


_REASONS = {
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of it is no folder",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "that is not permitted",
    errno.EPERM: "that is not permitted",
    errno.ELOOP: "it is a link, or was replaced by one during the call",
    errno.ENAMETOOLONG: "a name in it is too long",
    errno.ENOSPC: "there is no space left",
    errno.ENXIO: "it is no file that can be read",
}


class _Way:
    """The folders from a root to where a path has led so far, all open."""

    def __init__(self, root: str, *, make_folders: bool) -> None:
        with name_errors("the open folder"):
            self._open: list[Folder] = [open_root(root)]
        self._root = root
        self._makes = make_folders
        self._made: set[int] = set()  # how deep the folders are that were made
        self.names: list[str] = []

    @property
    def folder(self) -> Folder:
        """The innermost."""
        return self._open[-1]

    def close(self) -> None:
        """Close all of them."""
        while self._open:
            self._open.pop().close()

    def go_back(self) -> None:
        """Go back to the root, without leaving behind any folder that was made."""
        while self.names:
            self._leave()

    def follow(self, parts: Sequence[str]) -> str:
        """Go along *parts* and return the last one, which is no link; "" if that is the folder
        reached.
        """
        todo, links = deque(parts), 0
        while todo:
            part = todo.popleft()
            if part == "..":
                self._leave()
                continue
            target = self._link(part)
            if target is not None:
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, "links lead in a circle")
                todo.extendleft(reversed(self._find_parts_inside(target)))
            elif not todo:
                return part
            else:
                self._enter(part)
        return ""

    def _link(self, name: str) -> str | None:
        """Where *name* leads to if it is a link."""
        try:
            return (
                self.folder.read_link(name)
                if stat.S_ISLNK(self.folder.look(name).st_mode)
                else None
            )
        except FileNotFoundError:
            return None

    def _enter(self, name: str) -> None:
        if len(self.names) == MAX_DEPTH:
            raise ToolError(
                say(
                    "the path has more than {max_depth} folders within each other",
                    max_depth=MAX_DEPTH,
                )
            )
        try:
            inner = self.folder.enter(name)
        except FileNotFoundError:
            if not self._makes:
                raise
            self.folder.make(name)
            self._made.add(len(self.names))
            self.folder.sync()
            inner = self.folder.enter(name)
        self._open.append(inner)
        self.names.append(name)

    def _leave(self) -> None:
        if not self.names:
            _refuse_outside()
        self._open.pop().close()
        name, depth = self.names.pop(), len(self.names)
        if depth in self._made:
            self._made.remove(depth)
            with suppress(OSError):  # another program has put something there
                self.folder.remove_folder(name)

    def _find_parts_inside(self, target: str) -> list[str]:
        """The parts of a link's target; if that is absolute, from the root on, to which the way
        goes back.
        """
        if os.name == "nt":
            target = target.removeprefix("\\\\?\\").replace("\\", "/")
        if not os.path.isabs(target):
            return [part for part in target.split("/") if part not in ("", ".")]
        parts = _find_parts_below(self._root, target)
        if parts is None:
            _refuse_outside()
        self.go_back()
        return parts


def _find_parts_below(root: str, path: str) -> list[str] | None:
    """The parts of the absolute *path* behind *root*; None if it does not begin with that."""
    wanted, found = (
        [part for part in text.replace(os.sep, "/").split("/") if part] for text in (root, path)
    )
    if [*map(os.path.normcase, found[: len(wanted)])] != [*map(os.path.normcase, wanted)]:
        return None
    return [part for part in found[len(wanted) :] if part != "."]


def _refuse_outside() -> NoReturn:
    raise ToolError(say("the path leads out of the folders that are open"))


def _check(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ToolError(say("the path is not text in UTF-8")) from None
    if "\0" in path:
        raise ToolError(say("a path has no NUL character in it"))
    if len(path) > 4096:
        raise ToolError(say("the path is longer than 4,096 characters"))
    if os.name == "nt" and ":" in os.path.splitdrive(path)[1]:
        raise ToolError(say("a path has no : in it"))


def _show_path(path: str) -> str:
    return repr(path if len(path) <= _MAX_SHOWN else path[: _MAX_SHOWN - 1] + "…")
