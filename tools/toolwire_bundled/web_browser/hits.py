"""Results of engines that answer in JSON, and what becomes of all results."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from .engines import Hit

_TAG = re.compile(r"</?(?:strong|b|em|i|mark|span)(?: [^<>]*)?>")


def read_hits(found: Any, *, url: str, title: str, summary: str) -> list[Hit]:
    """The results in a list of objects, whose members are called like that. Entries without an
    address are left out.
    """
    return [
        Hit(each[url], _make_plain(each.get(title)), _make_plain(each.get(summary)))
        for each in (found if isinstance(found, list) else [])
        if isinstance(each, dict) and isinstance(each.get(url), str)
    ]


def get_at(value: Any, *path: str) -> Any:
    """Return the value at *path* within objects; None if it is missing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def choose_hits(found: Iterable[Hit], black_list: Collection[str], most: int) -> list[Hit]:
    """The first *most* results that are neither PDFs nor of a host on the *black_list*, or below
    one.
    """
    return [hit for hit in found if _is_wanted(hit.url, black_list)][:most]


def _is_wanted(url: str, black_list: Collection[str]) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return False
    unwanted = parts.path.lower().endswith(".pdf") or any(
        f".{host}".endswith(f".{each}") for each in black_list
    )
    return parts.scheme in ("http", "https") and not unwanted


def _make_plain(text: Any) -> str:
    """*text* on one line, without the marks that engines put round the words that were sought."""
    import html

    return " ".join(html.unescape(_TAG.sub("", text)).split()) if isinstance(text, str) else ""
