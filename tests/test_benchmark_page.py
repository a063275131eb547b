"""The benchmark's page, its pictures and the README's numbers are made from docs/benchmarks.json.

`python tests/benchmarks/chart.py` writes them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks import chart

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("scheme", chart.PICTURES)
def test_each_picture_shows_the_numbers(scheme: str) -> None:
    drawn = chart.draw(chart.read_numbers()["servers"], scheme)
    assert chart.PICTURES[scheme].read_text("utf-8") == drawn, (
        "run: python tests/benchmarks/chart.py"
    )


def test_the_page_has_the_tables_of_the_numbers() -> None:
    page = chart.PAGE.read_text("utf-8")
    assert chart.tables(chart.read_numbers()) in page, "run: python tests/benchmarks/chart.py"


def test_the_page_has_the_table_of_kinds() -> None:
    page = chart.PAGE_OF_KINDS.read_text("utf-8")
    assert chart.table_of_kinds(chart.read_numbers()) in page, (
        "run: python tests/benchmarks/chart.py"
    )


def test_the_readme_opens_with_the_numbers() -> None:
    found = re.search(
        r"starts in (\d+) ms, answers a call in (\d+) µs", (ROOT / "README.md").read_text("utf-8")
    )
    assert found is not None
    own = chart.read_numbers()["servers"]["Toolwire"]
    assert [int(number) for number in found.groups()] == [
        round(own["start_seconds"] * 1_000),
        round(own["p50_seconds"] * 1_000_000),
    ]
