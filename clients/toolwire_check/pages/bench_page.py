"""Measurements as a page with pictures, and as Markdown."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from toolwire_client.pages.markdown import as_code, join_within_limit, write_table
from toolwire_client.pages.markup import code, cut, element, format_count, pairs, table
from toolwire_client.pages.page import section, write_page

from ..bench.measurement import BARE_LOOP, COLUMNS, format_number, make_rows
from .bars import PAGE_LOOK, draw_bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..bench.measurement import Measurement

_MAX_CHARS = 2000
_MAX_NAME_CHARS = 300
_EXPLANATION = (
    f"The {BARE_LOOP} is a Python process that reads a line, decodes it and writes the same result:"
    " the least that a server in Python can do. All take turns, so that other load on the machine"
    " slows all of them; the numbers are medians."
)


def write_bench_page(measurements: Sequence[Measurement], call: str, remarks: Sequence[str]) -> str:
    """Return the *measurements* as a page; *call* is what was measured."""
    own = measurements[1]
    numbers = {each.name: each.list_numbers() for each in measurements}
    commands = []
    for each in measurements:
        commands.append((each.name[:_MAX_NAME_CHARS], code(shlex.join(each.command), _MAX_CHARS)))
    rows = table(
        ("server", *COLUMNS.values()), make_rows(measurements), caption="Numbers", class_="numbers"
    )
    head = element(
        "header",
        element("p", "Benchmark", class_="eyebrow"),
        element("h1", cut(own.name, _MAX_NAME_CHARS)),
        element("p", summarize(measurements), class_="lead"),
        pairs(("call", code(call, _MAX_CHARS)), ("rounds", str(len(own.start_seconds)))),
        [element("p", cut(remark, _MAX_CHARS)) for remark in remarks],
    )
    return write_page(
        f"Benchmark: {own.name[:_MAX_NAME_CHARS]}",
        head,
        section("In comparison", draw_bars(numbers, own.name, PAGE_LOOK)),
        section("Numbers", element("div", rows, class_="wide", tabindex=0)),
        section("How it was measured", element("p", _EXPLANATION), pairs(*commands)),
    )


def write_bench_markdown(
    measurements: Sequence[Measurement], call: str, remarks: Sequence[str]
) -> str:
    """Return the *measurements* as Markdown, as for a pull request."""
    rows = [[as_code(name), *cells] for name, *cells in make_rows(measurements)]
    return join_within_limit(
        [
            f"### Benchmark of {as_code(measurements[1].name)}",
            f"{as_code(call)}, {format_count(len(measurements[1].start_seconds), 'round')}.",
            *write_table(("server", *COLUMNS.values()), rows),
            *map(as_code, remarks),
        ]
    )


def summarize(measurements: Sequence[Measurement]) -> str:
    """Return start, time of a call and throughput of the measured server in one sentence."""
    numbers = measurements[1].list_numbers()
    found = {}
    for column in ("start_seconds", "p50_seconds", "calls_per_second"):
        found[column] = format_number(column, numbers[column])
    return (
        f"It starts in {found['start_seconds']}, answers a call in {found['p50_seconds']}, and"
        f" {found['calls_per_second']} pipelined calls in a second."
    )
