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
from .middleware import MiddlewareHandler, run_handler
from .refusals import NotSupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.context.context import Caller


def answer_by(
    server: Any,
    made: list[Tool],
    listings: dict[str, Callable[..., Any]],
    calling: Callable[..., Any] | None,
) -> list[Tool]:
    """Return what *server* has *made* as the *listings*, by kinds, show it, with tools whose calls
    *calling* answers, if it is not None.
    """
    if listings:
        made = _choose_shown(server, made, listings)
    if calling is None:
        return made
    tools: list[Tool] = []
    for tool in made:
        if tool.kind == "tools":
            tool = _answer_calls(server, tool, calling)
        tools.append(tool)
    return tools


def _choose_shown(
    server: Any, made: list[Tool], listings: dict[str, Callable[..., Any]]
) -> list[Tool]:
    # In a thread of its own, since an event loop may run in this one.
    with ThreadPoolExecutor(1) as pool:
        lists = pool.submit(_run_listings, server, listings).result()
    chosen: list[Tool] = []
    for kind, listed in lists.items():
        known = {tool.name: tool for tool in made if tool.kind == kind}
        for one in getattr(listed, "tools", listed):
            chosen.append(_show_as(server, known, _KEYS.get(kind, "name"), make_plain(one)))
    return chosen + [tool for tool in made if tool.kind not in lists]


_KEYS = {"resources": "uri", "resourceTemplates": "uriTemplate"}
"""The members of the lists that identify what they show, if it is not the name."""


def _show_as(server: Any, known: dict[str, Tool], key: str, shown: dict[str, Any]) -> Tool:
    """Return the tool among those *known* that *shown* describes, with that description."""
    tool = known.get(shown[key])
    if tool is None:
        problem = f"{server!r} lists it, and has no tool of this name"
        remedy = "register the tool under the name that the list has"
        raise RegistrationError(problem, tool=shown[key], remedy=remedy)
    return Tool(replace(tool.entry, shown=shown), tool.handler)


def _run_listings(server: Any, listings: dict[str, Callable[..., Any]]) -> dict[str, Any]:
    from asyncio import run

    return run(_list_within_lifespan(server, listings))


async def _list_within_lifespan(
    server: Any, listings: dict[str, Callable[..., Any]]
) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        state = None
        if server.entered is not None:
            state = await stack.enter_async_context(server.entered())
        enter_context(server, NoCaller(state))
        return {kind: await listing() for kind, listing in listings.items()}


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


async def call_tool(
    server: Any, name: str, arguments: dict[str, Any], runs_middleware: bool
) -> Any:
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
        handler: Any = tool.handler
        if isinstance(handler, MiddlewareHandler) and not runs_middleware:
            handler = handler.inner
        result = await run_handler(handler, arguments, caller)
        content = [read_block(block) for block in result["content"]]
        data = result.get("structuredContent")
        if result.get("isError"):
            return CallToolResult(content=content, structured_content=data, is_error=True)
        return server._present_to_python(content, data)
    raise NotFoundError(f"Unknown tool: {name}")


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
