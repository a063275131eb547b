"""GoogleScholar, against a stand-in for SerpApi."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json
from support.examples import examples
from support.recording_caller import RecordingCaller
from tools.bundled.stand_ins import serpapi
from tools.bundled.stand_ins.anything import ANYTHING, much_like
from tools.bundled.stand_ins.serpapi import answer, paper
from tools.bundled.stand_ins.server import (
    Answer,
    StandIn,
    dripping,
    error,
    json_answer,
    silent,
    text_answer,
    throttled,
)
from tools.bundled.stand_ins.time import Hours
from toolwire_bundled import GoogleScholar
from toolwire_bundled.scholar import format as results
from toolwire_bundled.scholar import responses as answers
from toolwire_bundled.web.errors import Refused, Unreachable, Unusable, WebError
from toolwire_compat.lagent import ActionReturn, ActionStatusCode
from toolwire_tools import Cancelled, Context

KEY = "serpapi-key-of-mine"
ARCHIVED = f"/searches/{serpapi.SEARCH_ID}.json"


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server


@pytest.fixture(autouse=True)
def hours(monkeypatch: pytest.MonkeyPatch) -> Hours:
    monkeypatch.delenv("SERPAPI_API_KEY", raising=False)
    monkeypatch.delenv("SERPER_API_KEY", raising=False)
    hours = Hours()
    monkeypatch.setattr("toolwire_bundled.web.call.WATCH", hours.watch)
    return hours


def scholar(server: StandIn, said: Any = serpapi.PAPERS) -> Any:
    server.on("GET", "/search", json_answer(said))
    return GoogleScholar(KEY, base_url=server.url)


def test_the_first_three_papers_are_reported(server: StandIn) -> None:
    assert scholar(server).search_google_scholar("kettles") == {
        "title": ["On kettles, part 1", "On kettles, part 2", "On kettles, part 3"],
        "cited_by": [10, 20, 30],
        "organic_id": ["kettle1J", "kettle2J", "kettle3J"],
        "pub_info": [
            f"A Brewer - Journal of Kettles, 200{number} - kettles.example" for number in (1, 2, 3)
        ],
        "snippets": [f"The {number}th kettle sings …" for number in (1, 2, 3)],
    }


def test_a_paper_may_have_little_to_show(server: StandIn) -> None:
    assert scholar(
        server, answer(organic_results=[{"position": 0, "title": "Bare"}])
    ).search_google_scholar("x") == {
        "title": ["Bare"],
        "cited_by": [None],
        "organic_id": [""],
        "pub_info": [""],
        "snippets": [""],
    }


def test_every_parameter_of_a_search_arrives_by_its_name(server: StandIn) -> None:
    given = {
        "cites": "127",
        "as_ylo": 2018,
        "as_yhi": 2020,
        "scisbd": 1,
        "hl": "en",
        "lr": "lang_fr",
        "start": 10,
        "num": 20,
        "as_sdt": "7",
        "safe": "off",
        "filter": "0",
        "as_vis": "1",
    }
    scholar(server).search_google_scholar("kettles & tea", **given)
    scholar(server).search_google_scholar("kettles")

    first, second = server.requests
    always = {"engine": "google_scholar", "output": "json", "api_key": KEY}
    assert first.query == {
        **always,
        "q": "kettles & tea",
        **{name: str(value) for name, value in given.items()},
    }
    assert second.query == {**always, "q": "kettles"}


def test_all_versions_of_an_article_are_asked_for_without_a_query(server: StandIn) -> None:
    scholar(server).search_google_scholar("kettles", cluster="164")
    assert ("q" in server.requests[0].query, server.requests[0].query["cluster"]) == (False, "164")


def test_a_search_that_finds_nothing_is_no_failure(server: StandIn) -> None:
    found = scholar(server, serpapi.NOTHING).search_google_scholar("kettles that fly")
    assert found == {"title": [], "cited_by": [], "organic_id": [], "pub_info": [], "snippets": []}


def test_an_author_is_reported_with_three_articles(server: StandIn) -> None:
    assert scholar(server, serpapi.AUTHOR).get_author_information(
        "AdaBrewerAAAAJ", sort="pubdate", num=5
    ) == {
        "name": "Ada Brewer",
        "affiliations": "Professor of Kettles, Steam University",
        "website": "https://brewer.example/",
        "articles": [
            {"title": f"On kettles, part {number}", "authors": "A Brewer, B Cooper"}
            for number in (1, 2, 3)
        ],
    }
    asked = server.requests[0].query
    assert (asked["engine"], asked["author_id"]) == ("google_scholar_author", "AdaBrewerAAAAJ")
    assert (asked["sort"], asked["num"], "view_op" in asked) == ("pubdate", "5", False)


@pytest.mark.parametrize(
    ("view", "said", "member"),
    [
        ("view_citation", serpapi.ONE_ARTICLE, "citation"),
        ("list_colleagues", serpapi.COLLEAGUES, "co_authors"),
    ],
)
def test_other_views_of_an_author_are_reported_as_they_are(
    server: StandIn, view: str, said: dict[str, Any], member: str
) -> None:
    nobody = {"name": "", "affiliations": "", "website": "", "articles": []}
    found = scholar(server, said).get_author_information(
        "AdaBrewerAAAAJ", view_op=view, citation_id="x"
    )
    assert found == {**nobody, member: said[member]}


def test_the_citation_is_in_mlas_style_wherever_it_stands(server: StandIn) -> None:
    found = scholar(server, serpapi.CITATIONS).get_citation_format("kettle1J")
    assert found == {"citation": 'Brewer, Ada. "On kettles." Journal of Kettles 1 (2001): 1-9.'}
    assert server.requests[0].query["q"] == "kettle1J"

    apa = answer(citations=serpapi.CITATIONS["citations"][:1])
    assert scholar(server, apa).get_citation_format("kettle1J") == {
        "citation": apa["citations"][0]["snippet"]
    }


def test_the_id_of_an_author_is_that_of_the_first(server: StandIn) -> None:
    assert scholar(server, serpapi.PROFILES).get_author_id("Brewer") == {
        "author_id": "AdaBrewerAAAAJ"
    }
    assert server.requests[0].query == {
        "engine": "google_scholar_profiles",
        "mauthors": "Brewer",
        "hl": "en",
        "no_cache": "false",
        "async": "false",
        "output": "json",
        "api_key": KEY,
    }


CALLS = {
    "get_author_information": {"author_id": "x"},
    "get_citation_format": {"q": "x"},
    "get_author_id": {"mauthors": "x"},
}


@pytest.mark.parametrize("api", CALLS)
def test_what_does_not_exist_is_reported_in_serpapis_words(server: StandIn, api: str) -> None:
    returned = scholar(server, serpapi.NOTHING)(CALLS[api], api)
    assert returned == ActionReturn(
        CALLS[api],
        type="GoogleScholar",
        errmsg="Google hasn't returned any results for this query.",
        state=ActionStatusCode.HTTP_ERROR,
    )
    assert scholar(server, answer())(CALLS[api], api).errmsg.startswith(
        "Google Scholar has no such "
    )


# --- searches that go on --------------------------------------------------------------------------


def test_a_submitted_search_is_looked_for_until_it_is_there(server: StandIn, hours: Hours) -> None:
    action = scholar(server, serpapi.UNDER_WAY)
    server.on("GET", ARCHIVED, json_answer(serpapi.PROFILES))
    server.then(
        json_answer(answer("Queued")),
        json_answer(serpapi.UNDER_WAY),
        json_answer(serpapi.UNDER_WAY),
    )

    assert action.get_author_id("Brewer", _async=True) == {"author_id": "AdaBrewerAAAAJ"}
    assert [request.path for request in server.requests] == [
        "/search",
        ARCHIVED,
        ARCHIVED,
        ARCHIVED,
    ]
    assert server.requests[0].query["async"] == "true"
    assert server.requests[1].query == {"api_key": KEY}
    assert hours.slept == 3.0


def test_a_stand_in_with_the_port_of_another_knows_nothing_of_its_limits(hours: Hours) -> None:
    with StandIn() as first:
        first.then(throttled(1))
        scholar(first).search_google_scholar("x")
    slept = hours.slept

    hours.slept = 0.0
    with StandIn(first.port) as second:
        scholar(second).search_google_scholar("x")

    assert slept >= 1
    assert hours.slept == 0


def test_a_search_that_never_ends_is_given_up(server: StandIn, hours: Hours) -> None:
    action = scholar(server, serpapi.UNDER_WAY)
    server.on("GET", ARCHIVED, json_answer(serpapi.UNDER_WAY))
    with pytest.raises(Unreachable, match=r"^SerpApi's search took too long"):
        action.get_citation_format("x", async_=True)
    assert hours.slept < 120


def test_the_id_of_a_search_leads_nowhere_else(server: StandIn) -> None:
    elsewhere = answer("Processing")
    elsewhere["search_metadata"]["id"] = "../account?x=#"
    with pytest.raises(Refused, match="404"):
        scholar(server, elsewhere).get_citation_format("x", async_=True)
    assert server.requests[1].path == "/searches/..%2Faccount%3Fx%3D%23.json"


def test_a_call_that_is_cancelled_while_it_waits_asks_no_more(server: StandIn) -> None:
    action = scholar(server, serpapi.UNDER_WAY)
    server.on("GET", ARCHIVED, json_answer(serpapi.UNDER_WAY))
    caller = RecordingCaller(patience=2)
    with pytest.raises(Cancelled):
        action.get_author_id("Brewer", _async=True, context=Context(caller))
    assert len(server.requests) <= 2
    assert caller.told[0] == (1, None, f"asking SerpApi ({server.host})")


@pytest.mark.parametrize("slow", [silent, dripping])
def test_a_call_that_is_cancelled_while_an_answer_is_awaited_ends(
    server: StandIn, slow: Answer
) -> None:
    server.on("GET", "/search", slow)
    caller = RecordingCaller()

    def cancel() -> None:
        server.arrived.acquire()
        caller.patience = 0

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Cancelled):
        GoogleScholar(KEY, base_url=server.url).get_author_id("Brewer", context=Context(caller))
    thread.join()


# --- keys -----------------------------------------------------------------------------------------


def test_without_a_key_the_variable_is_named_and_nothing_is_asked(server: StandIn) -> None:
    returned = GoogleScholar(base_url=server.url)({"query": "kettles"}, "search_google_scholar")
    assert "SERPAPI_API_KEY" in returned.errmsg
    assert "SERPER_API_KEY" not in returned.errmsg
    assert server.requests == []


def test_the_key_of_another_service_is_not_sent(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "key-of-serper")
    returned = GoogleScholar(base_url=server.url)({"query": "kettles"}, "search_google_scholar")
    assert "set SERPAPI_API_KEY" in returned.errmsg
    assert "SERPER_API_KEY is for GoogleSearch" in returned.errmsg
    assert server.requests == []


def test_the_key_of_the_environment_is_used_and_a_given_one_wins(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERPAPI_API_KEY", "from-the-environment")
    server.on("GET", "/search", json_answer(serpapi.PAPERS))
    GoogleScholar(base_url=server.url).search_google_scholar("x")
    GoogleScholar(KEY, base_url=server.url).search_google_scholar("x")
    assert [request.query["api_key"] for request in server.requests] == [
        "from-the-environment",
        KEY,
    ]


def test_a_refused_key_is_reported_in_serpapis_words_and_not_shown(server: StandIn) -> None:
    server.on("GET", "/search", error(401, {"error": f"{serpapi.NO_KEY['error']} Yours: {KEY}"}))
    with pytest.raises(Refused, match="401: Invalid API key") as failure:
        GoogleScholar(KEY, base_url=server.url).search_google_scholar("x")
    assert KEY not in str(failure.value)
    assert len(server.requests) == 1


# --- faults ---------------------------------------------------------------------------------------


def test_a_limit_of_rate_is_waited_for(server: StandIn, hours: Hours) -> None:
    action = scholar(server)
    server.then(throttled(7))
    assert len(action.search_google_scholar("x")["title"]) == 3
    assert hours.slept >= 7


def test_a_search_that_failed_over_there_is_reported_in_its_words(server: StandIn) -> None:
    with pytest.raises(WebError, match=r"^We couldn't get valid results for this search"):
        scholar(server, serpapi.FAILED).search_google_scholar("x")


@pytest.mark.parametrize(
    "said",
    [
        *(
            "",
            "<html>Sign in</html>",
            "[]",
            "null",
            "7",
            '"organic_results"',
            "{",
            '{"organic_results": {}}',
        ),
        *(
            '{"organic_results": [null]}',
            '{"organic_results": [{"title": 7}]}',
            '{"search_metadata": []}',
        ),
        '{"organic_results": [{"inline_links": {"cited_by": {"total": "many"}}}]}',
        '{"organic_results": ' + "[" * 100_000 + "]" * 100_000 + "}",
        b'{"error": "\xff"}',
    ],
)
def test_what_is_not_serpapis_is_one_clear_error(server: StandIn, said: str | bytes) -> None:
    server.on("GET", "/search", text_answer(said, "application/json"))
    with pytest.raises(Unusable, match=r"^SerpApi's answer is not what it documents"):
        GoogleScholar(KEY, base_url=server.url).search_google_scholar("x")


READERS: dict[type[answers.Answer], Any] = {
    answers.Papers: results.list_papers,
    answers.AuthorPage: results.describe_author,
    answers.Citations: results.choose_citation,
    answers.Profiles: results.find_author_id,
}
EVERYTHING = {
    **serpapi.PAPERS,
    **serpapi.AUTHOR,
    **serpapi.CITATIONS,
    **serpapi.PROFILES,
    **serpapi.COLLEAGUES,
}


@pytest.mark.parametrize("shape", READERS)
@settings(max_examples=examples(40))
@given(
    ANYTHING
    | much_like(EVERYTHING)
    | st.lists(much_like(paper(1))).map(lambda some: answer(organic_results=some))
)
def test_any_answer_is_a_result_or_one_clear_error(shape: type[answers.Answer], said: Any) -> None:
    with suppress(WebError):
        json.encode(READERS[shape](answers.read(json.encode(said), shape)))
