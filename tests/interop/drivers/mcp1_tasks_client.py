"""The official Python client, first generation, calls tools as tasks: `mcp1_tasks_client.py legacy
COMMAND…` prints what came of them.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client


async def ask(_: Any, params: types.ElicitRequestFormParams) -> types.ElicitResult:
    (field,) = params.requestedSchema["properties"]
    return types.ElicitResult(action="accept", content={field: True})


async def run(session: ClientSession) -> dict[str, Any]:
    tasks = session.experimental
    seen: dict[str, Any] = {}

    async def call(name: str, arguments: dict[str, Any]) -> Any:
        made = await tasks.call_tool_as_task(name, arguments)
        states = [status.status async for status in tasks.poll_task(made.task.taskId)]
        result = await tasks.get_task_result(made.task.taskId, types.CallToolResult)
        return [states[-1], result.content[0].text, bool(result.isError)]

    seen["work"] = await call("work", {"steps": 2})
    seen["fail"] = await call("fail", {})
    made = await tasks.call_tool_as_task("delete", {})
    result = await tasks.get_task_result(made.task.taskId, types.CallToolResult)
    seen["delete"] = result.content[0].text
    endless = await tasks.call_tool_as_task("work", {"steps": 1000})
    await tasks.cancel_task(endless.task.taskId)
    seen["cancelled"] = (await tasks.get_task(endless.task.taskId)).status
    seen["listed"] = len((await tasks.list_tasks()).tasks)
    return seen


async def main() -> None:
    _, _, command, *arguments = sys.argv
    server = StdioServerParameters(command=command, args=arguments)
    async with (
        stdio_client(server) as streams,
        ClientSession(*streams, elicitation_callback=ask) as session,
    ):
        await session.initialize()
        print(json.dumps(await run(session)))


anyio.run(main)
