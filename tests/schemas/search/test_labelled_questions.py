"""How often a search finds the tool that a question is about.

`servers.json` has the lists of real servers, with the texts and the parameters that a search reads,
and where each list is from. `questions.txt` has a question in each line, after the server and the
tool that answer it. The questions were written before the search was measured.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from toolwire_dialects.search.search_index import SearchableTool, SearchIndex
from toolwire_schemas.tokens import estimate_list_tokens

FOLDER = Path(__file__).parent
HITS = 5
LEAST_FOUND = 0.95
LEAST_FIRST = 0.75


class Labelled(NamedTuple):
    tool: str
    question: str


def read_tools() -> list[SearchableTool]:
    """Return the tools of all servers, named as a server that mounts them would name them."""
    servers = json.loads((FOLDER / "servers.json").read_text(encoding="utf-8"))
    tools = []
    for server, listed in servers.items():
        for entry in listed["tools"]:
            named = {**entry, "name": f"{server}_{entry['name']}"}
            tools.append(SearchableTool(named, (), (server,)))
    return tools


def read_questions() -> list[Labelled]:
    lines = (FOLDER / "questions.txt").read_text(encoding="utf-8").splitlines()
    questions = []
    for line in lines:
        server, tool, question = line.split(" ", 2)
        questions.append(Labelled(f"{server}_{tool}", question))
    return questions


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    return SearchIndex(read_tools())


def test_every_question_is_about_a_tool_that_exists(index: SearchIndex) -> None:
    names = {tool.name for tool in index.tools}

    assert [each for each in read_questions() if each.tool not in names] == []
    assert len(names) > 150


def test_tool_of_a_question_is_mostly_among_the_first_five_hits(index: SearchIndex) -> None:
    questions = read_questions()
    missed, first = [], 0
    for each in questions:
        hits = [hit.name for hit in index.search(each.question, HITS)]
        first += hits[:1] == [each.tool]
        if each.tool not in hits:
            missed.append(each)

    found = 1 - len(missed) / len(questions)
    assert found >= LEAST_FOUND, f"{found:.1%}; missed: {missed}"
    assert first / len(questions) >= LEAST_FIRST


def test_name_of_each_tool_finds_it_first(index: SearchIndex) -> None:
    for tool in index.tools:
        assert index.search(tool.name, 1) == [tool]


def test_results_of_a_search_take_a_small_part_of_the_list(index: SearchIndex) -> None:
    everything = estimate_list_tokens(tool.entry for tool in index.tools)
    parts = []
    for each in read_questions():
        hits = index.search(each.question, HITS)
        parts.append(estimate_list_tokens(hit.entry for hit in hits) / everything)

    assert sum(parts) / len(parts) < 0.1
