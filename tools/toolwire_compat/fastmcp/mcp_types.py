"""The classes of `mcp.types` that tools, resources and prompts use, and FastMCP's helpers for
content.

Strategy. Both spellings of MCP's members are in use: `mimeType` in mcp 1, `mime_type` in mcp 2. A
`Record` takes both, has both as attributes, and `to_mcp` gives the one of the protocol.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from toolwire_tools import content, errors
from toolwire_tools.resources.resource import ResourceNotFound
from toolwire_tools.results import make_result_by_looks
from toolwire_tools.schema.to_json import make_plain_result

if TYPE_CHECKING:
    import os


class Record:
    """A value of the protocol. Its members are keyword arguments and attributes, in either
    spelling; arguments that it does not know are ignored, as by the SDK.
    """

    _members: ClassVar[dict[str, str]] = {}
    """The protocol's names by Python's."""
    model_fields: ClassVar[dict[str, str]] = {}
    """The same: programs look for names in that of pydantic's models."""

    def __init_subclass__(cls) -> None:
        members = dict(cls._members)
        for name in cls.__annotations__:
            if not name.startswith("_"):
                members[name] = _to_camel_case(name)
        members["meta"] = "_meta"
        cls._members = members
        cls.model_fields = members

    def __init__(self, **given: Any) -> None:
        name = type(self).__name__
        for key, value in given.items():
            member = _to_snake_case(key)
            if member in self._members:
                setattr(self, member, value)
        missing = [member for member in self._members if not hasattr(self, member)]
        if missing:
            raise TypeError(f"{name} needs {', '.join(missing)}")

    meta: Any = None

    def __getattr__(self, name: str) -> Any:
        member = _to_snake_case(name)
        if member == name or member not in self._members:
            raise AttributeError(
                f"{type(self).__name__} has no member {name!r}; it has {', '.join(self._members)}"
            )
        return getattr(self, member)

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({members})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not isinstance(other, Record):
            return False
        return self.to_mcp() == other.to_mcp()

    __hash__ = None  # type: ignore[assignment]

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Return the members, as pydantic's models do."""
        return self.to_mcp()

    def model_dump_json(self, indent: int | None = None, **_: Any) -> str:
        """Return the members as JSON, as pydantic's models do."""
        import json

        return json.dumps(self.to_mcp(), indent=indent)

    @classmethod
    def model_validate(cls, value: Any, **_: Any) -> Any:
        """Return the value of a mapping, as pydantic's models do."""
        return value if isinstance(value, cls) else cls(**value)

    def model_copy(self, *, update: dict[str, Any] | None = None, **_: Any) -> Any:
        """Return a copy with other members, as pydantic's models do."""
        return type(self)(**{**vars(self), **(update or {})})

    def to_mcp(self) -> dict[str, Any]:
        """Return the members that are not None, as the protocol spells them."""
        members = {}
        for name, mcp_name in self._members.items():
            value = getattr(self, name)
            if value is not None:
                members[mcp_name] = make_plain(value)
        return members


def make_plain(value: Any) -> Any:
    """Return *value* as JSON data: records become dicts, and URLs text."""
    if isinstance(value, Record):
        return value.to_mcp()
    if isinstance(value, list | tuple):
        return [make_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: make_plain(item) for key, item in value.items()}
    if isinstance(value, str | int | float | bool | None):
        return value
    if hasattr(value, "model_dump"):  # of the real package, from a library
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return str(value)


def _to_snake_case(name: str) -> str:
    return "meta" if name == "_meta" else re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def _to_camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


class OpenRecord(Record):
    """A value of the protocol that takes any members; those that it was not given are None."""

    def __init__(self, **given: Any) -> None:
        for key, value in given.items():
            setattr(self, _to_snake_case(key), value)

    def __getattr__(self, name: str) -> Any:
        member = _to_snake_case(name)
        if name.startswith("_") or member.startswith("model_"):
            raise AttributeError(name)
        return vars(self).get(member)

    @property
    def model_extra(self) -> dict[str, Any]:
        """Nothing: each member is an attribute."""
        return {}

    def to_mcp(self) -> dict[str, Any]:
        """Return the members that are not None, as the protocol spells them."""
        members = {}
        for name, value in vars(self).items():
            if value is not None:
                members["_meta" if name == "meta" else _to_camel_case(name)] = make_plain(value)
        return members


_open_types: dict[str, type[OpenRecord]] = {}


def make_data_type(name: str) -> type[OpenRecord]:
    """Return the class of the protocol called *name*, one that has no class of its own here."""
    if name not in _open_types:
        _open_types[name] = type(name, (OpenRecord,), {"__annotations__": {}})
    return _open_types[name]


class Icon(Record):
    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    theme: str | None = None


class Annotations(Record):
    audience: list[str] | None = None
    priority: float | None = None
    last_modified: str | None = None


class ToolAnnotations(Record):
    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class ContentBlock(Record):
    type: str
    annotations: Any = None

    def to_content(self) -> dict[str, Any]:
        """Return the block of the protocol, for a tool's result."""
        return self.to_mcp()


class TextContent(ContentBlock):
    type = "text"
    text: str


class _MediaContent(ContentBlock):
    data: str
    mime_type: str


class ImageContent(_MediaContent):
    type = "image"


class AudioContent(_MediaContent):
    type = "audio"


class EmbeddedResource(ContentBlock):
    type = "resource"
    resource: Any


class ResourceLink(ContentBlock):
    type = "resource_link"
    uri: Any
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: list[Icon] | None = None


_BLOCKS: dict[str, type[ContentBlock]] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource": EmbeddedResource,
    "resource_link": ResourceLink,
}


def read_block(block: Any) -> Any:
    """Return the content block of the protocol's members."""
    if not isinstance(block, dict):
        return block
    kind = _BLOCKS.get(block.get("type", ""))
    if kind is None:
        return make_data_type("SamplingContent")(**block)
    return kind(**block)


class _ResourceContents(Record):
    uri: Any
    mime_type: str | None = None


class TextResourceContents(_ResourceContents):
    text: str


class BlobResourceContents(_ResourceContents):
    blob: str


class CallToolResult(Record):
    content: list[Any]
    structured_content: dict[str, Any] | None = None
    is_error: bool = False


class PromptMessage(Record):
    role: str
    content: Any


class GetPromptResult(Record):
    description: str | None = None
    messages: list[Any]


class Tool(Record):
    name: str
    title: str | None = None
    description: str | None = None
    input_schema: Any
    output_schema: Any = None
    annotations: Any = None
    icons: Any = None
    execution: Any = None

    @property
    def parameters(self) -> Any:
        """The input schema, as the SDK's own class of tools calls it."""
        return self.input_schema


class ListedTool(Tool):
    """A tool that a server lists in Python, with its *tags*. Its input schema is `parameters`,
    too.
    """

    def __init__(self, tags: Any = (), **members: Any) -> None:
        if "parameters" in members:
            members["input_schema"] = members.pop("parameters")
        super().__init__(**members)
        self.tags = set(tags)

    def to_mcp_tool(self, **changes: Any) -> Tool:
        """Return the tool without its tags, and with other members."""
        members = dict(vars(self))
        del members["tags"]
        return Tool(**{**members, **changes})


class PromptArgument(Record):
    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


class Prompt(Record):
    name: str
    title: str | None = None
    description: str | None = None
    arguments: list[PromptArgument] | None = None
    icons: Any = None


class _ResourceEntry(Record):
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: Any = None
    icons: Any = None


class Resource(_ResourceEntry):
    uri: Any
    size: int | None = None


class ResourceTemplate(_ResourceEntry):
    uri_template: str


class ErrorData(Record):
    code: int
    message: str
    data: Any = None


class PromptReference(Record):
    type: str = "ref/prompt"
    name: str


class ResourceTemplateReference(Record):
    type: str = "ref/resource"
    uri: str


class CompletionArgument(Record):
    name: str
    value: str


class CompletionContext(Record):
    arguments: dict[str, str] | None = None


class Completion(Record):
    values: list[str]
    total: int | None = None
    has_more: bool | None = None


# FastMCP's own


class ToolResult(Record):
    """The whole result of a call, as a tool of FastMCP may return it. Its content, which may be
    given as whatever a tool may return, becomes a list of blocks.
    """

    content: list[Any]
    structured_content: Any = None
    is_error: bool = False

    def __init__(
        self,
        content: Any = None,
        structured_content: Any = None,
        meta: Any = None,
        is_error: Any = False,
    ):
        if content is None and structured_content is None:
            raise ValueError("ToolResult needs content or structured_content")
        if content is None:
            content = structured_content
        super().__init__(
            content=_make_blocks(content),
            structured_content=structured_content,
            meta=meta,
            is_error=is_error,
        )

    def to_mcp_result(self) -> Any:
        """Return what goes to the client: a `CallToolResult`, content, or content and data."""
        if self.meta is not None or self.is_error:
            return CallToolResult(
                content=self.content,
                structured_content=self.structured_content,
                is_error=self.is_error,
                meta=self.meta,
            )
        if self.structured_content is None:
            return self.content
        return self.content, self.structured_content


def _make_blocks(content: Any) -> list[Any]:
    """Return the content blocks for what a tool may return."""
    if content == []:
        return []
    blocks = make_result_by_looks(content, make_plain_result)["content"]
    return [read_block(block) for block in blocks]


class Message(PromptMessage):
    """A message of a prompt, whose content comes first."""

    role = "user"

    def __init__(self, content: Any, role: str | None = None, **_: Any) -> None:
        super().__init__(content=content, role=role or self.role)


class UserMessage(Message): ...


class AssistantMessage(Message):
    role = "assistant"


class PromptResult(Record):
    """The whole result of a prompt."""

    messages: Any
    description: str | None = None

    def __init__(self, messages: Any, description: str | None = None, meta: Any = None) -> None:
        super().__init__(messages=messages, description=description, meta=meta)


class ResourceContent(Record):
    """The text, bytes or data of a resource."""

    content: Any
    mime_type: str | None = None

    def __init__(self, content: Any, mime_type: str | None = None, meta: Any = None) -> None:
        super().__init__(content=content, mime_type=mime_type, meta=meta)


class ResourceResult(Record):
    """The whole result of a resource: a value, or a list of `ResourceContent`."""

    contents: Any

    def __init__(self, contents: Any, meta: Any = None) -> None:
        super().__init__(contents=contents, meta=meta)


class _Media:
    """Bytes or a file, as FastMCP's helpers take them."""

    _kind: ClassVar[Any]
    _default: ClassVar[str]

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        data: bytes | None = None,
        format: str | None = None,  # noqa: A002 (FastMCP's name)
        annotations: Any = None,
    ) -> None:
        if (path is None) == (data is None):
            raise ValueError(f"{type(self).__name__} needs either path or data")
        self.path, self.data, self.annotations = path, data, annotations
        self._format = format

    def to_content(self) -> content.Content:
        """Return Toolwire's content of it, for a tool's result."""
        media_type = None  # of a file, by its name
        if self._format is not None:
            media_type = f"{self._kind.family}/{self._format.lower()}"
        elif self.data is not None:
            media_type = content.detect_media_type(self.data) or self._default
        annotations = make_plain(self.annotations) or {}
        known = {key: annotations[key] for key in ("audience", "priority") if key in annotations}
        block: content.Content = self._kind(
            path=self.path, data=self.data, media_type=media_type, **known
        )
        return block


class Image(_Media):
    """A picture."""

    _kind = content.Image
    _default = "image/png"

    def to_image_content(self) -> ImageContent:
        """Return it as a block of the protocol."""
        return ImageContent(**self.to_content().make_block())

    def to_data_uri(self) -> str:
        """Return it as a `data:` URI, for example of an icon."""
        block = self.to_image_content()
        return f"data:{block.mime_type};base64,{block.data}"


class Audio(_Media):
    """A sound."""

    _kind = content.Audio
    _default = "audio/wav"

    def to_audio_content(self) -> AudioContent:
        """Return it as a block of the protocol."""
        return AudioContent(**self.to_content().make_block())


class File(_Media):
    """A file inside the result."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        data: bytes | None = None,
        format: str | None = None,  # noqa: A002 (FastMCP's name)
        name: str | None = None,
        annotations: Any = None,
    ) -> None:
        super().__init__(path, data, format, annotations)
        self.name = name

    def to_content(self) -> content.Content:
        """Return Toolwire's content of it, for a tool's result."""
        media_type = None
        name = self.name
        if self._format:
            ending = f".{self._format.lower()}"
            media_type = content.guess_media_type(f"file{ending}")
            if name and not name.endswith(ending):
                name += ending
        return content.File(path=self.path, data=self.data, name=name, media_type=media_type)

    def to_resource_content(self) -> EmbeddedResource:
        """Return it as a block of the protocol."""
        return EmbeddedResource(**self.to_content().make_block())


# Errors


class FastMCPError(Exception):
    """The base of FastMCP's errors."""

    def __init__(self, *args: object, log_level: int | None = None) -> None:
        super().__init__(*args)


class ToolError(errors.ToolError, FastMCPError):
    """A failure of a tool, resource or prompt whose text reaches the caller word for word."""


class ResourceError(ToolError):
    """A resource that cannot be read."""


class PromptError(ToolError):
    """A prompt that cannot be rendered."""


class NotFoundError(ToolError):
    """Something that does not exist."""


class ResourceNotFoundError(ResourceError, NotFoundError, ResourceNotFound):
    """A resource that does not exist."""


class MCPError(ToolError):
    """An error of the protocol. Its text reaches the caller: `MCPError(code, message)` as in
    version 2, or `McpError(ErrorData(...))` as in version 1.
    """

    def __init__(
        self, code: Any = -32603, message: Any = None, data: Any = None, error: Any = None
    ) -> None:
        if isinstance(code, ErrorData):
            error = code
        if error is None:
            error = ErrorData(code=code, message=str(message or code), data=data)
        super().__init__(error.message)
        self.error = error
        self.code, self.message, self.data = error.code, error.message, error.data


PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CONNECTION_CLOSED = -32000
REQUEST_TIMEOUT = -32001
LATEST_PROTOCOL_VERSION = "2025-11-25"
DEFAULT_NEGOTIATED_VERSION = "2025-03-26"

LoggingLevel = Literal[
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"
]
Role = Literal["user", "assistant"]
Cursor = str
ProgressToken = RequestId = str | int

_CONSTANTS = frozenset(
    (
        *("CONNECTION_CLOSED", "Cursor", "DEFAULT_NEGOTIATED_VERSION", "INTERNAL_ERROR"),
        *("INVALID_PARAMS", "INVALID_REQUEST", "LATEST_PROTOCOL_VERSION", "LoggingLevel"),
        *("METHOD_NOT_FOUND", "PARSE_ERROR", "ProgressToken", "REQUEST_TIMEOUT", "RequestId"),
        "Role",
    )
)
_NOT_OF_THE_PROTOCOL = frozenset(
    (
        *("AssistantMessage", "Message", "OpenRecord", "PromptResult", "Record"),
        *("ResourceContent", "ResourceResult", "ToolResult", "UserMessage"),
    )
)
"""Classes of this file that `mcp.types` does not have."""


def find_type(name: str) -> Any:
    """Return the data type, or the constant, called *name* in `mcp.types`; None if it can be
    neither.
    """
    if name in _CONSTANTS:
        return globals()[name]
    if not name[0].isupper() or name.isupper():
        return None
    own = globals().get(name)
    if isinstance(own, type) and issubclass(own, Record) and name not in _NOT_OF_THE_PROTOCOL:
        return own
    return make_data_type(name)
