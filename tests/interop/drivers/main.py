"""Runs one client through one exercise: `DRIVER EXERCISE MODE COMMAND…`."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import live
from exercise import (
    Peer,
    documents,
    exercise,
    foreign,
    programmed,
    searched,
    with_progress,
    wrapped,
)

PATIENCE_SECONDS = 60.0

Connect = Callable[[str, list[str], "live.User | None"], AbstractAsyncContextManager[Peer]]


async def everyday(peer: Peer, _: None) -> dict[str, Any]:
    return await exercise(peer)


async def silent(peer: Peer, _: None) -> dict[str, Any]:
    return await with_progress(peer, "silent", {"beats": 3})


EXERCISES: dict[str, Callable[[Any, Any], Awaitable[dict[str, Any]]]] = {
    "everyday": everyday,
    "silent": silent,
    "documents": documents,
    "foreign": foreign,
    "wrapped": wrapped,
    "searched": searched,
    "programmed": programmed,
    "asked": live.asked,
    "mute": live.mute,
    "changes": live.changes,
}


def run(connect: Connect) -> None:
    """`connect(mode, command, user)` as this process was told to; print the report once the client
    has closed.
    """

    async def main() -> None:
        name, mode, *command = sys.argv[1:]
        user = live.talkative() if name == "asked" else None
        with anyio.fail_after(PATIENCE_SECONDS):
            async with connect(mode, command, user) as peer:
                report = await EXERCISES[name](peer, user)
        print(json.dumps(report))

    anyio.run(main)
