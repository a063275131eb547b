"""ArxivSearch, GoogleScholar and BINGMap with the services themselves, for whoever can reach them:

    python -m pytest tests/live/test_research.py --live web

GoogleScholar wants SERPAPI_API_KEY in the environment, and uses five of its searches. The others
cost nothing, and take half a minute at the pace that these services ask for.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from toolwire_bundled import ArxivSearch, BINGMap, GoogleScholar
from toolwire_compat.lagent import ActionReturn

ARXIV = "get_arxiv_article_information"
needs_key = pytest.mark.skipif(
    not os.environ.get("SERPAPI_API_KEY"), reason="SERPAPI_API_KEY is not set"
)


@pytest.fixture(autouse=True)
def only_if_asked_for(request: pytest.FixtureRequest) -> None:
    if "web" not in request.config.getoption("--live"):
        pytest.skip("for --live web")


@pytest.fixture(scope="module")
def maps() -> Any:
    return BINGMap()


@pytest.fixture(scope="module")
def scholar() -> Any:
    return GoogleScholar()


def test_arxiv_finds_articles() -> None:
    told = ArxivSearch(top_k_results=2).get_arxiv_article_information(
        "ti:transformer AND cat:cs.CL"
    )["content"]
    articles = told.split("\n\nPublished: ")
    assert len(articles) == 2
    assert all(
        word in article for article in articles for word in ("Title: ", "Authors: ", "Summary: ")
    )


def test_arxiv_finds_an_article_by_its_identifier() -> None:
    told = ArxivSearch().get_arxiv_article_information("1706.03762v1")["content"]
    assert told.startswith(
        "Published: 2017-06-12\nTitle: Attention Is All You Need\nAuthors: Ashish Vaswani, "
    )


def test_arxiv_says_that_there_is_nothing() -> None:
    said = ArxivSearch().get_arxiv_article_information('all:"qqxzzy vvkwj"')["content"]
    assert said == "No good Arxiv Result was found"


def test_arxiv_says_what_is_wrong() -> None:
    returned: ActionReturn = ArxivSearch(top_k_results=-1)({"query": "electron"}, ARXIV)
    assert "max_results" in str(returned.errmsg)


def test_a_town_is_where_it_is(maps: BINGMap) -> None:
    found = maps.get_coordinates("Brandenburger Tor, Berlin, Germany")
    assert found["latitude"] == pytest.approx(52.5163, abs=0.01)
    assert found["longitude"] == pytest.approx(13.3777, abs=0.01)


def test_a_place_that_does_not_exist_is_reported(maps: BINGMap) -> None:
    returned: ActionReturn = maps({"location": "qqxzzy vvkwj"}, "get_coordinates")
    assert str(returned.errmsg).startswith("there is no place called")


def test_a_distance_is_by_road_and_in_kilometres(maps: BINGMap) -> None:
    assert 25 < maps.get_distance("Berlin, Germany", "Potsdam, Germany")["distance"] < 60


def test_a_route_begins_and_ends(maps: BINGMap) -> None:
    steps = maps.get_route("52.5163, 13.3777", "52.5219, 13.4132")["route"]
    assert len(steps) > 2
    assert (steps[0].startswith("Start"), steps[-1].startswith("Arrive")) == (True, True)


def test_there_is_no_way_by_car_across_an_ocean(maps: BINGMap) -> None:
    returned: ActionReturn = maps(
        {"start": "52.5163, 13.3777", "end": "40.7128, -74.0060"}, "get_distance"
    )
    assert "oute" in str(returned.errmsg)


@pytest.mark.parametrize("term", ["museums", "Adlon"])
def test_what_is_nearby_is_found_by_kind_and_by_name(maps: BINGMap, term: str) -> None:
    found = maps.search_nearby(term, "Brandenburger Tor, Berlin, Germany", radius=2000)["places"]
    distances = [place["distance"] for place in found]
    assert 1 <= len(found) <= 5
    assert distances == sorted(distances)
    assert all("Berlin" in place["address"] for place in found)


@needs_key
def test_scholar_finds_papers_and_says_how_to_cite_them(scholar: GoogleScholar) -> None:
    found = scholar.search_google_scholar("attention is all you need", num=10)
    assert {len(values) for values in found.values()} == {3}
    assert "Attention" in scholar.get_citation_format(found["organic_id"][0])["citation"]


@needs_key
def test_scholar_finds_an_author(scholar: GoogleScholar) -> None:
    told = scholar.get_author_information("JicYPdAAAAAJ")
    assert "Hinton" in told["name"]
    assert 1 <= len(told["articles"]) <= 3


@needs_key
def test_scholar_finds_the_id_of_an_author(scholar: GoogleScholar) -> None:
    assert scholar.get_author_id("Geoffrey Hinton", _async=True)["author_id"]


def test_scholar_refuses_a_wrong_key_in_its_own_words() -> None:
    returned: ActionReturn = GoogleScholar("not-a-key-of-anybody")(
        {"query": "kettles"}, "search_google_scholar"
    )
    assert "Invalid API key" in str(returned.errmsg)
    assert "not-a-key-of-anybody" not in str(returned.errmsg)
