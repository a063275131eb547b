"""What clients written by `toolwire client python` are made of: calls whose results are values, and
failures errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from .errors import BrokenRules, ToolFailed
from .session.request import OnProgress
from .waiting.base import make_blocking, run

if TYPE_CHECKING:
    from .async_client import AsyncClient
    from .client import Client
    from .protocol.results import CallResult

__all__ = ["ABSENT", "AsyncTypedTools", "OnProgress", "TypedTools"]


T = TypeVar("T")


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()
"""An argument that is left to the server's default."""


class AsyncTypedTools:
    """The tools of one server, which a subclass has as methods."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def _call(
        self,
        name: str,
        arguments: dict[str, Any],
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """Call a tool and return its result.

        Raises what `AsyncClient.call_tool` raises, and `ToolFailed` if the tool failed.
        """
        given = {name: value for name, value in arguments.items() if value is not ABSENT}
        result = await self._client.call_tool(
            name, given, on_progress=on_progress, timeout_seconds=timeout_seconds
        )
        if result.is_error:
            raise ToolFailed(name, result.text, result.structured)
        return result

    async def _value(
        self,
        name: str,
        arguments: dict[str, Any],
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
        *,
        is_wrapped: bool = False,
    ) -> T:
        """Call a tool and return its structured result, or with *is_wrapped* the member `result` of
        that.

        Raises what `_call` raises, and `BrokenRules` if there is no such value.
        """
        found = (await self._call(name, arguments, on_progress, timeout_seconds)).structured
        if found is None or (is_wrapped and not (isinstance(found, dict) and "result" in found)):
            raise BrokenRules(
                f"the tool {name!r} returned no structured result, which its output schema promises"
            )
        value: T = found["result"] if is_wrapped else found
        return value


class TypedTools:
    """As `AsyncTypedTools`, for a client that blocks."""

    def __init__(self, client: Client) -> None:
        self._async = AsyncTypedTools(client._async)  # with a `Waiting` that blocks

    _call = make_blocking(AsyncTypedTools._call)

    def _value(
        self,
        name: str,
        arguments: dict[str, Any],
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
        *,
        is_wrapped: bool = False,
    ) -> T:  # type: ignore[type-var]  # the method of the subclass says what it is
        return run(
            self._async._value(name, arguments, on_progress, timeout_seconds, is_wrapped=is_wrapped)
        )
