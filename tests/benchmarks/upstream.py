"""What it adds to a call that another process answers, on this machine, now.

    python tests/benchmarks/upstream.py [--server COMMAND] [--rounds N]

The same `add(a, b)` is called directly, through a mount, through `toolwire wrap`, and in a worker
process. All take their turn in each round; what counts is the difference of the medians within a
round. `--server` measures another server with a tool `add`, such as one on an SDK.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import tempfile
import time
from pathlib import Path

from wire import HANDSHAKE, Server, call

SOURCE = "def add(a: int, b: int) -> int:\n    return a + b\n"
CALLS = 300
WARM_UP = 100


def commands(folder: Path, server: str | None) -> dict[str, list[str]]:
    """The command of each way to call."""
    (folder / "tools.py").write_text(SOURCE, encoding="utf-8")
    toolwire = [sys.executable, "-m", "toolwire"]
    own = [*toolwire, "serve", str(folder / "tools.py")]
    direct = own if server is None else shlex.split(server)
    found = {"direct": direct, "wrapped": [*toolwire, "wrap", "--", *direct]}
    found["mounted"] = [*toolwire, "serve", "--mount", shlex.join(direct)]
    return found if server is not None else {**found, "process": [*own, "--isolate"]}


def median_seconds(server: Server, calls: int) -> float:
    """The median of *calls* calls, one after the other."""
    seconds = []
    for number in range(calls):
        line = call(number, "add", {"a": number, "b": 1})
        start = time.perf_counter()
        server.ask(line)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def opened(command: list[str]) -> Server:
    """The server that *command* starts, ready and warm."""
    server = Server(command)
    server.ask(HANDSHAKE, b'"id":-1')
    answer = server.ask(call(-2, "add", {"a": 2, "b": 1}))
    while b"-2" not in answer:  # a change of the list may come first
        answer = server.ask(b"\n")
    median_seconds(server, WARM_UP)
    return server


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--server")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        servers = {
            name: opened(command)
            for name, command in commands(Path(folder), options.server).items()
        }
        rounds = [
            {name: median_seconds(server, CALLS) for name, server in servers.items()}
            for _ in range(options.rounds)
        ]
        for server in servers.values():
            server.close()
    print(f"{'':10}{'p50, µs':>10}{'more than direct, µs':>24}{'ratio':>8}")
    for name in servers:
        median = statistics.median(each[name] for each in rounds)
        more = statistics.median(each[name] - each["direct"] for each in rounds)
        ratio = statistics.median(each[name] / each["direct"] for each in rounds)
        print(f"{name:10}{median * 1e6:10.0f}{more * 1e6:24.0f}{ratio:8.1f}")


if __name__ == "__main__":
    main()
