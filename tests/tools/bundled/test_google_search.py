"""GoogleSearch, with a stand-in for Serper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tools.bundled.stand_ins.engines import ANSWER_BOX, KNOWLEDGE_GRAPH, SERPER_UNAUTHORIZED, serper
from tools.bundled.stand_ins.server import (
    Answer,
    StandIn,
    error,
    json_answer,
    reset,
    text_answer,
    throttled,
)
from tools.bundled.stand_ins.time import Hours
from toolwire_bundled import GoogleSearch
from toolwire_bundled.google_search import format as snippets
from toolwire_compat.lagent import ActionReturn, ActionStatusCode

TWO = serper([("https://a.example/", "A", "about a"), ("https://b.example/", "B", "about b")])
TEA = {"query": "tea"}
NOTHING = ["No good Google Search Result was found"]


@pytest.fixture
def service() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server.on("POST", "/search", json_answer(TWO)).on(
            "POST", "/news", json_answer({"news": []})
        )


@pytest.fixture(autouse=True)
def hours(monkeypatch: pytest.MonkeyPatch) -> Hours:
    hours = Hours()
    monkeypatch.setattr("toolwire_bundled.web.call.WATCH", hours.watch)
    monkeypatch.setenv("SERPER_API_KEY", "key-of-the-environment")
    return hours


def search(service: StandIn, inputs: Any = TEA, **settings: Any) -> ActionReturn:
    outcome = GoogleSearch(base_url=service.url, **settings)(inputs)
    assert isinstance(outcome, ActionReturn)
    return outcome


def test_snippets_are_reported_as_the_text_of_a_list(service: StandIn) -> None:
    outcome = search(service, '{"query": "tea", "k": 5}')
    assert (outcome.state, outcome.type) == (ActionStatusCode.SUCCESS, "GoogleSearch")
    assert outcome.result == [{"type": "text", "content": "['about a', 'about b']"}]
    [request] = service.requests
    assert request.json == {"q": "tea", "num": 5}
    assert request.headers["x-api-key"] == "key-of-the-environment"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (serper([], answerBox={"answer": "42", "snippet": "no"}), ["42"]),
        ({**TWO, **ANSWER_BOX}, ["Three to five minutes"]),
        (serper([], answerBox={"snippetHighlighted": ["one", "two"]}), ["one", "two"]),
        (
            {**TWO, **KNOWLEDGE_GRAPH},
            [
                "Kettle: Vessel.",
                "A kettle boils water.",
                "Kettle Material: copper.",
                "about a",
                "about b",
            ],
        ),
        ({"organic": [{"title": "no snippet", "attributes": {"Price": 3}}]}, ["Price: 3."]),
        (serper([]), NOTHING),
        ({"organic": None, "answerBox": [], "knowledgeGraph": "none"}, NOTHING),
        ({"organic": ["odd", {"snippet": 5}]}, ["5"]),
        ({}, NOTHING),
    ],
)
def test_an_answer_comes_first_and_then_what_is_known(
    found: dict[str, Any], told: list[str]
) -> None:
    assert snippets.find_snippets(found, "search", 10) == told


def test_no_more_results_are_reported_than_asked_for() -> None:
    assert snippets.find_snippets(TWO, "search", 1) == ["about a"]


@pytest.mark.parametrize(
    ("fault", "state", "text"),
    [
        (
            error(403, SERPER_UNAUTHORIZED),
            ActionStatusCode.API_ERROR,
            "answered 403: Unauthorized.",
        ),
        (
            error(400, {"message": "Not enough credits"}),
            ActionStatusCode.API_ERROR,
            "400: Not enough credits",
        ),
        (throttled(600), ActionStatusCode.API_ERROR, "asks to wait 600 seconds"),
        (reset, ActionStatusCode.HTTP_ERROR, "Serper"),
        (text_answer("<html>"), ActionStatusCode.HTTP_ERROR, "is no JSON"),
        (json_answer([1]), ActionStatusCode.HTTP_ERROR, "not the object it should be"),
    ],
)
def test_a_failure_has_lagents_code_and_serpers_words(
    service: StandIn, fault: Answer, state: ActionStatusCode, text: str
) -> None:
    outcome = search(service.on("POST", "/search", fault), api_key="secret-of-mine")
    assert (outcome.state, outcome.result) == (state, None)
    assert text in (outcome.errmsg or "")
    assert "secret-of-mine" not in repr(outcome)


def test_a_failure_that_passes_is_no_failure(service: StandIn) -> None:
    assert search(service.then(error(503), throttled(2))).state == ActionStatusCode.SUCCESS
    assert len(service.requests) == 3


def test_the_key_may_be_given(service: StandIn) -> None:
    search(service, api_key="key-of-mine")
    assert service.requests[0].headers["x-api-key"] == "key-of-mine"


def test_a_key_that_is_missing_is_named_when_it_is_needed(
    service: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SERPER_API_KEY")
    outcome = search(service)
    assert outcome.state == ActionStatusCode.API_ERROR
    assert "SERPER_API_KEY" in (outcome.errmsg or "")
    assert service.requests == []


@pytest.mark.parametrize(
    "inputs", [{"query": " "}, {"query": "tea", "k": 0}, {"query": "tea", "k": 1000}, {}]
)
def test_arguments_that_make_no_sense_are_reported(
    service: StandIn, inputs: dict[str, Any]
) -> None:
    assert search(service, inputs).state == ActionStatusCode.ARGS_ERROR
    assert service.requests == []


def test_other_types_of_search_are_asked_elsewhere(service: StandIn) -> None:
    assert search(service, search_type="news").result == [{"type": "text", "content": str(NOTHING)}]
    with pytest.raises(ValueError, match="no search_type 'image', did you mean 'images'"):
        GoogleSearch(search_type="image")


def test_an_invalid_time_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="timeout: a positive number, not -1"):
        GoogleSearch(timeout=-1)
