"""The time from spawning a server to its first `tools/list`, for ordinary files and long imports.

    python tests/benchmarks/first_list.py             some minutes; --rounds 5 takes one
    python tests/benchmarks/first_list.py --only pydantic

Each file is started with `--list-cache never`, `late` and `always`, after a start that has filled
the cache, beside a bare loop that imports the same modules. A list that would take longer than
`PATIENCE_SECONDS` is not waited for. All take their turn in each round.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from contenders import SERVERS, toolwire_command
from tables import Table, as_markdown, as_text
from toolwire_check.bench.driven_server import NoAnswer
from toolwire_check.bench.measurement import format_number
from wire import HANDSHAKE, Server, request

PATIENCE_SECONDS = 8.0
MODES = ("never", "late", "always")
LIST = request(1, "tools/list")
ANSWERED = b'"id":1,"result"'
ADD = "def add(a: int, b: int) -> int:\n    '''Add two whole numbers.'''\n    return a + b\n"
DATACLASS = '''
@dataclass
class Point:
    """A point."""
    x: int
    y: float = 0.0

def move(point: Point, by: Point) -> Point:
    """Move a point."""
    return Point(point.x + by.x, point.y + by.y)
'''
NUMPY_STYLE = '''
def measure_{number}(values: list[float], unit: str = "m", digits: int = 2) -> dict[str, float]:
    """Measure something.

    Parameters
    ----------
    values : list of float
        What has been measured.
    unit : str
        The unit of the values.
    digits : int
        How many digits the result has.

    Returns
    -------
    dict
        The mean of the values.
    """
    return {{unit: round(sum(values) / len(values), digits)}}
'''
MODEL = '''
class Order(BaseModel):
    """An order."""
    item: str = Field(min_length=1)
    count: int = 1

def price(order: Order) -> float:
    """Return the price of an order."""
    return order.count * 2.5
'''
FILES = {
    "one function": ("", ADD),
    "dataclass": ("from dataclasses import dataclass\n", DATACLASS),
    "seven functions": ("", "".join(NUMPY_STYLE.format(number=number) for number in range(7))),
    "pydantic": ("from pydantic import BaseModel, Field\n", MODEL),
    "numpy": ("import numpy\n", ADD),
    "import of 20 s": ("import time\ntime.sleep(20)\n", ADD),
    "busy import of 20 s": ("import time\nwhile time.process_time() < 20:\n    pass\n", ADD),
}
NEEDS = {"pydantic", "numpy"}


def measure(command: list[str], caches: str) -> float | None:
    """The seconds to the first list; `None` beyond the patience."""
    server = Server(command, {"XDG_CACHE_HOME": caches})
    server.patience_seconds = PATIENCE_SECONDS
    seconds = None
    try:
        server.ask(HANDSHAKE + LIST, ANSWERED)
        seconds = time.perf_counter() - server.start_time
    except NoAnswer:
        pass
    finally:
        os.kill(server.pid, signal.SIGKILL)
        server.close()
    return seconds


def fill(command: list[str], caches: str) -> None:
    """Let a whole start, however long it takes, keep its lists."""
    server = Server([*command, "--list-cache", "always"], {"XDG_CACHE_HOME": caches})
    server.ask(HANDSHAKE + LIST, ANSWERED)
    server.close()


def commands(folder: Path, name: str) -> dict[str, list[str]]:
    """The commands that serve the file called *name*, and that of its bare loop."""
    imports, functions = FILES[name]
    stem = name.replace(" ", "_")
    file = folder / f"tools_{stem}.py"
    file.write_text(imports + functions, encoding="utf-8")
    bare = folder / f"bare_{stem}.py"
    loop = (SERVERS / "bare_loop.py").read_text(encoding="utf-8")
    bare.write_text(imports + loop, encoding="utf-8")
    serve = [*toolwire_command(), str(file)]
    found = {"bare loop": [sys.executable, str(bare)]}
    for mode in MODES:
        found[mode] = [*serve, "--list-cache", mode]
    return found


def measure_file(folder: Path, name: str, rounds: int) -> list[str]:
    """The row of the file called *name*."""
    caches = str(folder / "caches")
    ways = commands(folder, name)
    fill([word for word in ways["never"] if word not in ("--list-cache", "never")], caches)
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way in list(ways):
            taken = measure(ways[way], caches)
            if taken is None:
                del ways[way]
            else:
                seconds[way].append(taken)
    row = [name]
    for way, all_of_it in seconds.items():
        if way in ways and all_of_it:
            usual = format_number("start_seconds", statistics.median(all_of_it))
            most = format_number("start_seconds", max(all_of_it))
            row.append(f"{usual} (max {most})")
        else:
            row.append(f"over {PATIENCE_SECONDS:.0f} s")
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--only", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--markdown", action="store_true")
    words = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in words.only:
            if name in NEEDS and importlib.util.find_spec(name) is None:
                print(f"{name} is not installed", file=sys.stderr)
                continue
            # Long imports take seconds in each round.
            rounds = min(words.rounds, 5) if "20 s" in name else words.rounds
            rows.append(measure_file(Path(folder), name, rounds))
    table = Table(["file", "bare loop", *MODES], rows)
    print(as_markdown(table) if words.markdown else as_text(table))


if __name__ == "__main__":
    main()
