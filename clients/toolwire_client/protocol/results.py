"""The values a client returns: descriptions of tools, resources and prompts, and results."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

from ..errors import BrokenRules

_WIRE_NAMES = {"input_schema": "inputSchema", "output_schema": "outputSchema"}
_RESOURCE_NAMES = {"media_type": "mimeType", "uri_template": "uriTemplate"}


class ToolDescription(msgspec.Struct, frozen=True, kw_only=True, rename=_WIRE_NAMES):
    """A tool, as its server describes it. `raw` is its entry in `tools/list`."""

    name: str
    title: str | None = None
    description: str = ""
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] = {}
    raw: dict[str, Any] = {}

    def _repr_html_(self) -> str:
        from ..pages.notebook import show_tool

        return show_tool(self.raw)


class ResourceDescription(msgspec.Struct, frozen=True, kw_only=True, rename=_RESOURCE_NAMES):
    """A resource, as its server describes it. `size` is in bytes. `raw` is its entry in
    `resources/list`.
    """

    uri: str
    name: str
    title: str | None = None
    description: str = ""
    media_type: str | None = None
    size: int | None = None
    annotations: dict[str, Any] = {}
    raw: dict[str, Any] = {}


class ResourceTemplate(msgspec.Struct, frozen=True, kw_only=True, rename=_RESOURCE_NAMES):
    """Resources whose URIs follow a template (RFC 6570), as their server describes them.

    `raw` is the entry in `resources/templates/list`.
    """

    uri_template: str
    name: str
    title: str | None = None
    description: str = ""
    media_type: str | None = None
    annotations: dict[str, Any] = {}
    raw: dict[str, Any] = {}


class ResourceContent(msgspec.Struct, frozen=True, kw_only=True, rename=_RESOURCE_NAMES):
    """A part of a resource: `text`, or else `data`."""

    uri: str
    media_type: str | None = None
    text: str | None = None
    data: bytes | None = None


class ResourceResult(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a resource. `raw` is the whole result."""

    contents: list[ResourceContent]
    raw: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """The texts, joined by newlines."""
        return "\n".join(content.text for content in self.contents if content.text is not None)


class PromptArgument(msgspec.Struct, frozen=True, kw_only=True):
    """An argument of a prompt."""

    name: str
    title: str | None = None
    description: str = ""
    required: bool = False


class PromptDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt, as its server describes it. `raw` is its entry in `prompts/list`."""

    name: str
    title: str | None = None
    description: str = ""
    arguments: list[PromptArgument] = []
    raw: dict[str, Any] = {}


class PromptMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a prompt; `content` is an MCP content block."""

    role: Literal["user", "assistant"]
    content: dict[str, Any]

    @property
    def text(self) -> str:
        """The text of the message; empty if its content is something else."""
        return self.content["text"] if self.content.get("type") == "text" else ""


class PromptResult(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a prompt. `raw` is the whole result."""

    messages: list[PromptMessage]
    description: str = ""
    raw: dict[str, Any] = {}


class CallResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a call.

    `content` holds MCP content blocks for people and models, `structured` the same as data, `None`
    if the tool returns none. `is_error` means that the tool failed; the text says why. `raw` is the
    whole result.
    """

    content: list[dict[str, Any]]
    structured: Any = None
    is_error: bool = False
    raw: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """The text blocks, joined by newlines."""
        return "\n".join(block["text"] for block in self.content if block.get("type") == "text")

    def _repr_html_(self) -> str:
        from ..pages.notebook import show_result

        return show_result(self.raw)


Described = TypeVar(
    "Described", ToolDescription, ResourceDescription, ResourceTemplate, PromptDescription
)


def describe(entry: Any) -> ToolDescription:
    """Return the description of an entry of `tools/list`. Raises `BrokenRules` if it is
    malformed.
    """
    return describe_entry(entry, ToolDescription, "tool")


def describe_entry(entry: Any, kind: type[Described], word: str) -> Described:
    """Return the description of an entry in the list of *kind*. Raises `BrokenRules` if it is
    malformed.
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise BrokenRules(f"the server listed a {word} without a name")
    try:
        return msgspec.convert(_without_nulls(entry) | {"raw": entry}, kind)
    except msgspec.ValidationError as error:
        raise BrokenRules(
            f"the server describes the {word} {entry['name']!r} wrongly: {error}"
        ) from None


def _without_nulls(members: dict[str, Any]) -> dict[str, Any]:
    """Return *members*, and the objects in their lists, without those of no value.

    Servers write null for one, and some [] for an empty object.
    """
    kept = _present(members)
    return {
        name: [*map(_present, value)] if isinstance(value, list) else value
        for name, value in kept.items()
    }


def _present(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: item for name, item in value.items() if item is not None and item != []}


def read_contents(result: Any) -> ResourceResult:
    """Return a result of `resources/read` as a value. Raises `BrokenRules` if it is malformed."""
    try:
        parts = [_read_content(part) for part in result["contents"]]
    except (msgspec.ValidationError, TypeError, KeyError, ValueError) as error:
        raise BrokenRules(
            f"the server's contents of a resource are malformed: {error}", result
        ) from None
    return ResourceResult(contents=parts, raw=result)


def _read_content(part: Any) -> ResourceContent:
    from base64 import b64decode  # few servers have resources

    given = _present(part)
    data = None if "text" in given else b64decode(given["blob"], validate=True)
    return msgspec.convert({**given, "data": data}, ResourceContent)


def read_prompt_messages(result: Any) -> PromptResult:
    """Return a result of `prompts/get` as a value. Raises `BrokenRules` if it is malformed."""
    try:
        given = {**_present(result), "messages": result["messages"], "raw": result}
        found = msgspec.convert(given, PromptResult)
    except (msgspec.ValidationError, TypeError, KeyError) as error:
        raise BrokenRules(f"the server's prompt is malformed: {error}", result) from None
    if not all(_is_block(message.content) for message in found.messages):
        raise BrokenRules("the server's prompt has content that is not a content block", result)
    return found


def read_completion_values(result: Any) -> list[str]:
    """Return the values in a result of `completion/complete`. Raises `BrokenRules` if it is
    malformed.
    """
    try:
        return msgspec.convert(result["completion"]["values"], list[str])
    except (msgspec.ValidationError, TypeError, KeyError) as error:
        raise BrokenRules(f"the server's completion is malformed: {error}") from None


def read_call_result(result: Any) -> CallResult:
    """Return a result of `tools/call` as a value. Raises `BrokenRules` if it is malformed."""
    if not isinstance(result, dict):
        raise BrokenRules("the server's result of a call is not an object")
    if result.get("resultType", "complete") != "complete":
        raise BrokenRules(
            f"the server's result of a call is of the unknown type {result['resultType']!r}"
        )
    content = result.get("content") or []
    if not isinstance(content, list) or not all(_is_block(block) for block in content):
        raise BrokenRules(
            "the server's result of a call has content that is not a list of content blocks", result
        )
    return CallResult(
        content=content,
        structured=result.get("structuredContent"),
        is_error=result.get("isError") is True,
        raw=result,
    )


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and (
        block.get("type") != "text" or isinstance(block.get("text"), str)
    )
