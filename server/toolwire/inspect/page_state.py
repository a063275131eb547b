"""The facts of a page, all of which its scripts expect."""

from __future__ import annotations

from typing import Any


def make_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return *state* with all members that the page knows."""
    nothing: dict[str, Any] = {
        "command": None,
        "target": None,
        "status": "starting",
        "problem": "",
        "server": None,
        "reloads": [],
        "edit": None,
        "replay": "",
        "servers_of_run": "--tools TARGET",
    }
    of_tools = ("tools", "forms", "tokens", "findings", "servers", "unlisted")
    lists: dict[str, Any] = {name: [] for name in (*of_tools, "resources", "templates", "prompts")}
    return {**nothing, **lists, **state}
