"""A badge made from the report of a check: an SVG picture for a README, which needs no service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_client.pages.markup import Html, counted, element, together

if TYPE_CHECKING:
    from ..report import Report

_LABEL = "MCP contract"
_CHAR, _GAP, _HEIGHT = 6.4, 8, 20  # for 11 px; `textLength` makes every font as wide


def badge(report: Report) -> str:
    """Return an SVG picture that says whether the server of *report* keeps the contract, and in
    which revision.
    """
    message, colour = _message(report)
    left, right = (round(len(text) * _CHAR) + 2 * _GAP for text in (_LABEL, message))
    picture = element(
        "svg",
        element("title", f"{_LABEL}: {message}"),
        _part(0, left, _LABEL, "#3f4650"),
        _part(left, right, message, colour),
        xmlns="http://www.w3.org/2000/svg",
        width=left + right,
        height=_HEIGHT,
        role="img",
        aria_label=f"{_LABEL}: {message}",
    )
    return f"{picture}\n"


def _message(report: Report) -> tuple[str, str]:
    """Return what the badge says, and a colour on which white text is readable."""
    rules, every = (
        {one.case for one in report.failed(severity)} for severity in ("must", "should")
    )
    if not report.revisions:
        return "no answer", "#b42318"
    if rules:
        return f"{counted(len(rules), 'rule')} broken", "#b42318"
    if every:
        return f"kept, {counted(len(every), 'warning')}", "#8a5a00"
    return f"kept, {report.revisions[0]}", "#1a7f37"


def _part(start: int, width: int, text: str, colour: str) -> Html:
    box = element("rect", x=start, width=width, height=_HEIGHT, fill=colour)
    place: dict[str, str | int] = {"x": start + _GAP, "y": 14, "textLength": width - 2 * _GAP}
    font: dict[str, str | int] = {
        "fill": "#fff",
        "font_family": "Verdana, DejaVu Sans, sans-serif",
        "font_size": 11,
    }
    return together(box, element("text", text, **place, **font))
