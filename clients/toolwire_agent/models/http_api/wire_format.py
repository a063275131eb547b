"""Common parts of the wire formats: the request, and the exceptions of readers of replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_dialects.name_mapping import Names
from toolwire_schemas.wire import codec

from ..errors import NotAModel

if TYPE_CHECKING:
    from ..model import Message

Entry = dict[str, Any]


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request. `names` maps between the tools' names and those that the vendor allows."""

    model: str
    messages: list[Message] = []
    tools: list[Entry] = []
    names: Names = Names([], "openai")
    schema: dict[str, Any] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    stream: bool = True
    body: dict[str, Any] = {}

    def rename_tools(self) -> list[Entry]:
        """Return the tools under the names that the vendor allows."""
        return [{**tool, "name": self.names.theirs[tool["name"]]} for tool in self.tools]


class CutOff(Exception):
    """The reply ended before it was complete."""


class StreamFailed(Exception):
    """The server sent an error in place of a piece of its reply."""

    def __init__(self, error: Any) -> None:
        super().__init__("the server reports an error in the midst of its reply")
        self.error = error


def get_text(value: Any) -> str:
    """Return *value* if it is text."""
    if isinstance(value, str):
        return value
    return ""


def count_in(usage: Any, *path: str) -> int:
    """Return the integer at *path*, else 0: no reply is lost for an odd count."""
    for name in path:
        if not isinstance(usage, dict):
            return 0
        usage = usage.get(name)
    if isinstance(usage, int) and not isinstance(usage, bool):
        return usage
    return 0


def read_content(message: Message) -> Any:
    """Return the content of a message as it can be sent: text, or parts of a vendor's API."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    if content and isinstance(content, list) and all(map(_is_part, content)):
        return content
    try:
        return codec.encode(content).decode()
    except codec.EncodingError as error:
        raise NotAModel(
            f"the content of a {message.get('role')} message cannot be sent: {error}"
        ) from None


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and "type" in part


def read_role(message: Message) -> str:
    """Return the role: system, user, assistant or tool. A tool's message without a call is the
    user's.
    """
    role = message.get("role") if isinstance(message, dict) else None
    if role == "developer":
        return "system"
    if role == "tool" and not message.get("tool_call_id"):
        return "user"
    if role not in ("system", "user", "assistant", "tool"):
        raise NotAModel(
            f"a message has the role {role!r}; there are system, user, assistant and tool"
        )
    return str(role)


def read_calls(message: Message) -> list[tuple[str, str, str]]:
    """Return the id, name and arguments (as JSON text) of each tool call in an assistant's
    message.
    """
    calls = []
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            raise NotAModel(
                f"an assistant's message has the call {call!r}; a call has an id and a function"
            )
        arguments = function.get("arguments", {})
        if not isinstance(arguments, str):
            arguments = codec.encode(arguments).decode()
        calls.append((str(call.get("id", "")), str(function.get("name", "")), arguments))
    return calls
