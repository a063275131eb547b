"""The client of fastmcp: `fastmcp_client.py EXERCISE MODE COMMAND…`, MODE as `fastmcp.Client` takes
it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from exercise import OnProgress
from fastmcp import Client
from fastmcp.client.elicitation import ElicitRequestParams, ElicitResult
from fastmcp.client.messages import MessageHandler
from fastmcp.client.transports import StdioTransport
from live import User
from main import run
from mcp.client.subscriptions import listen


class Peer:
    def __init__(
        self, client: Client[StdioTransport], heard: anyio.abc.ObjectReceiveStream[str]
    ) -> None:
        self._client = client
        self.api = client
        self._heard = heard
        self.protocol = client.protocol_version

    async def tools(self) -> list[Any]:
        return list(await self._client.list_tools())

    async def call(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None
    ) -> Any:
        return await self._client.call_tool_mcp(name, arguments, progress_handler=on_progress)

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
        # It has no way of its own to subscribe; the one below it has. What comes goes to its
        # message handler, too.
        async with listen(self._client.session, tools_list_changed=True) as subscription:
            yield (
                subscription.honored.model_dump(by_alias=True, exclude_none=True),
                self._heard.receive,
            )


class Hearing(MessageHandler):
    def __init__(self, tell: anyio.abc.ObjectSendStream[str]) -> None:
        self._tell = tell

    async def on_tool_list_changed(self, message: Any) -> None:
        await self._tell.send("ToolsListChanged")


@asynccontextmanager
async def connect(mode: str, command: list[str], user: User | None) -> AsyncIterator[Peer]:
    tell, heard = anyio.create_memory_object_stream[str](100)

    async def ask(message: str, kind: Any, params: ElicitRequestParams, _: Any) -> Any:
        assert user is not None
        action, content = user.reply(message, params.requested_schema)
        # The client makes a class of the form, and takes an object of it for consent.
        return kind(**content) if action == "accept" else ElicitResult(action=action)

    # Kept alive, the process would outlive the `async with` that the report ends with.
    transport = StdioTransport(command[0], command[1:], keep_alive=False)
    asking = {} if user is None else {"elicitation_handler": ask}
    with tell, heard:
        async with Client(transport, mode=mode, message_handler=Hearing(tell), **asking) as client:
            yield Peer(client, heard)


run(connect)
