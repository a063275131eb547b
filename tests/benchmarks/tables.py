"""Numbers as tables, for a terminal or for a page."""

from __future__ import annotations

from dataclasses import dataclass

from toolwire_check.bench import measurement
from toolwire_check.bench.measurement import format_number

ByContender = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Table:
    head: list[str]
    rows: list[list[str]]


COLUMNS = {
    **measurement.COLUMNS,
    "argument_10mb_seconds": "10 MB argument",
    "result_10mb_seconds": "10 MB result",
}
EXTRAS = {
    "start_10_seconds": "spawn to first tools/list, 10 tools",
    "start_1000_seconds": "spawn to first tools/list, 1,000 tools",
    "list_per_tool_10_seconds": "later tools/list per tool, 10 tools",
    "list_per_tool_1000_seconds": "later tools/list per tool, 1,000 tools",
    "p50_10_seconds": "call with 10 tools, p50",
    "p50_1000_seconds": "call with 1,000 tools, p50",
    "sleep_1000_seconds": "1,000 async one-second sleeps",
    "sleep_ping_seconds": "a ping after them",
    "block_64_seconds": "64 blocking one-second sleeps",
    "block_ping_seconds": "a ping after those",
}


def main_table(numbers: ByContender, names: list[str]) -> Table:
    """One row for each contender, one column for each thing measured of all."""
    shown = [column for column in COLUMNS if any(column in numbers[name] for name in names)]
    if not shown:
        return Table([], [])
    rows = [
        [name, *(format_number(column, numbers[name].get(column)) for column in shown)]
        for name in names
        if any(column in numbers[name] for column in shown)
    ]
    return Table(["server", *(COLUMNS[column] for column in shown)], rows)


def ratio_table(numbers: ByContender, names: list[str], floor: str, rival: str) -> Table:
    """The same as multiples of the floor's numbers and, after the slash, of the rival's."""
    bases = [base for base in (floor, rival) if base in numbers]
    shown = [column for column in COLUMNS if any(column in numbers[base] for base in bases)]
    if not shown:
        return Table([], [])
    rows = []
    for name in names:
        cells = [
            " / ".join(
                f"{numbers[name][column] / numbers[base][column]:.3g}"
                for base in bases
                if column in numbers[name] and column in numbers[base]
            )
            for column in shown
        ]
        if any(cells):
            rows.append([name, *cells])
    return Table([f"× {' / × '.join(bases)}", *(COLUMNS[column] for column in shown)], rows)


def extras_table(numbers: ByContender, names: list[str]) -> Table:
    """What is measured of few: a row for each thing, a column for each contender."""
    names = [name for name in names if name in numbers]
    rows = [
        [label, *(format_number(key, numbers[name].get(key)) for name in names)]
        for key, label in EXTRAS.items()
        if any(key in numbers[name] for name in names)
    ]
    return Table(["", *names], rows)


def as_markdown(table: Table) -> str:
    lines = []
    for line in [table.head, ["---"] + ["---:"] * (len(table.head) - 1), *table.rows]:
        cells = [cell.replace("|", "\\|") for cell in line]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def as_text(table: Table) -> str:
    lines = [table.head, *table.rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if not column else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
