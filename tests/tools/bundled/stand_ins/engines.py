"""Answers of search engines, with invented results. None of the shapes was verified with the live
service.
"""

from __future__ import annotations

from html import escape
from typing import Any
from urllib.parse import quote

Found = list[tuple[str, str, str]]
"""URL, title and summary of each result."""


def serper(found: Found, **more: Any) -> dict[str, Any]:
    """Serper's answer to `POST /search`. Source: the playground on https://serper.dev and the
    OpenAPI description at https://github.com/api-evangelist/serper."""
    organic = [
        {"title": title, "link": url, "snippet": summary, "position": position}
        for position, (url, title, summary) in enumerate(found, 1)
    ]
    return {
        "searchParameters": {"q": "tea", "type": "search", "num": 10},
        "organic": organic,
        "credits": 1,
        **more,
    }


SERPER_UNAUTHORIZED = {"message": "Unauthorized.", "statusCode": 403}

ANSWER_BOX = {
    "answerBox": {
        "snippet": "Three to\nfive minutes",
        "title": "Tea",
        "link": "https://tea.example/",
    }
}

KNOWLEDGE_GRAPH = {
    "knowledgeGraph": {
        "title": "Kettle",
        "type": "Vessel",
        "description": "A kettle boils water.",
        "attributes": {"Material": "copper"},
    }
}


def brave(found: Found) -> dict[str, Any]:
    """Brave's answer to `GET /res/v1/web/search`. Source:
    https://api.search.brave.com/app/documentation/web-search/responses."""
    results = [
        {
            "type": "search_result",
            "title": title,
            "url": url,
            "description": f"<strong>{summary}</strong>",
            "age": "1 day",
        }
        for url, title, summary in found
    ]
    query = {"original": "tea", "more_results_available": True}
    return {"type": "search", "query": query, "web": {"type": "search", "results": results}}


BRAVE_INVALID_TOKEN = {
    "type": "ErrorResponse",
    "error": {
        "id": "00000000-0000-0000-0000-000000000000",
        "status": 422,
        "code": "SUBSCRIPTION_TOKEN_INVALID",
        "detail": "The provided subscription token is invalid.",
        "meta": {"component": "authentication"},
    },
    "time": 1767225600,
}


def searxng(found: Found, *unresponsive: tuple[str, str]) -> dict[str, Any]:
    """SearXNG's answer to `GET /search?format=json`. Source:
    https://docs.searxng.org/dev/search_api.html, and `get_json_response` in its searx/webutils.py.
    """
    results = [
        {
            "url": url,
            "title": title,
            "content": summary,
            "engine": "x",
            "engines": ["x"],
            "score": 1.0,
            "category": "general",
        }
        for url, title, summary in found
    ]
    return {
        "query": "tea",
        "number_of_results": 0,
        "results": results,
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": ["green tea"],
        "unresponsive_engines": [list(each) for each in unresponsive],
    }


SEARXNG_FORBIDDEN = (
    "<!doctype html><title>403 Forbidden</title><h1>Forbidden</h1><p>You don't have the"
    " permission.</p>"
)


def duckduckgo(found: Found) -> str:
    """A page of https://html.duckduckgo.com/html/. Source: searx/engines/duckduckgo.py of SearXNG,
    and the pages that other public parsers have in their tests."""
    results = "".join(
        _result(escape(_wrapped(url)), *map(escape, (url, title, summary)))
        for url, title, summary in found
    )
    advertisement = """
        <div class="result results_links results_links_deep result--ad "><h2 class="result__title">
        <a class="result__a" href="//duckduckgo.com/y.js?ad_domain=ads.example&amp;u3=x">Buy tea</a></h2></div>"""  # noqa: E501
    nothing = "" if found else '<div class="no-results">No results.</div>'
    body = f'<div id="links" class="results">{advertisement}{results}{nothing}</div>'
    return f"<!DOCTYPE html><html><body>{body}</body></html>"


def _result(href: str, url: str, title: str, summary: str) -> str:
    return f"""
        <div class="result results_links results_links_deep web-result ">
          <div class="links_main links_deep result__body">
            <h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>
            <div class="result__extras"><a class="result__url" href="{href}">{url}</a></div>
            <a class="result__snippet" href="{href}"><b>{summary}</b></a>
          </div>
        </div>"""  # noqa: E501


def _wrapped(url: str) -> str:
    return f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&rut=0123456789abcdef"


DUCKDUCKGO_CHALLENGE = """<!DOCTYPE html><html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js">
<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></form></body></html>"""  # noqa: E501
