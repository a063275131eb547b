"""Builds HTML out of texts that anybody may have written.

Strategy. `element` is the only function that makes HTML: what is no `Html` is escaped there, and
addresses that a browser would run or fetch are left out there, so that no other file can forget it.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from toolwire_schemas.output import make_printable

if TYPE_CHECKING:
    from collections.abc import Iterable


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"

_VOID = frozenset({"br", "hr", "img", "input", "meta"})
_ADDRESSES = {
    "href": re.compile(r"(?:https?://[^\s\\]+|#[\w./-]+)", re.ASCII),
    "src": re.compile(r"data:(?:image|audio)/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=]*"),
}


def element(tag: str, /, *children: Child, **attributes: str | int | bool | None) -> Html:
    """Return the element *tag*, with every `str` of *children* that is no `Html` as text.

    Control characters, and those that turn lines round, are shown as escapes. An attribute that is
    `None` or `False` is left out, `True` has no value; `class_` is `class`, and `aria_label` is
    `aria-label`. Links lead to the web or into the page, and sources are images or audio in the
    page; other addresses are left out.
    """
    written = "".join(
        _write_attribute(name.rstrip("_").replace("_", "-"), value)
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    inner = join_html(*children)
    if tag == "pre":
        inner = Html(f"\n{inner}")  # a parser drops a line break that comes first
    return Html(f"<{tag}{written}>{inner}</{tag}>")


def join_html(*children: Child) -> Html:
    """Return *children* one after the other, as `element` writes them."""
    return Html("".join(map(_write_child, children)))


def _write_child(child: Child) -> str:
    match child:
        case None:
            return ""
        case Html():
            return child
        case str():
            return escape(make_printable(child), quote=False)
    return join_html(*child)


def _write_attribute(name: str, value: str | int) -> str:
    if value is True:
        return f" {name}"
    text = make_printable(str(value))
    allowed = _ADDRESSES.get(name)
    if allowed is not None and not allowed.fullmatch(text):
        return ""
    return f' {name}="{escape(text)}"'


def cut(text: str, most: int) -> Child:
    """Return the first *most* characters of *text*, with the number of those that are left out."""
    if len(text) <= most:
        return text
    return [text[:most], element("span", f"… {len(text) - most:,} more characters", class_="cut")]


def code(text: str, most: int = 400) -> Html:
    """Return *text* as code within a line."""
    return element("code", cut(text, most))


def block(text: str, most: int = 20_000) -> Html:
    """Return *text* as it is laid out, in lines that wrap."""
    return element("pre", element("code", cut(text, most)))


def fold(summary: Child, *content: Child, open_: bool = False, class_: str | None = None) -> Html:
    """Return *content* that a click on *summary* shows."""
    return element("details", element("summary", summary), *content, open=open_, class_=class_)


def table(
    head: Iterable[str], rows: Iterable[Iterable[Child]], *, caption: str, class_: str | None = None
) -> Html:
    """Return a table whose first column names the rows. The *caption* is for screen readers."""
    body = []
    for first, *others in (map(join_html, row) for row in rows):
        body.append(
            element(
                "tr", element("th", first, scope="row"), [element("td", cell) for cell in others]
            )
        )
    return element(
        "table",
        element("caption", caption),
        element("thead", element("tr", [element("th", name, scope="col") for name in head])),
        element("tbody", body),
        class_=class_,
    )


def pairs(*pairs: tuple[str, Child]) -> Html:
    """Return names with what they name, without those that have nothing."""
    return element(
        "dl", [[element("dt", name), element("dd", value)] for name, value in pairs if value]
    )


def format_size(number: float) -> str:
    """Return a number of bytes in words."""
    for unit, bytes_ in (("MB", 1e6), ("kB", 1e3)):
        if number >= bytes_:
            return f"{number / bytes_:.1f} {unit}"
    return f"{number:.0f} B"


def format_count(number: int, what: str) -> str:
    """Return a count of *what*: `1 tool`, `2 tools`."""
    if number == 1:
        return f"1 {what}"
    return f"{number:,} {what}s"


def format_duration(seconds: float) -> str:
    """Return a duration in words."""
    if seconds >= 59.95:
        minutes, left = divmod(round(seconds), 60)
        return f"{minutes} min {left} s"
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    return f"{1000 * seconds:.3g} ms"
