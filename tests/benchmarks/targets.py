"""What the design promises, as data, and whether the numbers keep it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from contenders import BARE, MCP2, TOOLWIRE
from tables import Table

ByContender = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Target:
    claim: str
    value: Callable[[ByContender], float]
    limit: float
    at_least: bool = False


@dataclass(frozen=True)
class Verdict:
    claim: str
    value: float
    met: bool


def _own(name: str) -> Callable[[ByContender], float]:
    return lambda numbers: numbers[TOOLWIRE.name][name]


def _ratio(name: str, other: str) -> Callable[[ByContender], float]:
    return lambda numbers: numbers[TOOLWIRE.name][name] / numbers[other][name]


def _growth(name: str) -> Callable[[ByContender], float]:
    """How a number with 1,000 tools stands to the same with 10."""
    return lambda numbers: (
        numbers[TOOLWIRE.name][name.format(1_000)] / numbers[TOOLWIRE.name][name.format(10)]
    )


TARGETS = (
    Target("start relative to the bare loop: at most 1.5", _ratio("start_seconds", BARE.name), 1.5),
    Target("start relative to mcp 2.3.0: at most 1/10", _ratio("start_seconds", MCP2.name), 1 / 10),
    Target("p50 relative to the bare loop: at most 1.0", _ratio("p50_seconds", BARE.name), 1.0),
    Target("p50 relative to mcp 2.3.0: at most 1/20", _ratio("p50_seconds", MCP2.name), 1 / 20),
    Target(
        "pipelined calls/s relative to the bare loop: at least 0.85",
        _ratio("calls_per_second", BARE.name),
        0.85,
        at_least=True,
    ),
    Target(
        "pipelined calls/s relative to mcp 2.3.0: at least 100",
        _ratio("calls_per_second", MCP2.name),
        100,
        at_least=True,
    ),
    Target(
        "peak memory relative to the bare loop: at most 1.3", _ratio("memory_bytes", BARE.name), 1.3
    ),
    Target("1,000 async one-second sleeps: at most 1.3 s", _own("sleep_1000_seconds"), 1.3),
    Target("64 blocking one-second sleeps: at most 1.5 s", _own("block_64_seconds"), 1.5),
    # "At once": long before the first of the sleeps ends, with all 1,000 calls written ahead of it.
    Target("ping after 1,000 sleeping calls: at most 0.2 s", _own("sleep_ping_seconds"), 0.2),
    Target("ping after 64 blocking calls: at most 0.2 s", _own("block_ping_seconds"), 0.2),
    # A tenth is allowed for noise; "no more" means that nothing grows with the number of tools.
    Target(
        "tools/list per tool, 1,000 tools relative to 10: at most 1.1",
        _growth("list_per_tool_{}_seconds"),
        1.1,
    ),
    Target(
        "p50 of a call, 1,000 tools relative to 10: at most 1.1", _growth("p50_{}_seconds"), 1.1
    ),
)


def judge(numbers: ByContender) -> list[Verdict]:
    """Each target that the numbers speak to, kept or not."""
    verdicts = []
    for target in TARGETS:
        try:
            value = target.value(numbers)
        except KeyError:
            continue  # Not measured this time.
        met = value >= target.limit if target.at_least else value <= target.limit
        verdicts.append(Verdict(target.claim, value, met))
    return verdicts


def table(verdicts: list[Verdict]) -> Table:
    """The verdicts as a table."""
    rows = [
        [verdict.claim, f"{verdict.value:.3g}", "met" if verdict.met else "MISSED"]
        for verdict in verdicts
    ]
    return Table(["target", "measured", ""], rows)
