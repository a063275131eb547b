"""Draws numbers of servers as bars, in SVG: a panel for each number, a bar for each server, its
length in proportion.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import msgspec
from toolwire_client.pages.markup import Html, element

from ..bench.measurement import format_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numbers = Mapping[str, Mapping[str, float]]
    """The numbers of each server, by column."""

PANELS = {
    "start_seconds": "start to first tools/list (less is better)",
    "p50_seconds": "one call, median (less is better)",
    "p99_seconds": "one call, 99th percentile (less is better)",
    "calls_per_second": "pipelined calls per second (more is better)",
    "memory_bytes": "peak memory (less is better)",
}

_ROW, _TOP, _LABELS, _BARS, _GAP = 22, 34, 160, 190, 30
_PANEL_WIDTH = _LABELS + _BARS + 90
_COLUMNS = 2
_MIN_WIDTH, _THICKNESS = 2.0, 15
_BASELINE = 12
"""Of a text in a row, from its top."""
_MAX_NAME_CHARS = 24
_FONT = "-apple-system, Segoe UI, Helvetica, Arial, sans-serif"


class Look(msgspec.Struct, frozen=True):
    """The attributes of text, of less important text, of bars, and of the bar of *own*."""

    text: dict[str, str]
    muted: dict[str, str]
    bar: dict[str, str]
    own: dict[str, str]


def make_look(*, text: str, muted: str, bar: str, own: str) -> Look:
    """Return the look with these colors."""
    return Look({"fill": text}, {"fill": muted}, {"fill": bar}, {"fill": own})


PAGE_LOOK = Look({}, {"class_": "muted"}, {"class_": "other"}, {"class_": "own"})
"""The look that the style of pages defines."""


def draw_bars(numbers: Numbers, own: str, look: Look, panels: Mapping[str, str] = PANELS) -> Html:
    """Return the picture; the bars of the server *own* stand out."""
    panel_height = _TOP + _ROW * len(numbers) + _GAP
    parts: list[Html] = []
    place = 0
    for key, title in panels.items():
        if not any(key in values for values in numbers.values()):
            continue
        row, column = divmod(place, _COLUMNS)
        left, top = column * _PANEL_WIDTH, row * panel_height
        parts.append(_write(left, top + _BASELINE + 4, title, look.text, is_bold=True))
        parts += _draw_panel(numbers, key, own, look, left, top + _TOP)
        place += 1
    rows = ceil(place / _COLUMNS)
    width = _COLUMNS * _PANEL_WIDTH
    height = rows * panel_height - _GAP + 8
    style = None
    if look is PAGE_LOOK:
        style = "chart"
    picture = element(
        "svg",
        Html("\n" + "\n".join(parts) + "\n"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        font_family=_FONT,
        font_size=13,
        class_=style,
    )
    return Html(picture + "\n")


def _draw_panel(
    numbers: Numbers, key: str, own: str, look: Look, left: int, top: int
) -> list[Html]:
    """Return a row for each server: its name, and the bar of its number, if it has one."""
    largest = max(values[key] for values in numbers.values() if key in values)
    bars_left = left + _LABELS
    parts = []
    y = top
    for name, values in numbers.items():
        is_own = name == own
        name_look, bar_look = look.muted, look.bar
        if is_own:
            name_look, bar_look = look.text, look.own
        parts.append(_write(left, y + _BASELINE, _shorten(name), name_look, is_bold=is_own))
        if key in values:
            width = _scale(values[key], largest)
            parts.append(_draw_bar(bars_left, y, width, bar_look))
            number = format_number(key, values[key])
            after_bar = bars_left + width + 6
            parts.append(_write(after_bar, y + _BASELINE, number, look.text, is_bold=is_own))
        y += _ROW
    return parts


def _scale(number: float, largest: float) -> float:
    """Return the width of the bar for *number*; each can be seen."""
    if not largest:
        return _MIN_WIDTH
    return max(_MIN_WIDTH, number / largest * _BARS)


def _draw_bar(x: int, y: int, width: float, look: dict[str, str]) -> Html:
    return element("rect", x=x, y=y, width=f"{width:.1f}", height=_THICKNESS, rx=2, **look)


def _shorten(name: str) -> str:
    if len(name) <= _MAX_NAME_CHARS:
        return name
    return name[: _MAX_NAME_CHARS - 1] + "…"


def _write(x: float, y: int, text: str, look: dict[str, str], *, is_bold: bool) -> Html:
    weight = None
    if is_bold:
        weight = "600"
    return element("text", text, x=f"{x:.1f}", y=y, font_weight=weight, **look)
