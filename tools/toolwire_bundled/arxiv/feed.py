"""What arXiv's query interface is asked, and what its answers say. No I/O.

Source: the arXiv API User's Manual, https://info.arxiv.org/help/api/user-manual.html, sections 3
and 5.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.language import say

from ..web.errors import Unusable, WebError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

_ATOM = "{http://www.w3.org/2005/Atom}"
_IDENTIFIER = re.compile(r"(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})(v\d+)?")
"""2310.06825, hep-ex/0307015 and the like, with or without a version:
https://info.arxiv.org/help/arxiv_identifier.html.
"""


class Article(msgspec.Struct, frozen=True):
    """One article; `published` is the day of its first version, as 2024-02-29."""

    title: str
    authors: tuple[str, ...]
    summary: str
    published: str


def make_query(query: str, most: int) -> dict[str, Any]:
    """The parameters that ask for the *most* relevant articles, or for those whose identifiers
    *query* consists of.
    """
    words = query.split()
    by_name = bool(words) and all(_IDENTIFIER.fullmatch(word) for word in words)
    asked = {"id_list": ",".join(words)} if by_name else {"search_query": query}
    return {
        **asked,
        "start": 0,
        "max_results": most,
        "sortBy": "relevance",
        "sortOrder": "descending",
    }


def read_articles(answer: bytes) -> list[Article]:
    """The articles of a feed, in its order.

    Raises:
        WebError: in arXiv's own words if the feed tells an error.
        Unusable: if *answer* is no such feed.
    """
    found = list(_read_entries(answer))
    for entry in found:
        if "/api/errors" in _read_text(entry, "id"):
            raise WebError(
                say(
                    "Arxiv exception: {value}",
                    value=_read_text(entry, "summary")
                    or _read_text(entry, "title")
                    or "unknown error",
                )
            )
    return [
        _read_article(entry) for entry in found if _read_text(entry, "title")
    ]  # an invalid identifier gives an entry without a title


def _read_entries(answer: bytes) -> Iterator[Element]:
    from xml.etree import ElementTree as ET

    try:
        text = answer.decode()
        if "<!DOCTYPE" in text:  # where entities are declared, which may be bombs; a feed has none
            raise ValueError("it declares a document type")
        feed = ET.fromstring(text)
    except (ValueError, ET.ParseError) as error:
        raise Unusable(
            say("arXiv's answer is not the Atom feed it should be: {error}", error=error)
        ) from None
    if feed.tag != f"{_ATOM}feed":
        raise Unusable(
            say("arXiv's answer is not the Atom feed it should be, but <{tag}>", tag=feed.tag[:80])
        )
    return feed.iterfind(f"{_ATOM}entry")


def _read_article(entry: Element) -> Article:
    names = (
        _join_lines(author.findtext(f"{_ATOM}name", ""))
        for author in entry.iterfind(f"{_ATOM}author")
    )
    return Article(
        title=_join_lines(_read_text(entry, "title")),
        authors=tuple(filter(None, names)),
        summary=_read_text(entry, "summary"),
        published=_read_text(entry, "published")[: len("2024-02-29")],
    )


def _read_text(entry: Element, name: str) -> str:
    return entry.findtext(f"{_ATOM}{name}", "").strip()


def _join_lines(text: str) -> str:
    return " ".join(text.split())
