"""The same client for code without an event loop: every wait blocks the thread it is used in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .waiting.blocking import run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from .async_client import AsyncClient
    from .protocol.results import CallResult, ToolDescription
    from .session.request import OnProgress
    from .session.tool_call import AsyncPendingCall


class PendingCall:
    """A tool call under way. One thread waits for it; any other may cancel it."""

    def __init__(self, call: AsyncPendingCall) -> None:
        self._call = call
        self.cancel = call.cancel

    @property
    def id(self) -> int:
        """As `AsyncPendingCall.id`."""
        return self._call.id

    def result(self, timeout_seconds: float | None = None) -> CallResult:
        """As `AsyncPendingCall.result`; functions for progress and questions run in this thread."""
        return run(self._call.result(timeout_seconds))


class Client:
    """A tool server's other end. Open inside `with connect(...)`, where the server's process lives.

    Any number of threads may use it at once. It does everything that `AsyncClient` does; Ctrl-C, and any exception of
    a function that was given to it, cancels the request that is waited for.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client  # one that waits by blocking

    def __enter__(self) -> Self:
        run(self._client.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def version(self) -> str | None:
        """The MCP revision spoken."""
        return self._client.version

    @property
    def server_info(self) -> dict[str, Any]:
        """The server's name and version, as it tells them."""
        return self._client.server_info

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server says that it can do."""
        return self._client.capabilities

    @property
    def instructions(self) -> str | None:
        """What the server says about its use."""
        return self._client.instructions

    @property
    def pid(self) -> int | None:
        """The server's process id; `None` if it has no process of its own, or the client is closed."""
        return self._client.pid

    @property
    def stderr(self) -> str:
        """The last lines the server wrote to its stderr."""
        return self._client.stderr

    @property
    def noise(self) -> int:
        """How many lines on the server's output were no messages."""
        return self._client.noise

    @property
    def noise_tail(self) -> list[str]:
        """The last of them."""
        return self._client.noise_tail

    def list_tools(self, *, timeout_seconds: float | None = None) -> list[ToolDescription]:
        """As `AsyncClient.list_tools`."""
        return run(self._client.list_tools(timeout_seconds=timeout_seconds))

    def list_entries(self, *, timeout_seconds: float | None = None) -> list[Any]:
        """As `AsyncClient.list_entries`."""
        return run(self._client.list_entries(timeout_seconds=timeout_seconds))

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """As `AsyncClient.call_tool`."""
        call = self._client.call_tool(name, arguments, on_progress=on_progress, timeout_seconds=timeout_seconds)
        return run(call)

    def start(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
    ) -> PendingCall:
        """As `AsyncClient.start`."""
        return PendingCall(run(self._client.start(name, arguments, on_progress=on_progress)))

    def ping(self, *, timeout_seconds: float | None = None) -> float:
        """As `AsyncClient.ping`."""
        return run(self._client.ping(timeout_seconds=timeout_seconds))

    def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> Any:
        """As `AsyncClient.request`."""
        return run(self._client.request(method, params, on_progress=on_progress, timeout_seconds=timeout_seconds))

    def close(self) -> None:
        """As `AsyncClient.close`. From any thread."""
        run(self._client.close())
