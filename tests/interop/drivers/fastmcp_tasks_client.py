"""The client of FastMCP, with its package for tasks: `fastmcp_tasks_client.py auto COMMAND…` prints
what came of calls that are tasks.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport
from fastmcp_tasks import call_tool_task


async def ask(message: str, response_type: Any, params: Any, context: Any) -> ElicitResult[Any]:
    (field,) = params.requested_schema["properties"]
    return ElicitResult(action="accept", content={field: True})


async def main() -> None:
    _, mode, command, *arguments = sys.argv
    transport = StdioTransport(command, arguments)
    seen: dict[str, Any] = {}
    async with Client(transport, mode=mode, elicitation_handler=ask) as client:
        for name, given in (("work", {"steps": 2}), ("delete", {}), ("fail", {})):
            result = await client.call_tool(name, given, raise_on_error=False)
            seen[name] = [result.content[0].text, result.is_error]
        task = await call_tool_task(client, "work", {"steps": 2})
        seen["handle"] = [bool(task.task_id), (await task.result()).content[0].text]
        endless = await call_tool_task(client, "work", {"steps": 1000})
        await endless.cancel()
        seen["cancelled"] = (await endless.status()).status
    print(json.dumps(seen))


anyio.run(main)
