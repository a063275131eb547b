"""How a presentation looks: a template of the user's, or python-pptx's own, made wide and given
colours.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

if TYPE_CHECKING:
    from pptx.presentation import Presentation


class Colours(msgspec.Struct, frozen=True):
    """As `RRGGBB`: what is behind, what is written, and what stands out."""

    paper: str
    ink: str
    accent: str


class Theme(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A template, and which of its layouts are for the first page, a page of text, and one with a
    picture.

    A template of `None` is python-pptx's own.
    """

    template: str | None = None
    title: str = "Title Slide"
    single: str = "Title and Content"
    two: str = "Two Content"


THEMES = {
    "Default": Colours("FFFFFF", "1F2933", "2F6FB4"),
    "Dark": Colours("1B1F2A", "F2F4F8", "5BB0F0"),
    "Warm": Colours("FFFBF4", "3B2A20", "C4572B"),
    "Green": Colours("FFFFFF", "1E2B24", "2E7D54"),
}

_WIDTH, _HEIGHT = 12_192_000, 6_858_000  # 16:9, in English Metric Units: 914,400 an inch
_BAR = 91_440
_TITLE, _TEXT = 3600, 2400  # in hundredths of a point

_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_PRESENTATION = "http://schemas.openxmlformats.org/presentationml/2006/main"
_NAMES = {"a": _DRAWING, "p": _PRESENTATION}


def read_theme(name: str, settings: dict[str, Any]) -> Theme:
    """The theme *name*, which an entry of Lagent's `theme_mapping` describes.

    Raises:
        ToolError: if it describes none, or there is no such template.
    """
    try:
        theme = msgspec.convert(settings, Theme)
    except msgspec.ValidationError as error:
        raise ToolError(
            say(
                "the theme {name!r} has the members template, title, single and two: {error}",
                name=name,
                error=error,
            )
        ) from None
    if theme.template is None:
        return theme
    template = os.path.abspath(
        os.path.expanduser(theme.template)
    )  # wherever the process goes to from here
    if not os.path.isfile(template):
        raise ToolError(
            say("the theme {name!r}: there is no template {template}", name=name, template=template)
        )
    return msgspec.structs.replace(theme, template=template)


def give(presentation: Presentation, colours: Colours) -> None:
    """Make a presentation of python-pptx's own template wide, and let it have *colours*."""
    _widen(presentation)
    _paint(presentation, colours)
    _arrange(presentation)


def _widen(presentation: Presentation) -> None:
    """From 4:3 to 16:9: all that the layouts place is stretched."""
    from pptx.util import Emu

    factor = _WIDTH / int(presentation.slide_width or _WIDTH)
    master = presentation.slide_master
    for shapes in (master.placeholders, *(layout.placeholders for layout in master.slide_layouts)):
        for shape in shapes:
            if (
                shape.element.spPr.find("a:xfrm", _NAMES) is not None
            ):  # else it is where the master has it
                shape.left, shape.width = round(shape.left * factor), round(shape.width * factor)
    presentation.slide_width, presentation.slide_height = Emu(_WIDTH), Emu(_HEIGHT)


def _paint(presentation: Presentation, colours: Colours) -> None:
    from lxml import etree
    from pptx.opc.constants import RELATIONSHIP_TYPE

    part: Any = presentation.slide_master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    theme = etree.fromstring(part.blob)
    scheme = theme.find(".//a:clrScheme", _NAMES)
    for name, colour in (("lt1", colours.paper), ("dk1", colours.ink), ("accent1", colours.accent)):
        slot = scheme.find(f"a:{name}", _NAMES)
        slot.clear()
        etree.SubElement(slot, f"{{{_DRAWING}}}srgbClr", val=colour)
    part._blob = etree.tostring(theme, xml_declaration=True, encoding="UTF-8", standalone=True)


def _arrange(presentation: Presentation) -> None:
    """Titles to the left and in the accent's colour, calmer sizes, and a bar at the edge."""
    from lxml import etree

    master = presentation.slide_master
    styles = master.element.find("p:txStyles", _NAMES)
    title = styles.find("p:titleStyle/a:lvl1pPr", _NAMES)
    title.set("algn", "l")
    letters = title.find("a:defRPr", _NAMES)
    letters.set("sz", str(_TITLE))
    letters.set("b", "1")
    letters.find("a:solidFill/a:schemeClr", _NAMES).set("val", "accent1")
    styles.find("p:bodyStyle/a:lvl1pPr/a:defRPr", _NAMES).set("sz", str(_TEXT))
    # The first page's subtitle is indented, centred and grey by its layout: it follows the title.
    first = presentation.slide_layouts[0]
    placeholders: Any = first.placeholders
    heading, below = placeholders[0], placeholders[1]
    below.left, below.width = heading.left, heading.width
    for paragraph in first.element.iterfind(".//a:lvl1pPr", _NAMES):
        paragraph.set("algn", "l")
        for colour in paragraph.iterfind(".//a:solidFill/a:schemeClr", _NAMES):
            colour.set("val", "tx1")
            for shade in list(colour):
                colour.remove(shade)
    master.element.find("p:cSld/p:spTree", _NAMES).insert(2, etree.fromstring(_draw_bar()))


def _draw_bar() -> str:
    return f"""<p:sp xmlns:p="{_PRESENTATION}" xmlns:a="{_DRAWING}">
      <p:nvSpPr><p:cNvPr id="1000" name="Bar"/><p:cNvSpPr/><p:nvPr userDrawn="1"/></p:nvSpPr>
      <p:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="{_BAR}" cy="{_HEIGHT}"/></a:xfrm>
        <a:prstGeom prst="rect"><a:avLst/></a:prstGeom>
        <a:solidFill><a:schemeClr val="accent1"/></a:solidFill><a:ln><a:noFill/></a:ln></p:spPr>
      <p:txBody><a:bodyPr/><a:lstStyle/><a:p><a:endParaRPr lang="en-US"/></a:p></p:txBody>
    </p:sp>"""
