"""What a hundred locked servers cost: the first list, and the first call of one of them.

    python tests/benchmarks/locked.py [--rounds N]

`serve` with a file of one function and `serve` with a hundred locked servers take their turn in
each round. The first call is compared with the start of the same server alone. The targets: a list
in 1.5 times that of the file, and a call in the own start of the server and 50 ms.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from wire import Server, call

SOURCE = "def add(a: int, b: int) -> int:\n    return a + b\n"
SERVERS = 100
CALL = call(1, "s7_add", {"a": 1, "b": 2})
LIST = b'{"jsonrpc":"2.0","id":-1,"method":"tools/list"}\n'


def write_files(folder: Path) -> dict[str, list[str]]:
    """Write a file, a config and its lock; return the command of each way to serve."""
    (folder / "tools.py").write_text(SOURCE, encoding="utf-8")
    serve = [sys.executable, "-m", "toolwire", "serve"]
    own = [*serve, str(folder / "tools.py")]
    entry = {"command": own[0], "args": own[1:]}
    server = Server(own)
    (listed,) = json.loads(server.ask(LIST))["result"]["tools"]
    server.close()
    names = [f"s{number}" for number in range(SERVERS)]
    tools = [{**listed, "name": f"{name}_add"} for name in names]
    (folder / "hosts.json").write_text(json.dumps({"mcpServers": dict.fromkeys(names, entry)}))
    (folder / "lock.json").write_text(json.dumps({"version": 2, "tools": tools}))
    locked = [
        *serve,
        *("--mount-config", str(folder / "hosts.json"), "--lock", str(folder / "lock.json")),
    ]
    return {"one file": own, "locked": locked, "locked, search": [*locked, "--show", "search"]}


def measure(command: list[str], *lines: bytes) -> list[float]:
    """Return the seconds from the start of a server to each response."""
    start = time.perf_counter()
    server = Server(command)
    seconds = []
    for line in lines:
        data = server.ask(line)
        seconds.append(time.perf_counter() - start)
        if b'"result"' not in data:
            raise RuntimeError(f"no result: {data[:300]!r}")
    server.close()
    return seconds


def main() -> None:
    """Measure and print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        commands = write_files(Path(folder))
        lists: dict[str, list[float]] = {name: [] for name in commands}
        calls = []
        for _ in range(rounds):
            for name, command in commands.items():
                lists[name].append(measure(command, LIST)[0])
            listed, called = measure(commands["locked"], LIST, CALL)
            calls.append(called - listed)
        base = statistics.median(lists["one file"])
        for name, seconds in lists.items():
            median = statistics.median(seconds)
            print(f"first list, {name}: {median * 1000:.1f} ms, {median / base:.2f} times")
        more = statistics.median(calls) - base
        print(f"first call: {more * 1000:.1f} ms more than the start of the server alone")


if __name__ == "__main__":
    main()
