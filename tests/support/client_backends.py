"""Runs a client test in blocking code, asyncio and trio, and checks that no process or thread is
left.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from toolwire_client import AsyncClient, PendingConnection
from toolwire_client.waiting.base import Waiting, run
from toolwire_client.waiting.event_loop import OnEventLoop

from support.server_process import wait_until

FACES = ("threads", "asyncio", "trio")
"""All three run the same code, and wait in their own ways."""

WAIT = 20.0
"""A bound on what should take no time at all."""


def ask(
    face: str, opening: PendingConnection, scenario: Callable[[AsyncClient], Awaitable[Any]]
) -> Any:
    """Open a client that waits in the way of *face*, play *scenario* with it, and close it."""

    async def main() -> Any:
        async with opening.make_client(Waiting() if face == "threads" else OnEventLoop()) as client:
            return await scenario(client)

    return run(main()) if face == "threads" else anyio.run(main, backend=face)


@contextmanager
def nothing_leaks() -> Iterator[None]:
    """Fail if the block leaves a descriptor or a thread behind."""

    def open_now() -> tuple[set[str], set[threading.Thread]]:
        descriptors = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
        # Trio keeps its own for a while, in case they are needed again.
        return descriptors, {
            thread for thread in threading.enumerate() if not thread.name.startswith("Trio thread")
        }

    def more_than_before() -> bool:
        return any(now - then for now, then in zip(open_now(), before, strict=True))

    before = open_now()  # what an earlier test used may still be on its way out
    yield
    wait_until(lambda: not more_than_before())
