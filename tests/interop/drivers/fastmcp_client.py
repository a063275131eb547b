"""The client of fastmcp: `fastmcp_client.py MODE COMMAND…`, MODE as `fastmcp.Client` takes it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from exercise import OnProgress, run
from fastmcp import Client
from fastmcp.client.transports import StdioTransport


class Peer:
    def __init__(self, client: Client[StdioTransport]) -> None:
        self._client = client
        self.protocol = client.protocol_version

    async def tools(self) -> list[Any]:
        return list(await self._client.list_tools())

    async def call(self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None) -> Any:
        return await self._client.call_tool_mcp(name, arguments, progress_handler=on_progress)

    async def call_until_cancelled(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress, begun: anyio.Event
    ) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments, on_progress)
            await begun.wait()
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def connect(mode: str, command: list[str]) -> AsyncIterator[Peer]:
    # Kept alive, the process would outlive the `async with` that the report ends with.
    transport = StdioTransport(command[0], command[1:], keep_alive=False)
    async with Client(transport, mode=mode) as client:
        yield Peer(client)


run(connect)
