"""Runs calls of tools through the middleware of a server of the SDK's version 2."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from toolwire_tools.outer_handler import OuterHandler
from toolwire_tools.tool import Tool

from .lowlevel import RequestContext
from .mcp_types import make_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolwire_tools.context.context import Caller


class MiddlewareHandler(OuterHandler, frozen=True, eq=False, kw_only=True):
    """Runs a call inside of the functions of `server.middleware`, the first one outermost."""

    inner: Any
    name: str
    server: Any

    @property
    def is_async(self) -> bool:
        """True, since middleware is."""
        return True

    def with_arguments(self, change: Callable[[Any], Any]) -> MiddlewareHandler:
        """Return the same handler, which gets what *change* returns for the arguments."""
        return replace(self, inner=self.inner.with_arguments(change))

    def with_results(self, change: Callable[[Any], Any]) -> MiddlewareHandler:
        """Return the same handler, whose results are what *change* returns for them."""
        return replace(self, inner=self.inner.with_results(change))

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Is not called: `is_async` is true."""
        raise NotImplementedError

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `Handler.call_async`."""
        context = RequestContext(caller, self.name, self.server)
        context.params = {"name": self.name, "arguments": arguments}
        run = partial(self._run, caller, strict_arguments)
        result: dict[str, Any] = make_plain(await put_around(run, self.server.middleware)(context))
        return result

    async def _run(self, caller: Caller, strict_arguments: bool, context: Any) -> Any:
        return await run_handler(self.inner, context.params["arguments"], caller, strict_arguments)


async def run_handler(
    handler: Any, arguments: dict[str, Any], caller: Any, strict_arguments: bool = False
) -> dict[str, Any]:
    """Return the result of a call that *handler* runs, in a thread if it is synchronous."""
    if handler.is_async:
        result: dict[str, Any] = await handler.call_async(arguments, caller, strict_arguments)
        return result
    from anyio import to_thread

    return await to_thread.run_sync(handler.call, arguments, caller, strict_arguments)


def put_around(run: Callable[..., Any], middleware: Sequence[Any]) -> Callable[..., Any]:
    """Return *run*, which takes a context, inside of *middleware*, the first one outermost."""
    for function in reversed(middleware):
        run = partial(_run_one, function, run)
    return run


async def _run_one(middleware: Any, run: Callable[..., Any], context: Any) -> Any:
    return await middleware(context, run)


def wrap_tool(tool: Tool, server: Any) -> Tool:
    """Return *tool* with the middleware of *server*; a resource or prompt as it is."""
    handler: Any = tool.handler
    if tool.kind != "tools":
        return tool
    return Tool(tool.entry, MiddlewareHandler(inner=handler, name=tool.name, server=server))
