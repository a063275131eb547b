"""The official Python client, first generation, as `requested.py` drives it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from requested import run


@asynccontextmanager
async def connect(server: StdioServerParameters, **callbacks: Any) -> AsyncIterator[ClientSession]:
    async with stdio_client(server) as streams, ClientSession(*streams, **callbacks) as session:
        await session.initialize()
        yield session


run(types, connect)
