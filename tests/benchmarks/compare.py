"""Toolwire beside the other servers, on this machine, now.

    tests/peers/install                              once: the contenders
    python tests/benchmarks/compare.py               all of it, some minutes
    python tests/benchmarks/compare.py --quick       a tenth of the work: is anything badly wrong?
    python tests/benchmarks/compare.py --only basics payloads
    python tests/benchmarks/compare.py --keep        the numbers to docs/benchmarks.json, for the page and the pictures

The contenders take turns within each round, so that what else the machine does falls on all of
them. The exit status is 0 when every target of the design is met, 1 otherwise; a quick run is too
short to judge by.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable
from datetime import date

import measures
import targets
from chart import NUMBERS, read_numbers
from contenders import BARE, CONTENDERS, MCP2, TOOLWIRE, Contender
from measures import Numbers
from tables import Table, as_markdown, as_text, extras_table, main_table, ratio_table

Measure = Callable[..., Numbers]

PARTS: dict[str, tuple[Measure, tuple[Contender, ...]]] = {
    "basics": (measures.basics, CONTENDERS),
    "payloads": (measures.payloads, CONTENDERS),
    "many": (measures.many_tools, (TOOLWIRE, MCP2)),
    "sleepers": (measures.sleepers, (TOOLWIRE, MCP2)),
}


def collect(parts: list[str], rounds: int, scale: float) -> dict[str, dict[str, float]]:
    """The median of every number over the rounds, by contender."""
    gathered: dict[str, Numbers] = {}
    for number in range(rounds):
        for part in parts:
            measure, who = PARTS[part]
            present = [contender for contender in who if contender.installed]
            # A different one begins each round.
            turn = number % len(present)
            for contender in present[turn:] + present[:turn]:
                progress(f"round {number + 1} of {rounds}: {part}, {contender.name}")
                own = gathered.setdefault(contender.name, {})
                for name, values in measure(contender, scale=scale).items():
                    own.setdefault(name, []).extend(values)
    progress("")
    return {
        contender: {name: statistics.median(values) for name, values in numbers.items()}
        for contender, numbers in gathered.items()
    }


def progress(text: str) -> None:
    """Say on a terminal how far it is; elsewhere nobody is waiting."""
    if sys.stderr.isatty():
        print(text.ljust(78), end="\r", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round of a tenth of the work")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="PART", help=f"of {', '.join(PARTS)}"
    )
    parser.add_argument("--rounds", type=int, default=0, help="how many rounds; 5 unless given")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="write docs/benchmarks.json, which page and pictures show",
    )
    options = parser.parse_args()

    missing = [contender.name for contender in CONTENDERS if not contender.installed]
    if missing:
        print(
            f"not installed, so left out: {', '.join(missing)} (tests/peers/install)",
            file=sys.stderr,
        )
    numbers = collect(
        options.only or list(PARTS),
        options.rounds or (1 if options.quick else 5),
        0.1 if options.quick else 1.0,
    )

    judged = targets.judge(numbers)
    names = [contender.name for contender in CONTENDERS if contender.name in numbers]
    tables: list[Table] = [
        table
        for table in (
            main_table(numbers, names),
            ratio_table(numbers, names, BARE.name, MCP2.name),
            extras_table(numbers, [TOOLWIRE.name, MCP2.name]),
            targets.table(judged),
        )
        if table.rows
    ]
    if options.keep:
        where = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
        kept = {
            **read_numbers(),
            "when": f"{date.today():%d %B %Y}",
            "where": where,
            "servers": {name: numbers[name] for name in names},
        }
        NUMBERS.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
    show = as_markdown if options.markdown else as_text
    print("\n\n".join(show(table) for table in tables))
    print(
        f"\n{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()};"
        " medians."
    )
    return 0 if options.quick or all(verdict.met for verdict in judged) else 1


if __name__ == "__main__":
    sys.exit(main())
