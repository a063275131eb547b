"""Lists and calls that a class derived from FastMCP answers itself, and the low-level server that
some files reach through `mcp._mcp_server`.

Strategy. The tools are made as always. A method that lists them is asked once, when the file has
been loaded, within the lifespan: it chooses and changes what is shown. A method that calls them
runs for each call; its `super()` reaches `call_tool` below, which runs the tool.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from toolwire_tools.errors import RegistrationError
from toolwire_tools.tool import Tool

from .context import NoCaller, enter_context, find_running_context
from .lowlevel import NOT_ASKED, InitializationOptions, Server, present_call
from .mcp_types import CallToolResult, NotFoundError, make_plain, read_block
from .middleware import MiddlewareHandler
from .refusals import NotSupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.context.context import Caller


def answer_by(
    server: Any,
    made: list[Tool],
    listing: Callable[..., Any] | None,
    calling: Callable[..., Any] | None,
) -> list[Tool]:
    """Return what *server* has *made* with the tools that *listing* shows, whose calls *calling*
    answers. Either may be None.
    """
    tools = [tool for tool in made if tool.kind == "tools"]
    others = [tool for tool in made if tool.kind != "tools"]
    if listing is not None:
        tools = _choose_shown(server, tools, listing)
    if calling is not None:
        tools = [_answer_calls(server, tool, calling) for tool in tools]
    return tools + others


def _choose_shown(server: Any, tools: list[Tool], listing: Callable[..., Any]) -> list[Tool]:
    # In a thread of its own, since an event loop may run in this one.
    with ThreadPoolExecutor(1) as pool:
        listed = pool.submit(_run_listing, server, listing).result()
    by_name = {tool.name: tool for tool in tools}
    chosen: list[Tool] = []
    for one in getattr(listed, "tools", listed):
        shown = make_plain(one)
        tool = by_name.get(shown["name"])
        if tool is None:
            problem = f"{server!r} lists it, and has no tool of this name"
            remedy = "register the tool under the name that the list has"
            raise RegistrationError(problem, tool=shown["name"], remedy=remedy)
        chosen.append(Tool(replace(tool.entry, shown=shown), tool.handler))
    return chosen


def _run_listing(server: Any, listing: Callable[..., Any]) -> Any:
    from asyncio import run

    return run(_list_within_lifespan(server, listing))


async def _list_within_lifespan(server: Any, listing: Callable[..., Any]) -> Any:
    async with AsyncExitStack() as stack:
        state = None
        if server.entered is not None:
            state = await stack.enter_async_context(server.entered())
        enter_context(server, NoCaller(state))
        return await listing()


def _answer_calls(server: Any, tool: Tool, calling: Callable[..., Any]) -> Tool:
    inner: Any = tool.handler
    handler = OverriddenHandler(inner=inner, name=tool.name, server=server, calling=calling)
    return Tool(tool.entry, handler)


class OverriddenHandler(MiddlewareHandler, frozen=True, eq=False, kw_only=True):
    """Runs a call by a method of a class of the user."""

    calling: Any

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `Handler.call_async`."""
        enter_context(self.server, caller, self.name)
        return present_call(await self.calling(self.name, arguments))


async def call_tool(server: Any, name: str, arguments: dict[str, Any]) -> Any:
    """Run the tool called *name* of *server* for the call that runs now.

    Raises:
        NotFoundError: if there is no such tool.
        Exception: whatever the tool raises.
    """
    context = find_running_context()
    for tool in server._made or ():
        if tool.kind != "tools" or tool.name != name:
            continue
        caller: Any = NoCaller() if context is None else context._caller
        result = await _run(tool.handler, arguments, caller)
        content = [read_block(block) for block in result["content"]]
        data = result.get("structuredContent")
        if result.get("isError"):
            return CallToolResult(content=content, structured_content=data, is_error=True)
        return server._present_to_python(content, data)
    raise NotFoundError(f"Unknown tool: {name}")


async def _run(handler: Any, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
    if handler.is_async:
        result: dict[str, Any] = await handler.call_async(arguments, caller)
        return result
    from anyio import to_thread

    return await to_thread.run_sync(handler.call, arguments, caller)


class InnerServer:
    """What files use of the low-level server of a FastMCP."""

    def __init__(self, server: Any) -> None:
        self._server = server

    @property
    def name(self) -> str:
        """The name of the server."""
        return str(self._server.name)

    @property
    def request_context(self) -> Any:
        """The context of the call that runs now. Raises a LookupError outside of one."""
        context = find_running_context()
        if context is None:
            raise LookupError("no call is running")
        return context

    def list_tools(self) -> Callable[[Any], Any]:
        """List the tools by the function below, which returns `mcp.types.Tool`."""
        return self._list_by

    def _list_by(self, function: Any) -> Any:
        self._server.listing = function
        return function

    def create_initialization_options(self, *_: Any, **__: Any) -> Any:
        """Return the options for `run`."""
        return InitializationOptions(server_name=self._server.name)

    async def run(self, *_: Any, **__: Any) -> None:
        """As the server's `run_stdio_async`."""
        await self._server.run_stdio_async()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in NOT_ASKED:
            return getattr(Server("inner"), name)
        remedy = "use the decorators of the FastMCP itself"
        raise NotSupported(f"{type(self._server).__name__}._mcp_server.{name}", remedy)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("version", "instructions"):
            setattr(self._server, name, value)
            return
        super().__setattr__(name, value)
