"""Counts what a list of tools costs a model: the tokens of each tool and of each server."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.tokens import estimate_tokens, text_for_models

from .printing.layout import format_count, format_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ENCODING = "o200k_base"
"""The vocabulary of OpenAI's models since GPT-4o."""


class TokenCount(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one tool, as a host sends it to a model.

    *server* is the name of the mounted server, "" for others; *exact* is the count of tiktoken, if
    that is installed.
    """

    tool: str
    server: str = ""
    estimated: int
    exact: int | None = None


def count_tokens(entries: Sequence[dict[str, Any]], servers: Sequence[str]) -> list[TokenCount]:
    """Return the tokens of each of *entries* of `tools/list`, the most first; *servers* are the
    prefixes of mounted ones.
    """
    count_exactly = find_exact_counter()
    counts = []
    for entry in entries:
        text = text_for_models(entry)
        count = TokenCount(
            tool=entry["name"],
            server=_server_of(entry["name"], servers),
            estimated=estimate_tokens(text),
            exact=None if count_exactly is None else count_exactly(text),
        )
        counts.append(count)
    return sorted(counts, key=lambda count: (-count.estimated, count.tool))


def find_exact_counter() -> Callable[[str], int] | None:
    """Return what counts the tokens of a text; `None` without tiktoken, or if its vocabulary, which
    it downloads once, cannot be read.
    """
    try:
        encoding = import_module("tiktoken").get_encoding(ENCODING)
    except (ImportError, OSError):  # the errors of its downloads are OSErrors
        return None
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def _server_of(tool: str, servers: Sequence[str]) -> str:
    for server in servers:
        if tool.startswith((f"{server}_", f"{server}.")):
            return server
    return ""


def format_counts(counts: Sequence[TokenCount]) -> str:
    """Return a table of *counts*, and one of the servers if there are some."""
    if not counts:
        return "The server has no tools."
    tools = format_table(*_table("tool", [(count.tool, count) for count in counts]))
    servers = _sum_by_server(counts)
    total = _sum("", counts)
    words = f"{format_count(len(counts), 'tool')}: about {total.estimated:,} tokens"
    if total.exact is not None:
        words += f", {total.exact:,} by tiktoken ({ENCODING})"
    if len(servers) < 2:
        return f"{tools}\n\n{words}."
    rows = [(each.server or "this server", each) for each in servers]
    return f"{tools}\n\n{format_table(*_table('server', rows))}\n\n{words}."


def as_data(counts: Sequence[TokenCount]) -> dict[str, Any]:
    """Return *counts* and their sums, for JSON."""
    return {
        "total": _plain(_sum("", counts)),
        "servers": {each.server: _plain(each) for each in _sum_by_server(counts)},
        "tools": [msgspec.to_builtins(count) for count in counts],
    }


def _plain(total: TokenCount) -> dict[str, int | None]:
    return {"estimated": total.estimated, "exact": total.exact}


def _table(
    heading: str, rows: Sequence[tuple[str, TokenCount]]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the headings and rows of a table; without exact counts it has no column for them."""
    cells: list[tuple[str, ...]]
    if any(count.exact is None for _, count in rows):
        cells = [(name, f"{count.estimated:,}") for name, count in rows]
        return (heading, "tokens"), cells
    cells = [(name, f"{count.estimated:,}", f"{count.exact:,}") for name, count in rows]
    return (heading, "tokens", "tiktoken"), cells


def _sum_by_server(counts: Sequence[TokenCount]) -> list[TokenCount]:
    groups: dict[str, list[TokenCount]] = {}
    for count in counts:
        groups.setdefault(count.server, []).append(count)
    sums = [_sum(server, group) for server, group in groups.items()]
    return sorted(sums, key=lambda total: (-total.estimated, total.server))


def _sum(server: str, counts: Sequence[TokenCount]) -> TokenCount:
    exact = [count.exact for count in counts if count.exact is not None]
    return TokenCount(
        tool="",
        server=server,
        estimated=sum(count.estimated for count in counts),
        exact=sum(exact) if len(exact) == len(counts) and exact else None,
    )
