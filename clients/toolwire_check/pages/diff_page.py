"""The changes between two lists of tools as HTML, a page, and Markdown for a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_client.pages.markdown import as_code, join_within_limit
from toolwire_client.pages.markup import Html, code, cut, element, join_html, pairs, table
from toolwire_client.pages.page import section, write_page
from toolwire_dialects.compare.words import HEADINGS, WHOM, format_verdict

from .side_by_side import compare_side_by_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_dialects.compare import Change, Level

_COLOURS: dict[Level, str] = {"major": "bad", "unknown": "warn", "minor": "good"}
_MAX_ROWS = 1000
_MAX_CHARS = 2000


def write_diff_html(
    changes: Sequence[Change],
    *,
    old: str,
    new: str,
    old_tools: Sequence[Any] = (),
    new_tools: Sequence[Any] = (),
) -> Html:
    """Return *changes*, breaking ones first, with the verdict, and below them the texts and schemas
    of *old_tools* and *new_tools* side by side. *old* and *new* say where the lists come from.
    """
    level, _, verdict = format_verdict(changes).partition(": ")
    colour = _COLOURS.get(changes[0].level, "") if changes else "good"
    head = element(
        "header",
        element("p", "Changes of tools", class_="eyebrow"),
        element("h1", verdict[0].upper() + verdict[1:]),
        element("p", element("span", level, class_=f"badge {colour}")),
        pairs(("old", cut(old, _MAX_CHARS)), ("new", cut(new, _MAX_CHARS))),
    )
    sections = []
    for each_level, heading in HEADINGS.items():
        changes_table = _make_table(heading, _select(changes, each_level))
        sections.append(section(heading, changes_table))
    sections.append(section("Side by side", compare_side_by_side(old_tools, new_tools)))
    return join_html(head, *sections)


def write_diff_page(
    changes: Sequence[Change],
    *,
    old: str,
    new: str,
    old_tools: Sequence[Any] = (),
    new_tools: Sequence[Any] = (),
) -> str:
    """Return `write_diff_html` as a page."""
    content = write_diff_html(changes, old=old, new=new, old_tools=old_tools, new_tools=new_tools)
    return write_page("Changes of tools", content)


def write_diff_markdown(changes: Sequence[Change]) -> str:
    """Return *changes*, breaking ones first, below the verdict."""
    level, _, verdict = format_verdict(changes).partition(":")
    parts = [f"**{level}**:{verdict}"]
    for each_level, heading in HEADINGS.items():
        selected = _select(changes, each_level)
        if selected:
            parts.append(f"### {heading}")
        for change in selected:
            who = WHOM[change.concerns]
            parts.append(f"- {as_code(change.where)}: {as_code(str(change))} ({who})")
    return join_within_limit(parts)


def _select(changes: Sequence[Change], level: str) -> list[Change]:
    return [change for change in changes if change.level == level]


def _make_table(heading: str, changes: Sequence[Change]) -> Html | None:
    if not changes:
        return None
    rows = []
    for change in changes[:_MAX_ROWS]:
        text = cut(str(change), _MAX_CHARS)
        rows.append((code(change.where), text, WHOM[change.concerns]))
    columns = ("where", "what changed", "whom it concerns")
    changes_table = table(columns, rows, caption=heading, class_="changes")
    if len(changes) <= _MAX_ROWS:
        return changes_table
    more = element("p", f"… {len(changes) - _MAX_ROWS:,} more", class_="cut")
    return join_html(changes_table, more)
