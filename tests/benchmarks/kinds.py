"""Calls of every type and kind, as ratios to a bare loop that decodes and encodes the same.

    python tests/benchmarks/kinds.py              two minutes; --quick takes some seconds
    python tests/benchmarks/kinds.py --only integer nothing
    python tests/benchmarks/kinds.py --beside "env PYTHONPATH=... python -m toolwire"

Synchronous tools stand beside a loop on `sys.stdin`, asynchronous ones beside a loop on asyncio
with a task for each call, calls of other processes beside the loop and the direct call. All take
turns in short alternations; a ratio is the median of those of the rounds. `--beside` adds the
ratios to another version of Toolwire, and `--peers` those to other servers, for the kinds that they
have. `--keep` writes the table to docs/benchmarks.json, for the page.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any

from chart import NUMBERS, read_numbers
from compare import progress
from contenders import BARE, CONTENDERS, SERVERS, toolwire_command
from tables import Table, as_markdown, as_text
from toolwire_check.bench.measurement import format_number
from wire import HANDSHAKE, Server, call, request

TOOLS = str(SERVERS / "own_kinds.py")
RECORD = {"x": 1, "y": 2.5, "label": "a point"}
OTHER = "the other Toolwire"
PEERS = ("mcp 2.3.0", "fastmcp 4.1.6", "TypeScript SDK 1.32.2")
PEER_CALLS = 300
"""How many calls of a peer are pipelined: they take a hundred times as long."""


@dataclass(frozen=True)
class Row:
    """A tool, its argument, and the names of the servers that it is measured on."""

    label: str
    tool: str
    value: Any
    server: str = "Toolwire"
    floor: str = "bare loop"
    lines: int = 1
    """How many lines a call leads to: two of progress are before the response."""
    most_calls: int = 3_000
    """How many calls are pipelined: fewer where they are large, and where progress would be dropped
    because too much waits.
    """

    def line(self, number: int) -> bytes:
        """The call with the id *number*."""
        if self.lines == 1:
            return call(number, self.tool, {"value": self.value})
        params = {
            "name": self.tool,
            "arguments": {"value": self.value},
            "_meta": {"progressToken": number},
        }
        return request(number, "tools/call", params)


ASYNC = {"floor": "bare asyncio loop"}
ROWS = (
    Row("int", "integer", 7),
    Row("float", "decimal", 2.5),
    Row("int | float", "union", 7),
    Row("str", "text", "some text"),
    Row("str of 100 KB", "text", "x" * 100_000, most_calls=100),
    Row("list[int]", "numbers", [1, 2, 3]),
    Row("dict[str, int]", "mapping", {"a": 1, "b": 2}),
    Row("int | None", "optional", None),
    Row("Literal", "literal", "red"),
    Row("Enum", "enum", "red"),
    Row("dataclass", "record", RECORD),
    Row("pydantic model", "model", RECORD),
    Row("datetime", "moment", "2026-11-22T10:00:00Z"),
    Row("bytes", "data", "aGVsbG8="),
    Row("None", "nothing", 7),
    Row("content block", "block", "some text"),
    Row("with a context", "with_context", 7),
    Row("generator with progress", "with_progress", 7, lines=3, most_calls=300),
    Row("async without a wait", "without_wait", 7, **ASYNC),
    Row("async with one wait", "with_wait", 7, **ASYNC),
    Row("async generator with progress", "async_progress", 7, lines=3, most_calls=300, **ASYNC),
    Row("isolated", "integer", 7, server="isolated"),
    Row("mounted", "integer", 7, server="mounted"),
    Row("wrapped", "integer", 7, server="wrapped"),
)


@dataclass(frozen=True)
class Effort:
    rounds: int
    calls: int
    """How many calls are made one after the other in a round."""
    pipelined_calls: int


USUAL = Effort(15, 200, 3_000)
QUICK = Effort(1, 20, 100)


def commands(beside: str | None, *, with_peers: bool) -> dict[str, list[str]]:
    python = BARE.program[0] if BARE.installed else sys.executable
    toolwire = list(toolwire_command())
    own = [*toolwire, TOOLS]
    found = {
        "bare loop": [python, str(SERVERS / "bare_kinds.py")],
        "bare asyncio loop": [python, str(SERVERS / "bare_asyncio_kinds.py")],
        "Toolwire": own,
        "isolated": [*own, "--isolate"],
        "mounted": [*toolwire, "--mount", shlex.join(own)],
        "wrapped": [*toolwire[:-1], "wrap", "--", *own],
    }
    if beside is not None:
        found[OTHER] = ["/usr/bin/env", *shlex.split(beside), "serve", TOOLS]
    for contender in CONTENDERS:
        if with_peers and contender.name in PEERS and contender.installed:
            found[contender.name] = contender.command("kinds")
    return found


class Round:
    """What one round measured of a row, by server."""

    def __init__(self) -> None:
        self.p50_seconds: dict[str, float] = {}
        self.calls_per_second: dict[str, float] = {}


def measure(row: Row, servers: dict[str, Server], effort: Effort) -> list[Round]:
    """Measure *row* in rounds, in each of which the *servers* take turns."""
    check_equal(row, servers)
    for server in servers.values():
        pipelined(row, server, min(row.most_calls, effort.calls))
    rounds = []
    for number in range(effort.rounds):
        found = Round()
        # A different one is first in each round.
        turn = number % len(servers)
        names = list(servers)
        for name in names[turn:] + names[:turn]:
            if row.lines == 1:
                found.p50_seconds[name] = one_at_a_time(row, servers[name], effort.calls)
            calls = min(row.most_calls, effort.pipelined_calls)
            if name in PEERS:
                calls = min(calls, PEER_CALLS)
            found.calls_per_second[name] = pipelined(row, servers[name], calls)
        rounds.append(found)
    return rounds


def check_equal(row: Row, servers: dict[str, Server]) -> None:
    """Raise an error unless all *servers* respond to the call of *row* with equal lines."""
    responses = {}
    for name, server in servers.items():
        if name in PEERS:
            continue
        lines = server.ask(row.line(1), count=row.lines).splitlines()
        messages = [json.loads(line) for line in lines]
        # A modern server of a mount adds who it is.
        messages[-1]["result"].pop("_meta", None)
        responses[name] = messages
    expected, *others = responses.values()
    if any(response != expected for response in others):
        raise RuntimeError(f"different responses to {row.label}: {responses}")


def one_at_a_time(row: Row, server: Server, calls: int) -> float:
    """The median of the seconds that a call takes, each sent after the response before."""
    line = row.line(1)
    times = []
    for _ in range(calls):
        before = time.perf_counter()
        server.ask(line)
        times.append(time.perf_counter() - before)
    return statistics.median(times)


def pipelined(row: Row, server: Server, calls: int) -> float:
    """Responses in a second to *calls* calls that are written without waiting."""
    lines = b"".join(row.line(number) for number in range(calls))
    before = time.perf_counter()
    answers = server.ask(lines, count=calls * row.lines)
    seconds = time.perf_counter() - before
    # The SDK for TypeScript leaves out `isError` where it is false.
    if b'"isError":true' in answers or b'"error":{' in answers:
        raise RuntimeError(f"a call of {row.label} failed: {answers[:300]!r}")
    return calls / seconds


def wanted_servers(row: Row, all_servers: dict[str, Server]) -> dict[str, Server]:
    """The servers that *row* is measured on, the measured one first, then those of the ratios."""
    names = [row.server, row.floor]
    if row.server != "Toolwire":
        names.append("Toolwire")
    elif OTHER in all_servers:
        names.append(OTHER)
    if row.server == "Toolwire" and row.lines == 1:
        for name in PEERS:
            if name in all_servers and has_kind(row, all_servers[name]):
                names.append(name)
    return {name: all_servers[name] for name in names}


def has_kind(row: Row, server: Server) -> bool:
    """Return whether a peer has the tool of *row*, and takes its argument."""
    answer = server.ask(row.line(1))
    return b'"isError":true' not in answer and b'"error":{' not in answer


HEAD = ["kind of call", "p50", "× bare loop", "pipelined calls/s", "× bare loop"]
DIRECT = "direct call"


def list_bases(servers: dict[str, Server]) -> dict[str, str]:
    """Return the servers that have a column of ratios of their own, with its head."""
    bases = {"Toolwire": f"p50 / calls/s × {DIRECT}"}
    for name in (OTHER, *PEERS):
        if name in servers:
            bases[name] = f"p50 / calls/s × {name}"
    return bases


def cells(row: Row, rounds: list[Round], bases: dict[str, str]) -> list[str]:
    """The row of the table for what *rounds* measured of *row*."""
    times = [found.p50_seconds for found in rounds]
    rates = [found.calls_per_second for found in rounds]
    found = [
        row.label,
        format_number("p50_seconds", median(times, row.server)),
        ratio(times, row.server, row.floor),
        format_number("calls_per_second", median(rates, row.server)),
        ratio(rates, row.server, row.floor),
    ]
    for base in bases:
        is_measured = base != row.server and base in rounds[0].calls_per_second
        pair = [ratio(times, row.server, base), ratio(rates, row.server, base)]
        found.append(" / ".join(filter(None, pair)) if is_measured else "")
    return found


def median(rounds: list[dict[str, float]], name: str) -> float | None:
    values = [found[name] for found in rounds if name in found]
    return statistics.median(values) if values else None


def ratio(rounds: list[dict[str, float]], name: str, base: str) -> str:
    """The median of the ratios of the rounds; empty if *base* was not measured."""
    ratios = [found[name] / found[base] for found in rounds if base in found]
    if not ratios:
        return ""
    value = statistics.median(ratios)
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


@contextmanager
def opened(command: list[str]) -> Iterator[Server]:
    """A server that has answered its handshake and a first list."""
    server = Server(command)
    try:
        # Not counted by lines: a mount announces its tools in a notification, whenever it has them.
        server.ask(HANDSHAKE + request(-2, "tools/list"), b'"id":-2')
        server.ask(request(-3, "ping"), b'"id":-3')
        yield server
    finally:
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="some seconds; judge nothing by it")
    parser.add_argument("--only", nargs="+", metavar="KIND", help="of which tools or servers")
    parser.add_argument("--rounds", type=int, help=f"how many rounds; {USUAL.rounds} by default")
    parser.add_argument("--beside", metavar="COMMAND", help="another Toolwire, without `serve`")
    parser.add_argument("--peers", action="store_true", help="other servers, for their kinds")
    parser.add_argument("--keep", action="store_true", help="write docs/benchmarks.json")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    options = parser.parse_args()

    effort = QUICK if options.quick else USUAL
    if options.rounds:
        effort = Effort(options.rounds, effort.calls, effort.pipelined_calls)
    rows = [row for row in ROWS if not options.only or {row.tool, row.server} & {*options.only}]
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(opened(command))
            for name, command in commands(options.beside, with_peers=options.peers).items()
        }
        bases = list_bases(servers)
        table = Table([*HEAD, *bases.values()], [])
        for row in rows:
            progress(row.label)
            rounds = measure(row, wanted_servers(row, servers), effort)
            table.rows.append(cells(row, rounds, bases))
    progress("")
    where = f"{os.cpu_count()} cores, Python {sys.version.split()[0]}"
    if options.keep:
        kinds = {"when": f"{date.today():%d %B %Y}", "where": where}
        kept = {**read_numbers(), "kinds": {**kinds, "head": table.head, "rows": table.rows}}
        NUMBERS.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", "utf-8")
    show = as_markdown if options.markdown else as_text
    print(show(table))
    print(f"\n{where}; medians.")


if __name__ == "__main__":
    main()
