"""A server's tools as an HTML table, which notebooks show in place of a `repr`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .output import make_printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MAX_TOOLS = 200
_MAX_CHARS = 300


def format_tool_table(server: str, entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of a server and its tools, given as their entries in `tools/list`."""
    rows = []
    for entry in entries[:_MAX_TOOLS]:
        tool = _escape(format_arguments(entry))
        summary = _escape(summarize(entry))
        rows.append(f"<tr><td><code>{tool}</code></td><td>{summary}</td></tr>")
    if len(entries) > _MAX_TOOLS:
        rows.append(f"<tr><td>… {len(entries) - _MAX_TOOLS:,} more</td><td></td></tr>")
    head = f"<thead><tr><th>{_escape(server)}</th><th>what it does</th></tr></thead>"
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"


def format_arguments(entry: Mapping[str, Any]) -> str:
    """Return the name of a tool with those of its arguments, optional ones with `?`:
    `add(a, b?)`.
    """
    schema = entry.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    names = properties if isinstance(properties, dict) else {}
    required = schema.get("required") if isinstance(schema, dict) else None
    known = required if isinstance(required, list) else []
    arguments = []
    for name in names:
        mark = "" if name in known else "?"
        arguments.append(f"{name}{mark}")
    return f"{entry.get('name', '')}({', '.join(arguments)})"


def summarize(entry: Mapping[str, Any]) -> str:
    """Return the first paragraph of an entry's description in one line, or else its title."""
    text = str(entry.get("description") or entry.get("title") or "")
    paragraph = text.strip().partition("\n\n")[0]
    return " ".join(paragraph.split())


def _escape(text: str) -> str:
    if len(text) > _MAX_CHARS:
        text = text[: _MAX_CHARS - 1] + "…"
    from html import escape  # the command line only summarizes

    return escape(make_printable(text))
