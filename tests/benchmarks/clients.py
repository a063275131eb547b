"""Toolwire's client beside the official one, asking the same server, on this machine, now.

    tests/peers/install mcp2               once: the official client
    python tests/benchmarks/clients.py     half a minute; --quick takes a tenth

Each client runs in a process of its own, in the environment that has nothing else to import, and
they take turns. What is measured: a whole program that lists the tools and ends; importing the
client; from asking for a connection to the first list; calls one after the other; calls that wait
side by side. The last line says how many times as much the official client takes. All of them ask
Toolwire's server for `add(a, b)`, so its share is the same for all.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

CALLS = 2_000
SIDE_BY_SIDE = 1_000
ROUNDS = 5
WARM_UP = 50

MCP = "mcp 2.3.0, asyncio"
CLIENTS = ("Toolwire, threads", "Toolwire, asyncio", MCP)
COLUMNS = {
    "program_seconds": "program that lists",
    "import_seconds": "import",
    "ready_seconds": "connect to first list",
    "p50_seconds": "call, p50",
    "p99_seconds": "call, p99",
    "side_by_side_seconds": f"each of {SIDE_BY_SIDE:,} at once",
}

# In the client's own process.

Call = Callable[[int], Awaitable[Any]]


def ask(client: str, command: list[str], calls: int) -> dict[str, float]:
    """What one client takes; without *calls* it lists the tools and ends."""
    if client == "Toolwire, threads":
        return ask_in_threads(command, calls)
    return asyncio.run(
        ask_on_loop(toolwire if client == "Toolwire, asyncio" else official, command, calls)
    )


def ask_in_threads(command: list[str], calls: int) -> dict[str, float]:
    begun = time.perf_counter()
    from toolwire_client import connect

    imported = time.perf_counter()
    with connect(command) as client:
        client.list_tools()
        numbers = {
            "import_seconds": imported - begun,
            "ready_seconds": time.perf_counter() - imported,
        }
        if calls:
            times = []
            for number in range(calls + WARM_UP):
                before = time.perf_counter()
                result = client.call_tool("add", {"a": number, "b": 3})
                times.append(time.perf_counter() - before)
                assert result.structured == {"result": number + 3}
            numbers |= quantiles(times)
            before = time.perf_counter()
            pending = [client.start("add", {"a": number, "b": 3}) for number in range(SIDE_BY_SIDE)]
            assert [call.result().structured["result"] for call in pending] == list(
                range(3, SIDE_BY_SIDE + 3)
            )
            numbers["side_by_side_seconds"] = (time.perf_counter() - before) / SIDE_BY_SIDE
    return numbers


async def ask_on_loop(
    connected: Callable[[list[str], list[float]], AbstractAsyncContextManager[Call]],
    command: list[str],
    calls: int,
) -> dict[str, float]:
    moments = [time.perf_counter()]
    async with connected(command, moments) as call:
        begun, imported, listed = moments
        numbers = {"import_seconds": imported - begun, "ready_seconds": listed - imported}
        if calls:
            times = []
            for number in range(calls + WARM_UP):
                before = time.perf_counter()
                result = await call(number)
                times.append(time.perf_counter() - before)
                assert result == {"result": number + 3}
            numbers |= quantiles(times)
            before = time.perf_counter()
            results = await asyncio.gather(*map(call, range(SIDE_BY_SIDE)))
            assert [result["result"] for result in results] == list(range(3, SIDE_BY_SIDE + 3))
            numbers["side_by_side_seconds"] = (time.perf_counter() - before) / SIDE_BY_SIDE
    return numbers


@asynccontextmanager
async def toolwire(command: list[str], moments: list[float]) -> Any:
    from toolwire_client import connect

    moments.append(time.perf_counter())
    async with connect(command) as client:
        await client.list_tools()
        moments.append(time.perf_counter())

        async def call(number: int) -> Any:
            return (await client.call_tool("add", {"a": number, "b": 3})).structured

        yield call


@asynccontextmanager
async def official(command: list[str], moments: list[float]) -> Any:
    from mcp import Client, StdioServerParameters

    moments.append(time.perf_counter())
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        await client.list_tools()
        moments.append(time.perf_counter())

        async def call(number: int) -> Any:
            return (await client.call_tool("add", {"a": number, "b": 3})).structured_content

        yield call


def quantiles(times: list[float]) -> dict[str, float]:
    times = times[WARM_UP:]
    return {
        "p50_seconds": statistics.median(times),
        "p99_seconds": statistics.quantiles(times, n=100)[98],
    }


# In the process that compares them.


def measured(client: str, command: list[str], calls: int) -> dict[str, float]:
    from contenders import MCP2

    python = MCP2.program[0] if client == MCP else sys.executable
    before = time.perf_counter()
    subprocess.run(
        [python, __file__, "--ask", client, "0", *command], check=True, stdout=subprocess.DEVNULL
    )
    program = time.perf_counter() - before
    done = subprocess.run(
        [python, __file__, "--ask", client, str(calls), *command],
        check=True,
        stdout=subprocess.PIPE,
    )
    return {"program_seconds": program, **json.loads(done.stdout)}


def main(words: list[str]) -> None:
    if words[:1] == ["--ask"]:
        print(json.dumps(ask(words[1], words[3:], int(words[2]))))
        return
    from contenders import TOOLWIRE
    from tables import Table, as_text

    scale = 10 if "--quick" in words else 1
    gathered: dict[str, list[dict[str, float]]] = {client: [] for client in CLIENTS}
    for _ in range(1 if scale > 1 else ROUNDS):
        for client in CLIENTS:
            gathered[client].append(measured(client, TOOLWIRE.command("add"), CALLS // scale))
    medians = {
        client: {name: statistics.median(one[name] for one in rounds) for name in COLUMNS}
        for client, rounds in gathered.items()
    }
    rows = [[client, *(shown(medians[client][name]) for name in COLUMNS)] for client in CLIENTS]
    for client in CLIENTS[:2]:
        ratios = [f"{medians[MCP][name] / medians[client][name]:.1f} ×" for name in COLUMNS]
        rows.append([f"mcp, of {client}", *ratios])
    print(as_text(Table(["client", *COLUMNS.values()], rows)))


def shown(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms" if seconds >= 0.01 else f"{seconds * 1e6:.0f} µs"


if __name__ == "__main__":
    main(sys.argv[1:])
