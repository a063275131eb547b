"""Runs the contract kit for the page, in a process of its own.

Strategy. A check is busy with the processor for a minute, and starts servers that may hang. Its own process keeps the
page quick, and is killed with all that it has started when the page cancels the check.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec
from toolwire_client.contract.report import Report, Verdict  # noqa: TC002 - the Struct reads its fields' types
from toolwire_client.pages.check_page import check_html, verdict_html
from toolwire_client.waiting.event_loop import OnEventLoop
from toolwire_schemas.wire.framing import Lines

from ..upstream.guarded_process import guarded

Write = Callable[[dict[str, Any]], Awaitable[object]]


class _Event(msgspec.Struct, omit_defaults=True):
    """A line of the process: a verdict, and at the end the report or the reason of the failure."""

    verdict: Verdict | None = None
    total: int = 0
    report: Report | None = None
    failure: str = ""


async def check(write: Write, command: list[str], only: list[str], *, is_destructive: bool) -> None:
    """Check the server of *command* with the cases whose ids match *only*, or all, and write what is found."""
    inbox, lines = OnEventLoop().inbox(), Lines()

    def data_came(data: bytes) -> None:
        for line in lines.feed(data):
            inbox.put(line)

    given = msgspec.json.encode({"command": command, "only": only, "is_destructive": is_destructive})
    process = guarded([sys.executable, "-P", "-m", __name__, given.decode()], env=dict(os.environ))
    process.start(data_came, inbox.put)
    number = 0
    try:
        while isinstance(line := await inbox.next(None), bytes):
            event = _decode(line)
            if event.verdict is not None:
                number += 1
                await write(_shown(event.verdict, number, event.total))
            elif event.report is not None:
                html = await anyio.to_thread.run_sync(check_html, event.report)
                await write({"type": "report", "html": html, "counts": event.report.counts()})
                return
            else:
                await write({"type": "failure", "message": event.failure})
                return
        await write({"type": "failure", "message": f"the check has ended: {line}"})
    finally:
        process.kill()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(process.close)


_decode = msgspec.json.Decoder(_Event).decode


def _shown(verdict: Verdict, number: int, total: int) -> dict[str, Any]:
    members = {name: getattr(verdict, name) for name in ("case", "outcome", "severity")}
    return {"type": "verdict", "number": number, "total": total, **members, "html": verdict_html(verdict)}


def main(command: list[str], only: list[str], is_destructive: bool) -> None:
    """Check, and write events to standard output."""
    from toolwire_client.contract import CheckSettings
    from toolwire_client.contract import check as run_check
    from toolwire_client.contract.cases.plan import chosen
    from toolwire_client.errors import ClientError
    from toolwire_schemas.cases import cases

    def tell(event: _Event) -> None:
        os.write(sys.stdout.fileno(), msgspec.json.encode(event) + b"\n")

    found = chosen(cases(), only) if only else cases()
    if not found:
        tell(_Event(failure=f"no case matches {', '.join(only)}"))
        return
    try:
        settings = CheckSettings(any_tool=is_destructive)
        on_verdict = lambda verdict, total: tell(_Event(verdict=verdict, total=total))  # noqa: E731
        tell(_Event(report=run_check(command, cases=found, settings=settings, on_verdict=on_verdict)))
    except ClientError as error:
        tell(_Event(failure=str(error)))


if __name__ == "__main__":
    main(**msgspec.json.decode(sys.argv[1]))
