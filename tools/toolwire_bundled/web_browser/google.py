"""Google, by way of Serper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..google_search.serper import SERPER, Serper
from .hits import read_hits

if TYPE_CHECKING:
    from ..web.call import Call
    from .engines import Hit, Settings


class Engine:
    """Needs a key from https://serper.dev in SERPER_API_KEY. *region* is a country ("us"),
    *language* "en".
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._serper = Serper(settings.api_key, settings.base_url or SERPER, settings.timeout)

    def search(self, query: str, most: int, call: Call) -> list[Hit]:
        """As `engines.Engine.search`."""
        told = self._serper.search(
            query, call, num=most, gl=self._settings.region, hl=self._settings.language
        )
        return read_hits(told.get("organic"), url="link", title="title", summary="snippet")
