"""Draws numbers of servers as bars, in SVG: a panel for each number, a bar for each server, its
length in proportion.
"""

from __future__ import annotations

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
    shown = [key for key in panels if any(key in values for values in numbers.values())]
    height = _TOP + _ROW * len(numbers) + _GAP
    parts = []
    for place, key in enumerate(shown):
        left, top = place % _COLUMNS * _PANEL_WIDTH, place // _COLUMNS * height
        parts.append(_write(left, top + 16, panels[key], look.text, is_bold=True))
        parts += _draw_panel(numbers, key, own, look, left, top + _TOP)
    rows = -(-len(shown) // _COLUMNS)
    picture = element(
        "svg",
        Html("\n" + "\n".join(parts) + "\n"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_COLUMNS * _PANEL_WIDTH} {rows * height - _GAP + 8}",
        font_family=_FONT,
        font_size=13,
        class_="chart" if look is PAGE_LOOK else None,
    )
    return Html(picture + "\n")


def _draw_panel(
    numbers: Numbers, key: str, own: str, look: Look, left: int, top: int
) -> list[Html]:
    largest = max(values[key] for values in numbers.values() if key in values)
    parts = []
    for row, (name, values) in enumerate(numbers.items()):
        y, is_own = top + row * _ROW, name == own
        name_look = look.text if is_own else look.muted
        parts.append(_write(left, y + 12, _shorten(name), name_look, is_bold=is_own))
        if key not in values:
            continue
        width = max(2.0, values[key] / largest * _BARS) if largest else 2.0
        bar = left + _LABELS
        bar_look = look.own if is_own else look.bar
        parts.append(element("rect", x=bar, y=y, width=f"{width:.1f}", height=15, rx=2, **bar_look))
        text = format_number(key, values[key])
        parts.append(_write(bar + width + 6, y + 12, text, look.text, is_bold=is_own))
    return parts


def _shorten(name: str) -> str:
    if len(name) <= _MAX_NAME_CHARS:
        return name
    return name[: _MAX_NAME_CHARS - 1] + "…"


def _write(x: float, y: int, text: str, look: dict[str, str], *, is_bold: bool) -> Html:
    weight = "600" if is_bold else None
    return element("text", text, x=f"{x:.1f}", y=y, font_weight=weight, **look)
