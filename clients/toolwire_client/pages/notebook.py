"""HTML that a notebook shows in place of a `repr`: it has no scripts and loads nothing.

A notebook asks for it with `_repr_html_` (the display protocol of IPython).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.tool_table import format_arguments

from .markup import Html, code, cut, element, fold, pairs
from .result_html import write_result_html, write_text_html
from .tree import write_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_CHARS = 1000


def show_tool(entry: Mapping[str, Any]) -> Html:
    """Return one tool: its arguments, its description, and its entry as clients receive it."""
    return element(
        "div",
        element("p", code(format_arguments(entry), _MAX_CHARS)),
        write_text_html(str(entry.get("description") or "")),
        fold("As clients receive it", write_tree(dict(entry))),
    )


def show_result(raw: Mapping[str, Any]) -> Html:
    """Return the result of a call."""
    return write_result_html(raw)


def show_client(
    server: Mapping[str, Any], revision: str | None, pid: int | None, instructions: str | None
) -> Html:
    """Return what a server has declared, and the process in which it runs."""
    return pairs(
        ("server", f"{server.get('name', '')} {server.get('version', '')}"),
        ("process", str(pid or "")),
        ("MCP", revision),
        ("instructions", cut(instructions or "", _MAX_CHARS)),
    )


def show_outcome(summary: str, result: Any) -> Html:
    """Return how a run of an agent ended: in short, and its result."""
    parts = [element("p", cut(summary, _MAX_CHARS))]
    if isinstance(result, str):
        parts.append(write_text_html(result))
    elif result is not None:
        parts.append(write_tree(result))
    return element("div", parts)
