"""What the wire formats have in common: the request, the endpoint's capabilities, and the reader of a reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from toolwire_schemas.dialects import openai
from toolwire_schemas.wire import codec

from ..errors import NotAModel

if TYPE_CHECKING:
    from toolwire_schemas.dialects.name_mapping import Names

    from ...react.model_reply import ModelReply
    from ..model import Message
    from .api_key import Key
    from .vendors import Format, Preset

Entry = dict[str, Any]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request to a model. `names` leads between the tools' names and those that the vendor allows."""

    model: str
    messages: list[Message]
    tools: list[Entry]
    names: Names
    schema: dict[str, Any] | None
    temperature: float | None = None
    max_tokens: int | None = None
    stream: bool = True
    body: dict[str, Any] = {}


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """How it is put, as far as endpoints differ in what they take."""

    format: Format
    limit: str
    tells_usage: bool


class Reader(Protocol):
    """Puts one reply together."""

    is_complete: bool
    """Whether nothing more is to come."""

    def event(self, data: bytes) -> str:
        """Take the data of one server-sent event and return the text that it adds to the answer.

        Raises:
            StreamFailed: if it is an error.
            ValueError: if it is not what the API promises.
        """

    def whole(self, value: Any) -> str:
        """Take a reply that came in one piece; as `event` otherwise."""

    def reply(self) -> ModelReply:
        """Return what has been read.

        Raises:
            CutOff: if it has no end.
        """


class Wire(Protocol):
    """One API: how a request is written, and what reads its answers."""

    path: str
    dialect: str
    """Its rules for tools' names, as in `toolwire_schemas.dialects.name_mapping`."""

    def headers(self, key: Key | None) -> dict[str, str]:
        """The headers of its own, besides those about the content."""

    def body(self, request: Request, form: Capabilities) -> dict[str, Any]:
        """What is sent.

        Raises:
            NotAModel: if the messages are none.
        """

    def reader(self, request: Request, preset: Preset) -> Reader:
        """Something new that reads the answer to *request*."""


class CutOff(Exception):
    """The reply ended before it was complete."""


class StreamFailed(Exception):
    """The server sent an error where a piece of its reply was to come."""

    def __init__(self, error: Any) -> None:
        super().__init__("the server reports an error in the midst of its reply")
        self.error = error


def entries_of(tools: list[Entry] | None) -> list[Entry]:
    """*tools* as MCP lists them, also where they are given as OpenAI's functions."""
    return [openai.to_entry(tool) if "inputSchema" not in tool and "type" in tool else tool for tool in tools or ()]


def content_of(message: Message) -> Any:
    """The content of a message as it can be sent: text, or the parts that a vendor's API knows.

    Raises:
        NotAModel: if there is no way to send it.
    """
    content = message.get("content")
    match content:
        case None:
            return ""
        case str():
            return content
        case [*parts] if parts and all(isinstance(part, dict) and "type" in part for part in parts):
            return content
    try:
        return codec.encode(content).decode()
    except codec.EncodingError as error:
        raise NotAModel(f"the content of a {message.get('role')} message cannot be sent: {error}") from None


def role_of(message: Message) -> str:
    """Who speaks: system, user, assistant or tool. A tool's answer to no call in particular comes from the user.

    Raises:
        NotAModel: for any other role.
    """
    role = message.get("role") if isinstance(message, dict) else None
    if role == "developer":
        return "system"
    if role == "tool" and not message.get("tool_call_id"):
        return "user"
    if role not in ("system", "user", "assistant", "tool"):
        raise NotAModel(f"a message has the role {role!r}; there are system, user, assistant and tool")
    return str(role)


def calls_of(message: Message) -> list[tuple[str, str, str]]:
    """The id, name and arguments, as JSON text, of each call of a tool in an assistant's message.

    Raises:
        NotAModel: if one is no such call.
    """
    calls = []
    for call in message.get("tool_calls") or ():
        if not isinstance(call, dict) or not isinstance(function := call.get("function"), dict):
            raise NotAModel(f"an assistant's message has the call {call!r}; a call has an id and a function")
        arguments = function.get("arguments", {})
        text = arguments if isinstance(arguments, str) else codec.encode(arguments).decode()
        calls.append((str(call.get("id", "")), str(function.get("name", "")), text))
    return calls
