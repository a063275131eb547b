"""FastMCP's middleware: the class that files derive from, and the requests that pass its hooks.

Strategy. A call, a read of a resource and a prompt pass the hooks as in FastMCP: a handler around
the real one runs them. Lists are made at the start, so they pass the hooks once, then. A request
that no hook concerns keeps its handler, and costs nothing.
"""

from __future__ import annotations

from binascii import a2b_base64
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_tools.resources.prompt import PromptHandler
from toolwire_tools.resources.resource import ResourceHandler
from toolwire_tools.tool import Tool

from .context import enter_context
from .lowlevel import present_call
from .mcp_types import (
    Message,
    Prompt,
    PromptResult,
    Resource,
    ResourceContent,
    ResourceResult,
    ResourceTemplate,
    ToolResult,
    make_data_type,
    read_block,
)
from .middleware import MiddlewareHandler, put_around, run_handler
from .refusals import NotSupported

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolwire_tools.context.context import Caller

    from .context import Context

    Run = Callable[[Any], Awaitable[Any]]

_HOOKS = {
    "tools/call": "on_call_tool",
    "tools/list": "on_list_tools",
    "resources/read": "on_read_resource",
    "resources/list": "on_list_resources",
    "resources/templates/list": "on_list_resource_templates",
    "prompts/get": "on_get_prompt",
    "prompts/list": "on_list_prompts",
}
"""The hooks by the methods of their requests."""

_NOT_RUN = ("on_initialize", "on_discover", "on_notification")
"""Hooks of FastMCP for messages that Toolwire answers before the file has a part in them."""

_CALLS = {
    "tools": "tools/call",
    "resources": "resources/read",
    "resourceTemplates": "resources/read",
    "prompts": "prompts/get",
}
_LISTS = {
    "tools": ("tools/list", "ListToolsRequest"),
    "resources": ("resources/list", "ListResourcesRequest"),
    "resourceTemplates": ("resources/templates/list", "ListResourceTemplatesRequest"),
    "prompts": ("prompts/list", "ListPromptsRequest"),
}
"""The methods of the lists, and the classes of their requests."""

_ENTRIES = {"resources": Resource, "resourceTemplates": ResourceTemplate, "prompts": Prompt}


@dataclass(frozen=True, kw_only=True)
class MiddlewareContext:
    """A request, as hooks get it."""

    message: Any
    fastmcp_context: Context | None = None
    source: str = "client"
    type: str = "request"
    method: str | None = None
    timestamp: datetime = field(default_factory=partial(datetime.now, UTC))

    def __class_getitem__(cls, _: Any) -> Any:
        return cls

    def copy(self, **changes: Any) -> MiddlewareContext:
        """Return the same context with other members."""
        return replace(self, **changes)


class Middleware:
    """The base of classes with hooks. Each hook here goes on to the next one.

    Raises:
        NotSupported: for an object of a class with a hook that Toolwire does not run.
    """

    def __new__(cls, *_: Any, **__: Any) -> Any:
        for name in _NOT_RUN:
            if hasattr(cls, name):
                raise NotSupported(f"{cls.__name__}.{name}", "remove it: Toolwire does not run it")
        return super().__new__(cls)

    async def __call__(self, context: Any, call_next: Run) -> Any:
        """Run the hooks for the request of *context*: `on_message` is the outermost."""
        run = call_next
        for name in (_HOOKS.get(context.method, ""), "on_request", "on_message"):
            if name:
                run = partial(getattr(self, name), call_next=run)
        return await run(context)

    async def on_message(self, context: Any, call_next: Run) -> Any:
        """Go on to the next hook."""
        return await call_next(context)

    on_request = on_call_tool = on_get_prompt = on_message
    on_list_tools = on_list_prompts = on_message
    on_list_resources = on_list_resource_templates = on_message

    async def on_read_resource(self, context: Any, call_next: Run) -> Any:
        """Check the access, and go on to the next hook."""
        await self.check_resource_access(context)
        return await call_next(context)

    async def check_resource_access(self, context: Any) -> None:
        """Allow the access. Classes may raise an error instead."""


def _has_hook(server: Any, method: str) -> bool:
    """Return whether a middleware of *server* does anything for requests of *method*."""
    names = [_HOOKS[method], "on_request", "on_message", "__call__"]
    if method == "resources/read":
        names.append("check_resource_access")
    for middleware in server.middleware:
        if not isinstance(middleware, Middleware):  # a function
            return True
        for name in names:
            if getattr(type(middleware), name) is not getattr(Middleware, name):
                return True
    return False


async def _pass_hooks(server: Any, caller: Caller, run: Run, context: MiddlewareContext) -> Any:
    """Return the result of *run* inside of the hooks of *server*."""
    own_context = context.copy(fastmcp_context=enter_context(server, caller))
    return await put_around(run, server.middleware)(own_context)


def wrap_tool(tool: Tool, server: Any) -> Tool:
    """Return *tool*, which may be a resource or prompt, with the hooks of *server*."""
    if not _has_hook(server, _CALLS[tool.kind]):
        return tool
    handler: Any = tool.handler
    if tool.kind == "tools":
        return Tool(tool.entry, HookedTool(inner=handler, name=tool.name, server=server))
    if tool.kind == "prompts":
        return Tool(tool.entry, _add_server(HookedPrompt, handler, server))
    return Tool(tool.entry, _add_server(HookedResource, handler, server))


def _add_server(kind: Any, handler: Any, server: Any) -> Any:
    members = {name: getattr(handler, name) for name in handler.__struct_fields__}
    members["servers"] = (server, *members.get("servers", ()))
    return kind(**members)


class HookedTool(MiddlewareHandler, frozen=True, eq=False, kw_only=True):
    """Runs a call of a tool inside of the hooks of its server."""

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `Handler.call_async`."""
        message = make_data_type("CallToolRequestParams")(name=self.name, arguments={**arguments})
        context = MiddlewareContext(message=message, method="tools/call")
        run = partial(self._run_tool, caller, strict_arguments)
        value = await _pass_hooks(self.server, caller, run, context)
        if isinstance(value, ToolResult):
            value = value.to_mcp_result()
        return present_call(value)

    async def _run_tool(self, caller: Caller, strict_arguments: bool, context: Any) -> ToolResult:
        _check_name(context.message.name, self.name)
        arguments = context.message.arguments or {}
        result = await run_handler(self.inner, arguments, caller, strict_arguments)
        return ToolResult(
            content=[read_block(block) for block in result["content"]],
            structured_content=result.get("structuredContent"),
            meta=result.get("_meta"),
            is_error=result.get("isError", False),
        )


class HookedPrompt(PromptHandler, frozen=True, eq=False, kw_only=True):
    """Makes the messages of a prompt inside of the hooks of its servers, the outermost first."""

    servers: tuple[Any, ...]

    @property
    def is_async(self) -> bool:
        """True, since hooks are."""
        return True

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `Handler.call_async`."""
        message = make_data_type("GetPromptRequestParams")(
            name=self.inner.name, arguments={**arguments}
        )
        context = MiddlewareContext(message=message, method="prompts/get")
        run = _nest(self.servers, caller, partial(self._run_prompt, caller))
        return self.present(await run(context))

    async def _run_prompt(self, caller: Caller, context: Any) -> PromptResult:
        _check_name(context.message.name, self.inner.name)
        arguments = context.message.arguments or {}
        result = await run_handler(_without_hooks(PromptHandler, self), arguments, caller)
        messages = []
        for message in result["messages"]:
            messages.append(Message(read_block(message["content"]), message["role"]))
        return PromptResult(messages, result.get("description"), result.get("_meta"))


class HookedResource(ResourceHandler, frozen=True, eq=False, kw_only=True):
    """Reads a resource inside of the hooks of its servers, the outermost first."""

    servers: tuple[Any, ...]

    @property
    def is_async(self) -> bool:
        """True, since hooks are."""
        return True

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `Handler.call_async`."""
        uri = arguments["uri"]
        message = make_data_type("ReadResourceRequestParams")(uri=uri)
        context = MiddlewareContext(message=message, method="resources/read")
        run = _nest(self.servers, caller, partial(self._run_resource, caller))
        return self.present(uri, await run(context))

    async def _run_resource(self, caller: Caller, context: Any) -> ResourceResult:
        arguments = {"uri": str(context.message.uri)}
        result = await run_handler(_without_hooks(ResourceHandler, self), arguments, caller)
        contents = [_read_content(content) for content in result["contents"]]
        return ResourceResult(contents, result.get("_meta"))


def _without_hooks(kind: Any, handler: Any) -> Any:
    return kind(**{name: getattr(handler, name) for name in kind.__struct_fields__})


def _nest(servers: tuple[Any, ...], caller: Caller, run: Run) -> Run:
    """Return *run* inside of the hooks of all *servers*, the first one outermost."""
    for server in reversed(servers):
        run = partial(_pass_hooks, server, caller, run)
    return run


def _read_content(content: dict[str, Any]) -> ResourceContent:
    data: Any = content.get("text")
    if data is None:
        data = a2b_base64(content["blob"])
    return ResourceContent(data, content.get("mimeType"), content.get("_meta"))


def _check_name(name: str, own_name: str) -> None:
    if name != own_name:
        remedy = "call the other one in the hook: `await context.fastmcp_context.fastmcp.call_tool`"
        raise NotSupported(f"a hook that goes on to {name} for a request of {own_name}", remedy)


# Lists


def find_listings(server: Any, made: list[Tool]) -> dict[str, Callable[..., Any]]:
    """Return the functions that list what *server* has *made*, by kinds, where a hook may change
    the list.
    """
    listings: dict[str, Callable[..., Any]] = {}
    for kind in dict.fromkeys(tool.kind for tool in made):
        method, _ = _LISTS[kind]
        if _has_hook(server, method):
            of_kind = [tool for tool in made if tool.kind == kind]
            listings[kind] = partial(_list_others, server, kind, of_kind)
    if "tools" in listings:
        listings["tools"] = server.list_tools
    return listings


async def _list_others(server: Any, kind: str, tools: list[Tool]) -> Any:
    return await pass_list_hooks(server, kind, [_list_entry(tool) for tool in tools])


def _list_entry(tool: Tool) -> Any:
    entry: Any = _ENTRIES[tool.kind](**tool.describe())
    entry.tags = set(tool.entry.options.tags or ())
    return entry


async def pass_list_hooks(server: Any, kind: str, entries: list[Any]) -> Any:
    """Return what the hooks of *server* make of its list of a *kind*."""
    method, request = _LISTS[kind]
    context = MiddlewareContext(
        message=make_data_type(request)(method=method),
        method=method,
        fastmcp_context=server.get_context(),
    )

    async def list_all(_: Any) -> list[Any]:
        return entries

    return await put_around(list_all, server.middleware)(context)
