"""The tools of a server, by name and in pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire.codes import INVALID_PARAMS

from ..errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolwire_tools import Tool


class Catalog:
    """Tools in their given order.

    *separator* replaces the dot between toolkit and method in the names shown; calls may use the dot too.
    A *page_size* of `None` puts all tools on one page: some clients never ask for a second.

    Raises:
        ValueError: if two tools have the same name.
    """

    def __init__(self, tools: Iterable[Tool], *, separator: str = ".", page_size: int | None = None) -> None:
        self._shown: dict[str, Tool] = {}
        self.by_name: dict[str, Tool] = {}
        """Every tool by each name that calls may use."""
        self._page_size = page_size
        for tool in tools:
            self._add(tool, separator)
        self.by_name |= self._shown  # a name shown wins over another tool's dotted one

    @property
    def tools(self) -> list[Tool]:
        """All tools, under the names shown to clients."""
        return list(self._shown.values())

    def describe(self) -> list[dict[str, Any]]:
        """Return every tool's entry in `tools/list`."""
        return [tool.describe() for tool in self._shown.values()]

    def unknown(self, name: str) -> RequestError:
        """Return the error for a *name* that no tool has, with the closest ones."""
        from toolwire_schemas.did_you_mean import closest
        from toolwire_tools.actions.base import BaseAction

        for tool in self._shown.values():
            action = getattr(tool.function, "__self__", None)
            if isinstance(action, BaseAction):
                why = action.__toolwire_needs__.get(name.removeprefix(action.name)[1:])
                if why is not None:
                    return RequestError(INVALID_PARAMS, f"Unknown tool: {name}; {why}")
        shown = name[:200]  # to compare megabytes would take seconds
        close = closest(shown, self._shown, 3)
        hint = f"; did you mean {' or '.join(close)}?" if close else _and_known(list(self._shown))
        return RequestError(INVALID_PARAMS, f"Unknown tool: {shown}{hint}")

    def page(self, cursor: str | None) -> dict[str, Any]:
        """Return the `tools/list` result at *cursor*; `None` is the first page.

        Raises:
            RequestError: for an unknown cursor.
        """
        tools = self.tools
        size = self._page_size or max(len(tools), 1)
        starts = {str(start): start for start in range(size, len(tools), size)}
        if cursor is not None and cursor not in starts:
            shown = repr(cursor[:100])
            raise RequestError(INVALID_PARAMS, f"Unknown cursor: {shown}; use the nextCursor of the page before")
        start = 0 if cursor is None else starts[cursor]
        page: dict[str, Any] = {"tools": [tool.describe() for tool in tools[start : start + size]]}
        if start + size < len(tools):
            page["nextCursor"] = str(start + size)
        return page

    def _add(self, tool: Tool, separator: str) -> None:
        shown = tool.name if separator == "." else tool.name.replace(".", separator)
        if shown in self._shown:
            raise ValueError(f"two tools are called {shown}; give one of them another name")
        self._shown[shown] = tool if shown == tool.name else tool.renamed(shown)
        self.by_name[tool.name] = self._shown[shown]


def _and_known(names: list[str]) -> str:
    if not names:
        return "; this server has no tools"
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"; there are {', '.join(names[:10])}{more}"
