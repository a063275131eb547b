"""Shows the numbers that `compare.py --keep` wrote: `python tests/benchmarks/chart.py` writes
pictures and page.

One picture is for light pages and one for dark ones.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import targets
from contenders import BARE, MCP2, TOOLWIRE
from tables import Table, as_markdown, main_table, ratio_table
from toolwire_check.pages.bars import PANELS, draw_bars, make_look

DOCS = Path(__file__).parents[2] / "docs"
NUMBERS = DOCS / "benchmarks.json"
PAGE = DOCS / "benchmarks.md"
PAGE_OF_KINDS = DOCS / "benchmarks-by-kind.md"
PICTURES = {"light": DOCS / "benchmarks-light.svg", "dark": DOCS / "benchmarks-dark.svg"}

_BETWEEN_MARKS = re.compile(r"(?<=<!-- numbers -->)\n.*?(?=<!-- /numbers -->)", re.DOTALL)
_BETWEEN_KIND_MARKS = re.compile(r"(?<=<!-- kinds -->)\n.*?(?=<!-- /kinds -->)", re.DOTALL)
_PANELS = {key: title for key, title in PANELS.items() if key != "p99_seconds"}
LOOKS = {
    "light": make_look(text="#1f2328", muted="#59636e", bar="#afb8c1", own="#0969da"),
    "dark": make_look(text="#f0f6fc", muted="#9198a1", bar="#484f58", own="#4493f8"),
}


def draw(numbers: dict[str, dict[str, float]], scheme: str) -> str:
    """Return the picture as SVG; *scheme* is `light` or `dark`."""
    return draw_bars(numbers, TOOLWIRE.name, LOOKS[scheme], _PANELS)


def read_numbers() -> dict[str, Any]:
    """Return the kept run: `when`, `where`, and `servers` with the numbers of each."""
    kept: dict[str, Any] = json.loads(NUMBERS.read_text("utf-8"))
    return kept


def tables(kept: dict[str, Any]) -> str:
    """Return the tables of *kept* as Markdown, for the page."""
    numbers = kept["servers"]
    names = list(numbers)
    return "\n\n".join(
        (
            f"{kept['when']}, {kept['where']}.",
            as_markdown(main_table(numbers, names)),
            f"Relative to the {BARE.name} / relative to {MCP2.name}:",
            as_markdown(ratio_table(numbers, names, BARE.name, MCP2.name)),
            "The targets of the design:",
            as_markdown(targets.table(targets.judge(numbers))),
        )
    )


def table_of_kinds(kept: dict[str, Any]) -> str:
    """Return the table that `kinds.py --keep` wrote as Markdown, for the page."""
    kinds = kept["kinds"]
    table = as_markdown(Table(kinds["head"], kinds["rows"]))
    return f"{kinds['when']}, {kinds['where']}.\n\n{table}"


def with_tables(page: str, kept: dict[str, Any]) -> str:
    """Return *page* with the tables of *kept* between its marks."""
    return _BETWEEN_MARKS.sub(lambda _: f"\n{tables(kept)}\n", page)


def with_table_of_kinds(page: str, kept: dict[str, Any]) -> str:
    """Return *page* with the table of kinds of *kept* between its marks."""
    return _BETWEEN_KIND_MARKS.sub(lambda _: f"\n{table_of_kinds(kept)}\n", page)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), read_numbers()), "utf-8")
    kinds = with_table_of_kinds(PAGE_OF_KINDS.read_text("utf-8"), read_numbers())
    PAGE_OF_KINDS.write_text(kinds, "utf-8")
    for scheme, path in PICTURES.items():
        path.write_text(draw(read_numbers()["servers"], scheme), "utf-8")
