"""ArxivSearch, GoogleScholar and BINGMap in a real server process, with stand-ins for their
services.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.server_process import Process, call, filtered_environment, request, running
from tools.bundled.stand_ins import serpapi
from tools.bundled.stand_ins.arxiv import entry, feed
from tools.bundled.stand_ins.openstreetmap import NO_ROUTE, around, node, place, route, step
from tools.bundled.stand_ins.server import StandIn, error, json_answer, silent

pytestmark = pytest.mark.process

WAY = "/osrm/route/v1/driving/10.250000,54.500000;10.250000,54.500000"
BY = {"attribution": "© OpenStreetMap contributors"}


@pytest.fixture(scope="module")
def services() -> Iterator[StandIn]:
    with StandIn() as server:
        server.on("GET", "/arxiv/query", feed(entry("Kettles", "Ada Brewer")))
        server.on("GET", "/serpapi/search", json_answer(serpapi.PAPERS))
        server.on("GET", "/nominatim/search", json_answer([place("Kettleby")]))
        server.on("GET", "/nominatim/lookup", json_answer([place("1, Kettle Street", osm_id=1)]))
        server.on(
            "GET", WAY, json_answer(route(step("depart", "", "Kettle Street"), step("arrive")))
        )
        server.on(
            "POST", "/overpass/interpreter", json_answer(around(node(1, 54.5, 10.25, name="Lid")))
        )
        yield server


@pytest.fixture(scope="module")
def process(services: StandIn) -> Iterator[Process]:
    environment = {
        "SERPAPI_API_KEY": "serpapi-key-of-mine",
        "NOMINATIM_URL": f"{services.url}/nominatim",
        "OSRM_URL": f"{services.url}/osrm",
        "OVERPASS_URL": f"{services.url}/overpass",
    }
    settings = [
        *(
            "--set",
            f"ArxivSearch.base_url={services.url}/arxiv",
            "--set",
            "ArxivSearch.doc_content_chars_max=10",
        ),
        *("--set", f"GoogleScholar.base_url={services.url}/serpapi"),
    ]
    names = ("ArxivSearch", "GoogleScholar", "BINGMap")
    with running(
        "-m", "toolwire", "serve", *names, *settings, env={**filtered_environment(), **environment}
    ) as process:
        yield process


def result(process: Process, name: str, **arguments: Any) -> Any:
    return process.ask(call(name, arguments))["result"]


def test_all_nine_are_listed_as_readers_of_the_open_world(process: Process) -> None:
    tools = process.ask(request("tools/list"))["result"]["tools"]
    assert [tool["name"] for tool in tools] == [
        "ArxivSearch_get_arxiv_article_information",
        "GoogleScholar_search_google_scholar",
        "GoogleScholar_get_author_information",
        "GoogleScholar_get_citation_format",
        "GoogleScholar_get_author_id",
        "BINGMap_get_distance",
        "BINGMap_get_route",
        "BINGMap_get_coordinates",
        "BINGMap_search_nearby",
    ]
    hints = [tool["annotations"] for tool in tools]
    assert {(hint["readOnlyHint"], hint["openWorldHint"]) for hint in hints} == {(True, True)}
    descriptions = [" ".join(tool["description"].split()) for tool in tools]
    is_said = ["Bing's service is retired" in description for description in descriptions]
    assert is_said == [False] * 5 + [True] * 4


def test_arxiv_is_searched(process: Process) -> None:
    said = "Published: 2024-02-29\nTitle: Kettles\nAuthors: Ada Brewer\nSummary: We measure"
    answer = result(process, "ArxivSearch_get_arxiv_article_information", query="kettles")
    assert answer["structuredContent"] == {"content": said}


@pytest.mark.parametrize(
    ("api", "arguments", "said", "told"),
    [
        (
            "search_google_scholar",
            {"query": "kettles", "as_ylo": 2001},
            serpapi.PAPERS,
            {"cited_by": [10, 20, 30]},
        ),
        ("get_author_information", {"author_id": "x"}, serpapi.AUTHOR, {"name": "Ada Brewer"}),
        ("get_citation_format", {"q": "x"}, serpapi.CITATIONS, {}),
        (
            "get_author_id",
            {"mauthors": "Brewer", "_async": False},
            serpapi.PROFILES,
            {"author_id": "AdaBrewerAAAAJ"},
        ),
    ],
)
def test_google_scholar_is_searched(
    process: Process,
    services: StandIn,
    api: str,
    arguments: dict[str, Any],
    said: Any,
    told: dict[str, Any],
) -> None:
    services.then(json_answer(said))
    found = result(process, f"GoogleScholar.{api}", **arguments)["structuredContent"]
    assert {**found, **told} == found


@pytest.mark.parametrize(
    ("api", "arguments", "told"),
    [
        ("get_distance", {"start": "Kettleby", "end": "54.5, 10.25"}, {"distance": 12.346}),
        (
            "get_route",
            {"start": "Kettleby", "end": "Kettleby"},
            {"route": ["Start on Kettle Street (100 m)", "Arrive at the destination"]},
        ),
        ("get_coordinates", {"location": "Kettleby"}, {"latitude": 54.5, "longitude": 10.25}),
        (
            "search_nearby",
            {"search_term": "lid", "places": "Kettleby", "radius": 100},
            {"places": [{"name": "Lid", "address": "1, Kettle Street", "distance": 0.0}]},
        ),
    ],
)
def test_openstreetmap_is_asked(
    process: Process, api: str, arguments: dict[str, Any], told: dict[str, Any]
) -> None:
    assert result(process, f"BINGMap.{api}", **arguments)["structuredContent"] == {**told, **BY}


def test_a_failure_of_a_service_is_an_answer_in_its_words(
    process: Process, services: StandIn
) -> None:
    services.then(error(400, NO_ROUTE))
    answer = result(process, "BINGMap_get_distance", start="54.5, 10.25", end="54.5, 10.25")
    assert answer["isError"] is True
    assert (
        answer["content"][0]["text"]
        == f"OSRM ({services.host}) answered 400: Impossible route between points"
    )


def test_impossible_arguments_are_refused_before_a_request(
    process: Process, services: StandIn
) -> None:
    before = len(services.requests)
    answer = result(process, "BINGMap_search_nearby", search_term="lid", latitude=100, longitude=0)
    assert answer["isError"] is True
    assert "arguments.latitude" in answer["content"][0]["text"]
    assert len(services.requests) == before


def test_progress_is_reported_and_a_cancelled_call_is_over(
    process: Process, services: StandIn
) -> None:
    services.then(silent)
    while services.arrived.acquire(blocking=False):
        pass
    process.send(
        call("GoogleScholar_get_author_id", {"mauthors": "Brewer"}, "slow", progressToken="p")
    )
    assert process.receive()["params"]["message"] == f"asking SerpApi ({services.host})"
    assert services.arrived.acquire(timeout=20)
    process.send(request("notifications/cancelled", {"requestId": "slow"}, ...))
    assert process.ask(request("ping", id="after")) == {
        "jsonrpc": "2.0",
        "id": "after",
        "result": {},
    }


def test_without_a_key_the_tools_are_listed_and_say_which_variable_they_want() -> None:
    with running("-m", "toolwire", "serve", "GoogleScholar") as process:
        assert len(process.ask(request("tools/list"))["result"]["tools"]) == 4
        answer = process.ask(call("GoogleScholar_get_author_id", {"mauthors": "Brewer"}))["result"]
    assert answer["isError"] is True
    assert "SERPAPI_API_KEY" in answer["content"][0]["text"]
