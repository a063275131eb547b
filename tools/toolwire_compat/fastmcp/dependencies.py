"""FastMCP's functions about the HTTP request, its log, and lifespans that are joined with `|`."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from .context import find_running_context

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def get_http_headers(*_: Any, **__: Any) -> dict[str, str]:
    """Return no headers."""
    return {}


def get_access_token() -> None:
    """Return None: there is no authentication over standard input and output."""
    return


def get_http_request() -> NoReturn:
    """Raise a RuntimeError, as FastMCP does."""
    raise RuntimeError("there is no HTTP request: this server uses standard input and output")


def get_context() -> Any:
    """Return the context of the call that runs now.

    Raises:
        RuntimeError: outside of a call.
    """
    context = find_running_context()
    if context is None:
        raise RuntimeError("No active context found.")
    return context


def configure_logging(*_: Any, **__: Any) -> None:
    """Do nothing: the log is Toolwire's."""


class ContextManagerLifespan:
    """A lifespan that `|` joins with others: their values become one dict."""

    def __init__(self, *parts: Any) -> None:
        self._parts = parts

    def __or__(self, other: Any) -> ContextManagerLifespan:
        return ContextManagerLifespan(self, other)

    @asynccontextmanager
    async def __call__(self, server: Any) -> AsyncIterator[dict[str, Any]]:
        """Enter all parts, in their order."""
        values: dict[str, Any] = {}
        async with AsyncExitStack() as stack:
            for part in self._parts:
                values |= await stack.enter_async_context(part(server)) or {}
            yield values


def lifespan(function: Any) -> ContextManagerLifespan:
    """Return the lifespan of a function that yields once."""
    return ContextManagerLifespan(asynccontextmanager(function))
