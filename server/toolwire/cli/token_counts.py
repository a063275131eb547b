"""Counts what a list of tools costs a model: the tokens of each tool and of each server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.exact_tokens import ENCODING, find_exact_counter
from toolwire_schemas.tokens import estimate_tokens, write_text_for_models

from .printing.layout import format_count, format_table

if TYPE_CHECKING:
    from collections.abc import Sequence


class TokenCount(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one tool, as a host sends it to a model, or of all tools of a server.

    *server* is the name of the mounted server, "" for others; *exact* is the count of tiktoken, if
    that is installed.
    """

    tool: str = ""
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
        name, text = entry["name"], write_text_for_models(entry)
        exact = None
        if count_exactly is not None:
            exact = count_exactly(text)
        server = _find_server(name, servers)
        estimated = estimate_tokens(text)
        counts.append(TokenCount(tool=name, server=server, estimated=estimated, exact=exact))
    return sorted(counts, key=_make_sort_key)


def _make_sort_key(count: TokenCount) -> tuple[int, str, str]:
    return -count.estimated, count.tool, count.server


def _find_server(tool: str, servers: Sequence[str]) -> str:
    for server in servers:
        if tool.startswith((f"{server}_", f"{server}.")):
            return server
    return ""


def format_counts(counts: Sequence[TokenCount]) -> str:
    """Return a table of *counts*, and one of the servers if there are some."""
    if not counts:
        return "The server has no tools."
    tools = [(count.tool, count) for count in counts]
    parts = [_format_table("tool", tools)]
    servers = [(count.server or "this server", count) for count in _sum_by_server(counts)]
    if len(servers) > 1:
        parts.append(_format_table("server", servers))
    total = _sum("", counts)
    words = f"{format_count(len(counts), 'tool')}: about {total.estimated:,} tokens"
    if total.exact is not None:
        words += f", {total.exact:,} by tiktoken ({ENCODING})"
    parts.append(f"{words}.")
    return "\n\n".join(parts)


def as_data(counts: Sequence[TokenCount]) -> dict[str, Any]:
    """Return *counts* and their sums, for JSON."""
    servers = {total.server: _make_numbers(total) for total in _sum_by_server(counts)}
    return {"total": _make_numbers(_sum("", counts)), "servers": servers, "tools": list(counts)}


def _make_numbers(total: TokenCount) -> dict[str, int | None]:
    return {"estimated": total.estimated, "exact": total.exact}


def _format_table(heading: str, named: Sequence[tuple[str, TokenCount]]) -> str:
    """Return the table of counts with their names; it has a column for exact ones if there are
    any.
    """
    headings = [heading, "tokens"]
    rows = []
    for name, count in named:
        row = [name, f"{count.estimated:,}"]
        if count.exact is not None:
            row.append(f"{count.exact:,}")
        rows.append(row)
    if len(rows[0]) > len(headings):
        headings.append("tiktoken")
    return format_table(headings, rows)


def _sum_by_server(counts: Sequence[TokenCount]) -> list[TokenCount]:
    groups: dict[str, list[TokenCount]] = {}
    for count in counts:
        groups.setdefault(count.server, []).append(count)
    totals = [_sum(server, group) for server, group in groups.items()]
    return sorted(totals, key=_make_sort_key)


def _sum(server: str, counts: Sequence[TokenCount]) -> TokenCount:
    estimated = 0
    exact = None
    for count in counts:
        estimated += count.estimated
        if count.exact is not None:  # then that of all others is known, too
            exact = (exact or 0) + count.exact
    return TokenCount(server=server, estimated=estimated, exact=exact)
