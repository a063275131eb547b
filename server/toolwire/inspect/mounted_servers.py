"""The lists of a server that mounts others, for the page: none of them waits for a mounted server
that starts slowly, or does not start.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
from toolwire_client.errors import BrokenRules, ClientError

from ..mounting.mounts import LIST_PATIENCE_SECONDS, META_REPORT

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_client.async_client import AsyncClient

_FIRST_SECONDS = 3.0
"""Most servers start faster, or fail."""


async def list_known(
    client: AsyncClient, method: str, kind: str, *, timeout_seconds: float
) -> list[Any]:
    """Return the entries of the list *method*, without those of servers that have not listed them.

    Raises:
        BrokenRules: if a page has no list.
    """
    entries: list[Any] = []
    params: dict[str, Any] = {"_meta": {META_REPORT: False}}
    while True:
        result = await client.request(method, params, timeout_seconds=timeout_seconds)
        if not isinstance(result, dict) or not isinstance(result.get(kind), list):
            raise BrokenRules(f"the result of {method} has no list {kind}")
        entries += result[kind]
        if "nextCursor" not in result:
            return entries
        params = {**params, "cursor": result["nextCursor"]}


async def watch_mounts(client: AsyncClient, report: Callable[[list[dict[str, Any]]], None]) -> None:
    """Start all mounted servers, and *report* each, again until none is starting any more."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_subscribe, client)
        seconds = _FIRST_SECONDS
        is_starting = True
        while is_starting:
            params = {"_meta": {META_REPORT: seconds}}
            try:
                result = await client.request("tools/list", params)
            except ClientError:  # the page's own lists have the same problem, and show it
                return
            reports = result["_meta"][META_REPORT]
            report(reports)
            is_starting = any(each["is_starting"] for each in reports)
            seconds = LIST_PATIENCE_SECONDS


async def _subscribe(client: AsyncClient) -> None:
    """Have the client follow changes of the list."""
    with suppress(ClientError):
        await client.list_entries()
