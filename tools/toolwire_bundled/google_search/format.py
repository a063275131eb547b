"""Formats Serper's answers as Lagent does, which follows LangChain's `GoogleSerperAPIWrapper`."""

from __future__ import annotations

from typing import Any

PLACES = {"search": "organic", "news": "news", "places": "places", "images": "images"}
"""Where the results are, by the type of the search."""

NOTHING = "No good Google Search Result was found"


def find_snippets(found: dict[str, Any], kind: str, most: int) -> list[str]:
    """The answer itself if Google has one; else what it knows of the subject, and a snippet of each
    result.
    """
    answer = _answer(_get_dict(found, "answerBox"))
    if answer:
        return answer
    snippets = _list_known_facts(_get_dict(found, "knowledgeGraph"))
    for result in [each for each in _list(found, PLACES[kind]) if isinstance(each, dict)][:most]:
        snippets += [_read_text(result["snippet"])] if "snippet" in result else []
        snippets += [f"{name}: {value}." for name, value in _get_dict(result, "attributes").items()]
    return snippets or [NOTHING]


def _answer(box: dict[str, Any]) -> list[str]:
    if box.get("answer"):
        return [_read_text(box["answer"])]
    if box.get("snippet"):
        return [_read_text(box["snippet"]).replace("\n", " ")]
    highlighted = box.get("snippetHighlighted") or []
    return [
        _read_text(each)
        for each in (highlighted if isinstance(highlighted, list) else [highlighted])
    ]


def _list_known_facts(graph: dict[str, Any]) -> list[str]:
    title = graph.get("title")
    known = [f"{title}: {graph['type']}."] if graph.get("type") else []
    known += [_read_text(graph["description"])] if graph.get("description") else []
    return known + [
        f"{title} {name}: {value}." for name, value in _get_dict(graph, "attributes").items()
    ]


def _get_dict(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _list(value: dict[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    return found if isinstance(found, list) else []


def _read_text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)
