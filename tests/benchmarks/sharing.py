"""What `--share` costs and saves: calls, fairness, a heavy server, and many sessions.

    python tests/benchmarks/sharing.py                # all; some minutes
    python tests/benchmarks/sharing.py --only calls fairness

The numbers of docs/sharing.md come from here. Servers take turns within each round, so that other
load on the machine slows all of them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from contenders import BARE, MCP2
from toolwire_check.bench.driven_server import DrivenServer
from wire import HANDSHAKE, call, request

TOOLWIRE = [sys.executable, "-m", "toolwire"]
LIGHT = '''
def add(a: int, b: int) -> int:
    """Add."""
    return a + b
'''
HEAVY = LIGHT + "\nmodel = bytearray(b'x' * 200_000_000)\n"
ROUNDS = 5
CALLS = 1000
PIPELINED_CALLS = 5000
FLOOD = 200


class Sessions:
    """Starts sessions of files in *folder*, whose shared processes are its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder)}

    def write(self, name: str, source: str) -> str:
        """Write a file of tools, and return its path."""
        path = self.folder / name
        path.write_text(source, encoding="utf-8")
        return str(path)

    @contextmanager
    def open(
        self, command: list[str], *, handshake: bool = False, **variables: str
    ) -> Iterator[DrivenServer]:
        """Yield a session that has answered its first list, after the *handshake*, if any."""
        server = DrivenServer(command, {**self.environment, **variables})
        listed = request(0, "tools/list")
        try:
            if handshake:
                server.ask(HANDSHAKE + listed, count=2)
            else:
                server.ask(listed)
            yield server
        finally:
            server.close()

    def stop(self) -> None:
        """End the shared processes."""
        subprocess.run(
            [*TOOLWIRE, "share", "stop", "--all"],
            env=self.environment,
            capture_output=True,
            check=True,
        )

    def find_processes(self) -> list[int]:
        """Return all processes that belong to these sessions."""
        mark = f"XDG_RUNTIME_DIR={self.folder}".encode()
        found = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and mark in Path(f"/proc/{name}/environ").read_bytes():
                    found.append(int(name))
            except OSError:  # it has ended, or is another user's
                continue
        return found


def ask_one_at_a_time(server: DrivenServer, calls: int) -> list[float]:
    """Return how long each call took, sent when the one before was answered."""
    times = []
    for number in range(calls):
        line = call(number, "add", {"a": number, "b": 1})
        before = time.perf_counter()
        server.ask(line)
        times.append(time.perf_counter() - before)
    return times


def ask_pipelined(server: DrivenServer, calls: int) -> float:
    """Return the calls per second of *calls* that are written without waiting."""
    lines = b"".join(call(number, "add", {"a": number, "b": 1}) for number in range(calls))
    before = time.perf_counter()
    server.ask(lines, count=calls)
    return calls / (time.perf_counter() - before)


def measure_calls(sessions: Sessions) -> None:
    """Compare calls with and without sharing."""
    path = sessions.write("light.py", LIGHT)
    serve = [*TOOLWIRE, "serve", path]
    wrap = [*TOOLWIRE, "wrap", "--list-cache", "never"]
    pairs = {
        "serve": (serve, [*serve, "--share"]),
        "wrap": ([*wrap, "--", *serve], [*wrap, "--share", "--", *serve]),
    }
    for name, commands in pairs.items():
        p50s: list[list[float]] = [[], []]
        rates: list[list[float]] = [[], []]
        with ExitStack() as stack:
            servers = [stack.enter_context(sessions.open(command)) for command in commands]
            for _ in range(ROUNDS):
                for index, server in enumerate(servers):
                    p50s[index].append(statistics.median(ask_one_at_a_time(server, CALLS)))
                    rates[index].append(ask_pipelined(server, PIPELINED_CALLS))
        direct, shared = (statistics.median(times) * 1e6 for times in p50s)
        rate, shared_rate = map(statistics.median, rates)
        more = shared - direct
        print(f"{name}: p50 {direct:.0f} µs, shared {shared:.0f} µs: {more:.0f} µs more (60)")
        ratio = shared_rate / rate
        print(f"{name}: {rate:.0f} calls/s, shared {shared_rate:.0f}: ratio {ratio:.2f} (0.6)")


def measure_fairness(sessions: Sessions) -> None:
    """Measure a session's calls while another one floods the same process."""
    command = [*TOOLWIRE, "serve", sessions.write("light.py", LIGHT), "--share"]
    with sessions.open(command) as one, sessions.open(command) as other:
        alone = ask_one_at_a_time(one, CALLS)
        has_ended = threading.Event()
        flood = threading.Thread(target=send_flood, args=(other, has_ended))
        flood.start()
        beside = ask_one_at_a_time(one, CALLS)
        has_ended.set()
        flood.join()
    for name, pick in (("p50", statistics.median), ("p99", _take_p99)):
        before, after = pick(alone) * 1e6, pick(beside) * 1e6
        ratio = after / before
        print(f"fairness {name}: alone {before:.0f} µs, with a flood {after:.0f}: {ratio:.1f} (10)")


def send_flood(server: DrivenServer, has_ended: threading.Event) -> None:
    """Keep *server* busy with many calls at once."""
    while not has_ended.is_set():
        ask_pipelined(server, FLOOD)


def _take_p99(times: list[float]) -> float:
    return statistics.quantiles(times, n=100)[98]


def measure_heavy_server(sessions: Sessions) -> None:
    """Compare the first list of later sessions with that of a bare loop."""
    command = [*TOOLWIRE, "serve", sessions.write("heavy.py", HEAVY), "--share"]
    bare = BARE.command("add")
    bare_times, times = [], []
    with ExitStack() as stack:
        first = _measure_first_list(sessions, command, stack)
        for _ in range(19):
            times.append(_measure_first_list(sessions, command, stack))
            bare_times.append(_measure_first_list(sessions, bare, stack))
    usual, bare_usual = statistics.median(times) * 1e3, statistics.median(bare_times) * 1e3
    print(f"heavy server: 1st list {first * 1e3:.0f} ms; 2nd to 20th {usual:.0f} ms (median)")
    ratio = usual / bare_usual
    print(f"heavy server: bare loop {bare_usual:.0f} ms: ratio {ratio:.2f} (1.5)")


def _measure_first_list(sessions: Sessions, command: list[str], stack: ExitStack) -> float:
    before = time.perf_counter()
    stack.enter_context(sessions.open(command))
    return time.perf_counter() - before


def measure_many_sessions(sessions: Sessions) -> None:
    """Compare processes and private memory of 35 sessions with 7 servers each."""
    paths = [sessions.write(f"server_{number}.py", LIGHT) for number in range(7)]
    found = {}
    for name, options in (("without", []), ("with", ["--share"])):
        with ExitStack() as stack:
            for path in paths * 35:
                stack.enter_context(sessions.open([*TOOLWIRE, "serve", path, *options]))
            pids = sessions.find_processes()
            memory = sum(map(read_private_bytes, pids))
            found[name] = memory
            print(f"35 × 7 {name} sharing: {len(pids)} processes, {memory / 2**20:.0f} MiB private")
        sessions.stop()
    less = 1 - found["with"] / found["without"]
    print(f"35 × 7: {less:.0%} less private memory (85 %)")


def measure_sessions_of_others(sessions: Sessions) -> None:
    """Compare processes and private memory of 10 sessions with 2 servers of the official SDK."""
    server = MCP2.command("add")
    wrap = [*TOOLWIRE, "wrap", "--share", "--", *server]
    found = {}
    for name, command in (("without", server), ("with", wrap)):
        with ExitStack() as stack:
            for number in range(20):
                session = sessions.open(command, handshake=True, SERVER=str(number % 2))
                stack.enter_context(session)
            pids = sessions.find_processes()
            found[name] = sum(map(read_private_bytes, pids))
            memory = found[name] / 2**20
            print(f"10 × 2 of others {name}: {len(pids)} processes, {memory:.0f} MiB private")
        sessions.stop()
    less = 1 - found["with"] / found["without"]
    print(f"10 × 2 of others: {less:.0%} less private memory")


def read_private_bytes(pid: int) -> int:
    """Return the memory that the process *pid* shares with no other."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    sizes = [int(line.split()[1]) for line in lines if line.startswith("Private_")]
    return sum(sizes) * 1024


MEASURES: dict[str, Callable[[Sessions], None]] = {
    "calls": measure_calls,
    "fairness": measure_fairness,
    "heavy": measure_heavy_server,
    "many": measure_many_sessions,
    "others": measure_sessions_of_others,
}


def main() -> None:
    """Print what was measured; the goal of each number is in parentheses."""
    parser = argparse.ArgumentParser(description="what --share costs and saves")
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=[*MEASURES])
    with tempfile.TemporaryDirectory(prefix="tw") as folder:
        for name in parser.parse_args().only:
            sessions = Sessions(Path(folder))
            MEASURES[name](sessions)
            sessions.stop()


if __name__ == "__main__":
    main()
