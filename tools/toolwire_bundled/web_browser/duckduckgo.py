"""DuckDuckGo's page for browsers without scripts, which has no documentation: it may change, or
refuse, at any time.

Source: what SearXNG found out about it
(https://docs.searxng.org/dev/engines/online/duckduckgo.html), and pages as other public parsers
have them in their tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_schemas.language import say

from ..requirements import import_extra
from ..web.errors import Unusable
from ..web.http import Limits
from ..web.service import Service
from .engines import Hit

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from ..web.call import Call
    from .engines import Settings

DUCKDUCKGO = "https://html.duckduckgo.com/html/"
_MAX_BYTES = 2 * 1024 * 1024
_MAX_QUERY = 499
_INTERVAL_SECONDS = 1.0


class Engine:
    """Needs no key. *region* is "de-de", "wt-wt" for none."""

    def __init__(self, settings: Settings) -> None:
        self._region = settings.region or "wt-wt"
        self._service = Service(
            "DuckDuckGo",
            settings.base_url or DUCKDUCKGO,
            limits=Limits(silence_seconds=settings.timeout, max_bytes=_MAX_BYTES),
            headers={"accept": "text/html"},
            interval_seconds=0.0 if settings.base_url else _INTERVAL_SECONDS,
        )

    def search(self, query: str, most: int, call: Call) -> list[Hit]:
        """As `engines.Engine.search`."""
        if len(query) > _MAX_QUERY:
            raise Unusable(
                say("DuckDuckGo takes queries of at most {max_query} letters", max_query=_MAX_QUERY)
            )
        reply = self._service.post(data={"q": query, "b": "", "kl": self._region}, call=call)
        return read(reply.decode_text())[:most]


def read(page: str) -> list[Hit]:
    """The results on a page.

    Raises:
        Unusable: if it is no page of results, as when DuckDuckGo takes the client for a robot.
    """
    with import_extra("web"):
        from lxml.html import document_fromstring  # comes with trafilatura
    tree = document_fromstring(
        f"<!DOCTYPE html><html><body>{page}"
    )  # so that there is always a document
    found = [hit for result in _with_class(tree, "result") if (hit := _read_hit(result))]
    if not found and not _with_class(tree, "no-results"):
        raise Unusable(
            say(
                "DuckDuckGo sent no results; it does that when it takes the client for a robot. Try"
                " again later, or use an engine with a key: BraveSearch or GoogleSearch"
            )
        )
    return found


def _read_hit(result: HtmlElement) -> Hit | None:
    links = _with_class(result, "result__a")
    url = _find_target(links[0].get("href") or "") if links else ""
    if not url:
        return None
    summaries = _with_class(result, "result__snippet")
    return Hit(url, _read_text(links[0]), _read_text(summaries[0]) if summaries else "")


def _read_text(element: HtmlElement) -> str:
    return " ".join(element.text_content().split())


def _with_class(tree: HtmlElement, name: str) -> list[HtmlElement]:
    found: list[HtmlElement] = tree.xpath(
        f".//*[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]"
    )
    return found


def _find_target(href: str) -> str:
    """Return where a link leads: links to DuckDuckGo itself have it in their query; empty for
    advertisements.
    """
    from urllib.parse import parse_qs, urlsplit

    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    if (parts.hostname or "").endswith("duckduckgo.com"):
        return next(iter(parse_qs(parts.query).get("uddg", [])), "") if parts.path == "/l/" else ""
    return href if parts.scheme in ("http", "https") else ""
