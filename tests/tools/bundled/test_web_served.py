"""GoogleSearch, WebBrowser and WebSearch in a real server process, with stand-ins for Serper and
for pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.server_process import Process, call, filtered_environment, request, running
from tools.bundled.stand_ins.engines import SERPER_UNAUTHORIZED, serper
from tools.bundled.stand_ins.server import StandIn, error, json_answer, silent, text_answer

pytestmark = pytest.mark.process

PAGE = (
    "<title>Tea</title><p>Whoever wants to make <a href='/leaves'>tea</a> begins with water, and"
    " boils it first.</p>"
)
TEXT = "Whoever wants to make tea begins with water, and boils it first."


@pytest.fixture(scope="module")
def web() -> Iterator[StandIn]:
    with StandIn() as server:
        found = [(f"{server.url}/tea", "Tea", "about tea"), (f"{server.url}/gone", "Gone", "")]
        server.on("POST", "/search", json_answer(serper(found))).on(
            "GET", "/tea", text_answer(PAGE)
        )
        yield server


@pytest.fixture(scope="module")
def process(web: StandIn) -> Iterator[Process]:
    settings = {
        "GoogleSearch.base_url": web.url,
        "WebBrowser.searcher_type": "GoogleSearch",
        "WebBrowser.base_url": web.url,
        "WebBrowser.allow_private": '["127.0.0.0/8"]',
        "WebSearch.black_list": '["ads.example"]',
    }
    given = [word for setting in settings.items() for word in ("--set", "=".join(setting))]
    environment = {**filtered_environment(), "SERPER_API_KEY": "key-of-mine"}
    with running(
        "-m",
        "toolwire",
        "serve",
        "GoogleSearch",
        "WebBrowser",
        "WebSearch",
        *given,
        env=environment,
    ) as process:
        yield process


def result(process: Process, name: str, **arguments: Any) -> Any:
    return process.ask(call(name, arguments))["result"]


def test_all_seven_are_listed_as_readers_of_the_open_world(process: Process) -> None:
    tools = process.ask(request("tools/list"))["result"]["tools"]
    apis = ["search", "select", "open_url"]
    names = [f"{name}_{api}" for name in ("WebBrowser", "WebSearch") for api in apis]
    assert [tool["name"] for tool in tools] == ["GoogleSearch", *names]
    hints = [tool["annotations"] for tool in tools]
    assert {(hint["readOnlyHint"], hint["openWorldHint"]) for hint in hints} == {(True, True)}


def test_google_answers(process: Process) -> None:
    answer = result(process, "GoogleSearch", query="tea", k=1)
    assert answer == {"content": [{"type": "text", "text": "['about tea']"}], "isError": False}


def test_what_is_found_is_selected_and_opened(process: Process, web: StandIn) -> None:
    found = result(process, "WebBrowser_search", query=["tea"])["structuredContent"]
    assert [list(each) for each in found.values()] == [["url", "summ", "title"]] * 2
    first, second = found
    selected = result(process, "WebBrowser_select", select_ids=[int(first), int(second)])[
        "structuredContent"
    ]
    assert selected[first] == {"url": f"{web.url}/tea", "title": "Tea", "content": TEXT}
    assert selected[second]["error"] == f"{web.url}/gone answered 404: no /gone here"
    opened = result(process, "WebBrowser_open_url", url=f"{web.url}/tea")["structuredContent"]
    assert opened == {
        "type": "text",
        "content": f"# Tea\n\n{TEXT.replace('tea', f'[tea]({web.url}/leaves)')}",
    }


def test_a_failure_is_an_answer_in_the_words_of_the_service(process: Process, web: StandIn) -> None:
    web.then(error(403, SERPER_UNAUTHORIZED))
    answer = result(process, "GoogleSearch", query="tea")
    assert answer["isError"] is True
    assert answer["content"][0]["text"] == f"Serper ({web.host}) answered 403: Unauthorized."


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest/meta-data/", "http://localhost:1/", "file:///etc/passwd"]
)
def test_a_model_cannot_reach_the_surroundings_of_the_server(process: Process, url: str) -> None:
    answer = result(process, "WebSearch_open_url", url=url)
    assert answer["isError"] is True
    assert any(
        words in answer["content"][0]["text"]
        for words in ("not on the public internet", "has the scheme")
    )


def test_nothing_is_selected_before_a_search(process: Process) -> None:
    answer = result(process, "WebSearch.select", select_ids=[0])
    assert (answer["isError"], answer["content"][0]["text"]) == (
        True,
        "No search results to select from.",
    )


def test_progress_is_reported_and_a_cancelled_call_is_over(process: Process, web: StandIn) -> None:
    web.then(silent)
    while web.arrived.acquire(blocking=False):
        pass
    process.send(call("WebBrowser_search", {"query": "other"}, "slow", progressToken="p"))
    assert process.receive()["params"]["message"] == f"asking Serper ({web.host})"
    assert web.arrived.acquire(timeout=20)
    process.send(request("notifications/cancelled", {"requestId": "slow"}, ...))
    assert process.ask(request("ping", id="after")) == {
        "jsonrpc": "2.0",
        "id": "after",
        "result": {},
    }
