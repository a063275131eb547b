"""What searches found, by numbers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .engines import Hit

Told = dict[str, str]
"""Return a result as callers see it: `url`, `summ` and `title`."""


class Results:
    """Results by their ids, which are never given out twice; the latest *most* are kept. Any thread
    may use it.
    """

    def __init__(self, *, most: int = 1000) -> None:
        self._most = most
        self._next = 0
        self._lock = threading.Lock()
        self.kept: dict[int, Told] = {}
        """All of them; never changed, but replaced."""

    def add(self, hits: Iterable[Hit]) -> dict[int, Told]:
        """Return the results by their new ids. A result of several queries appears once, with the
        summary of each.
        """
        by_url: dict[str, Told] = {}
        for hit in hits:
            if hit.url in by_url:
                by_url[hit.url]["summ"] += f"\n{hit.summary}"
            else:
                by_url[hit.url] = {"url": hit.url, "summ": hit.summary, "title": hit.title}
        with self._lock:
            added = dict(enumerate(by_url.values(), self._next))
            self._next += len(added)
            self.kept = dict([*self.kept.items(), *added.items()][-self._most :])
        return added

    def find_url(self, number: int) -> str:
        """The address of the result with this id.

        Raises:
            ToolError: if there is no result.
        """
        kept = self.kept
        if number not in kept:
            raise ToolError(
                say(
                    "no search result has the id {number}; there are {kept} to {kept_2}",
                    number=number,
                    kept=min(kept),
                    kept_2=max(kept),
                )
            )
        return kept[number]["url"]

    def describe(self, number: int, **more: str) -> Told:
        """What `select` tells of the result with this id: its address, its title and *more*."""
        known = self.kept.get(number, {})
        return {**{name: known[name] for name in ("url", "title") if name in known}, **more}
