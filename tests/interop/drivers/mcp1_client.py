"""The official Python client, first generation: `mcp1_client.py EXERCISE legacy COMMAND…`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from exercise import OnProgress
from live import User
from main import run
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client


class Peer:
    def __init__(
        self, session: ClientSession, protocol: str, heard: anyio.abc.ObjectReceiveStream[str]
    ) -> None:
        self._session = session
        self.api = session
        self._heard = heard
        self.protocol = protocol

    async def tools(self) -> list[Any]:
        return list((await self._session.list_tools()).tools)

    async def call(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None
    ) -> Any:
        return await self._session.call_tool(name, arguments, progress_callback=on_progress)

    async def call_until_cancelled(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress, begun: anyio.Event
    ) -> None:
        # This client sends nothing when its caller gives up, so the notification is sent by hand.
        identifier = self._session._request_id
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments, on_progress)
            await begun.wait()
            params = types.CancelledNotificationParams(
                requestId=identifier, reason="no longer wanted"
            )
            await self._session.send_notification(
                types.ClientNotification(types.CancelledNotification(params=params))
            )
            tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def news(self) -> AsyncIterator[tuple[None, Callable[[], Awaitable[str]]]]:
        yield None, self._heard.receive


@asynccontextmanager
async def connect(mode: str, command: list[str], user: User | None) -> AsyncIterator[Peer]:
    assert mode == "legacy", mode
    tell, heard = anyio.create_memory_object_stream[str](100)

    async def ask(_: Any, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        assert user is not None
        action, content = user.reply(params.message, params.requestedSchema)
        return types.ElicitResult(action=action, content=content)

    async def hear(message: Any) -> None:
        if isinstance(message, types.ServerNotification) and isinstance(
            message.root, types.ToolListChangedNotification
        ):
            await tell.send("ToolsListChanged")

    server = StdioServerParameters(command=command[0], args=command[1:])
    with tell, heard:
        async with (
            stdio_client(server) as streams,
            ClientSession(
                *streams, message_handler=hear, elicitation_callback=None if user is None else ask
            ) as session,
        ):
            answer = await session.initialize()
            yield Peer(session, str(answer.protocolVersion), heard)


run(connect)
