"""What is taken is given back: memory, descriptors and threads after many thousands of calls of all
kinds.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from support.server_process import call, request, served, wait_until

pytestmark = pytest.mark.process

TOOLS = """
import anyio, threading
from toolwire import Context, ToolError

def add(a: int, b: int) -> int:
    return a + b

def swallow(text: str) -> None:
    pass

def fail() -> None:
    raise ToolError("no")

def report(context: Context) -> str:
    context.progress(1, 2)
    return "done"

async def add_async(a: int, b: int) -> int:
    return a + b

async def wait() -> None:
    await anyio.sleep_forever()

def linger(context: Context) -> None:
    while not context.cancelled:
        threading.Event().wait(0.001)
"""


def messages(turn: int) -> tuple[list[Any], int]:
    """Return 50 messages of all kinds and how many lines answer them."""
    sent: list[Any] = []
    for number in range(8):
        id = f"{turn}.{number}"
        sent += [
            call("add", {"a": 1, "b": number}, id=id + "a"),
            call("swallow", {"text": "x" * 5000}, id=id + "s"),
            call("fail", id=id + "f"),
            call("add", {"a": "x"}, id=id + "w"),
            call("add_async", {"a": 1, "b": 2}, id=id + "y"),
        ]
    sent += [
        call("report", id=f"{turn}r", progressToken="t"),
        call("wait", id=f"{turn}w"),
        request("$/cancelRequest", {"id": f"{turn}w"}, id=...),
        call("linger", id=f"{turn}l"),
        request("$/cancelRequest", {"id": f"{turn}l"}, id=...),
        call("none", id=f"{turn}n"),
        [request("ping", id=1), call("add", {"a": 1, "b": 2}, id=f"{turn}b")],
        b"no json\n",
        request("tools/list", {"cursor": str(turn)}, id=f"{turn}c"),
        request("tools/list", id=f"{turn}t"),
    ]
    return sent, 40 + 2 + 1 + 1 + 1 + 1 + 1 + 1 + 1


def test_a_long_conversation_takes_no_more_than_a_short_one(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS, "--timeout", "1000", "--log-level", "off") as process:
        proc = Path(f"/proc/{process.popen.pid}")
        if not proc.exists():
            pytest.skip("this system does not show what a process takes")

        def taken() -> tuple[int, int, int]:
            status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
            return (
                int(status["VmRSS"].split()[0]),
                len(list((proc / "fd").iterdir())),
                int(status["Threads"]),
            )

        def talk(turns: range) -> None:
            for turn in turns:
                sent, lines = messages(turn)
                threading.Thread(target=process.send, args=sent).start()
                for _ in range(lines):
                    process.receive()

        talk(range(100))
        memory, descriptors, threads = taken()
        talk(range(100, 500))

        wait_until(lambda: taken()[2] <= threads + 8)
        assert taken()[1] == descriptors
        assert (
            taken()[0] < memory + 8 * 1024
        )  # kilobytes; what 17,000 calls held for good would be ten times this
        assert process.hang_up() == []
        assert process.wait() == 0
