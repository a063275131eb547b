"""Compares the search with fastmcp's BM25 transform, on the labelled questions, in one run.

    tests/peers/install fastmcp
    python tests/schemas/search/compare_fastmcp.py

Both get the same tools and questions; fastmcp runs in its own environment.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.contenders import INSTALLED
from schemas.search.labelled import HALVES, HITS, Labelled, judge, read_questions, read_tools
from toolwire_dialects.search.search_index import SearchIndex

_FASTMCP = """
import asyncio, json, sys
from fastmcp.server.transforms.search.bm25 import BM25SearchTransform
from fastmcp.tools.base import Tool

async def main():
    asked = json.load(sys.stdin)
    tools = []
    for entry in asked["tools"]:
        schema = entry["inputSchema"]
        tools.append(Tool(name=entry["name"], description=entry["description"], parameters=schema))
    transform = BM25SearchTransform(max_results=asked["hits"])
    for question in asked["questions"]:
        print(json.dumps([tool.name for tool in await transform._search(tools, question)]))

asyncio.run(main())
"""


def search_here(questions: list[Labelled]) -> list[list[str]]:
    """Return the names that this search finds for each question."""
    index = SearchIndex(read_tools())
    found = []
    for each in questions:
        found.append([hit.name for hit in index.search(each.question, HITS)])
    return found


def search_there(questions: list[Labelled]) -> list[list[str]]:
    """Return the names that fastmcp's transform finds for each question."""
    asked = {
        "tools": [tool.entry for tool in read_tools()],
        "questions": [each.question for each in questions],
        "hits": HITS,
    }
    python = INSTALLED / "fastmcp" / "bin" / "python"
    done = subprocess.run(
        [str(python), "-c", _FASTMCP],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    print(f"{'half':8}{'questions':>10}{'search':>20}{'top 1':>8}{'top 5':>8}")
    for half in HALVES:
        questions = read_questions(half)
        for name, search in (("Toolwire", search_here), ("fastmcp's BM25", search_there)):
            found = judge(questions, search(questions))
            shares = f"{found.first:8.1%}{found.among:8.1%}"
            print(f"{half:8}{len(questions):10}{name:>20}{shares}")


if __name__ == "__main__":
    main()
