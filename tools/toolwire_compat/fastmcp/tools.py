"""The functions that a FastMCP registers, as tools, resources and prompts with the results that
FastMCP gives.
"""

from __future__ import annotations

import sys
from functools import partial
from inspect import cleandoc
from types import CellType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, get_type_hints

from msgspec.structs import replace
from toolwire_tools.content import encode_base64
from toolwire_tools.errors import OutputError
from toolwire_tools.options import name_of
from toolwire_tools.resources.prompt import PromptHandler, make_prompt, present_messages
from toolwire_tools.resources.resource import ResourceHandler, make_resource, read_contents
from toolwire_tools.results import make_result_by_looks
from toolwire_tools.schema.annotations import (
    Unresolved,
    collect_names,
    get_annotations,
    is_async,
    unwrap_annotation,
    unwrap_function,
)
from toolwire_tools.schema.shape import plan_basic
from toolwire_tools.schema.to_json import make_plain_result
from toolwire_tools.signature.given_schemas import returns_by_schema
from toolwire_tools.signature.return_value import Returns, as_text, from_hint, wrap_schema
from toolwire_tools.tool import Tool, make_function_handler, make_tool

from .context import check_uses, enter_context
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

    from toolwire_tools.entry import Entry
    from toolwire_tools.handler import FunctionHandler
    from toolwire_tools.options import Options
    from toolwire_tools.resources.prompt import PromptOptions
    from toolwire_tools.resources.resource import ResourceOptions

    T = TypeVar("T", bound=Options)


def adopt_tool(
    function: Callable[..., Any], server: Any, options: Options, structured: bool | None
) -> Tool:
    """Return the tool of *function*, which belongs to *server*. With *structured* False, its
    results are content alone.

    Raises:
        RegistrationError: as `make_tool` does.
        NotSupported: if it uses what our `Context` has not.
    """
    if _has_resolvers():
        from .resolvers import fill_resolved

        function = fill_resolved(function)
    options = _with_docstring(function, options)
    if options.output_schema:
        returns = returns_by_schema(options.output_schema, options.name or name_of(function))
    else:
        returns = _returns(function, structured)
    tool = make_tool(function, options=options, returns=returns, is_adopted=True)
    handler = _adopt(make_function_handler(tool), server)
    present = partial(_present, handler.present, returns, structured)
    return Tool(_assign_owner(tool.entry, server), replace(handler, present=present))


def _has_resolvers() -> bool:
    """Return whether a file has imported `Resolve`."""
    return f"{__package__}.resolvers" in sys.modules


def adopt_resource(function: Callable[..., Any], server: Any, options: ResourceOptions) -> Tool:
    """Return the resource of *function*, which belongs to *server*."""
    options = _with_docstring(function, options)
    tool = make_resource(function, options=options, is_adopted=True)
    ref = ResourceTemplateReference(uri=tool.name)
    assert isinstance(tool.handler, ResourceHandler)
    handler = replace(
        tool.handler,
        inner=_adopt(tool.handler.inner, server),
        present=partial(_present_contents, options.media_type),
        not_found=ResourceNotFoundError,
    )
    return Tool(_assign_owner(tool.entry, server, ref), handler)


def adopt_prompt(function: Callable[..., Any], server: Any, options: PromptOptions) -> Tool:
    """Return the prompt of *function*, which belongs to *server*."""
    options = _with_docstring(function, options)
    tool = make_prompt(function, options=options, is_adopted=True)
    ref = PromptReference(name=tool.name)
    assert isinstance(tool.handler, PromptHandler)
    handler = replace(
        tool.handler,
        inner=_adopt(tool.handler.inner, server),
        present=partial(_present_messages, tool.entry.shown.get("description")),
    )
    return Tool(_assign_owner(tool.entry, server, ref), handler)


def _with_docstring(function: Callable[..., Any], options: T) -> T:
    """Return *options* with the whole docstring as the description, unless they have one.

    FastMCP and the SDK show all of it: models read there what a tool returns and raises.
    """
    if options.description is not None:
        return options
    text = function.__doc__ or unwrap_function(function).__doc__
    return replace(options, description=cleandoc(text)) if text else options


def find_identity(tools: Iterable[Tool]) -> dict[str, str]:
    """Return name, version, title and instructions of the one server that all *tools* belong to, as
    far as given.
    """
    servers: list[Any] = []
    for tool in tools:
        owner = tool.entry.owner
        if owner and not any(owner is server for server in servers):
            servers.append(owner)
    if len(servers) != 1:
        return {}
    return dict(servers[0].identity)


def _assign_owner(entry: Entry, server: Any, ref: Any = None) -> Entry:
    """Return *entry* with the lifespan and completer of *server*."""
    completer = None
    if ref is not None and server.completer is not None:
        completer = partial(_complete, server.completer, ref)
    return replace(entry, owner=server, lifespan=server.entered, completer=completer)


def _adopt(handler: FunctionHandler, server: Any) -> FunctionHandler:
    """Return *handler* with the context of *server*; refuse a function that uses what Toolwire has
    not.
    """
    inner = unwrap_function(handler.function)
    if hasattr(inner, "__code__"):
        check_names(inner)
        if not handler.is_async and _may_return_coroutine(inner):
            handler = replace(handler, is_async=True, runs_in_thread=True)
    new_context = partial(enter_context, server)
    if handler.context_parameter:
        check_uses(handler.function, handler.context_parameter)
        return replace(handler, new_context=new_context)
    # Functions that it calls may ask for the context: `mcp.get_context()`.
    function = partial(_call_without_context, handler.function)
    return replace(
        handler, function=function, new_context=new_context, context_parameter=_HIDDEN_CONTEXT
    )


def _may_return_coroutine(function: Any) -> bool:
    """Return whether a `def` function names a coroutine function, whose coroutine it may return:
    the packages await that.
    """
    names = function.__code__.co_names
    values = [function.__globals__.get(name) for name in names]
    for cell in function.__closure__ or ():
        if _is_filled(cell):
            values.append(cell.cell_contents)
    modules = [value for value in values if isinstance(value, ModuleType)]
    for module in modules:
        values += [vars(module).get(name) for name in names]
    functions = [value for value in values if isinstance(value, FunctionType)]
    return any(map(is_async, functions))


def _is_filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # the variable has no value yet
        return False


_HIDDEN_CONTEXT = "the context of the call"
"""The keyword of the context for functions that take none: no argument of a tool is called so."""


def _call_without_context(function: Callable[..., Any], *arguments: Any, **values: Any) -> Any:
    del values[_HIDDEN_CONTEXT]
    return function(*arguments, **values)


def _present_contents(media_type: str | None, uri: str, value: Any) -> dict[str, Any]:
    """As `read_contents`, for the values of FastMCP too."""
    if not isinstance(value, ResourceResult):
        return read_contents(media_type, uri, _make_contents(value))
    items = value.contents if isinstance(value.contents, list) else [value.contents]
    contents: list[Any] = []
    for item in items:
        contents += read_contents(media_type, uri, _make_contents(item))["contents"]
    result: dict[str, Any] = {"contents": contents}
    if value.meta:
        result["_meta"] = make_plain_result(value.meta)
    return result


def _present_messages(description: str | None, value: Any) -> dict[str, Any]:
    """As `present_messages`, for the results of FastMCP too."""
    if not isinstance(value, PromptResult | GetPromptResult):
        return present_messages(description, value)
    result = present_messages(value.description or description, value.messages)
    if value.meta:
        result["_meta"] = make_plain_result(value.meta)
    return result


async def _complete(
    completer: Callable[..., Any], ref: Any, name: str, text: str, arguments: dict[str, str]
) -> Any:
    """Return the values that the file's *completer* has for the argument *name* of *ref*."""
    context = CompletionContext(arguments=arguments) if arguments else None
    completion = await completer(ref, CompletionArgument(name=name, value=text), context)
    return completion or Completion(values=[])


def _make_contents(value: Any) -> Any:
    """Return the *value* of a resource without the classes of this room."""
    if isinstance(value, list | tuple):
        return [_make_contents(item) for item in value]
    if isinstance(value, TextResourceContents | BlobResourceContents):
        return value.to_mcp()
    if not isinstance(value, ResourceContent):
        return value
    members: dict[str, Any] = {}
    if isinstance(value.content, bytes):
        members["blob"] = encode_base64(value.content)
    else:
        members["text"] = as_text(make_plain_result(value.content))
    if value.mime_type is not None:
        members["mimeType"] = value.mime_type
    if value.meta is not None:
        members["_meta"] = value.meta
    return members


def _returns(function: Callable[..., Any], structured: bool | None) -> Returns:
    """Return what FastMCP promises for the results of *function*: also a schema for text, and none
    for odd classes.
    """
    inner = unwrap_function(function)
    hint = get_annotations(inner).get("return", Any)
    names = collect_names(function)
    try:
        bare = unwrap_annotation(hint, names)
        if bare.hint is CallToolResult and bare.metadata:
            # Annotated[CallToolResult, Model] has Model's schema.
            hint = bare.metadata[0]
            bare = unwrap_annotation(hint, names)
        if structured is False or bare.hint in (CallToolResult, ToolResult):
            return Returns("undeclared")
        if bare.hint is str:
            return _plan_text_returns()
        return from_hint(_as_dict(bare.hint) or hint, names, is_generator=False)
    except (Unresolved, TypeError, RecursionError):
        return Returns("undeclared")


def returns_any_dict(function: Callable[..., Any]) -> bool:
    """Return whether the hint of the results of *function* is `dict` alone."""
    return get_annotations(unwrap_function(function)).get("return") in (dict, "dict")


def _plan_text_returns() -> Returns:
    """Return the plan for a text, which is structured content too."""
    plan = plan_basic(str, "output")
    assert plan is not None
    schema = wrap_schema(plan.schema)
    return Returns("structured", schema, wraps=True, shape=plan, is_basic=True)


def _as_dict(hint: Any) -> Any:
    """Return a TypedDict of the attributes of an ordinary class with annotations; None for
    everything else.
    """
    if not isinstance(hint, type) or not get_annotations(hint) or hint.__mro__[1:] != (object,):
        return None
    for name in vars(hint):
        if name.startswith("__") and name.endswith(("_fields__", "_attrs__")):
            return None  # dataclasses, Structs and the like have schemas of their own
    return TypedDict(hint.__name__, get_type_hints(hint))  # type: ignore[operator]


def _present(
    present: Callable[[Any], dict[str, Any]], returns: Returns, structured: bool | None, value: Any
) -> dict[str, Any]:
    """Return the MCP result for *value*, which *present* makes of what is no whole result."""
    if isinstance(value, CallToolResult | ToolResult):
        return _present_whole(value, returns)
    if _as_dict(type(value)) is not None:
        value = _read_attributes(value)
    try:
        result = present(value)
    except OutputError:
        # FastMCP shows an object that it knows nothing of as text. Data that JSON cannot express
        # stays an error.
        kind = type(value)
        is_data = kind.__module__ == "builtins" or hasattr(kind, "__await__")
        if returns.kind != "undeclared" or is_data:
            raise
        return {"content": [{"type": "text", "text": str(value)}], "isError": False}
    if value is None:  # FastMCP and the SDK show no text for it
        result = {**result, "content": []}
    if structured is False:
        result.pop("structuredContent", None)
    return result


def _read_attributes(value: Any) -> dict[str, Any]:
    """Return the annotated attributes of *value*, as far as it has them."""
    names = get_type_hints(type(value))
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def _present_whole(value: Any, returns: Returns) -> dict[str, Any]:
    """Return the MCP result for a `CallToolResult` or `ToolResult`."""
    data = None
    if value.structured_content is not None:
        data = make_plain_result(value.structured_content)
    has_schema = returns.kind == "structured" and not returns.wraps
    if has_schema and data is not None and not value.is_error:
        data = returns.builtins(data)
    content = data if value.content is None else value.content
    result: dict[str, Any] = {"content": []}
    if content != []:
        result = {"content": make_result_by_looks(content, make_plain_result)["content"]}
    if data is not None:
        result["structuredContent"] = data
    if value.meta is not None:
        result["_meta"] = make_plain_result(value.meta)
    result["isError"] = bool(value.is_error)
    return result
