"""PPT: presentations, page by page."""

from __future__ import annotations

import gc
import os
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypedDict

from toolwire_compat.lagent.base import BaseAction
from toolwire_compat.lagent.parsers import BaseParser, JsonParser
from toolwire_schemas.did_you_mean import say_unknown_name
from toolwire_schemas.language import say
from toolwire_tools.decorator import tool_api
from toolwire_tools.errors import ArgumentsError, ToolError

from ..files.folders import open_root
from ..files.reading import read_bytes
from ..files.roots import Located, name_errors
from ..files.writing import get_status, put
from ..requirements import import_extra
from .themes import THEMES, Theme, read_theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .deck import Deck


class Done(TypedDict):
    """How it went."""

    status: str


_ADDED: Done = {"status": "added page"}


_MAX_IMAGE_BYTES = 50 * 1024 * 1024


class PPT(BaseAction):
    """Makes a presentation (.pptx) page by page: create_file first, then the pages, then
    submit_file, which writes it.

    One presentation at a time; another create_file gives up what has not been submitted.
    """

    def __init__(
        self,
        theme_mapping: dict[str, dict[str, Any]] | None = None,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        """Prepare to make presentations.

        Args:
            theme_mapping: themes by name, instead of bundled ones:
                `{"template": a .pptx file, "title": …, "single": …, "two": …}`, where the last
                three are names of its layouts for the first page, a page of text, and a page of
                text and a picture. Hosts start servers anywhere: for these the file's path is
                absolute
            folder: where presentations are written and pictures are found, and nowhere else; paths
                may be relative to it. Without one they are anywhere, and absolute

        Raises:
            ToolError: for an unknown theme, or one whose template is not there.
            ValueError: for a folder that is not there.
        """
        super().__init__(description, parser, enable, lang=lang)
        self._themes = {name: Theme() for name in THEMES}
        if theme_mapping is not None:
            self._themes = {
                name: read_theme(name, settings) for name, settings in theme_mapping.items()
            }
        self._folder = None if folder is None else os.path.realpath(os.path.expanduser(folder))
        if self._folder is not None and not os.path.isdir(self._folder):
            raise ValueError(f"folder: there is no folder {self._folder!r}")
        self._lock = threading.Lock()  # pages are added one at a time
        self._deck: Deck | None = None
        self._location = ""
        self._above: os.stat_result | None = None

    @tool_api(explode_return=True, read_only=False, destructive=False, open_world=False)
    def create_file(self, theme: str, abs_location: str) -> Done:
        """Begin a presentation. Nothing is written yet.

        Args:
            theme (str): how it looks: Default, Dark, Warm or Green, unless the tool was given
                others
            abs_location (str): the absolute path of the file that submit_file writes; ends in .pptx

        Returns:
            dict: how it went
                * status (str): that it has begun
        """
        if theme not in self._themes:
            raise ArgumentsError(
                [("arguments.theme", say_unknown_name("theme", theme, self._themes))]
            )
        location = self._check_path(abs_location, "abs_location")
        if not location.lower().endswith(".pptx"):
            raise ArgumentsError(
                [("arguments.abs_location", say("a presentation's name ends in .pptx"))]
            )
        try:
            with self._locate(location) as there:
                above = there.folder.look(".")
        except ToolError as error:
            raise ArgumentsError(
                [("arguments.abs_location", say("the folder of {error}", error=error))]
            ) from None
        with import_extra("ppt"):
            from .deck import Deck
        deck = Deck(theme, self._themes[theme])
        with self._lock:
            before, self._deck, self._location, self._above = self._deck, deck, location, above
        if before is not None:
            del before
            # the objects of python-pptx hold one another, and megabytes of pictures with them
            gc.collect()
        return {"status": "created a ppt file."}

    @tool_api(explode_return=True, read_only=False, destructive=False, open_world=False)
    def add_first_page(self, title: str, subtitle: str) -> Done:
        """Add the page that opens a presentation.

        Args:
            title (str): what it is about
            subtitle (str): what stands below that; may be empty

        Returns:
            dict: how it went
                * status (str): that there is a page more
        """
        with self._lock:
            self._require_deck().add_first_page(title, subtitle)
        return _ADDED

    @tool_api(explode_return=True, read_only=False, destructive=False, open_world=False)
    def add_text_page(self, title: str, bullet_items: str) -> Done:
        """Add a page with a list.

        Args:
            title (str): what stands above
            bullet_items (str): the items of the list, with [SPAN] between one and the next

        Returns:
            dict: how it went
                * status (str): that there is a page more
        """
        with self._lock:
            self._require_deck().add_text_page(title, bullet_items)
        return _ADDED

    @tool_api(explode_return=True, read_only=False, destructive=False, open_world=False)
    def add_text_image_page(self, title: str, bullet_items: str, image: str) -> Done:
        """Add a page with a list and a picture next to it.

        Args:
            title (str): what stands above
            bullet_items (str): the items of the list, with [SPAN] between one and the next
            image (str): the absolute path of the picture: PNG, JPEG, GIF, BMP or TIFF

        Returns:
            dict: how it went
                * status (str): that there is a page more
        """
        path = self._check_path(image, "image")
        with self._lock:
            self._require_deck().add_text_image_page(
                title, bullet_items, path, self._read_image(path)
            )
        return _ADDED

    @tool_api(explode_return=True, read_only=False, destructive=True, open_world=False)
    def submit_file(self) -> Done:
        """Write the presentation to its file, in place of what may be there. Call it when all pages
        have been added.

        Returns:
            dict: how it went
                * status (str): where the presentation is
        """
        with self._lock:
            self._save(self._require_deck())
            return {"status": f"submitted. view ppt at {self._location}"}

    def _require_deck(self) -> Deck:
        if self._deck is None:
            raise ToolError(say("there is no presentation yet: call create_file first"))
        return self._deck

    def _read_image(self, path: str) -> bytes:
        with self._locate(path) as there:
            return read_bytes(there.folder, there.name, path, _MAX_IMAGE_BYTES)

    def _save(self, deck: Deck) -> None:
        with self._locate(self._location) as there:
            if self._above is None or not os.path.samestat(self._above, there.folder.look(".")):
                raise ToolError(
                    say(
                        "{location} cannot be written: its folder was replaced since create_file",
                        location=self._location,
                    )
                )
            try:
                put(there, deck.save, get_status(there), replace=True)
            except (ToolError, OSError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                raise ToolError(
                    say(
                        "{location} cannot be written: {reason}",
                        location=self._location,
                        reason=reason,
                    )
                ) from None

    @contextmanager
    def _locate(self, path: str) -> Iterator[Located]:
        """Open the folder of *path*. A tool with a folder of its own follows no link on the way
        from there.
        """
        above, name = os.path.split(path)
        inside = "." if self._folder is None else os.path.relpath(above, self._folder)
        with name_errors(path), ExitStack() as stack:
            folder = open_root(above if self._folder is None else self._folder)
            stack.callback(folder.close)
            for part in inside.split(os.sep) if inside != "." else ():
                folder = folder.enter(part)
                stack.callback(folder.close)
            yield Located(folder, name, path)

    def _check_path(self, said: str, argument: str) -> str:
        """Where *said* is, links followed, if that is where files may be."""
        place = f"arguments.{argument}"
        if "\0" in said:
            raise ArgumentsError([(place, say("a path cannot hold the character NUL"))])
        if self._folder is None:
            if not os.path.isabs(said):
                raise ArgumentsError([(place, say("{path!r} is no absolute path", path=said))])
            return os.path.realpath(said)
        path = os.path.realpath(os.path.join(self._folder, said))
        if os.path.commonpath([os.path.dirname(path), self._folder]) != self._folder:
            raise ArgumentsError(
                [(place, say("{path!r} is not within the folder this tool may use", path=said))]
            )
        return path
