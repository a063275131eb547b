"""One presentation in the making. The only file that knows python-pptx, which is imported with
it.
"""

from __future__ import annotations

import io
import zipfile
from typing import IO, TYPE_CHECKING, Any

from PIL import Image, UnidentifiedImageError
from pptx import Presentation
from pptx.enum.text import MSO_AUTO_SIZE
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from .themes import THEMES, Theme, give

if TYPE_CHECKING:
    from pptx.slide import Slide, SlideLayout

_MAX_TEMPLATE_BYTES = 200 * 1024 * 1024
"""Unpacked, all of which is kept in memory."""

_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "TIFF")
"""Those that a presentation can hold (python-pptx 1.0, `pptx.parts.image`)."""

_BETWEEN_ITEMS = "[SPAN]"


class Deck:
    """A presentation of *theme*, which is called *name*, without pages yet.

    Raises:
        ToolError: if the template cannot be read.
    """

    def __init__(self, name: str, theme: Theme) -> None:
        self._theme = theme
        try:
            if theme.template is not None:
                _check_size(theme.template)
            self._presentation = Presentation(theme.template)
            if theme.template is None and name in THEMES:
                give(self._presentation, THEMES[name])
            # Lagent names the master after the theme as well.
            self._presentation.slide_master.name = name
        except (
            Exception
        ) as error:  # python-pptx and lxml raise all kinds when XML is not what they expect
            raise ToolError(
                say(
                    "the template {template} of the theme {name!r} cannot be read: {error}",
                    template=theme.template,
                    name=name,
                    error=error,
                )
            ) from None

    def add_first_page(self, title: str, subtitle: str) -> None:
        """Add a page that says what the rest is about."""
        slide, (heading, below) = self._add_page(self._theme.title, 2)
        heading.text = title
        if subtitle:
            below.text = subtitle
        else:
            _drop(below)
        _fit(slide)

    def add_text_page(self, title: str, bullet_items: str) -> None:
        """Add a page with a title above a list."""
        slide, (heading, body) = self._add_page(self._theme.single, 2)
        heading.text = title
        _list(body, bullet_items)
        _fit(slide)

    def add_text_image_page(self, title: str, bullet_items: str, image: str, data: bytes) -> None:
        """Add a page with a list and a picture next to it: *data*, which was read from the file
        *image*.

        Raises:
            ToolError: if it is no picture that a presentation can hold.
        """
        picture, (width, height) = _read_picture(image, data)  # before there is a page
        slide, (heading, body, frame) = self._add_page(self._theme.two, 3)
        heading.text = title
        _list(body, bullet_items)
        scale = min(frame.width / width, frame.height / height)
        shown = round(width * scale), round(height * scale)
        left = frame.left + (frame.width - shown[0]) // 2
        top = frame.top + (frame.height - shown[1]) // 2
        slide.shapes.add_picture(picture, left, top, *shown)
        _drop(frame)
        _fit(slide)

    def save(self, file: IO[bytes]) -> None:
        """Write the presentation to *file*."""
        self._presentation.save(file)

    def _add_page(self, layout_name: str, places: int) -> tuple[Slide, list[Any]]:
        layout = self._find_layout(layout_name, places)
        slide = self._presentation.slides.add_slide(layout)
        return slide, list(slide.placeholders)[:places]

    def _find_layout(self, name: str, places: int) -> SlideLayout:
        layouts = self._presentation.slide_master.slide_layouts
        layout: SlideLayout | None = layouts.get_by_name(name)
        if layout is None:
            raise ToolError(
                say(
                    "the template has no layout {name!r}; it has: {names}",
                    name=name,
                    names=", ".join(each.name for each in layouts),
                )
            )
        # Date, footer and number are no places for a page's content; python-pptx does not make
        # them.
        if len(list(layout.iter_cloneable_placeholders())) < places:
            raise ToolError(
                say(
                    "the layout {name!r} of the template has fewer than {places} places for"
                    " content",
                    name=name,
                    places=places,
                )
            )
        return layout


def _list(body: Any, bullet_items: str) -> None:
    frame = body.text_frame
    for number, item in enumerate(bullet_items.split(_BETWEEN_ITEMS)):
        paragraph = frame.add_paragraph() if number else frame.paragraphs[0]
        paragraph.text = item.strip()


def _fit(slide: Slide) -> None:
    """Have office programs make long texts smaller."""
    for place in slide.placeholders:
        if place.has_text_frame:
            place.text_frame.word_wrap = True
            place.text_frame.auto_size = MSO_AUTO_SIZE.TEXT_TO_FIT_SHAPE


def _drop(place: Any) -> None:
    """Remove an empty place: an editor of the page would see "Click to add text"."""
    place.element.getparent().remove(place.element)


def _check_size(template: str) -> None:
    with zipfile.ZipFile(template) as package:
        size = sum(part.file_size for part in package.infolist())
    if size > _MAX_TEMPLATE_BYTES:
        raise ValueError(f"unpacked, it takes {size:,} bytes; the limit is {_MAX_TEMPLATE_BYTES:,}")


def _read_picture(image: str, content: bytes) -> tuple[io.BytesIO, tuple[int, int]]:
    """*content*, which was read from *image*, in a format that presentations hold, and how large
    the picture is.
    """
    try:
        data = io.BytesIO(content)
        with Image.open(data, formats=_FORMATS) as picture:  # reads no more than how large it is
            if picture.format == "MPO":  # a JPEG with more pictures behind it, as phones take them
                data = io.BytesIO()
                picture.save(data, "JPEG", quality=95, exif=picture.info.get("exif", b""))
            return data, picture.size
    except UnidentifiedImageError:
        raise ToolError(
            say(
                "{image} is no picture of a kind that presentations hold ({names})",
                image=image,
                names=", ".join(_FORMATS),
            )
        ) from None
    except (
        OSError,
        ValueError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ) as error:
        raise ToolError(
            say("the picture {image} cannot be read: {error}", image=image, error=error)
        ) from None
