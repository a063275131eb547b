"""The changes between two lists of tools as HTML, a page, and Markdown for a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_client.pages.markdown import as_code, fitted
from toolwire_client.pages.markup import Html, code, cut, element, pairs, table, together
from toolwire_client.pages.page import page, section
from toolwire_dialects.compare.words import HEADINGS, WHOM, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_dialects.compare import Change, Level

_COLOURS: dict[Level, str] = {"major": "bad", "unknown": "warn", "minor": "good"}
_MAX_ROWS = 1000
_MAX_CHARS = 2000


def diff_html(changes: Sequence[Change], *, old: str, new: str) -> Html:
    """Return *changes*, breaking ones first, with the verdict; *old* and *new* say where the lists
    come from.
    """
    level, _, rest = sentence(changes).partition(": ")
    badge = element(
        "span", level, class_=f"badge {_COLOURS.get(changes[0].level, '') if changes else 'good'}"
    )
    head = element(
        "header",
        element("p", "Changes of tools", class_="eyebrow"),
        element("h1", rest[0].upper() + rest[1:]),
        element("p", badge),
        pairs(("old", cut(old, _MAX_CHARS)), ("new", cut(new, _MAX_CHARS))),
    )
    return together(
        head, [section(name, _table(name, _of(changes, level))) for level, name in HEADINGS.items()]
    )


def diff_page(changes: Sequence[Change], *, old: str, new: str) -> str:
    """Return `diff_html` as a page."""
    return page("Changes of tools", diff_html(changes, old=old, new=new))


def diff_markdown(changes: Sequence[Change]) -> str:
    """Return *changes*, breaking ones first, below the verdict."""
    level, _, rest = sentence(changes).partition(":")
    parts = [f"**{level}**:{rest}"]
    for level, heading in HEADINGS.items():
        found = _of(changes, level)
        parts += [f"### {heading}"] if found else []
        parts += [
            f"- {as_code(one.where)}: {as_code(str(one))} ({WHOM[one.concerns]})" for one in found
        ]
    return fitted(parts)


def _of(changes: Sequence[Change], level: str) -> list[Change]:
    return [change for change in changes if change.level == level]


def _table(heading: str, changes: Sequence[Change]) -> Html | None:
    if not changes:
        return None
    shown, more = changes[:_MAX_ROWS], changes[_MAX_ROWS:]
    rows = [(code(one.where), cut(str(one), _MAX_CHARS), WHOM[one.concerns]) for one in shown]
    whole = table(
        ("where", "what changed", "whom it concerns"), rows, caption=heading, class_="changes"
    )
    return together(whole, element("p", f"… {len(more):,} more", class_="cut") if more else None)
