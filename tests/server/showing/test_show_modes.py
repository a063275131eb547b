"""What a model reads and writes with all tools, a search and programs, as the docs have it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.show_modes import PICTURES, draw, make_rows, measure_all
from support.sandbox_runs import need_sandbox

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is Linux's"),
    pytest.mark.process,
]

PAGE = Path(__file__).parents[3] / "docs" / "many-tools.md"


def test_page_has_the_tokens_of_ten_tasks_in_each_mode() -> None:
    need_sandbox()
    page = PAGE.read_text("utf-8").splitlines()

    for row in make_rows():
        assert row in page


@pytest.mark.parametrize("scheme", PICTURES)
def test_each_picture_shows_the_costs_of_the_modes(scheme: str) -> None:
    need_sandbox()
    drawn = draw(scheme)
    assert PICTURES[scheme].read_text("utf-8") == drawn, (
        "run: python tests/benchmarks/show_modes.py"
    )


def test_programs_have_a_model_read_a_tenth_of_all_tools_at_most() -> None:
    need_sandbox()

    assert measure_all("code").read <= measure_all("all").read / 10
