"""SearXNG, a search engine that people run themselves. Source:
https://docs.searxng.org/dev/search_api.html.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from ..web.errors import Refused, Unusable
from ..web.http import Limits
from ..web.service import Service
from .hits import get_at, read_hits

if TYPE_CHECKING:
    from ..web.call import Call
    from .engines import Hit, Settings

VARIABLE = "SEARXNG_URL"


class Engine:
    """Needs its address, as in `http://127.0.0.1:8888`, in SEARXNG_URL; no key."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def search(self, query: str, most: int, call: Call) -> list[Hit]:
        """As `engines.Engine.search`."""
        asked = {
            "q": query,
            "format": "json",
            "categories": "general",
            "language": self._settings.language,
        }
        try:
            told = self._make_service().get(params=asked, call=call).decode_json()
        except Refused as error:
            if error.status != 403:
                raise
            raise Unusable(
                say("{error}; is json among the search.formats of its settings.yml?", error=error)
            ) from None
        found = read_hits(get_at(told, "results"), url="url", title="title", summary="content")
        if not found and (silent := get_at(told, "unresponsive_engines")):
            raise Unusable(
                say(
                    "SearXNG found nothing, for its engines do not respond: {names}",
                    names=_describe_engines(silent),
                )
            )
        return found

    def _make_service(self) -> Service:
        address = self._settings.base_url or os.environ.get(VARIABLE, "").strip()
        if not address:
            raise ToolError(
                say(
                    "SearXNG has no public address: set {variable} to its address in the"
                    " environment of the server",
                    variable=VARIABLE,
                )
            )
        address = address.rstrip("/")
        whole = address if address.endswith("/search") else f"{address}/search"
        return Service("SearXNG", whole, limits=Limits(silence_seconds=self._settings.timeout))


def _describe_engines(silent: object) -> str:
    """Pairs of an engine and what is wrong with it, in words."""
    pairs = silent if isinstance(silent, list) else [silent]
    return ", ".join(
        " ".join(map(str, pair)) if isinstance(pair, list) else str(pair) for pair in pairs
    )
