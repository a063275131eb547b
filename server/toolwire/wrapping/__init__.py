"""A server that wraps one of others: what it changes for hosts, and recordings of the traffic."""

from __future__ import annotations

from typing import Any

FIXES = {
    "noise": ("line of its output moved to stderr", "lines of its output moved to stderr"),
    "names": ("tool renamed", "tools renamed"),
    "schemas": ("tool with a rewritten schema", "tools with rewritten schemas"),
    "arguments": ("call with corrected arguments", "calls with corrected arguments"),
    "heartbeat": ("heartbeat sent", "heartbeats sent"),
    "results": ("result made smaller", "results made smaller"),
    "orphans": ("orphan killed", "orphans killed"),
    "restart": ("restart", "restarts"),
    "eras": ("conversation between two eras of MCP", ""),
    "framing": ("host with Content-Length framing", ""),
}
"""What wrapping does, by the name that switches it off, as the summary counts it: once, and more
often.
"""

COUNTED = {**FIXES, "lock": ("tool refused", "tools refused")}

CLAUDE_CODE = ("claude-code",)
GEMINI = ("gemini", "gemini-cli", "vertex")
DIALECTS_OF = {
    **dict.fromkeys(("any", *GEMINI), "gemini"),
    **dict.fromkeys(("anthropic", "claude", "claude-code", "claude-desktop"), "anthropic"),
    **dict.fromkeys(
        (
            "openai",
            "bedrock",
            "codex",
            "copilot-cli",
            "cursor",
            "opencode",
            "vscode",
            "windsurf",
            "zed",
            "goose",
        ),
        "openai",
    ),
}
"""The dialect of tool names that each host or vendor takes; `any` is all of them."""


def get_object(value: Any, member: str) -> dict[str, Any]:
    """Return the object that a message, or another JSON *value*, has under *member*; an empty one
    if it has none.
    """
    found = value.get(member) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
