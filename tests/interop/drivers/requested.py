"""A client that its server may ask for everything: `requested_PEER.py TOOLS COMMAND…` calls each of
the TOOLS, and prints their texts as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
from mcp import StdioServerParameters


def run(types: Any, connect: Callable[..., AbstractAsyncContextManager[Any]]) -> None:
    """Do what the command line says, with the *types* of a generation of the SDK. *connect* takes a
    server and three callbacks, and yields what calls tools.
    """

    async def sample(_: Any, params: Any) -> Any:
        limit = params.model_dump(by_alias=True)["maxTokens"]
        text = types.TextContent(type="text", text=f"hi, {limit}")
        return types.CreateMessageResult(role="assistant", content=text, model="m")

    async def list_roots(_: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri="file:///there")])

    async def elicit(_: Any, params: Any) -> Any:
        assert isinstance(params, types.ElicitRequestURLParams)
        return types.ElicitResult(action="accept")

    async def main(tools: list[str], command: list[str]) -> None:
        callbacks = {
            "sampling_callback": sample,
            "list_roots_callback": list_roots,
            "elicitation_callback": elicit,
        }
        server = StdioServerParameters(command=command[0], args=command[1:])
        async with connect(server, **callbacks) as client:
            results = [await client.call_tool(tool) for tool in tools]
        print(json.dumps([result.content[0].text for result in results]))

    anyio.run(main, sys.argv[1].split(","), sys.argv[2:])
