"""A badge made from the report of a check: an SVG picture for a README, which needs no service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_client.pages.markup import Html, element, format_count, join_html

if TYPE_CHECKING:
    from ..report import Report

_LABEL = "MCP contract"
_BAD, _WARN, _GOOD = "#b42318", "#8a5a00", "#1a7f37"  # white text is readable on all of them

# In pixels, for a font of 11. `textLength` makes every font as wide.
_CHAR_WIDTH = 6.4
_GAP = 8
_HEIGHT = 20


def draw_badge(report: Report) -> str:
    """Return an SVG picture that says whether the server of *report* keeps the contract, and in
    which revision.
    """
    message, colour = _choose_message(report)
    left = _measure(_LABEL)
    right = _measure(message)
    picture = element(
        "svg",
        element("title", f"{_LABEL}: {message}"),
        _draw_part(0, left, _LABEL, "#3f4650"),
        _draw_part(left, right, message, colour),
        xmlns="http://www.w3.org/2000/svg",
        width=left + right,
        height=_HEIGHT,
        role="img",
        aria_label=f"{_LABEL}: {message}",
    )
    return f"{picture}\n"


def _measure(text: str) -> int:
    return round(len(text) * _CHAR_WIDTH) + 2 * _GAP


def _choose_message(report: Report) -> tuple[str, str]:
    """Return the text of the badge, and its colour."""
    if not report.revisions:
        return "no answer", _BAD
    rules = {one.case for one in report.list_failures("must")}
    if rules:
        return f"{format_count(len(rules), 'rule')} broken", _BAD
    warnings = {one.case for one in report.list_failures("should")}
    if warnings:
        return f"kept, {format_count(len(warnings), 'warning')}", _WARN
    return f"kept, {report.revisions[0]}", _GOOD


def _draw_part(start: int, width: int, text: str, colour: str) -> Html:
    box = element("rect", x=start, width=width, height=_HEIGHT, fill=colour)
    place: dict[str, str | int] = {"x": start + _GAP, "y": 14, "textLength": width - 2 * _GAP}
    font: dict[str, str | int] = {
        "fill": "#fff",
        "font_family": "Verdana, DejaVu Sans, sans-serif",
        "font_size": 11,
    }
    return join_html(box, element("text", text, **place, **font))
