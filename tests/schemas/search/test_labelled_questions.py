"""How often a search finds the tool that a question is about (labelled.py)."""

from __future__ import annotations

import pytest
from schemas.search.labelled import HALVES, HITS, judge, read_questions, read_tools
from toolwire_dialects.search.search_index import SearchableTool, SearchIndex
from toolwire_schemas.tokens import estimate_list_tokens

LEAST_FOUND = 0.95
LEAST_FIRST = 0.75


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    return SearchIndex(read_tools())


@pytest.fixture(scope="module")
def hits(index: SearchIndex) -> dict[str, list[list[SearchableTool]]]:
    """Return the results of a search for each question, by its half."""
    return {
        half: [index.search(each.question, HITS) for each in read_questions(half)]
        for half in HALVES
    }


def test_every_question_is_about_tools_that_exist(index: SearchIndex) -> None:
    names = {tool.name for tool in index.tools}
    questions = [each for half in HALVES for each in read_questions(half)]

    assert [each for each in questions if not names.issuperset(each.answers)] == []
    assert len(names) >= 700
    assert len({tool.groups for tool in index.tools}) >= 40
    assert len({each.question for each in questions}) >= 300


@pytest.mark.parametrize("half", HALVES)
def test_tool_of_a_question_is_mostly_among_the_first_five_hits(
    hits: dict[str, list[list[SearchableTool]]], half: str
) -> None:
    names = [[hit.name for hit in found] for found in hits[half]]

    found = judge(read_questions(half), names)
    assert found.among >= LEAST_FOUND, f"{found.among:.1%}; missed: {found.missed}"
    assert found.first >= LEAST_FIRST


def test_name_of_each_tool_finds_it_first(index: SearchIndex) -> None:
    for tool in index.tools:
        assert index.search(tool.name, 1) == [tool]


def test_results_of_a_search_take_a_small_part_of_the_list(
    index: SearchIndex, hits: dict[str, list[list[SearchableTool]]]
) -> None:
    everything = estimate_list_tokens(tool.entry for tool in index.tools)
    parts = []
    for found in (*hits["tuning"], *hits["test"]):
        parts.append(estimate_list_tokens(hit.entry for hit in found) / everything)

    assert sum(parts) / len(parts) < 0.02
