"""One prompt: a function that makes messages for a model, which a client's user chooses by name.

Strategy. As a resource, a prompt is a `Tool` whose value and failure have another form.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
from toolwire_schemas.json_schema.graph import SchemaGraph, SchemaNode
from toolwire_schemas.wire.codec import encode

from ..content import Text
from ..entry import SEPARATOR, Entry, show
from ..errors import OutputError, RegistrationError, name_noun
from ..handler import make_handler
from ..options import Options, find_options
from ..outer_handler import OuterHandler
from ..results import find_blocks
from ..schema.annotations import get_annotations
from ..schema.to_json import make_plain_result
from ..signature.return_value import Returns, as_text
from ..tool import Tool, name_parts, read_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..context.context import Caller
    from ..handler import FunctionHandler


class PromptOptions(Options, frozen=True, kw_only=True):
    """The options of `prompt`."""

    made_by: ClassVar[str | None] = "toolwire_tools.resources.prompt:make_prompt"


class Message(msgspec.Struct, frozen=True):
    """A message of a prompt. *content* is a text or a content block; several make a message
    each.
    """

    content: Any
    role: Literal["user", "assistant"] = "user"


class PromptHandler(OuterHandler, frozen=True, eq=False, kw_only=True):
    """Makes the messages of a prompt: a call takes the arguments by their names and returns the
    result of `prompts/get`.
    """

    inner: FunctionHandler
    input_schema: dict[str, Any]
    present: Callable[[Any], dict[str, Any]]
    """Returns the result for the value of the function."""

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Run a synchronous function and return the result of `prompts/get`. Raises what
        `Handler.call` raises.
        """
        return self.present(self.inner.run(self._fill(arguments), caller))

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `call`, for an asynchronous function."""
        return self.present(await self.inner.run_async(self._fill(arguments), caller))

    def _fill(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return *arguments* without the empty ones that cannot be empty: fields of a form that
        were not filled in.
        """
        root = SchemaGraph(self.input_schema).root
        filled = {}
        for name, value in arguments.items():
            field = root.properties.get(name)
            is_text = field is not None and _takes_any_text(field)
            if value != "" or name in root.required or is_text:
                filled[name] = value
        return filled


def make_prompt(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    options: Options | None = None,
    toolkit: str | None = None,
    is_adopted: bool = False,
) -> Tool:
    """Return *function* as a prompt. Its arguments arrive as strings, and are read as the types of
    the hints. The parameters are those of `make_tool`.

    Raises:
        RegistrationError: if it cannot be described to clients.
    """
    options = options or find_options(function)
    with name_noun("prompt"):
        parts = name_parts(function, name, options, toolkit)
        full_name = SEPARATOR.join(parts)
        signature = read_function(
            function, full_name, options, returns=Returns("undeclared"), is_adopted=is_adopted
        )
        schema = signature.arguments.input_schema
        if schema.get("additionalProperties"):
            remedy = "name the arguments, since clients show each in a form"
            raise RegistrationError("a prompt cannot take **kwargs", tool=full_name, remedy=remedy)
        own = {"arguments": _show_arguments(schema)}
        entry = Entry(
            kind="prompts",
            name=full_name,
            parts=parts,
            shown=show({"name": full_name}, options, signature.description, own),
            options=options,
            input_schema=schema,
            function=function,
        )
        handler = PromptHandler(
            inner=make_handler(function, full_name, options, signature),
            input_schema=schema,
            present=partial(present_messages, entry.shown.get("description")),
        )
    return Tool(entry, handler)


def present_messages(description: str | None, value: Any) -> dict[str, Any]:
    """Return the result of `prompts/get` for the *value* of the function of a prompt with this
    *description*.

    Raises:
        OutputError: if it has no form in a message.
    """
    result: dict[str, Any] = {"description": description} if description else {}
    result["messages"] = list(_iterate_messages(value, "user"))
    return result


def _show_arguments(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments of a prompt as `prompts/list` shows them."""
    root = SchemaGraph(schema).root
    shown = []
    for name, place in root.properties.items():
        argument: dict[str, Any] = {"name": name}
        text = _describe_argument(place)
        if text:
            argument["description"] = text
        shown.append({**argument, "required": name in root.required})
    return shown


def _takes_any_text(field: SchemaNode) -> bool:
    for node in field.list_alternatives():
        if node.types == ("string",) and node.keywords.keys().isdisjoint(_LIMITS):
            return True
    return False


_LIMITS = ("enum", "const", "format", "minLength", "pattern")


def _describe_argument(place: SchemaNode) -> str:
    """Return the text of an argument, and how to write a value that is no text."""
    node = place.resolved
    text = place.description or node.description
    values = node.values
    if values is not None and all(isinstance(value, str) for value in values):
        return f"{text} (one of {', '.join(values)})".strip()
    types = {word: value for word, value in node.keywords.items() if word not in _TEXTS}
    if types and not _takes_any_text(place):
        return f"{text} (as JSON: {encode(types).decode()})".strip()
    return text


_TEXTS = ("description", "default", "title")


def _iterate_messages(value: Any, role: str) -> Iterator[dict[str, Any]]:
    """Yield the messages that *value* is: a message, a content block, a text, data, or a list of
    them.
    """
    if value is None:
        raise OutputError([("result", "is None; return a text, a Message or a list of them")])
    if isinstance(value, list | tuple):
        for item in value:
            yield from _iterate_messages(item, role)
    elif (parts := _split_message(value)) is not None:
        role, content = parts
        if role not in ("user", "assistant"):
            raise OutputError(
                [("result.role", f'is {role!r}; a message is of the "user" or the "assistant"')]
            )
        yield from _iterate_messages(content, role)
    else:
        for block in find_blocks(value) or [Text(as_text(make_plain_result(value))).make_block()]:
            yield {"role": role, "content": block}


def _split_message(value: Any) -> tuple[str, Any] | None:
    """Return the role and the content of a message; `None` if *value* is no message.

    Message classes of other packages, such as MCP's Python SDK, have the same two attributes.
    """
    if isinstance(value, dict):
        if value.keys() != {"role", "content"}:
            return None
        return (value["role"], value["content"])
    fields = {name for base in type(value).__mro__ for name in get_annotations(base)}
    if {"role", "content"} <= fields:
        return (value.role, value.content)
    return None
