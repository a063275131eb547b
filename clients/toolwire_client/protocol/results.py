"""The values a client returns: tools and results of calls."""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import BrokenRules

_WIRE_NAMES = {"input_schema": "inputSchema", "output_schema": "outputSchema"}


class ToolDescription(msgspec.Struct, frozen=True, kw_only=True, rename=_WIRE_NAMES):
    """A tool, as its server describes it. `raw` is its entry in `tools/list`."""

    name: str
    title: str | None = None
    description: str = ""
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] = {}
    raw: dict[str, Any] = {}


class CallResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a call.

    `content` holds MCP content blocks for people and models, `structured` the same as data, `None` if the tool returns
    none. `is_error` means that the tool failed; the text says why. `raw` is the whole result.
    """

    content: list[dict[str, Any]]
    structured: Any = None
    is_error: bool = False
    raw: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """The text blocks, joined by newlines."""
        return "\n".join(block["text"] for block in self.content if block.get("type") == "text")


def describe(entry: Any) -> ToolDescription:
    """Return the description of an entry of `tools/list`. Raises `BrokenRules` if it is malformed."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise BrokenRules("the server listed a tool without a name")
    try:
        # Servers write null for a missing member, and some write [] for an empty object.
        given = {name: value for name, value in entry.items() if value or isinstance(value, str | dict)}
        return msgspec.convert(given | {"raw": entry}, ToolDescription)
    except msgspec.ValidationError as error:
        raise BrokenRules(f"the server describes the tool {entry['name']!r} wrongly: {error}") from None


def outcome(result: Any) -> CallResult:
    """Return a result of `tools/call` as a value. Raises `BrokenRules` if it is malformed."""
    if not isinstance(result, dict):
        raise BrokenRules("the server's result of a call is not an object")
    if result.get("resultType", "complete") != "complete":
        raise BrokenRules(f"the server's result of a call is of the unknown type {result['resultType']!r}")
    content = result.get("content") or []
    if not isinstance(content, list) or not all(_is_block(block) for block in content):
        raise BrokenRules("the server's result of a call has content that is not a list of content blocks")
    return CallResult(
        content=content,
        structured=result.get("structuredContent"),
        is_error=result.get("isError") is True,
        raw=result,
    )


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and (block.get("type") != "text" or isinstance(block.get("text"), str))
