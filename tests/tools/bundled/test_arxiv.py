"""ArxivSearch, against a stand-in for arXiv."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.recording_caller import RecordingCaller
from tools.bundled.stand_ins.arxiv import NO_SUCH_ARTICLE, document, entry, feed, told
from tools.bundled.stand_ins.server import (
    Exchange,
    StandIn,
    endless,
    error,
    silent,
    text_answer,
    throttled,
)
from tools.bundled.stand_ins.time import Hours
from toolwire_bundled import ArxivSearch
from toolwire_bundled.arxiv import search
from toolwire_bundled.arxiv.feed import Article, read_articles
from toolwire_bundled.web.errors import Refused, Unusable, WebError
from toolwire_compat.lagent import ActionExecutor, ActionReturn, ActionStatusCode, JsonParser
from toolwire_tools import Cancelled, Context

API = "get_arxiv_article_information"


@pytest.fixture
def arxiv() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server.on(
            "GET", "/query", feed(entry("Kettles\n  that sing", "Ada Brewer", "Ben Cooper"))
        )


@pytest.fixture(autouse=True)
def hours(monkeypatch: pytest.MonkeyPatch) -> Hours:
    hours = Hours()
    monkeypatch.setattr("toolwire_bundled.web.call.WATCH", hours.watch)
    return hours


def ask(arxiv: StandIn, query: str = "kettle", **settings: Any) -> str:
    found = ArxivSearch(base_url=arxiv.url, **settings).get_arxiv_article_information(query)
    assert list(found) == ["content"]
    return str(found["content"])


def test_articles_are_reported_as_by_lagent(arxiv: StandIn) -> None:
    assert (
        ask(arxiv)
        == "Published: 2024-02-29\nTitle: Kettles that sing\nAuthors: Ada Brewer, Ben Cooper\n"
        "Summary: We measure how long a kettle sings\n  before it boils, for water < 1 litre."
    )


def test_it_is_described_and_called_as_in_lagents_document(arxiv: StandIn) -> None:
    executor = ActionExecutor(
        [ArxivSearch(base_url=arxiv.url, parser=partial(JsonParser, lang="zh"))]
    )
    assert executor.get_actions_info() == [
        {
            "name": "ArxivSearch.get_arxiv_article_information",
            "description": "Run Arxiv search and get the article meta information.",
            "parameters": [
                {"name": "query", "type": "STRING", "description": "the content of search query"}
            ],
            "required": ["query"],
            "return_data": [
                {
                    "name": "content",
                    "description": "a list of 3 arxiv search papers",
                    "type": "STRING",
                },
            ],
            "parameter_description": (
                "如果调用该工具，你必须使用Json格式 {key: value} 传参，其中key为参数名称"
            ),
        }
    ]
    returned = executor("ArxivSearch.get_arxiv_article_information", '{"query": "kettle"}')
    assert (returned.type, returned.state, returned.errmsg) == (
        "ArxivSearch",
        ActionStatusCode.SUCCESS,
        None,
    )
    assert (
        '"content": "Published: 2024-02-29\\nTitle: Kettles that sing' in returned.format_result()
    )


def test_several_articles_have_an_empty_line_between_them(arxiv: StandIn) -> None:
    arxiv.on("GET", "/query", feed(entry("One", "A"), entry("Two", "B")))
    first, second = ask(arxiv).split("\n\n")
    assert ("Title: One" in first, "Title: Two" in second) == (True, True)


def test_what_is_asked_is_what_the_manual_has(arxiv: StandIn) -> None:
    ask(arxiv, 'au:brewer AND ti:"kettles & tea"', top_k_results=7)
    assert arxiv.requests[0].query == {
        "search_query": 'au:brewer AND ti:"kettles & tea"',
        "start": "0",
        "max_results": "7",
        "sortBy": "relevance",
        "sortOrder": "descending",
    }
    assert arxiv.requests[0].headers["user-agent"].startswith("toolwire/")


@pytest.mark.parametrize(
    ("query", "identifiers"),
    [
        ("2402.12345", "2402.12345"),
        (" 2402.12345v2  hep-ex/0307015 ", "2402.12345v2,hep-ex/0307015"),
        ("math.GT/0309136v1", "math.GT/0309136v1"),
        ("2402.12345 kettles", None),
        ("version 2402.123", None),
    ],
)
def test_identifiers_are_looked_up_not_searched_for(
    arxiv: StandIn, query: str, identifiers: str | None
) -> None:
    ask(arxiv, query)
    asked = arxiv.requests[0].query
    assert (asked.get("id_list"), asked.get("search_query")) == (
        identifiers,
        None if identifiers else query.strip(),
    )


def test_lengths_are_kept(arxiv: StandIn) -> None:
    said = ask(arxiv, "kettles, " * 99, max_query_len=7, doc_content_chars_max=10)
    assert arxiv.requests[0].query["search_query"] == "kettles"
    assert said.endswith("\nSummary: We measure")


@pytest.mark.parametrize("entries", [(), (NO_SUCH_ARTICLE,)])
def test_nothing_found_is_said_in_lagents_words(arxiv: StandIn, entries: tuple[str, ...]) -> None:
    arxiv.on("GET", "/query", feed(*entries))
    assert ask(arxiv) == "No good Arxiv Result was found"


@pytest.mark.parametrize("setting", ["top_k_results", "max_query_len", "doc_content_chars_max"])
def test_an_invalid_limit_is_refused(setting: str) -> None:
    with pytest.raises(ValueError, match=f"{setting}: a positive number, not -5"):
        ArxivSearch(**{setting: -5})


def test_a_query_without_words_is_not_sent(arxiv: StandIn) -> None:
    returned = ArxivSearch(base_url=arxiv.url)({"query": " \n"}, API)
    assert returned.state == ActionStatusCode.ARGS_ERROR
    assert returned.errmsg == "arguments.query: there is nothing in it to search for"
    assert arxiv.requests == []


def test_an_error_in_the_feed_is_reported_in_arxivs_words(arxiv: StandIn) -> None:
    arxiv.on("GET", "/query", feed(told("incorrect id format for 1234.12345")))
    assert ArxivSearch(base_url=arxiv.url)({"query": "kettle"}, API) == ActionReturn(
        {"query": "kettle"},
        type="ArxivSearch",
        errmsg="Arxiv exception: incorrect id format for 1234.12345",
        state=ActionStatusCode.HTTP_ERROR,
    )


def test_an_error_of_http_is_reported_in_arxivs_words(arxiv: StandIn) -> None:
    arxiv.on("GET", "/query", error(400, document(told("max_results must be >= 0"))))
    with pytest.raises(Refused) as failure:
        ask(arxiv)
    assert str(failure.value) == f"arXiv ({arxiv.host}) answered 400: max_results must be >= 0"
    assert len(arxiv.requests) == 1


def test_arxiv_is_given_the_time_it_asks_for(arxiv: StandIn, hours: Hours) -> None:
    arxiv.then(throttled(20, "Rate exceeded."))
    assert ask(arxiv).startswith("Published: ")
    assert hours.slept >= 20


def test_requests_to_arxiv_are_three_seconds_apart(
    arxiv: StandIn, hours: Hours, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_HOST", arxiv.host)
    for query in ("kettle", "tea", "steam"):
        ask(arxiv, query)
    assert hours.slept == pytest.approx(6.0)


def test_arxiv_has_one_connection_at_a_time(arxiv: StandIn) -> None:
    second_is_here, first_gives_up = threading.Event(), threading.Event()
    in_turn: list[bool] = []

    class First(RecordingCaller):
        @property
        def cancelled(self) -> bool:
            if second_is_here.is_set():
                first_gives_up.set()
            return second_is_here.is_set()

    class Second(RecordingCaller):
        @property
        def cancelled(self) -> bool:
            second_is_here.set()
            return False

    def answered(exchange: Exchange) -> None:
        in_turn.append(first_gives_up.is_set())
        feed()(exchange)

    def ask_first() -> None:
        with suppress(Cancelled):
            ArxivSearch(base_url=arxiv.url).get_arxiv_article_information(
                "kettle", Context(First())
            )

    arxiv.then(silent, answered)
    asking = threading.Thread(target=ask_first)
    asking.start()
    arxiv.arrived.acquire()
    ArxivSearch(base_url=arxiv.url).get_arxiv_article_information("tea", Context(Second()))
    asking.join()
    assert in_turn == [True]


BOMB = (
    '<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    + '<feed xmlns="http://www.w3.org/2005/Atom"/>'
)
OUTSIDE = (
    '<!DOCTYPE feed [<!ENTITY x SYSTEM "file:///etc/passwd">]><feed'
    ' xmlns="http://www.w3.org/2005/Atom">&x;</feed>'
)


@pytest.mark.parametrize(
    "answer",
    [
        *(BOMB, OUTSIDE, BOMB.encode("utf-16"), BOMB.replace("<", "\ufeff<", 1)),
        *(
            "",
            "Rate exceeded.",
            "<html><body>Down for maintenance</body></html>",
            '{"entries": []}',
        ),
        *(
            "<feed>",
            "<feed/>",
            "<a>" * 100_000 + "</a>" * 100_000,
            "<feed>\0</feed>",
            b"<feed>\xff</feed>",
        ),
        '<?xml version="1.0" encoding="rot13"?><feed/>',
        '<feed xmlns="http://www.w3.org/2005/Atom">&undeclared;</feed>',
    ],
)
def test_what_is_no_feed_is_one_clear_error(arxiv: StandIn, answer: str | bytes) -> None:
    arxiv.on("GET", "/query", text_answer(answer))
    with pytest.raises(Unusable, match=r"^arXiv's answer is not the Atom feed it should be"):
        ask(arxiv)


def test_an_answer_without_end_is_not_read_to_it(arxiv: StandIn) -> None:
    arxiv.on("GET", "/query", endless)
    with pytest.raises(Unusable, match="too much"):
        ask(arxiv)


def test_an_entry_may_lack_anything_but_its_title() -> None:
    bare = (
        b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>T</title><author/></entry></feed>'
    )
    assert read_articles(bare) == [Article(title="T", authors=(), summary="", published="")]


TAGS = ["feed", "entry", "title", "id", "summary", "author", "name", "published", "x:y"]
ELEMENTS = st.recursive(
    st.text(st.characters(codec="utf-8", exclude_characters="<&"), max_size=5),
    lambda inner: st.builds(
        lambda tag, children: f"<{tag}>{''.join(children)}</{tag}>",
        st.sampled_from(TAGS),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(max_examples=examples(60))
@given(
    st.one_of(
        ELEMENTS.map(lambda inside: f'<feed xmlns="http://www.w3.org/2005/Atom">{inside}</feed>'),
        st.text(),
    )
)
def test_any_answer_is_articles_or_one_clear_error(text: str) -> None:
    with suppress(WebError):
        assert all(
            article.title for article in read_articles(text.encode("utf-8", "surrogatepass"))
        )
