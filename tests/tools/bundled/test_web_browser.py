"""WebBrowser, with stand-ins for the engines and for the pages they find."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.recording_caller import RecordingCaller
from tools.bundled.stand_ins.engines import (
    BRAVE_INVALID_TOKEN,
    DUCKDUCKGO_CHALLENGE,
    SEARXNG_FORBIDDEN,
    Found,
    brave,
    duckduckgo,
    searxng,
    serper,
)
from tools.bundled.stand_ins.server import (
    Answer,
    Exchange,
    StandIn,
    error,
    json_answer,
    redirect,
    silent,
    text_answer,
    throttled,
)
from tools.bundled.stand_ins.time import Hours
from toolwire_bundled import BingBrowser, WebBrowser, WebSearch
from toolwire_bundled.web.errors import NotOpened, Refused, Unusable
from toolwire_bundled.web_browser.duckduckgo import read as read_duckduckgo
from toolwire_bundled.web_browser.hits import read_hits
from toolwire_compat.lagent import ActionExecutor, ActionReturn, ActionStatusCode
from toolwire_tools import ArgumentsError, Cancelled, Context, ToolError

TWO: Found = [
    ("https://a.example/", "A", "about a"),
    ("https://b.example/b?c=1&d=2", "B & co", 'about "b"'),
]
TOLD = {
    0: {"url": "https://a.example/", "summ": "about a", "title": "A"},
    1: {"url": "https://b.example/b?c=1&d=2", "summ": 'about "b"', "title": "B & co"},
}


@pytest.fixture
def web() -> Iterator[StandIn]:
    with StandIn() as server:
        server.on(
            "POST",
            "/search",
            lambda exchange: json_answer(serper(found(server, exchange)))(exchange),
        )
        server.on(
            "GET",
            "*",
            lambda exchange: text_answer(f"tea at {exchange.received.path}", "text/plain")(
                exchange
            ),
        )
        yield server


def found(server: StandIn, exchange: Exchange) -> Found:
    """Two pages for each query: one of its own, and one that is found for all."""
    query = exchange.received.json["q"]
    return [
        (f"{server.url}/{query}", query, f"own of {query}"),
        (f"{server.url}/all", "all", f"all of {query}"),
    ]


@pytest.fixture(autouse=True)
def hours(monkeypatch: pytest.MonkeyPatch) -> Hours:
    hours = Hours()
    monkeypatch.setattr("toolwire_bundled.web.call.WATCH", hours.watch)
    for variable in ("BRAVE_API_KEY", "SEARXNG_URL", "SERPER_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    return hours


def browser(web: StandIn, **settings: Any) -> WebBrowser:
    given: dict[str, Any] = {
        "searcher_type": "GoogleSearch",
        "api_key": "key-of-mine",
        "base_url": web.url,
        "allow_private": True,
    }
    return WebBrowser(**{**given, **settings})


# --- engines --------------------------------------------------------------------------------------

ENGINES: dict[str, tuple[str, str, Answer]] = {
    "GoogleSearch": ("POST", "/search", json_answer(serper(TWO))),
    "BraveSearch": ("GET", "/web/search", json_answer(brave(TWO))),
    "SearxngSearch": ("GET", "/search", json_answer(searxng(TWO, ("other", "timeout")))),
    "DuckDuckGoSearch": ("POST", "/html", text_answer(duckduckgo(TWO))),
}


@pytest.mark.parametrize("name", ENGINES)
def test_each_engine_tells_the_same_of_the_same(web: StandIn, name: str) -> None:
    method, path, answer = ENGINES[name]
    web.on(method, path, answer)
    base = web.url + ("/html" if name == "DuckDuckGoSearch" else "")
    assert browser(web, searcher_type=name, base_url=base).search("tea") == TOLD
    [request] = web.requests
    assert "key-of-mine" not in request.path + str(request.query)


def test_engines_are_asked_in_their_own_words(web: StandIn) -> None:
    for method, path, answer in ENGINES.values():
        web.on(method, path, answer)
    settings = {"topk": 5, "region": "de", "language": "fr"}
    for name in ENGINES:
        base = web.url + ("/html" if name == "DuckDuckGoSearch" else "")
        browser(web, searcher_type=name, base_url=base, **settings).search("green tea")
    google, by_brave, by_searxng, by_duckduckgo = web.requests
    assert google.json == {"q": "green tea", "num": 10, "gl": "de", "hl": "fr"}
    assert google.headers["x-api-key"] == by_brave.headers["x-subscription-token"] == "key-of-mine"
    asked = {"q": "green tea", "count": "10", "country": "de", "search_lang": "fr"}
    assert by_brave.query == {**asked, "result_filter": "web", "text_decorations": "false"}
    assert by_searxng.query == {
        "q": "green tea",
        "format": "json",
        "categories": "general",
        "language": "fr",
    }
    assert by_duckduckgo.form == {"q": "green tea", "b": "", "kl": "de"}


@pytest.mark.parametrize("path", ["", "/", "/search", "/search/"])
def test_searxngs_address_is_taken_with_and_without_its_path(
    web: StandIn, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    web.on("GET", "/search", json_answer(searxng(TWO)))
    monkeypatch.setenv("SEARXNG_URL", web.url + path)
    assert WebBrowser("SearxngSearch").search("tea") == TOLD


@pytest.mark.parametrize(
    ("name", "answer", "told"),
    [
        ("GoogleSearch", error(403, {"message": "Unauthorized."}), "answered 403: Unauthorized."),
        (
            "BraveSearch",
            error(422, BRAVE_INVALID_TOKEN),
            "422: The provided subscription token is invalid.",
        ),
        ("BraveSearch", throttled(1000), "asks to wait 1000 seconds"),
        (
            "SearxngSearch",
            error(403, SEARXNG_FORBIDDEN),
            "is json among the search.formats of its settings.yml?",
        ),
        (
            "SearxngSearch",
            json_answer(searxng([], ("brave", "too many requests"))),
            "brave too many requests",
        ),
        ("DuckDuckGoSearch", text_answer(DUCKDUCKGO_CHALLENGE), "takes the client for a robot"),
        ("DuckDuckGoSearch", redirect("https://duckduckgo.com/?q=!g"), "answered 302"),
        ("GoogleSearch", text_answer("<html>busy</html>"), "is no JSON"),
    ],
)
def test_an_engine_that_refuses_is_reported_in_its_words(
    web: StandIn, name: str, answer: Answer, told: str
) -> None:
    method, path, _ = ENGINES[name]
    web.on(method, path, answer)
    base = web.url + ("/html" if name == "DuckDuckGoSearch" else "")
    with pytest.raises(ToolError) as raised:
        browser(web, searcher_type=name, base_url=base).search("tea")
    assert told in str(raised.value)
    assert "key-of-mine" not in str(raised.value)


@pytest.mark.parametrize("name", ["BraveSearch", "SearxngSearch"])
@pytest.mark.parametrize(
    "answer", [{}, [], None, "odd", {"results": 5, "web": [], "organic": {"x": 1}}]
)
def test_an_engine_that_answers_oddly_has_found_nothing(
    web: StandIn, name: str, answer: Any
) -> None:
    method, path, _ = ENGINES[name]
    web.on(method, path, json_answer(answer))
    assert browser(web, searcher_type=name).search("tea") == {}


@pytest.mark.parametrize("answer", [[], None, "odd"])
def test_google_answers_with_an_object(web: StandIn, answer: Any) -> None:
    web.on("POST", "/search", json_answer(answer))
    with pytest.raises(Unusable, match="not the object it should be"):
        browser(web).search("tea")


def test_nothing_found_is_no_error(web: StandIn) -> None:
    web.on("POST", "/html", text_answer(duckduckgo([])))
    assert (
        browser(web, searcher_type="DuckDuckGoSearch", base_url=f"{web.url}/html").search("tea")
        == {}
    )


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("GoogleSearch", "SERPER_API_KEY"),
        ("BraveSearch", "BRAVE_API_KEY"),
        ("SearxngSearch", "SEARXNG_URL"),
    ],
)
def test_what_an_engine_needs_is_named_when_it_is_needed(name: str, variable: str) -> None:
    with pytest.raises(ToolError, match=f"set {variable}"):
        WebBrowser(name).search("tea")


def test_an_engine_that_does_not_exist_is_reported_with_the_closest_one() -> None:
    with pytest.raises(
        ValueError, match="no searcher_type 'BraveSerch', did you mean 'BraveSearch'"
    ):
        WebBrowser("BraveSerch")
    with pytest.raises(ValueError, match="switched off in August 2025"):
        WebBrowser("BingSearch")
    with pytest.raises(ValueError, match="no searcher_type"):
        WebBrowser("__import__('os').abort")


@pytest.mark.parametrize(
    "wrong",
    [
        {"topk": 0},
        {"timeout": 0},
        {"timeout": float("inf")},
        {"max_chars": -1},
        {"allow_private": ["http://a.example"]},
        {"black_list": ["a.example,b.example"]},
        {"black_list": ["https://a.example/"]},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(
        ValueError, match=r"a positive number|neither a host|black_list names hosts"
    ):
        WebBrowser(**wrong)


@given(st.text(max_size=200) | st.just(DUCKDUCKGO_CHALLENGE))
def test_no_page_of_results_is_too_odd_to_be_read(page: str) -> None:
    try:
        assert read_duckduckgo(page) == []
    except Unusable:
        return


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["url", "title", "summ"]), inner)
        ),
    )
)
@settings(max_examples=examples(40))
def test_no_results_are_too_odd_to_be_read(value: Any) -> None:
    for hit in read_hits(value, url="url", title="title", summary="summ"):
        assert isinstance(hit.url, str)


# --- search ---------------------------------------------------------------------------------------


def test_what_several_queries_found_is_reported_once(web: StandIn) -> None:
    assert browser(web).search(["x", "y", "x"]) == {
        0: {"url": f"{web.url}/x", "summ": "own of x", "title": "x"},
        1: {"url": f"{web.url}/all", "summ": "all of x\nall of y", "title": "all"},
        2: {"url": f"{web.url}/y", "summ": "own of y", "title": "y"},
    }
    assert len(web.requests) == 2


@pytest.mark.process
def test_ids_are_never_given_out_twice(web: StandIn) -> None:
    tool = browser(web)
    assert [list(tool.search(query)) for query in ("x", "y", "x")] == [[0, 1], [2, 3], [4, 5]]
    assert tool.select([0, 2]) == {
        0: {"url": f"{web.url}/x", "title": "x", "content": "tea at /x"},
        2: {"url": f"{web.url}/y", "title": "y", "content": "tea at /y"},
    }


def test_searches_at_the_same_time_do_not_mix_their_ids(web: StandIn) -> None:
    tool, told = browser(web), dict[str, Any]()
    names = [f"q{number}" for number in range(8)]
    threads = [
        threading.Thread(target=lambda name=name: told.update({name: tool.search(name)}))
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for results in told.values() for number in results) == list(range(16))
    for name, results in told.items():
        [own] = [number for number, result in results.items() if result["title"] == name]
        assert tool.search_results[own]["url"] == f"{web.url}/{name}"


def test_only_the_latest_thousand_results_are_kept(web: StandIn) -> None:
    many = [(f"{web.url}/{number}", str(number), "") for number in range(600)]
    web.on("POST", "/search", json_answer(serper(many)))
    tool = browser(web, topk=600)
    tool.search("x")
    tool.search("y")
    assert list(tool.search_results) == list(range(200, 1200))
    with pytest.raises(ToolError, match="no search result has the id 0; there are 200 to 1199"):
        tool.select([0])


def test_one_query_that_fails_does_not_spoil_the_others(web: StandIn) -> None:
    caller = RecordingCaller()
    web.then(error(400, {"message": "no such query"}))
    assert list(browser(web).search(["x", "y"], context=Context(caller))) == [0, 1]
    assert any("one of the queries failed" in (message or "") for _, _, message in caller.told)


def test_unwanted_results_are_left_out(web: StandIn) -> None:
    unwanted = [
        "https://www.youtube.com/watch",
        "https://bilibili.com./x",
        "https://x.example/a.PDF",
        "ftp://x.example/",
    ]
    wanted = [
        "https://notyoutube.com/",
        "https://x.example/?u=youtube.com",
        "https://x.example/a.pdf.html",
    ]
    web.on(
        "POST",
        "/search",
        json_answer(serper([(url, "", "") for url in [*unwanted, *wanted, "http://[::1"]])),
    )
    assert [result["url"] for result in browser(web).search("x").values()] == wanted
    assert len(browser(web, black_list=[]).search("x")) == 5
    assert len(browser(web, black_list=["YouTube.com", ".bilibili.com"]).search("x")) == 3
    assert len(browser(web, topk=1).search("x")) == 1


def test_a_search_is_remembered_for_ten_minutes(web: StandIn, hours: Hours) -> None:
    tool = browser(web)
    for seconds in (0, 599, 2):
        hours.watch.sleep(seconds)
        tool.search("x")
    assert len(web.requests) == 2


@pytest.mark.parametrize("query", ["", " ", [], ["", " "], ["x"] * 11])
def test_queries_that_make_no_sense_are_refused(web: StandIn, query: Any) -> None:
    with pytest.raises(ArgumentsError, match="from 1 to 10 queries"):
        browser(web).search(query)


# --- select and open_url --------------------------------------------------------------------------


def test_without_a_search_there_is_nothing_to_select(web: StandIn) -> None:
    outcome = browser(web)('{"select_ids": [0]}', "select")
    assert isinstance(outcome, ActionReturn)
    assert (outcome.state, outcome.errmsg) == (
        ActionStatusCode.API_ERROR,
        "No search results to select from.",
    )


@pytest.mark.process
def test_a_page_that_cannot_be_fetched_is_reported_with_the_others(web: StandIn) -> None:
    web.on("GET", "/all", error(404, "gone"))
    tool = browser(web)
    tool.search("x")
    assert tool.select([1, 0, 7]) == {
        1: {"url": f"{web.url}/all", "title": "all", "error": f"{web.url}/all answered 404: gone"},
        0: {"url": f"{web.url}/x", "title": "x", "content": "tea at /x"},
        7: {"error": "no search result has the id 7; there are 0 to 1"},
    }
    with pytest.raises(
        ToolError, match=r"1: .* answered 404: gone\n7: no search result has the id 7"
    ):
        tool.select([1, 7])


@pytest.mark.process
def test_selected_pages_are_reported_up_to_8192_letters_without_links(web: StandIn) -> None:
    web.on("GET", "/x", text_answer("[tea](https://x.example/) " + "茶" * 10_000, "text/plain"))
    tool = browser(web)
    tool.search("x")
    content = tool.select([0])[0]["content"]
    assert (len(content), content[:6]) == (8192, "tea 茶茶")


@pytest.mark.parametrize("ids", [[], list(range(11))])
def test_neither_none_nor_too_many_can_be_selected(web: StandIn, ids: list[int]) -> None:
    tool = browser(web)
    tool.search("x")
    with pytest.raises(ArgumentsError, match="from 1 to 10 ids"):
        tool.select(ids)


@pytest.mark.process
def test_a_page_is_opened_with_its_title_and_links(web: StandIn) -> None:
    body = (
        "<title>Tea</title><p>There is a lot to be said of <a href='/leaves'>leaves</a>, and it is"
        " said here.</p>"
    )
    web.on("GET", "/page", text_answer(body))
    content = (
        f"# Tea\n\nThere is a lot to be said of [leaves]({web.url}/leaves), and it is said here."
    )
    assert browser(web).open_url(f"{web.url}/page") == {"type": "text", "content": content}


@pytest.mark.process
def test_a_long_page_is_cut_with_a_note(web: StandIn) -> None:
    web.on("GET", "/long", text_answer("tea" * 1000, "text/plain"))
    content = browser(web, max_chars=100).open_url(f"{web.url}/long")["content"]
    assert content == ("tea" * 34)[:100] + "\n\n(2,900 more characters were cut)"


def test_a_page_that_cannot_be_had_is_a_failure(web: StandIn) -> None:
    web.on("GET", "/gone", error(410, "gone for good"))
    outcome = browser(web)(json.dumps({"url": f"{web.url}/gone"}), "open_url")
    assert isinstance(outcome, ActionReturn)
    assert (outcome.result, outcome.errmsg) == (None, f"{web.url}/gone answered 410: gone for good")
    with pytest.raises(Refused):
        browser(web).open_url(f"{web.url}/gone")


@pytest.mark.process
def test_a_page_is_remembered_for_ten_minutes_and_a_failure_is_not(
    web: StandIn, hours: Hours
) -> None:
    tool = browser(web)
    web.then(error(500))
    with pytest.raises(Refused):
        tool.open_url(f"{web.url}/page")
    for seconds in (0, 599, 2):
        hours.watch.sleep(seconds)
        tool.open_url(f"{web.url}/page")
    assert len(web.requests) == 3


@pytest.mark.process
@pytest.mark.parametrize("way", ["open_url", "select"])
def test_private_addresses_are_not_opened_unless_they_are_allowed(web: StandIn, way: str) -> None:
    strict, allowed = browser(web, allow_private=False), browser(web, allow_private=["127.0.0.0/8"])

    def open_page(tool: WebBrowser) -> Any:
        if way == "open_url":
            return tool.open_url(f"{web.url}/x")
        return tool.select([next(iter(tool.search("x")))])

    with pytest.raises(ToolError, match=r"127\.0\.0\.1 is not on the public internet"):
        open_page(strict)
    assert "tea at /x" in str(open_page(allowed))
    assert [request.path for request in web.requests if request.method == "GET"] == ["/x"]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "page.example", "http://localhost:22/"])
def test_what_is_no_page_is_not_opened(web: StandIn, url: str) -> None:
    with pytest.raises(NotOpened):
        browser(web, allow_private=False).open_url(url)


@pytest.mark.parametrize(("api", "argument"), [("search", ["x", "y", "z"]), ("open_url", "{url}")])
def test_a_cancelled_call_ends(web: StandIn, api: str, argument: Any) -> None:
    class Caller(RecordingCaller):
        arrived = False

        @property
        def cancelled(self) -> bool:
            self.arrived = self.arrived or web.arrived.acquire(blocking=False)
            return self.arrived

    web.on("POST", "/search", silent).on("GET", "*", silent)
    call = getattr(browser(web), api)
    with pytest.raises(Cancelled):
        call(
            argument if isinstance(argument, list) else argument.format(url=web.url),
            context=Context(Caller()),
        )


@pytest.mark.parametrize("other", [BingBrowser, WebSearch])
def test_the_other_names_are_those_of_their_actions(other: type[WebBrowser]) -> None:
    action = other()

    names = [api["name"] for api in action.description["api_list"]]
    assert (action.name, names) == (other.__name__, ["search", "select", "open_url"])


def test_an_executor_calls_bing_browser_by_its_name() -> None:
    answer = ActionExecutor([BingBrowser()])("BingBrowser.select", {"select_ids": [1]})

    assert (answer.type, answer.errmsg) == ("BingBrowser", "No search results to select from.")
