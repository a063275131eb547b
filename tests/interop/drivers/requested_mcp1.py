"""The official Python client, first generation, which its server may ask for everything:
`requested_mcp1.py TOOLS COMMAND…` calls each of the TOOLS, and prints their texts as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client


async def sample(_: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    text = types.TextContent(type="text", text=f"hi, {params.maxTokens}")
    return types.CreateMessageResult(role="assistant", content=text, model="m")


async def list_roots(_: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri="file:///there")])


async def elicit(_: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    assert isinstance(params, types.ElicitRequestURLParams)
    return types.ElicitResult(action="accept")


async def main(tools: list[str], command: list[str]) -> None:
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with (
        stdio_client(server) as streams,
        ClientSession(
            *streams,
            sampling_callback=sample,
            list_roots_callback=list_roots,
            elicitation_callback=elicit,
        ) as session,
    ):
        await session.initialize()
        results = [await session.call_tool(tool) for tool in tools]
    print(json.dumps([result.content[0].text for result in results]))


anyio.run(main, sys.argv[1].split(","), sys.argv[2:])
