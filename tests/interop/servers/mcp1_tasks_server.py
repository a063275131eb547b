"""A server of the official Python SDK, first generation, whose tools run only as tasks."""

from __future__ import annotations

import anyio
from mcp import types
from mcp.server.experimental.task_context import ServerTaskContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

server = Server("slow")
server.experimental.enable_tasks()
FORM = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}


def text(words: str, *, is_error: bool = False) -> types.CallToolResult:
    block = types.TextContent(type="text", text=words)
    return types.CallToolResult(content=[block], isError=is_error)


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    execution = types.ToolExecution(taskSupport=types.TASK_REQUIRED)
    schema = {"type": "object"}
    return [
        types.Tool(name=name, inputSchema=schema, execution=execution)
        for name in ("work", "fail", "delete")
    ]


@server.call_tool()
async def call(name: str, arguments: dict[str, int]) -> types.CreateTaskResult:
    experimental = server.request_context.experimental
    experimental.validate_task_mode(types.TASK_REQUIRED)

    async def work(task: ServerTaskContext) -> types.CallToolResult:
        if name == "fail":
            return text("out of order", is_error=True)
        if name == "delete":
            answer = await task.elicit(message="Sure?", requestedSchema=FORM)
            is_sure = answer.action == "accept" and answer.content["sure"]
            return text("deleted" if is_sure else "kept")
        for step in range(arguments["steps"]):
            await task.update_status(f"step {step + 1}")
            await anyio.sleep(0.3)
        return text("worked")

    return await experimental.run_task(work)


async def main() -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


anyio.run(main)
