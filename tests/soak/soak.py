"""A million calls of all kinds, in both framings: nothing lost, nothing answered twice, nothing
kept.

    python tests/soak/soak.py                        a million, half in lines, half with Content-Length; some minutes
    python tests/soak/soak.py --calls 100000         fewer
    python tests/soak/soak.py --framing lines        one framing only
    python tests/soak/soak.py --only ask cancel_task some kinds of calls only (--help names them)
    python tests/soak/soak.py --calls 20000 --trace  also where memory that was kept had been taken; slow

What is sent is in traffic.py, what is owed for it in ledger.py. Whenever another tenth is done, the
host waits until nothing is under way and looks at what the server holds. The exit status is 0 if
all is well, 1 otherwise.
"""  # noqa: E501

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from host import Host, Stuck, Taken
from ledger import Exchange, Ledger
from traffic import GREETING, KINDS, Traffic, request

COMMAND = [sys.executable, str(Path(__file__).with_name("tools.py"))]
FRAMINGS = ("lines", "headers")
MAX_UNDER_WAY = 100
LOOKS = 6

# What may be more at the end than at the beginning. Blocks are what the interpreter has allocated,
# and the heap what C code has: both exact, so that one kept by one call in a hundred shows. Memory
# as the kernel sees it also holds what was freed and lies between what was not. Child processes are
# as many as calls happened to block at once; each is known by three descriptors and a thread that
# waits for its end.
MORE_BLOCKS = 1000
MORE_HEAP_KIB = 1024
MORE_MEMORY_KIB = 8192
MORE_THREADS = 0
MORE_CHILDREN = 16


class Look(NamedTuple):
    """What the server holds when nothing is under way."""

    calls: int
    seconds: float
    taken: Taken
    blocks: int
    heap_kib: int


class Conversation:
    """One server, and all that is said to it."""

    def __init__(self, framing: str, seed: int, kinds: dict[str, float]) -> None:
        self.ledger = Ledger()
        self.looks: list[Look] = []
        self.traced: list[str] = []
        self._host = Host(COMMAND, framing)
        self._traffic = Traffic(framing, seed, kinds)
        self._began = time.monotonic()

    def hold(self, calls: int, warm_up: int, *, trace: bool) -> None:
        """Make so many calls after those that let the server warm up, looking at it after every
        tenth.
        """
        try:
            self._begin(
                self._traffic.no_call("initialize", lambda message: "result" in message, GREETING)
            )
            self._send(request("notifications/initialized", None))
            exchanges = iter(self._traffic)
            self._talk(exchanges, warm_up)
            if trace:
                self._ask("trace")
            for number in range(LOOKS + 1):
                self._talk(exchanges, warm_up + calls * number // LOOKS)
                self.looks.append(self._look())
            if trace:
                self.traced = self._ask("trace")["result"]["structuredContent"]["result"]
            rest, status = self._host.hang_up()
            if rest or status != 0:
                self._fault(f"after the end came {rest[:300]!r} and the exit status {status}")
        except (Stuck, EOFError) as error:
            self._fault(f"{error}; {self.ledger.missing()}")
        finally:
            self._host.close()

    def _talk(self, exchanges: Iterator[Exchange], calls: int) -> None:
        ledger = self.ledger
        while ledger.calls < calls or not ledger.settled:
            while ledger.calls < calls and ledger.under_way < MAX_UNDER_WAY:
                self._begin(next(exchanges))
            for message in self._host.exchange():
                self._send(*ledger.take(message))

    def _look(self) -> Look:
        held, before, taken = self._settle(), None, self._host.taken()
        for _ in range(100):  # a process that was killed may not be quite gone
            if before is not None and taken[1:] == before[1:]:
                break
            held, before, taken = self._settle(), taken, self._host.taken()
        if held["lingering"]:
            self._fault(f"{held['lingering']} cancelled calls have not ended")
        return Look(
            self.ledger.calls,
            time.monotonic() - self._began,
            taken,
            held["blocks"],
            held["heap_bytes"] >> 10,
        )

    def _settle(self) -> dict[str, int]:
        held: dict[str, int] = self._ask("settle")["result"]["structuredContent"]
        return held

    def _ask(self, tool: str) -> Any:
        """Call *tool* when nothing else is under way, and return the answer."""
        answers: list[Any] = []
        exchange = self._traffic.one(
            tool, {}, lambda message: answers.append(message) or "result" in message
        )
        exchange.calls = 0
        self._begin(exchange)
        while not answers:
            for message in self._host.exchange():
                self._send(*self.ledger.take(message))
        return answers[0]

    def _begin(self, exchange: Exchange) -> None:
        self._send(*self.ledger.begin(exchange))

    def _send(self, *messages: Any) -> None:
        for message in messages:
            self._host.send(message if isinstance(message, bytes) else orjson.dumps(message))

    def _fault(self, text: str) -> None:
        self.ledger.faults.append(text)


def grown(looks: list[Look]) -> list[str]:
    """What the server held more of at the end than at the beginning, in words."""
    early, late = looks[:3], looks[-3:]
    faults = []
    for what, of, more in (
        ("KiB of memory", lambda look: look.taken.memory_kib, MORE_MEMORY_KIB),
        ("KiB of the heap", lambda look: look.heap_kib, MORE_HEAP_KIB),
        ("blocks", lambda look: look.blocks, MORE_BLOCKS),
        (
            "descriptors beside children's",
            lambda look: look.taken.descriptors - 3 * look.taken.children,
            0,
        ),
        (
            "threads beside children's",
            lambda look: look.taken.threads - look.taken.children,
            MORE_THREADS,
        ),
        ("child processes", lambda look: look.taken.children, MORE_CHILDREN),
    ):
        before, after = statistics.median(map(of, early)), statistics.median(map(of, late))
        if after > before + more:
            faults.append(f"{before:,.0f} {what} at the beginning, {after:,.0f} at the end")
    return faults


def show(framing: str, conversation: Conversation, faults: list[str], *, counts: bool) -> None:
    """Print what happened."""
    print(f"{framing}:")
    print(
        f"{'calls':>12}{'seconds':>9}{'memory':>11}{'heap':>11}{'blocks':>9}{'fds':>5}{'threads':>9}{'children':>10}"
    )
    for look in conversation.looks:
        memory, heap = f"{look.taken.memory_kib / 1024:.1f} MiB", f"{look.heap_kib / 1024:.1f} MiB"
        print(
            f"{look.calls:>12,}{look.seconds:>9.1f}{memory:>11}{heap:>11}{look.blocks:>9,}"
            f"{look.taken.descriptors:>5}{look.taken.threads:>9}{look.taken.children:>10}"
        )
    for kind, count in sorted(conversation.ledger.counts.items()) if counts else ():
        print(f"{count:>12,} {kind}")
    for text in conversation.traced:
        print(f"  kept: {text}")
    for fault, count in Counter(faults).most_common(20):
        print(f"  FAULT{f' ({count} times)' if count > 1 else ''}: {fault}")
    print(
        f"  {'nothing lost, nothing twice, nothing kept' if not faults else f'{len(faults)} faults'}",  # noqa: E501
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--calls", type=int, default=1_000_000, help="how many calls in all; a million unless given"
    )
    parser.add_argument(
        "--warm-up",
        type=int,
        help="how many calls come before the first look; a tenth unless given",
    )
    parser.add_argument("--framing", choices=FRAMINGS, help="one only; each half unless given")
    parser.add_argument("--seed", type=int, default=1, help="another mixture of the same kinds")
    parser.add_argument(
        "--only", nargs="+", choices=KINDS, metavar="KIND", help=f"of {', '.join(KINDS)}"
    )
    parser.add_argument("--counts", action="store_true", help="say how much there was of each kind")
    parser.add_argument(
        "--trace", action="store_true", help="say where memory that was kept had been taken"
    )
    options = parser.parse_args()

    framings = [options.framing] if options.framing else FRAMINGS
    calls = options.calls // len(framings)
    warm_up = options.warm_up if options.warm_up is not None else calls // 10
    kinds = {kind: KINDS[kind] for kind in options.only or KINDS}
    well = True
    for framing in framings:
        conversation = Conversation(framing, options.seed, kinds)
        conversation.hold(calls - warm_up, warm_up, trace=options.trace)
        faults = conversation.ledger.faults + (
            grown(conversation.looks) if conversation.looks else []
        )
        show(framing, conversation, faults, counts=options.counts)
        well = well and not faults
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
