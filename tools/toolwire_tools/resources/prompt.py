"""One prompt: a function that makes messages for a model, which a client's user chooses by name.

Strategy. As a `Resource`, a `Prompt` is a `Tool` whose value and failure have another form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
from toolwire_schemas.wire.codec import encode

from ..content import Text
from ..errors import OutputError, RegistrationError, naming
from ..options import Options
from ..results import blocks_in
from ..schema.annotations import annotations_of
from ..schema.to_json import plain_result
from ..signature.return_value import as_text
from ..tool import Tool, entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..context.context import Caller


class PromptOptions(Options, frozen=True, kw_only=True):
    """The options of `prompt`."""

    made_by: ClassVar[str | None] = "toolwire_tools.resources.prompt:Prompt"


class Message(msgspec.Struct, frozen=True):
    """A message of a prompt. *content* is a text or a content block; several make a message
    each.
    """

    content: Any
    role: Literal["user", "assistant"] = "user"


class Prompt(Tool):
    """A function as a prompt. Its arguments arrive as strings, and are read as the types of the
    hints.

    `call` takes the arguments by their names and returns the result of `prompts/get`.
    """

    _describes_result = False

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        options: Options | None = None,
        toolkit: str | None = None,
    ) -> None:
        with naming("prompt"):
            super().__init__(function, name=name, options=options, toolkit=toolkit)
            self._read_arguments()

    def _read_arguments(self) -> None:
        # On the object, since one of another class takes its place in a server with worker
        # processes.
        self.kind = "prompts"
        schema = self._signature.arguments.input_schema
        if schema.get("additionalProperties"):
            remedy = "name the arguments, since clients show each in a form"
            raise RegistrationError("a prompt cannot take **kwargs", tool=self.name, remedy=remedy)
        self._fields: dict[str, Any] = schema.get("properties", {})
        self._required = frozenset(schema.get("required", ()))
        self._description = self._entry()

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Run a synchronous function and return the result of `prompts/get`. Raises what
        `Tool.call` raises.
        """
        return self._result(self.run(self._filled(arguments), caller))

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `call`, for an asynchronous function."""
        return self._result(await self.run_async(self._filled(arguments), caller))

    def _filled(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return *arguments* without the empty ones that cannot be empty: fields of a form that
        were not filled in.
        """
        return {
            name: value
            for name, value in arguments.items()
            if value != "" or name in self._required or _takes_any_text(self._fields.get(name, {}))
        }

    def _result(self, value: Any) -> dict[str, Any]:
        described = {key: text for key, text in self.describe().items() if key == "description"}
        return {**described, "messages": list(_messages(value, "user"))}

    def _entry(self) -> dict[str, Any]:
        """Return the entry in `prompts/list`."""
        arguments = [
            {"name": name, **_with_text(schema), "required": name in self._required}
            for name, schema in self._fields.items()
        ]
        return entry({"name": self.name}, self.options, self._signature, {"arguments": arguments})


def _takes_any_text(schema: dict[str, Any]) -> bool:
    found = [schema, *schema.get("anyOf", ())]
    return any(each.get("type") == "string" and each.keys().isdisjoint(_LIMITS) for each in found)


_LIMITS = ("enum", "const", "format", "minLength", "pattern")


def _with_text(schema: dict[str, Any]) -> dict[str, str]:
    """Return the `description` of an argument: its text, and how to write a value that is no
    text.
    """
    text = schema.get("description", "")
    types = {
        name: value
        for name, value in schema.items()
        if name not in ("description", "default", "title")
    }
    if "enum" in types and all(isinstance(value, str) for value in types["enum"]):
        text += f"{' ' if text else ''}(one of {', '.join(types['enum'])})"
    elif not _takes_any_text(types) and types:
        text += f"{' ' if text else ''}(as JSON: {encode(types).decode()})"
    return {"description": text} if text else {}


def _messages(value: Any, role: str) -> Iterator[dict[str, Any]]:
    """Yield the messages that *value* is: a message, a content block, a text, data, or a list of
    them.
    """
    if value is None:
        raise OutputError([("result", "is None; return a text, a Message or a list of them")])
    if isinstance(value, list | tuple):
        for item in value:
            yield from _messages(item, role)
    elif (parts := _parts(value)) is not None:
        role, content = parts
        if role not in ("user", "assistant"):
            raise OutputError(
                [("result.role", f'is {role!r}; a message is of the "user" or the "assistant"')]
            )
        yield from _messages(content, role)
    else:
        for block in blocks_in(value) or [Text(as_text(plain_result(value))).block()]:
            yield {"role": role, "content": block}


def _parts(value: Any) -> tuple[str, Any] | None:
    """Return the role and the content of a message; `None` if *value* is no message.

    Message classes of other packages, such as MCP's Python SDK, have the same two attributes.
    """
    if isinstance(value, dict):
        return (value["role"], value["content"]) if value.keys() == {"role", "content"} else None
    fields = {name for base in type(value).__mro__ for name in annotations_of(base)}
    return (value.role, value.content) if {"role", "content"} <= fields else None
