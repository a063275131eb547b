"""Tools of real servers, and questions that one of them answers.

`servers.json` has the lists of real servers, with the texts and the parameters that a search reads,
and where each list is from (record_servers.py). `questions.txt` has a question in each line, after
the tools that answer it: mostly one, several where servers have the same tool. The questions were
written before the search was measured, and nothing may be tuned on every second one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from toolwire_dialects.search.search_index import SearchableTool

FOLDER = Path(__file__).parent
HITS = 5
HALVES = ("tuning", "test")


class Labelled(NamedTuple):
    answers: list[str]
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


def read_questions(half: str) -> list[Labelled]:
    """Return the questions of a *half*."""
    lines = (FOLDER / "questions.txt").read_text(encoding="utf-8").splitlines()
    questions = []
    for line in lines[HALVES.index(half) :: 2]:
        answers, _, question = line.partition(": ")
        questions.append(Labelled(answers.split(", "), question))
    return questions


class Found(NamedTuple):
    """The shares of questions with an answer as the first hit, and among the first five."""

    first: float
    among: float
    missed: list[Labelled]


def judge(questions: list[Labelled], hits: list[list[str]]) -> Found:
    """Return how well the names in *hits* answer *questions*."""
    first = 0
    missed = []
    for each, names in zip(questions, hits, strict=True):
        answers = set(each.answers)
        first += bool(answers.intersection(names[:1]))
        if not answers.intersection(names[:HITS]):
            missed.append(each)
    return Found(first / len(questions), 1 - len(missed) / len(questions), missed)
