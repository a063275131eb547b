"""The official Python client, second generation: `mcp2_client.py EXERCISE MODE COMMAND…`, MODE as
`Client` takes it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from exercise import OnProgress
from live import User
from main import run
from mcp import Client, StdioServerParameters


class Peer:
    def __init__(self, client: Client, heard: anyio.abc.ObjectReceiveStream[str]) -> None:
        self._client = client
        self.api = client
        self._heard = heard
        self.protocol = client.protocol_version

    async def tools(self) -> list[Any]:
        return list((await self._client.list_tools()).tools)

    async def call(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None
    ) -> Any:
        return await self._client.call_tool(name, arguments, progress_callback=on_progress)

    async def call_until_cancelled(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress, begun: anyio.Event
    ) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments, on_progress)
            await begun.wait()
            tasks.cancel_scope.cancel()

    @asynccontextmanager
    async def news(
        self,
    ) -> AsyncIterator[tuple[dict[str, Any] | None, Callable[[], Awaitable[str]]]]:
        if self.protocol < "2026":
            yield None, self._heard.receive
            return
        async with self._client.listen(tools_list_changed=True) as subscription:

            async def next_event() -> str:
                return type(await anext(subscription)).__name__

            yield subscription.honored.model_dump(by_alias=True, exclude_none=True), next_event


@asynccontextmanager
async def connect(mode: str, command: list[str], user: User | None) -> AsyncIterator[Peer]:
    tell, heard = anyio.create_memory_object_stream[str](100)

    async def ask(_: Any, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        assert user is not None
        action, content = user.reply(params.message, params.requested_schema)
        return types.ElicitResult(action=action, content=content)

    async def hear(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            await tell.send("ToolsListChanged")

    server = StdioServerParameters(command=command[0], args=command[1:])
    with tell, heard:
        async with Client(
            server,
            mode=mode,
            message_handler=hear,
            elicitation_callback=None if user is None else ask,
        ) as client:
            yield Peer(client, heard)


run(connect)
