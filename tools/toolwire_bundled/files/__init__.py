"""Files: reading, searching and changing files inside of some folders, and nowhere else.

A caller's path is followed folder by folder, each opened inside of the one before (places.py,
folders.py), so that neither `..` nor a link leads out, not even one that is put there during the
call. The rest works on what was opened so.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from toolwire_compat.lagent.base import BaseAction
from toolwire_compat.lagent.parsers import BaseParser, JsonParser
from toolwire_tools.content import Audio, File, Image, Text
from toolwire_tools.context.context import Context
from toolwire_tools.decorator import tool_api

from .limits import DEFAULT_MAX_BYTES
from .results import Changed, Found, Listing

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Files"]


Count = Annotated[int, msgspec.Meta(ge=1)]


class Files(BaseAction):
    """Lists, reads and searches files inside of given folders, and writes and edits them if that is
    allowed.

    A path is relative to the open folder; if there are several, it begins with the name of one.
    Links are followed as long as they stay inside. What leads out is refused, and so are pipes,
    devices and the like. One answer holds up to 200,000 characters of text, 5 MiB of data, 20,000
    entries of a folder, or 5,000 matches; a search looks at up to 100,000 files and folders, 64
    deep, in up to 20 seconds, 5 of them for a regular expression.
    """

    __toolwire_needs__: ClassVar[dict[str, str]] = dict.fromkeys(
        ("write", "edit"),
        "writing needs a setting: --set Files.writable=true on the command line,"
        " Files(writable=True) in Python",
    )

    def __init__(
        self,
        roots: Sequence[str | os.PathLike[str]] = (),
        writable: bool = False,
        max_bytes: int = DEFAULT_MAX_BYTES,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
    ) -> None:
        """Open folders to callers.

        Args:
            roots: the folders; callers see nothing else
            writable: whether `write` and `edit` are offered
            max_bytes: the size up to which files are read, searched and written
        """
        super().__init__(description, parser, enable, lang=lang)
        from .roots import Places

        if max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, not {max_bytes}")
        self._places = Places([roots] if isinstance(roots, str | os.PathLike) else roots)
        self._max_bytes = max_bytes
        self._lock = threading.Lock()  # of edits at once, the later would undo the earlier
        if not writable:
            self._withdraw(list(self.__toolwire_needs__))

    def _withdraw(self, names: Sequence[str]) -> None:
        """Offer the APIs called so no more."""
        if self.is_toolkit:
            kept = [api for api in self._description["api_list"] if api["name"] not in names]
            self._description["api_list"] = kept
        for name in names:
            self.__toolwire_apis__.pop(name, None)

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def list(self, path: str = ".", depth: Count = 1, limit: Count = 1000) -> Listing:
        """List what is in a folder. Where several folders are open, `.` lists these.

        Args:
            path: a folder, such as `notes/2026`
            depth: how many levels to go down; 1 lists the folder alone
            limit: how many entries to list at most
        """
        from .listing import list_folder

        return list_folder(self._places, path, depth=depth, limit=limit)

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def read(
        self, path: str, first_line: int = 1, lines: Count = 2000
    ) -> Sequence[Text | Image | Audio | File]:
        """Read a file: text as text, a picture or sound as such, anything else in Base64.

        Of a longer text, a second block says which lines these are, and how to read on.

        Args:
            path: a file, such as `notes/todo.md`
            first_line: of a text, the line to begin with; -20 is the twentieth from the end
            lines: of a text, how many lines to read at most
        """
        from .reading import make_blocks, read

        name, data = read(self._places, path, self._max_bytes)
        return make_blocks(name, data, first_line, lines)

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def search(
        self,
        context: Context,
        text: str = "",
        names: str = "**",
        path: str = ".",
        regex: bool = False,
        ignore_case: bool = False,
        limit: Count = 100,
    ) -> Found:
        """Find files by their names, or lines of text files by what they say.

        Binary files, those that are too large, and what links lead to are left out.

        Args:
            text: what a line has to say; without it, files are found by their names alone
            names: which files, such as `*.md` or `src/**/test_*.py`, where `**` is any folders
            path: the folder to search
            regex: whether the text is a regular expression, in the syntax of Python's `re`
            ignore_case: whether A and a are the same in the text
            limit: how many matches to return at most
        """
        from .searching import Wanted, search_files

        wanted = Wanted(
            text=text, names=names, is_regex=regex, ignores_case=ignore_case, limit=limit
        )
        return search_files(self._places, path, wanted, self._max_bytes, context)

    @tool_api(read_only=False, destructive=True, idempotent=False, open_world=False)
    def write(
        self,
        path: str,
        content: str,
        if_exists: Literal["fail", "replace", "append"] = "fail",
        encoding: Literal["utf-8", "base64"] = "utf-8",
    ) -> Changed:
        """Write a file as a whole, so that no reader sees a part of it, or append to one. Missing
        folders are made.

        Args:
            path: the file, such as `notes/todo.md`
            content: what to write into it
            if_exists: what to do if there is such a file: fail, replace it or append to it
            encoding: base64 if the content is data in Base64
        """
        from .writing import decode_content, write_file

        data = decode_content(content, encoding)
        with self._lock:
            return write_file(self._places, path, data, if_exists, self._max_bytes)

    @tool_api(read_only=False, destructive=True, idempotent=False, open_world=False)
    def edit(self, path: str, old: str, new: str, count: int = 1) -> Changed:
        """Replace a text in a text file by another. The rest of the file stays as it is, byte for
        byte.

        Args:
            path: the file
            old: the text as it is in the file, spaces and line breaks included; long enough to be
                the only such one
            new: what to put there instead
            count: how many such texts there are, all of which are replaced; any other number is an
                error
        """
        from .writing import edit_file

        with self._lock:
            return edit_file(self._places, path, old, new, count, self._max_bytes)
