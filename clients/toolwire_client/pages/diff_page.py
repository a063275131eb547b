"""The changes between two lists of tools, as HTML, a page, and Markdown for a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .markup import Child, Html, code, element, table, together
from .page import page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_schemas.compare import Change, Level

HEADINGS: dict[Level, str] = {"major": "Breaking", "unknown": "Perhaps breaking", "minor": "New", "patch": "Besides"}
WHOM = {
    "callers": "who calls it",
    "readers": "who reads results",
    "approval": "who approves by hints",
    "models": "models",
    "people": "people",
}
_MAX_ROWS = 1000


def diff_html(changes: Sequence[Change], sentence: str, facts: Child = None) -> Html:
    """Return *changes*, breaking ones first, below the *sentence* of the verdict."""
    parts: list[Child] = [element("h1", sentence), facts]
    for level, heading in HEADINGS.items():
        found = [change for change in changes if change.level == level]
        if found:
            parts.append(element("h2", heading))
            rows = [(code(one.where), str(one), WHOM[one.concerns]) for one in found[:_MAX_ROWS]]
            parts.append(table(("where", "what changed", "whom it concerns"), rows, caption=heading))
    return together(parts)


def diff_page(changes: Sequence[Change], sentence: str, facts: Child = None) -> str:
    """Return `diff_html` as a page."""
    return page("Changes of tools", diff_html(changes, sentence, facts))
