"""The tools, resources and prompts of a server, by their names, and the pages of their lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire.messages import INVALID_PARAMS
from toolwire_tools.entry import SEPARATOR

from ..errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolwire_tools import Tool

    from .described import Described
    from .unlisted_tools import CallToolDoor, Late

LISTS = {
    "tools": ("tools",),
    "resources": ("resources", "resourceTemplates"),
    "prompts": ("prompts",),
}
"""The kinds of things of each capability."""
LIST_METHODS = {
    **{f"{name}/list": name for name in LISTS},
    "resources/templates/list": "resourceTemplates",
}
"""The methods that list things of one kind."""

ALL_CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "logging": {},
    "completions": {},
}
"""The capabilities of a server that may have entries in every list."""


class Catalog:
    """Tools, resources and prompts in their given order.

    *separator* stands between toolkit and method in the names shown; calls may also use a dot or an
    underscore. A *page_size* of `None` puts all tools on one page: some clients never ask for a
    second. *late* answers for what mounted servers may have. *hidden* tools can be called, and no
    list shows them; *door* calls them too. If the list of tools *is_fixed*, it does not depend on
    mounted servers.

    Raises:
        ValueError: if two tools have the same name.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        separator: str = SEPARATOR,
        page_size: int | None = None,
        late: Late | None = None,
        hidden: Iterable[Tool] = (),
        door: CallToolDoor | None = None,
        is_fixed: bool = False,
    ) -> None:
        kinds = [*LIST_METHODS.values(), "methods"]
        self._lists: dict[str, dict[str, Tool]] = {kind: {} for kind in kinds}
        self._spellings: dict[str, dict[str, Tool]] = {kind: {} for kind in kinds}
        self.shown = self._lists["tools"]
        """Tools by the names shown to clients."""
        self.by_name = self._spellings["tools"]
        """Every tool by each name that calls may use."""
        self.resources = self._spellings["resources"]
        """Resources without variables, by their URIs."""
        self.templates = self._spellings["resourceTemplates"]
        """Resources with variables, by their URI templates."""
        self.prompts = self._spellings["prompts"]
        """Prompts by each name that requests may use."""
        self.methods = self._spellings["methods"]
        """Plain methods by their names."""
        self._page_size = page_size
        self.late = late
        self.door = door
        self.is_fixed = is_fixed
        for tool in tools:
            self._add(tool, separator, self._lists[tool.kind])
        self.callable = dict(self.shown)
        """Tools by their names, also those that the list hides."""
        for tool in hidden:
            self._add(tool, separator, self.callable)
        for kind in kinds:  # a name shown wins over another spelling of another tool's
            self._spellings[kind] |= self._lists[kind]
        self.by_name |= self.callable
        self.only_tasks = {
            spelling: tool
            for spelling, tool in self.by_name.items()
            if tool.entry.options.task == "required"
        }
        """Tools whose calls have to be tasks. As with the door, this costs other calls nothing."""
        for spelling in self.only_tasks:
            del self.by_name[spelling]
        if door is not None:
            # A call of it takes the way of unknown names, which costs other calls nothing.
            del self.by_name[door.name]

    @property
    def tools(self) -> list[Tool]:
        """All tools, under the names shown to clients."""
        return list(self.shown.values())

    def add_unlisted(self, tool: Tool) -> None:
        """Let requests find *tool* by its name, unless another one has that; no list shows it."""
        self._spellings[tool.kind].setdefault(tool.name, tool)

    def find(self, name: str) -> Tool | None:
        """Return the tool called *name*, or else what has that name or URI; `None` if nothing."""
        return next((things[name] for things in self._spellings.values() if name in things), None)

    def describe(self, kind: str = "tools") -> list[dict[str, Any]]:
        """Return the entries of the list of *kind*: `tools`, `resources`, `resourceTemplates` or
        `prompts`.
        """
        return [entry.describe() for entry in self.list_entries(kind)]

    def list_entries(self, kind: str) -> Sequence[Described]:
        """Return what the list of *kind* shows, in its order."""
        return list(self._lists[kind].values())

    def describe_capabilities(self, keeps_results: bool) -> dict[str, Any]:
        """Return MCP's capabilities of a server with this catalog. Methods of others do not exist
        for its clients.
        """
        if self.late is not None:
            return ALL_CAPABILITIES
        completions: dict[str, Any] = {}
        if self.prompts or self.templates:
            completions = self._describe_completions()
        capabilities: dict[str, Any] = {}
        for name, kinds in LISTS.items():
            has_entries = any(self._lists[kind] for kind in kinds)
            keeps = name == "resources" and keeps_results  # results that were too large to send
            if name == "tools" or has_entries or keeps:
                capabilities[name] = ALL_CAPABILITIES[name]
        return {**capabilities, "logging": {}, **completions}

    def _describe_completions(self) -> dict[str, Any]:
        """Return the capability `completions`, if any argument of a prompt or template can be
        completed.
        """
        from toolwire_tools.resources.completion import find_completers

        for tool in (*self.prompts.values(), *self.templates.values()):
            if find_completers(tool.entry):
                return {"completions": {}}
        return {}

    def make_page(self, kind: str, cursor: str | None, *, is_modern: bool) -> dict[str, Any]:
        """Return the page at *cursor* of the list of *kind*; `None` is the first page."""
        entries = self.list_entries(kind)
        size = self._page_size or max(len(entries), 1)
        starts = {str(start): start for start in range(size, len(entries), size)}
        if cursor is not None and cursor not in starts:
            raise RequestError(
                INVALID_PARAMS,
                f"Unknown cursor: {cursor[:100]!r}; use the nextCursor of the previous page",
            )
        start = 0 if cursor is None else starts[cursor]
        shown = entries[start : start + size]
        page: dict[str, Any] = {kind: [entry.describe() for entry in shown]}
        if start + size < len(entries):
            page["nextCursor"] = str(start + size)
        if is_modern:
            from .described import complete_page  # which older clients do not need

            complete_page(page, kind)
        return page

    def _add(self, tool: Tool, separator: str, others: dict[str, Tool]) -> None:
        shown = tool.with_separator(separator)
        if shown.name in others:
            from .tools_by_name import describe_clash

            raise ValueError(describe_clash(others[shown.name].entry, shown.entry))
        others[shown.name] = shown
        for spelling in tool.entry.spellings:
            self._spellings[tool.kind][spelling] = shown
