"""The official Python client, second generation: `mcp2_client.py MODE COMMAND…`, MODE as `mcp.Client` takes it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from exercise import OnProgress, run
from mcp import Client, StdioServerParameters


class Peer:
    def __init__(self, client: Client) -> None:
        self._client = client
        self.protocol = client.protocol_version

    async def tools(self) -> list[Any]:
        return list((await self._client.list_tools()).tools)

    async def call(self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None) -> Any:
        return await self._client.call_tool(name, arguments, progress_callback=on_progress)

    async def call_until_cancelled(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress, begun: anyio.Event
    ) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments, on_progress)
            await begun.wait()
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def connect(mode: str, command: list[str]) -> AsyncIterator[Peer]:
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=mode) as client:
        yield Peer(client)


run(connect)
