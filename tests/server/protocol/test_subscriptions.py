"""Tools that change while they are served, and who is told."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from support.server_process import (
    MODERN,
    PATIENCE_SECONDS,
    Process,
    answers,
    call,
    protocol_of,
    request,
    running,
)
from toolwire import RequestError, Server, tool_api
from toolwire.protocol.catalog import Catalog
from toolwire_schemas.wire.codec import decode
from toolwire_tools import find_tools

TOOLS = '''
import threading
import toolwire

gate = threading.Event()

def first() -> str:
    """The first one."""
    return "first"

def second() -> str:
    """The second one."""
    return "second"

def wait() -> str:
    """Wait for the tools to change."""
    gate.wait()
    return "waited"

def change() -> str:
    """Offer the second instead of the first."""
    server.add(second)
    server.remove("first")
    gate.set()
    return "changed"

server = toolwire.Server([first, wait, change])
if __name__ == "__main__":
    server.serve()
'''


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    script = tmp_path / "script.py"
    script.write_text(TOOLS, encoding="utf-8")
    with running(str(script)) as process:
        yield process


def listen(id: Any, **kinds: bool) -> dict[str, Any]:
    return request("subscriptions/listen", {"notifications": kinds, "_meta": MODERN}, id)


def subscription(message: Any) -> Any:
    return message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]


def modern(method: str, id: Any, **params: Any) -> dict[str, Any]:
    return request(method, {**params, "_meta": MODERN}, id)


def names(answer: Any) -> list[str]:
    return [tool["name"] for tool in answer["result"]["tools"]]


@pytest.mark.process
def test_a_modern_client_is_notified_of_changes_it_has_subscribed_to(process: Process) -> None:
    acknowledged = process.ask(listen("listen:0", toolsListChanged=True, promptsListChanged=True))
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}
    assert subscription(acknowledged) == "listen:0"

    process.send(modern("tools/call", 1, name="change"))
    received = [process.receive() for _ in range(3)]

    news = [
        message
        for message in received
        if message.get("method") == "notifications/tools/list_changed"
    ]
    assert [subscription(message) for message in news] == ["listen:0", "listen:0"]
    assert names(process.ask(modern("tools/list", 2))) == ["wait", "change", "second"]
    [end] = process.hang_up()
    assert (end["id"], end["result"]["resultType"]) == ("listen:0", "complete")


@pytest.mark.process
def test_a_subscription_ends_when_it_is_cancelled(process: Process) -> None:
    process.ask(listen(5, toolsListChanged=True))

    process.send(request("notifications/cancelled", {"requestId": 5}, id=...))

    assert process.ask(modern("tools/call", 1, name="change"))["id"] == 1
    assert process.hang_up() == []


@pytest.mark.process
def test_a_legacy_client_is_notified_of_changes_after_its_handshake(process: Process) -> None:
    greeted = process.ask(request("initialize", {"protocolVersion": "2025-11-25"}, id=0))
    assert greeted["result"]["capabilities"]["tools"] == {"listChanged": True}

    process.send(call("change"))
    methods = [process.receive().get("method") for _ in range(3)]

    assert methods.count("notifications/tools/list_changed") == 2


@pytest.mark.process
def test_a_plain_host_receives_nothing_it_did_not_ask_for(process: Process) -> None:
    assert process.ask(call("change"))["id"] == 1
    assert names(process.ask(request("tools/list", id=2))) == ["wait", "change", "second"]
    assert process.hang_up() == []


@pytest.mark.process
def test_calls_under_way_finish_with_the_tools_they_were_begun_with(process: Process) -> None:
    process.send(call("wait", id="waiting"), call("change", id="changing"))

    assert {process.receive()["id"], process.receive()["id"]} == {"waiting", "changing"}
    assert process.ask(call("first", id=3))["error"]["code"] == -32602
    assert process.ask(call("second", id=4))["result"]["content"][0]["text"] == "second"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (request("subscriptions/listen", {"notifications": {}}), -32601),
        (modern("subscriptions/listen", 1), -32602),
        (modern("subscriptions/listen", 1, notifications=5), -32602),
        ([listen(1, toolsListChanged=True)], -32600),
    ],
)
def test_a_subscription_that_cannot_be_is_refused(message: Any, code: int) -> None:
    [answer] = answers(protocol_of(), message)

    assert (answer[0] if isinstance(answer, list) else answer)["error"]["code"] == code


def test_an_id_that_listens_cannot_be_used_for_anything_else() -> None:
    def add(a: int) -> int:
        return a

    protocol = protocol_of(add)

    _, again, called = answers(
        protocol, listen(1), listen(1), modern("tools/call", 1, name="add", arguments={"a": 1})
    )

    assert again["error"]["code"] == called["error"]["code"] == -32600


def test_tools_that_look_the_same_are_no_news() -> None:
    def make(answer: int) -> Any:
        def number() -> int:
            """A number."""
            return answer

        return number

    protocol = protocol_of(make(1))
    answers(protocol, listen(1, toolsListChanged=True))

    assert protocol.replace(Catalog(find_tools(make(2)))) == []
    assert (
        answers(protocol, call("number"))[0]["error"]["code"] == -32602
    )  # a modern client must name its version
    changed = answers(protocol, modern("tools/call", 2, name="number"))
    assert changed[0]["result"]["structuredContent"] == {"result": 2}
    [news] = protocol.replace(Catalog([]))
    assert decode(news)["method"] == "notifications/tools/list_changed"


def test_a_list_that_is_made_while_the_tools_change_is_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def one() -> int:
        return 1

    protocol = protocol_of(one)
    before = protocol.catalog
    page = before.make_page

    def change_and_page(kind: str, cursor: str | None, *, is_modern: bool) -> Any:
        made = page(kind, cursor, is_modern=is_modern)
        protocol.replace(Catalog([]))
        return made

    monkeypatch.setattr(before, "make_page", change_and_page)

    _, after = answers(protocol, request("tools/list"), request("tools/list", id=2))

    assert names(after) == []


def test_tools_added_and_removed_by_many_threads_are_all_added_and_removed() -> None:
    def named(name: str) -> Any:
        return tool_api(name=name)(lambda: None)

    def change(thread: int) -> None:
        for number in range(20):
            server.add(named(f"kept_{thread}_{number}"), named(f"gone_{thread}_{number}"))
            server.remove(f"gone_{thread}_{number}")

    server = Server()
    threads = [threading.Thread(target=change, args=(number,)) for number in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)

    expected = {f"kept_{thread}_{number}" for thread in range(4) for number in range(20)}
    assert {tool.name for tool in server.tools} == expected


def test_a_server_within_the_process_that_tells_of_changes_goes_on_answering() -> None:
    async def one() -> int:
        return 1

    async def two() -> int:
        return 2

    answered: SimpleQueue[Any] = SimpleQueue()
    server = Server([one])
    server.request("initialize", {"protocolVersion": "2025-11-25"})

    server.add(two)
    threading.Thread(target=lambda: answered.put(server.call("two")), daemon=True).start()

    assert answered.get(timeout=PATIENCE_SECONDS)["structuredContent"] == {"result": 2}


def test_a_server_within_the_process_changes_as_well() -> None:
    def one() -> int:
        return 1

    server = Server([one])
    assert server.call("one")["structuredContent"] == {"result": 1}

    with pytest.raises(ValueError, match="one"):
        server.add(one)
    server.remove("one")

    assert server.tools == []
    with pytest.raises(RequestError):
        server.call("one")
    with pytest.raises(KeyError):
        server.remove("one")


def test_a_server_within_the_process_that_is_closed_tells_those_who_wait() -> None:
    begun, go = threading.Event(), threading.Event()
    told: SimpleQueue[Any] = SimpleQueue()

    def wait() -> None:
        begun.set()
        go.wait()

    def ask() -> None:
        try:
            server.call("wait")
        except RequestError as error:
            told.put(error)

    server = Server([wait], grace_seconds=0)
    threading.Thread(target=ask, daemon=True).start()
    assert begun.wait(PATIENCE_SECONDS)

    server.close()

    assert "closed" in told.get(timeout=PATIENCE_SECONDS).message
    go.set()


def test_a_server_within_the_process_leaves_no_threads_when_it_is_closed() -> None:
    async def two() -> int:
        return 2

    def one() -> int:
        return 1

    before = set(threading.enumerate())
    with Server([one, two]) as server:
        assert server.call("one")["structuredContent"] == {"result": 1}
        assert server.call("two")["structuredContent"] == {"result": 2}

    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert not left & {"toolwire-worker", "toolwire-loop", "toolwire-outbox", "toolwire-timers"}
