"""Runs `toolwire check` for the page.

Strategy. A check is busy with the processor for a minute, and starts servers that may hang. Its own process keeps the
page quick, and is killed with all that it has started when the page cancels the check.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from toolwire_client.contract.report import Report, Verdict
from toolwire_client.pages.check_page import check_html, verdict_html
from toolwire_client.waiting.event_loop import OnEventLoop
from toolwire_schemas.wire.framing import Lines

from ..upstream.guarded_process import guarded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def check(write: Callable[[dict[str, Any]], Awaitable[object]], command: list[str], options: list[str]) -> None:
    """Check the server of *command* with the *options* of `toolwire check`, and write what is found."""
    arrived, lines = OnEventLoop().inbox(), Lines()
    words = [sys.executable, "-P", "-m", "toolwire", "check", "--events", *options, "--", *command]
    process = guarded(words, env=dict(os.environ))

    def data_came(data: bytes) -> None:
        for line in lines.feed(data):
            arrived.put(line)

    process.start(data_came, arrived.put)
    try:
        while isinstance(line := await arrived.next(None), bytes):
            event = msgspec.json.decode(line)
            if "verdict" in event:
                verdict = msgspec.convert(event.pop("verdict"), Verdict)
                told = {name: getattr(verdict, name) for name in ("case", "outcome", "severity")}
                await write({"type": "verdict", **event, **told, "html": verdict_html(verdict)})
            else:
                report = msgspec.convert(event["report"], Report)
                html = await anyio.to_thread.run_sync(check_html, report)
                await write({"type": "report", "html": html, "counts": report.counts()})
                return
        await write({"type": "failure", "message": process.stderr_tail().removeprefix("toolwire: ") or str(line)})
    finally:
        process.kill()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(process.close)
