"""Serper, which answers with what Google found.

Source: https://serper.dev (the playground shows requests and answers), and the client that Lagent
0.2.4 has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import say

from ..requirements import read_key
from ..web.errors import Unusable
from ..web.http import Limits
from ..web.service import Service

if TYPE_CHECKING:
    from ..web.call import Call

SERPER = "https://google.serper.dev"
VARIABLE = "SERPER_API_KEY"


class Serper:
    """The service at *base_url*, with an account whose key is *api_key* or in the environment."""

    def __init__(
        self, api_key: str | None = None, base_url: str = SERPER, timeout: float = 5
    ) -> None:
        self._key = api_key
        self._service = Service("Serper", base_url, limits=Limits(silence_seconds=timeout))

    def search(
        self, query: str, call: Call, *, kind: str = "search", **options: Any
    ) -> dict[str, Any]:
        """Return Serper's answer. *options* that are None are left out.

        Raises:
            ToolError: if there is no key.
            WebError: if there is no answer.
        """
        asked = {
            "q": query,
            **{name: value for name, value in options.items() if value is not None},
        }
        found = self._service.post(
            kind, json=asked, secret_headers={"x-api-key": read_key(VARIABLE, self._key)}, call=call
        ).decode_json()
        if not isinstance(found, dict):
            raise Unusable(say("Serper's answer is not the object it should be"))
        return found
