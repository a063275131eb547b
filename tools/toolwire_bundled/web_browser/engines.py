"""What searches the web: engines behind one interface, by the names that Lagent gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec
from toolwire_schemas.did_you_mean import explain_unknown_name

if TYPE_CHECKING:
    from ..web.call import Call


class Hit(msgspec.Struct, frozen=True):
    """One result of a search."""

    url: str
    title: str
    summary: str


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of engines; None is the engine's own choice, or comes from the environment."""

    api_key: str | None = None
    base_url: str | None = None
    region: str | None = None
    language: str | None = None
    timeout: float = 5


class Engine(Protocol):
    """An engine, made from `Settings`."""

    def __init__(self, settings: Settings) -> None: ...

    def search(self, query: str, most: int, call: Call) -> list[Hit]:
        """About *most* results, the best first.

        Raises:
            ToolError: if a key or an address is missing.
            WebError: if there is no answer.
        """


ENGINES = {
    "BraveSearch": "brave",
    "DuckDuckGoSearch": "duckduckgo",
    "GoogleSearch": "google",
    "SearxngSearch": "searxng",
}
"""The module of each, where the class is called `Engine`."""

_GONE = {
    "BingSearch": "Bing's search API was switched off in August 2025",
    "TencentSearch": "Tencent's search is not among them",
}


def make_engine(name: str, settings: Settings) -> Engine:
    """The engine called *name*.

    Raises:
        ValueError: if there is no such engine.
    """
    if name not in ENGINES:
        why = f" ({_GONE[name]})" if name in _GONE else ""
        raise ValueError(f"WebBrowser: {explain_unknown_name('searcher_type', name, ENGINES)}{why}")
    from importlib import import_module

    made: Engine = import_module(f"{__package__}.{ENGINES[name]}").Engine(settings)
    return made
