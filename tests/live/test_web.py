"""GoogleSearch and WebBrowser with the services themselves, for whoever can reach them:

    python -m pytest tests/live/test_web.py --live web

Each engine whose variable is set is asked one question: SERPER_API_KEY, BRAVE_API_KEY, SEARXNG_URL.
DuckDuckGo needs none, and may take the test for a robot.
"""

from __future__ import annotations

import os

import pytest
from toolwire_bundled import GoogleSearch, WebBrowser
from toolwire_compat.lagent import ActionReturn, ActionStatusCode
from toolwire_tools import ToolError

ENGINES = {
    "BraveSearch": "BRAVE_API_KEY",
    "DuckDuckGoSearch": "",
    "GoogleSearch": "SERPER_API_KEY",
    "SearxngSearch": "SEARXNG_URL",
}
PAGE = "https://www.rfc-editor.org/rfc/rfc2324.html"


@pytest.fixture(autouse=True)
def only_if_asked_for(request: pytest.FixtureRequest) -> None:
    if "web" not in request.config.getoption("--live"):
        pytest.skip("for --live web")


def needs(variable: str) -> None:
    if variable and not os.environ.get(variable):
        pytest.skip(f"{variable} is not set")


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_finds_a_well_known_page(name: str) -> None:
    needs(ENGINES[name])
    browser = WebBrowser(name, topk=10)
    found = browser.search("Hyper Text Coffee Pot Control Protocol RFC 2324")
    assert 1 <= len(found) <= 10
    assert all(
        set(result) == {"url", "summ", "title"} and result["title"] for result in found.values()
    )
    assert any("2324" in f"{result['url']} {result['title']}" for result in found.values())


@pytest.mark.parametrize("name", ["BraveSearch", "GoogleSearch"])
def test_a_wrong_key_is_refused_in_the_words_of_the_service(name: str) -> None:
    with pytest.raises(ToolError) as raised:
        WebBrowser(name, api_key="not-a-key-of-anybody").search("kettles")
    assert "answered 4" in str(raised.value)
    assert "not-a-key-of-anybody" not in str(raised.value)


def test_google_answers_shortly() -> None:
    needs("SERPER_API_KEY")
    outcome: ActionReturn = GoogleSearch()({"query": "How many legs does a spider have?"})
    assert outcome.state == ActionStatusCode.SUCCESS
    assert any(word in outcome.format_result().lower() for word in ("8", "eight"))


def test_a_page_is_read() -> None:
    content = WebBrowser().open_url(PAGE)["content"]
    assert "coffee" in content.lower()


@pytest.mark.parametrize("url", ["http://localtest.me/", "http://127.0.0.1.nip.io/"])
def test_a_public_name_of_a_private_address_is_not_opened(url: str) -> None:
    with pytest.raises(ToolError, match="not on the public internet"):
        WebBrowser().open_url(url)
