"""The official Python client, first generation: `mcp1_client.py legacy COMMAND…`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from exercise import OnProgress, run
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client


class Peer:
    def __init__(self, session: ClientSession, protocol: str) -> None:
        self._session = session
        self.protocol = protocol

    async def tools(self) -> list[Any]:
        return list((await self._session.list_tools()).tools)

    async def call(self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None) -> Any:
        return await self._session.call_tool(name, arguments, progress_callback=on_progress)

    async def call_until_cancelled(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress, begun: anyio.Event
    ) -> None:
        # This client sends nothing when its caller gives up, so the notification is sent by hand.
        identifier = self._session._request_id
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments, on_progress)
            await begun.wait()
            params = types.CancelledNotificationParams(requestId=identifier, reason="no longer wanted")
            await self._session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def connect(mode: str, command: list[str]) -> AsyncIterator[Peer]:
    assert mode == "legacy", mode
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        answer = await session.initialize()
        yield Peer(session, str(answer.protocolVersion))


run(connect)
