"""Tools of real servers that no task needs, to make a long list; they cannot be called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LISTS = Path(__file__).parents[1] / "schemas" / "search" / "servers.json"
SERVERS = ("git", "memory", "office-word", "codetree", "analytics")
"""Their tools have short entries, and none reads files or prices, or calculates."""


class OtherTool:
    """A tool with the *entry* of a server that is not there."""

    is_async = False

    def __init__(self, entry: dict[str, Any]) -> None:
        self._entry = entry
        self.name: str = entry["name"]

    def describe(self) -> dict[str, Any]:
        """Return its entry in `tools/list`."""
        return self._entry

    def call(self, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        """Return that its server cannot be reached."""
        text = f"{self.name} cannot be reached"
        return {"content": [{"type": "text", "text": text}], "isError": True}

    async def call_async(self, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        """Return that its server cannot be reached."""
        return self.call(arguments, caller)


def list_other_tools(number: int) -> list[OtherTool]:
    """Return this *number* of tools, in the order of their lists."""
    lists = json.loads(LISTS.read_text("utf-8"))
    tools = []
    for server in SERVERS:
        for entry in lists[server]["tools"]:
            tools.append(OtherTool(entry))
    if number > len(tools):
        raise ValueError(f"there are {len(tools)} other tools, not {number}")
    return tools[:number]
