"""What is measured of one server in one round; every function returns plain numbers by name."""

from __future__ import annotations

import json
import statistics
import time
from contextlib import ExitStack
from typing import Any

from contenders import Contender
from wire import Server, apart, call, request, running

Numbers = dict[str, list[float]]

SPAWNS = 5
CALLS_ONE_AT_A_TIME = 2_000
SECONDS_ONE_AT_A_TIME = 2.0
PAYLOAD_BYTES = 10_000_000
TURNS = 10


def basics(contender: Contender, *, scale: float) -> Numbers:
    """Start, latency, throughput and memory, with the one tool `add`."""
    command = contender.command("add")
    ready: list[float] = []
    for _ in range(max(1, int(SPAWNS * scale))):
        with running(command, handshake=contender.handshake) as server:
            ready.append(server.ready_seconds)
    with running(command, handshake=contender.handshake) as server:
        ready.append(server.ready_seconds)
        times = one_at_a_time(server, int(CALLS_ONE_AT_A_TIME * scale))
        rate = pipelined(server, int(contender.pipelined_calls * scale))
        memory = server.measure_peak_memory_bytes()
    return {
        "start_seconds": ready,
        "p50_seconds": [statistics.median(times)],
        "p99_seconds": [statistics.quantiles(times, n=100)[98]],
        "calls_per_second": [rate],
        "memory_bytes": [memory],
    }


def one_at_a_time(server: Server, calls: int, name: str = "add") -> list[float]:
    """How long each of so many calls took, each sent when the one before was answered."""
    lines = [call(number, name, {"a": number, "b": 3}) for number in range(1, calls + 1)]
    for line in lines[:50]:  # Let it warm up.
        server.ask(line)
    times = []
    end = time.perf_counter() + SECONDS_ONE_AT_A_TIME
    for number, line in enumerate(lines, 1):
        before = time.perf_counter()
        answer = server.ask(line)
        after = time.perf_counter()
        times.append(after - before)
        _check_sum(answer, number, number + 3)
        if after > end and len(times) >= 100:
            break
    return times


def pipelined(server: Server, calls: int) -> float:
    """Answers per second when so many calls are written without waiting."""
    lines = b"".join(call(number, "add", {"a": number, "b": 3}) for number in range(1, calls + 1))
    before = time.perf_counter()
    answers = server.ask(lines, count=calls)
    seconds = time.perf_counter() - before
    messages = [json.loads(line) for line in answers.splitlines()]
    # All are there, once each, and each is the answer to its own question.
    sums = {message["id"]: message["result"]["structuredContent"]["result"] for message in messages}
    if sums != {number: number + 3 for number in range(1, calls + 1)}:
        raise RuntimeError("a pipelined call was answered wrongly")
    return calls / seconds


def payloads(contender: Contender, *, scale: float) -> Numbers:
    """Ten megabytes in an argument, and ten in a result."""
    text = "x" * PAYLOAD_BYTES
    into = call(1, "measure", {"text": text})
    out = call(2, "produce", {"size": PAYLOAD_BYTES})
    times: Numbers = {"argument_10mb_seconds": [], "result_10mb_seconds": []}
    with running(contender.command("payload"), handshake=contender.handshake) as server:
        for _ in range(max(2, int(3 * scale))):
            before = time.perf_counter()
            answer = server.ask(into)
            between = time.perf_counter()
            long_answer = server.ask(out)
            after = time.perf_counter()
            _check_sum(answer, 1, PAYLOAD_BYTES)
            if text.encode() not in long_answer:
                raise RuntimeError("the long result did not arrive")
            times["argument_10mb_seconds"].append(between - before)
            times["result_10mb_seconds"].append(after - between)
    return times


def many_tools(contender: Contender, *, scale: float) -> Numbers:
    """What 1,000 tools cost, beside 10. Both servers are asked in turns: what counts is how they
    compare.
    """
    numbers: Numbers = {}
    calls: dict[int, list[float]] = {10: [], 1_000: []}
    with ExitStack() as stack:
        servers = {
            count: stack.enter_context(
                running(
                    contender.command("many"),
                    handshake=contender.handshake,
                    more={"TOOLS": str(count)},
                )
            )
            for count in calls
        }
        for count, server in servers.items():
            numbers[f"start_{count}_seconds"] = [server.ready_seconds]
            numbers[f"list_per_tool_{count}_seconds"] = [
                listing(server, int(100 * scale), count) / count
            ]
        with apart(servers.values()):
            for count, server in [*servers.items()] * TURNS:
                calls[count] += one_at_a_time(server, int(CALLS_ONE_AT_A_TIME * scale) // TURNS)
    for count, times in calls.items():
        numbers[f"p50_{count}_seconds"] = [statistics.median(times)]
    return numbers


def listing(server: Server, times: int, count: int) -> float:
    """How long a `tools/list` takes that lists so many tools: the median of so many."""
    listed = request(1, "tools/list")
    if len(json.loads(server.ask(listed))["result"]["tools"]) != count:
        raise RuntimeError(f"not all of the {count} tools are listed")
    took = []
    for _ in range(times):
        before = time.perf_counter()
        server.ask(listed)
        took.append(time.perf_counter() - before)
    return statistics.median(took)


def sleepers(contender: Contender, *, scale: float) -> Numbers:
    """Calls that wait side by side: 1,000 on the event loop, 64 in threads, and a ping among
    them.
    """
    del scale
    numbers: Numbers = {}
    for name, count in (("sleep", 1_000), ("block", 64)):
        with running(contender.command("sleepers"), handshake=contender.handshake) as server:
            server.ask(call(1, name, {"seconds": 0}))  # The event loop starts with its first tool.
            lines = b"".join(call(number, name, {"seconds": 1}) for number in range(2, count + 2))
            before = time.perf_counter()
            pinged = server.ask(lines + request(count + 2, "ping"), b'"result":{}')
            ping = time.perf_counter() - before
            rest = count + 1 - pinged.count(b"\n")
            answers = pinged + server.ask(b"", count=rest)
            numbers[f"{name}_{count}_seconds"] = [time.perf_counter() - before]
            numbers[f"{name}_ping_seconds"] = [ping]
            messages = [json.loads(line) for line in answers.splitlines()]
            if len(messages) != count + 1 or any(_failed(message) for message in messages):
                raise RuntimeError(f"a call of {name} failed")
    return numbers


def _check_sum(answer: bytes, identifier: int, expected: int) -> None:
    message = json.loads(answer)
    if message["id"] != identifier or message["result"]["structuredContent"]["result"] != expected:
        raise RuntimeError(f"a wrong answer: {answer[:300]!r}")


def _failed(message: dict[str, Any]) -> bool:
    return "result" not in message or bool(message["result"].get("isError"))
