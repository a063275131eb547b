"""A server of FastMCP whose tools run as tasks, by its package for the extension."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import mcp_types
from fastmcp import Context, FastMCP
from fastmcp.dependencies import Progress
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension

server = FastMCP("slow")
server.add_extension(TasksExtension())
OFTEN = TaskConfig(poll_interval=timedelta(seconds=0.1))
PROGRESS = Progress()
FORM = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}


@server.tool(task=OFTEN)
async def work(steps: int, progress: Progress = PROGRESS) -> str:
    """Work in steps."""
    for step in range(steps):
        await progress.set_message(f"step {step + 1}")
        await asyncio.sleep(0.3)
    return "worked"


@server.tool(task=OFTEN)
async def fail() -> str:
    """Fail."""
    raise ValueError("out of order")


@server.tool(task=OFTEN)
async def delete(context: Context) -> str | mcp_types.InputRequiredResult:
    """Delete something, if the user is sure."""
    if context.input_responses is None:
        asked = mcp_types.ElicitRequestFormParams(message="Sure?", requested_schema=FORM)
        requests = {"sure": mcp_types.ElicitRequest(params=asked)}
        return mcp_types.InputRequiredResult(result_type="input_required", input_requests=requests)
    answer = context.input_responses["sure"]
    return "deleted" if answer.action == "accept" and answer.content["sure"] else "kept"


server.run(show_banner=False)
