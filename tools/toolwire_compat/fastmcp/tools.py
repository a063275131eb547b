"""The functions that a FastMCP registers, as tools, resources and prompts with the results that
FastMCP gives.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, get_type_hints

from toolwire_tools.content import base64_of
from toolwire_tools.errors import OutputError
from toolwire_tools.resources.prompt import Prompt
from toolwire_tools.resources.resource import Resource
from toolwire_tools.results import by_looks
from toolwire_tools.schema.annotations import (
    Unresolved,
    annotations_of,
    names_of,
    unwrap_annotation,
    unwrap_function,
)
from toolwire_tools.schema.shape import basic
from toolwire_tools.schema.to_json import plain_result
from toolwire_tools.signature.return_value import Returns, as_text, from_hint, wrap_schema
from toolwire_tools.tool import Tool

from .context import Context, check_uses
from .mcp_types import (
    BlobResourceContents,
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptResult,
    PromptReference,
    PromptResult,
    ResourceContent,
    ResourceNotFoundError,
    ResourceResult,
    ResourceTemplateReference,
    TextResourceContents,
    ToolResult,
)
from .refusals import check_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from toolwire_tools.options import Options
    from toolwire_tools.resources.prompt import PromptOptions
    from toolwire_tools.resources.resource import ResourceOptions


class AdoptedTool(Tool):
    """The tool of *function*, which belongs to *server*. With *structured* False, its results are
    content alone.

    Raises:
        RegistrationError: as for a `Tool`.
        NotSupported: if it uses what our `Context` has not.
    """

    _is_adopted = True

    def __init__(
        self, function: Callable[..., Any], server: Any, options: Options, structured: bool | None
    ) -> None:
        returns = None if options.output_schema else _returns(function, structured)
        super().__init__(function, options=options, returns=returns)
        _belongs(self, server)
        self._present = partial(_presented, self._present, self._signature.returns, structured)


class AdoptedResource(Resource):
    """The resource of *function*, which belongs to *server*."""

    _is_adopted = True
    _not_found = ResourceNotFoundError

    def __init__(self, function: Callable[..., Any], server: Any, options: ResourceOptions) -> None:
        super().__init__(function, options=options)
        _belongs(self, server, ResourceTemplateReference(uri=self.name))

    def _read(self, uri: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, ResourceResult):
            return super()._read(uri, _contents(value))
        items = value.contents if isinstance(value.contents, list) else [value.contents]
        read = [
            content
            for item in items
            for content in super(AdoptedResource, self)._read(uri, _contents(item))["contents"]
        ]
        return {"contents": read, **({"_meta": plain_result(value.meta)} if value.meta else {})}


class AdoptedPrompt(Prompt):
    """The prompt of *function*, which belongs to *server*."""

    _is_adopted = True

    def __init__(self, function: Callable[..., Any], server: Any, options: PromptOptions) -> None:
        super().__init__(function, options=options)
        _belongs(self, server, PromptReference(name=self.name))

    def _result(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, PromptResult | GetPromptResult):
            return super()._result(value)
        said = {"description": value.description, "_meta": plain_result(value.meta)}
        return super()._result(value.messages) | {
            name: member for name, member in said.items() if member
        }


def identity_of(tools: Iterable[Tool]) -> dict[str, str]:
    """Return name, version, title and instructions of the one server that all *tools* belong to, as
    far as given.
    """
    servers = {
        id(server): server for tool in tools if (server := vars(tool).get("fastmcp")) is not None
    }
    return dict(next(iter(servers.values())).identity) if len(servers) == 1 else {}


def _belongs(tool: Tool, server: Any, ref: Any = None) -> None:
    """Let *tool* have the context and completer of *server*; refuse it if it uses what Toolwire has
    not.
    """
    tool.lifespan = server.entered
    vars(tool)["fastmcp"] = server
    if ref is not None and server.completer is not None:
        vars(tool)["completer"] = partial(_completed, server.completer, ref)
    inner = unwrap_function(tool.function)
    if hasattr(inner, "__code__"):
        check_names(inner)
    if tool._context:
        check_uses(tool.function, tool._context)
        tool._new_context = partial(Context, server=server)


async def _completed(
    complete: Callable[..., Any], ref: Any, name: str, text: str, arguments: dict[str, str]
) -> Any:
    """Return what the file's completer finds for the argument *name* of *ref*."""
    context = CompletionContext(arguments=arguments) if arguments else None
    return await complete(ref, CompletionArgument(name=name, value=text), context) or Completion(
        values=[]
    )


def _contents(value: Any) -> Any:
    """Return the *value* of a resource without the classes of this room."""
    if isinstance(value, ResourceContent):
        data = value.content
        sent = (
            {"blob": base64_of(data)}
            if isinstance(data, bytes)
            else {"text": as_text(plain_result(data))}
        )
        said = {"mimeType": value.mime_type, "_meta": value.meta}
        return {**sent, **{name: member for name, member in said.items() if member is not None}}
    if isinstance(value, list | tuple):
        return [_contents(item) for item in value]
    return (
        value.to_mcp() if isinstance(value, TextResourceContents | BlobResourceContents) else value
    )


def _returns(function: Callable[..., Any], structured: bool | None) -> Returns:
    """Return what FastMCP promises for the results of *function*: also a schema for text, and none
    for odd classes.
    """
    inner = unwrap_function(function)
    hint, names = annotations_of(inner).get("return", Any), names_of(function)
    try:
        bared = unwrap_annotation(hint, names)
        if (
            bared.hint is CallToolResult and bared.metadata
        ):  # Annotated[CallToolResult, Model] has Model's schema
            hint, bared = bared.metadata[0], unwrap_annotation(bared.metadata[0], names)
        if structured is False or bared.hint in (CallToolResult, ToolResult):
            return Returns("undeclared")
        if bared.hint is str:
            plan = basic(str, "output")
            assert plan is not None
            return Returns(
                "structured", wrap_schema(plan.schema), wraps=True, shape=plan, is_basic=True
            )
        return from_hint(_as_dict(bared.hint) or hint, names, is_generator=False)
    except (Unresolved, TypeError, RecursionError):
        return Returns("undeclared")


def _as_dict(hint: Any) -> Any:
    """Return a TypedDict of the attributes of an ordinary class with annotations; None for
    everything else.
    """
    if not isinstance(hint, type) or not annotations_of(hint) or hint.__mro__[1:] != (object,):
        return None
    if any(
        name.startswith("__") and name.endswith(("_fields__", "_attrs__")) for name in vars(hint)
    ):
        return None  # dataclasses, Structs and the like have schemas of their own
    return TypedDict(hint.__name__, get_type_hints(hint))  # type: ignore[operator]


def _presented(
    present: Callable[[Any], dict[str, Any]], returns: Returns, structured: bool | None, value: Any
) -> dict[str, Any]:
    """Return the MCP result for *value*, which *present* makes of what is no whole result."""
    if isinstance(value, CallToolResult | ToolResult):
        return _whole(value, returns)
    if _as_dict(type(value)) is not None:
        value = {
            name: getattr(value, name)
            for name in get_type_hints(type(value))
            if hasattr(value, name)
        }
    try:
        result = present(value)
    except OutputError:
        # FastMCP shows an object that it knows nothing of as text. Data that JSON cannot express
        # stays an error.
        if (
            returns.kind != "undeclared"
            or type(value).__module__ == "builtins"
            or hasattr(type(value), "__await__")
        ):
            raise
        return {"content": [{"type": "text", "text": str(value)}], "isError": False}
    if structured is False:
        result.pop("structuredContent", None)
    return result


def _whole(value: Any, returns: Returns) -> dict[str, Any]:
    """Return the MCP result for a `CallToolResult` or `ToolResult`."""
    data = (
        value.structured_content
        if value.structured_content is None
        else plain_result(value.structured_content)
    )
    if (
        returns.kind == "structured"
        and not returns.wraps
        and data is not None
        and not value.is_error
    ):
        data = returns.builtins(data)
    content = data if value.content is None else value.content
    result: dict[str, Any] = {
        "content": by_looks(content, plain_result)["content"] if content != [] else []
    }
    if data is not None:
        result["structuredContent"] = data
    if value.meta is not None:
        result["_meta"] = plain_result(value.meta)
    return {**result, "isError": bool(value.is_error)}
