"""Shows the numbers that `compare.py --keep` wrote: `python tests/benchmarks/chart.py` writes
pictures and page.

One picture for light pages and one for dark ones; a bar for each server, its length in proportion
to its number.
"""

from __future__ import annotations

import json
import re
import sys
from html import escape
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import targets
from contenders import BARE, MCP2
from tables import as_markdown, in_unit, main_table, ratio_table

DOCS = Path(__file__).parents[2] / "docs"
NUMBERS = DOCS / "benchmarks.json"
PAGE = DOCS / "benchmarks.md"
PICTURES = {"light": DOCS / "benchmarks-light.svg", "dark": DOCS / "benchmarks-dark.svg"}

_BETWEEN_MARKS = re.compile(r"(?<=<!-- numbers -->)\n.*?(?=<!-- /numbers -->)", re.DOTALL)
_PANELS = {
    "start_seconds": "start to first tools/list (less is better)",
    "p50_seconds": "one call, median (less is better)",
    "calls_per_second": "pipelined calls per second (more is better)",
    "memory_bytes": "peak memory (less is better)",
}
_COLORS = {
    "light": {"text": "#1f2328", "muted": "#59636e", "bar": "#afb8c1", "own": "#0969da"},
    "dark": {"text": "#f0f6fc", "muted": "#9198a1", "bar": "#484f58", "own": "#4493f8"},
}
_OWN = "Toolwire"
_ROW, _TOP, _LABELS, _BARS, _GAP = 22, 34, 160, 190, 30
_PANEL_WIDTH = _LABELS + _BARS + 90


def draw(numbers: dict[str, dict[str, float]], scheme: str) -> str:
    """Return the picture as SVG; *scheme* is `light` or `dark`."""
    colors = _COLORS[scheme]
    servers = [name for name in numbers if all(panel in numbers[name] for panel in _PANELS)]
    height = _TOP + _ROW * len(servers) + _GAP
    parts = []
    for place, (key, title) in enumerate(_PANELS.items()):
        left, top = place % 2 * _PANEL_WIDTH, place // 2 * height
        parts.append(_text(left, top + 16, title, colors["text"], bold=True))
        largest = max(numbers[name][key] for name in servers)
        for row, name in enumerate(servers):
            y, is_own = top + _TOP + row * _ROW, name == _OWN
            width = max(2.0, numbers[name][key] / largest * _BARS)
            bar = left + _LABELS
            fill = colors["own" if is_own else "bar"]
            parts += [
                _text(left, y + 12, name, colors["text" if is_own else "muted"], bold=is_own),
                f'<rect x="{bar}" y="{y}" width="{width:.1f}" height="15" rx="2" fill="{fill}"/>',
                _text(
                    bar + width + 6,
                    y + 12,
                    in_unit(key, numbers[name][key]),
                    colors["text"],
                    bold=is_own,
                ),
            ]
    size = f"{2 * _PANEL_WIDTH} {2 * height - _GAP + 8}"
    font = "-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-family="{font}"'
        ' font-size="13">'
    )
    return "\n".join([head, *parts, "</svg>\n"])


def _text(x: float, y: float, text: str, color: str, *, bold: bool) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y}" fill="{color}"{weight}>{escape(text)}</text>'


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


def with_tables(page: str, kept: dict[str, Any]) -> str:
    """Return *page* with the tables of *kept* between its marks."""
    return _BETWEEN_MARKS.sub(lambda _: f"\n{tables(kept)}\n", page)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), read_numbers()), "utf-8")
    for scheme, path in PICTURES.items():
        path.write_text(draw(read_numbers()["servers"], scheme), "utf-8")
