"""What hosts show their models of a result, and how much of it.

Each row was found in what the host's documentation says or in what its users have measured; both
change with releases, so each names its source.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class HostResults(msgspec.Struct, frozen=True):
    """How a host treats results of tools.

    `shows` is what its model gets of a result with text and structured content. Beyond `max_tokens`
    the host cuts a result, or writes it to a file; `None` if no such limit is known.
    """

    shows: Literal["structured", "text", "both"]
    source: str
    max_tokens: int | None = None


OF_HOSTS = {
    "claude-code": HostResults(
        shows="structured",
        max_tokens=25_000,
        source="github.com/anthropics/claude-code/issues/79944 (2.1.280, September 2026);"
        " code.claude.com/docs/en/mcp (MAX_MCP_OUTPUT_TOKENS)",
    ),
    "codex": HostResults(
        shows="structured",
        max_tokens=10_000,
        source="github.com/openai/codex/issues/38287 (August 2026);"
        " github.com/openai/codex/issues/14466 (cuts the middle; tool_output_token_limit)",
    ),
    "copilot-cli": HostResults(
        shows="both", source="github.com/github/copilot-cli/issues/4515 (August 2026)"
    ),
    "opencode": HostResults(
        shows="text", source="github.com/anomalyco/opencode/pull/34505 (June 2026)"
    ),
    "vscode": HostResults(shows="structured", source="github.com/microsoft/vscode/issues/290063"),
}


def find_max_tokens(host: str) -> int | None:
    """Return how many tokens of a result *host* shows; `None` if no limit is known."""
    known = OF_HOSTS.get(host)
    return None if known is None else known.max_tokens


def shows_both(host: str) -> bool:
    """Whether the model of *host* gets text and structured content of one result."""
    known = OF_HOSTS.get(host)
    return known is not None and known.shows == "both"


def drop_repeated(result: dict[str, Any]) -> dict[str, Any]:
    """Return *result* without structured content that its text repeats."""
    if is_repeated(result):
        result.pop("structuredContent", None)
    return result


def is_repeated(result: dict[str, Any]) -> bool:
    """Whether the text of *result* is its structured content as JSON, so that one of them is
    enough.
    """
    from toolwire_schemas.wire.codec import DecodingError, decode

    content = result.get("content")
    if not isinstance(content, list) or len(content) != 1 or not isinstance(content[0], dict):
        return False
    text = content[0].get("text")
    try:
        read = decode(text.encode()) if isinstance(text, str) else None
    except (DecodingError, UnicodeEncodeError):
        return False
    structured = result.get("structuredContent")
    return read == structured or {"result": read} == structured
