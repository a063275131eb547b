"""What a model reads with programs over five real servers (tests/benchmarks/real_servers.py).

Their lists and the results of programs are recorded. Our own list, the results of searches and the
programs are counted anew, so longer descriptions or stubs fail here.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.real_servers import Cost, Recording, read_recording, repeat_programs

PAGE = Path(__file__).parents[3] / "docs" / "many-tools.md"


@pytest.fixture(scope="module")
def recording() -> Recording:
    return read_recording()


@pytest.fixture
def cost(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> Cost:
    # No program runs here, so nothing has to confine one.
    monkeypatch.setattr(
        "toolwire_bundled.programs.program.find_sandbox", lambda wanted: "bubblewrap"
    )
    return repeat_programs(recording)


def test_programs_over_five_servers_have_a_model_read_a_tenth_of_all_tools_at_most(
    recording: Recording, cost: Cost
) -> None:
    assert cost.read <= recording.read_with_all / 10


def test_page_has_the_tokens_that_programs_over_five_servers_take(
    recording: Recording, cost: Cost
) -> None:
    page = PAGE.read_text("utf-8")

    assert f"| tokens read | {recording.read_with_all:,} |" in page
    assert f"| {cost.read:,} |\n" in page
    assert f"| {cost.written:,} |\n" in page
