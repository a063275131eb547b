"""What `--share` costs and saves: calls, fairness, a heavy server, and many sessions.

    python tests/benchmarks/sharing.py                # all; some minutes
    python tests/benchmarks/sharing.py --only calls fairness

The numbers of docs/sharing.md come from here. Servers take turns within each round, so that other
load on the machine slows all of them. What it adds to a call differs from round to round: so the
median of the quietest quarter of the rounds counts, and the processor time of all processes of a
session, which waits of a busy machine do not change.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.synchronize import Event
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
WITH_MODULES = LIGHT + "\nmodules = bytearray(b'x' * 33_000_000)\n"
"""A server of 41 MiB: the 259 processes of nForma's report take 10.4 GiB."""

ROUNDS = 20
CALLS = 250
PIPELINED_CALLS = 1000
FLOOD = 200
START_SECONDS = 60.0


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
        """End the shared processes of these sessions; the user may have others."""
        listed = self._run_share("ls", "--json")
        keys = []
        for facts in json.loads(listed):
            if Path(facts["log"]).is_relative_to(self.folder):
                keys.append(facts["key"])
        if keys:
            self._run_share("stop", *keys)

    def _run_share(self, *words: str) -> bytes:
        done = subprocess.run(
            [*TOOLWIRE, "share", *words], env=self.environment, capture_output=True, check=True
        )
        return done.stdout

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


class Costs:
    """What the calls of one session cost, in seconds, by rounds."""

    def __init__(self) -> None:
        self._medians: list[float] = []
        self._processor: list[float] = []

    def measure(self, server: DrivenServer, processes: Iterable[int]) -> None:
        """Add a round of calls of *server*, for which *processes* work."""
        before = read_processor_seconds(processes)
        self._medians.append(statistics.median(ask_one_at_a_time(server, CALLS)))
        used = read_processor_seconds(processes) - before
        self._processor.append(used / CALLS)

    @property
    def p50(self) -> float:
        """The median of a call in the quietest quarter of the rounds."""
        return _pick_quiet(self._medians)

    @property
    def processor(self) -> float:
        """The processor time of a call, in the quietest quarter of the rounds."""
        return _pick_quiet(self._processor)


def _pick_quiet(times: list[float]) -> float:
    quiet = sorted(times)[: max(len(times) // 4, 1)]
    return statistics.median(quiet)


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
        _compare_calls(sessions, name, commands)


def _compare_calls(sessions: Sessions, name: str, commands: Iterable[list[str]]) -> None:
    opened = []
    with ExitStack() as stack:
        for command in commands:
            others = set(sessions.find_processes())
            server = stack.enter_context(sessions.open(command))
            processes = set(sessions.find_processes()) - others
            rates: list[float] = []
            opened.append((server, processes, Costs(), rates))
        for _ in range(ROUNDS):
            for server, processes, costs, rates in opened:
                costs.measure(server, processes)
                rates.append(ask_pipelined(server, PIPELINED_CALLS))
    (_, _, direct, direct_rates), (_, _, shared, shared_rates) = opened
    more = (shared.p50 - direct.p50) * 1e6
    print(
        f"{name}: p50 {direct.p50 * 1e6:.0f} µs, shared {shared.p50 * 1e6:.0f} µs:"
        f" {more:.0f} µs more (60)"
    )
    print(
        f"{name}: processor time of a call {direct.processor * 1e6:.0f} µs,"
        f" shared {shared.processor * 1e6:.0f} µs"
    )
    rate, shared_rate = statistics.median(direct_rates), statistics.median(shared_rates)
    ratio = shared_rate / rate
    print(f"{name}: {rate:.0f} calls/s, shared {shared_rate:.0f}: ratio {ratio:.2f} (0.6)")


def measure_fairness(sessions: Sessions) -> None:
    """Measure a session's calls while another one floods the same process; and, to compare, while
    the other one has a process of its own.
    """
    serve = [*TOOLWIRE, "serve", sessions.write("light.py", LIGHT)]
    for name, command in (("shared", [*serve, "--share"]), ("not shared", serve)):
        alone: list[float] = []
        flooded: list[float] = []
        with sessions.open(command) as server, flooding(command, sessions) as flood:
            for _ in range(ROUNDS):
                alone += ask_one_at_a_time(server, CALLS)
                flood.begin()
                flooded += ask_one_at_a_time(server, CALLS)
                flood.pause()
        for quantile, pick in (("p50", statistics.median), ("p99", _take_p99)):
            before, after = pick(alone) * 1e6, pick(flooded) * 1e6
            ratio = after / before
            print(
                f"fairness, {name}: {quantile} alone {before:.0f} µs, with a flood {after:.0f}:"
                f" {ratio:.1f} (10)"
            )


def _take_p99(times: list[float]) -> float:
    return statistics.quantiles(times, n=100)[98]


class Flood:
    """Another session of *command*, which sends many calls at once.

    It has a process of its own here, too: a thread would hold up the one that measures.
    """

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        context = multiprocessing.get_context("spawn")
        self._wanted, self._has_begun = context.Event(), context.Event()
        self._has_ended = context.Event()
        events = (self._wanted, self._has_begun, self._has_ended)
        self._process = context.Process(target=send_flood, args=(command, environment, *events))
        self._process.start()

    def begin(self) -> None:
        """Send, and return when the first calls are answered."""
        self._wanted.set()
        if not self._has_begun.wait(START_SECONDS):
            raise RuntimeError("the session that floods gets no answer")

    def pause(self) -> None:
        """Stop until the next `begin`."""
        self._wanted.clear()
        self._has_begun.clear()

    def end(self) -> None:
        """End the session."""
        self._has_ended.set()
        self._wanted.set()
        self._process.join()


@contextmanager
def flooding(command: list[str], sessions: Sessions) -> Iterator[Flood]:
    """Yield another session of *command*, which floods its process on demand."""
    flood = Flood(command, sessions.environment)
    try:
        yield flood
    finally:
        flood.end()


def send_flood(
    command: list[str],
    environment: dict[str, str],
    wanted: Event,
    has_begun: Event,
    has_ended: Event,
) -> None:
    """Keep a session of *command* busy while *wanted* is set, until *has_ended* is."""
    server = DrivenServer(command, environment)
    while True:
        wanted.wait()
        if has_ended.is_set():
            break
        ask_pipelined(server, FLOOD)
        has_begun.set()
    server.close()


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
    for name, source in (("light", LIGHT), ("41 MiB", WITH_MODULES)):
        _compare_many_sessions(sessions, name, source)


def _compare_many_sessions(sessions: Sessions, kind: str, source: str) -> None:
    paths = [sessions.write(f"server_{number}.py", source) for number in range(7)]
    found = {}
    for name, options in (("without", []), ("with", ["--share"])):
        with ExitStack() as stack:
            for path in paths * 35:
                stack.enter_context(sessions.open([*TOOLWIRE, "serve", path, *options]))
            pids = sessions.find_processes()
            memory = sum(map(read_private_bytes, pids))
            found[name] = memory
            print(
                f"35 × 7 {kind}, {name} sharing: {len(pids)} processes,"
                f" {memory / 2**20:.0f} MiB private"
            )
        sessions.stop()
    less = 1 - found["with"] / found["without"]
    print(f"35 × 7 {kind}: {less:.0%} less private memory (85 %)")


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


def read_processor_seconds(processes: Iterable[int]) -> float:
    """Return the processor time of the threads that *processes* have now."""
    nanoseconds = 0
    for process in processes:
        for thread in Path(f"/proc/{process}/task").iterdir():
            nanoseconds += int((thread / "schedstat").read_text(encoding="utf-8").split()[0])
    return nanoseconds / 1e9


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
