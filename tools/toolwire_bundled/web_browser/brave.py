"""Brave Search.

Source: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..requirements import read_key
from ..web.http import Limits
from ..web.service import Service
from .hits import get_at, read_hits

if TYPE_CHECKING:
    from ..web.call import Call
    from .engines import Hit, Settings

BRAVE = "https://api.search.brave.com/res/v1"
VARIABLE = "BRAVE_API_KEY"
_MOST = 20
_INTERVAL_SECONDS = 1.0
"""One request each second is what the free plan grants."""


class Engine:
    """Needs a key from https://brave.com/search/api in BRAVE_API_KEY. *region* is "DE", *language*
    "de".
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        interval = 0.0 if settings.base_url else _INTERVAL_SECONDS
        limits = Limits(silence_seconds=settings.timeout)
        self._service = Service(
            "Brave", settings.base_url or BRAVE, limits=limits, interval_seconds=interval
        )

    def search(self, query: str, most: int, call: Call) -> list[Hit]:
        """As `engines.Engine.search`."""
        asked = {
            "q": query,
            "count": min(most, _MOST),
            "country": self._settings.region,
            "search_lang": self._settings.language,
            "result_filter": "web",
            "text_decorations": False,
        }
        token = {"x-subscription-token": read_key(VARIABLE, self._settings.api_key)}
        told = self._service.get(
            "web/search", params=asked, secret_headers=token, call=call
        ).decode_json()
        return read_hits(
            get_at(told, "web", "results"), url="url", title="title", summary="description"
        )
