"""Clients that watch single resources, in both eras."""

from __future__ import annotations

import json
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from support.server_process import MODERN, PATIENCE_SECONDS, answers, protocol_of, request, served
from toolwire import AsyncContext, Context, Server, resource
from toolwire.protocol import subscriptions
from toolwire.protocol.subscriptions import MAX_URI_CHARACTERS

NOTES = "notes://all"
UPDATED = "notifications/resources/updated"


@resource(NOTES)
def notes() -> str:
    """All notes."""
    return "..."


@resource("notes://note/{name}")
def note(name: str) -> str:
    """One note."""
    return name


def write(uri: str, context: Context) -> str:
    """Write a note."""
    context.resource_changed(uri)
    return "written"


async def write_async(uri: str, context: AsyncContext) -> str:
    """Write a note."""
    await context.resource_changed(uri)
    return "written"


class Client:
    """A client of a session in this process."""

    def __init__(self, server: Server) -> None:
        self._received: SimpleQueue[Any] = SimpleQueue()
        self._session = server.open_session(self._take)

    def _take(self, data: bytes) -> None:
        for line in data.splitlines():
            self._received.put(json.loads(line))

    def send(self, message: Any) -> None:
        self._session.feed(json.dumps(message).encode() + b"\n")

    def receive(self) -> Any:
        return self._received.get(timeout=PATIENCE_SECONDS)

    def ask(self, message: Any) -> Any:
        self.send(message)
        return self.receive()

    def receive_updates_and_response(self, id: Any) -> list[Any]:
        """Return the messages until the response with *id*, and one update after it if none came
        before.
        """
        received = [self.receive()]
        while not any(each.get("id") == id for each in received) or len(received) < 2:
            received.append(self.receive())
        return [each for each in received if each.get("id") != id]


def serve_notes() -> Server:
    return Server([notes, note, write, write_async])


def watch(uri: str, id: Any = 1, verb: str = "subscribe") -> dict[str, Any]:
    return request(f"resources/{verb}", {"uri": uri}, id)


def listen(*uris: Any, id: Any = "listen") -> dict[str, Any]:
    wanted = {"resourceSubscriptions": list(uris)}
    return request("subscriptions/listen", {"notifications": wanted, "_meta": MODERN}, id)


def writing(uri: str, id: Any, name: str = "write", meta: Any = None) -> dict[str, Any]:
    params: dict[str, Any] = {"name": name, "arguments": {"uri": uri}}
    if meta is not None:
        params["_meta"] = meta
    return request("tools/call", params, id)


def update(uri: str, id: Any = None) -> dict[str, Any]:
    params: dict[str, Any] = {"uri": uri}
    if id is not None:
        params["_meta"] = {"io.modelcontextprotocol/subscriptionId": id}
    return {"jsonrpc": "2.0", "method": UPDATED, "params": params}


@pytest.mark.parametrize("tool", ["write", "write_async"])
@pytest.mark.parametrize("uri", [NOTES, "notes://note/today"])
def test_legacy_client_is_notified_of_a_resource_that_it_watches(tool: str, uri: str) -> None:
    client = Client(serve_notes())
    assert client.ask(watch(uri))["result"] == {}

    client.send(writing(uri, 2, tool))

    assert client.receive_updates_and_response(2) == [update(uri)]


def test_modern_client_is_notified_of_a_resource_that_it_watches() -> None:
    client = Client(serve_notes())
    acknowledged = client.ask(listen(NOTES, "notes://other", 5, "no URI"))
    assert acknowledged["params"]["notifications"] == {"resourceSubscriptions": [NOTES]}

    client.send(writing(NOTES, 2, meta=MODERN))

    assert client.receive_updates_and_response(2) == [update(NOTES, "listen")]


def test_all_sessions_of_a_server_are_notified() -> None:
    server = serve_notes()
    watching, writer = Client(server), Client(server)
    watching.ask(watch(NOTES))

    assert writer.ask(writing(NOTES, 1))["id"] == 1

    assert watching.receive() == update(NOTES)


def test_server_notifies_without_a_call() -> None:
    server = serve_notes()
    client = Client(server)
    client.ask(watch(NOTES))

    server.resource_changed(NOTES)

    assert client.receive() == update(NOTES)


def test_nothing_is_sent_about_other_resources_or_after_the_end() -> None:
    client = Client(serve_notes())
    client.ask(watch(NOTES))
    assert client.ask(writing("notes://note/today", 2))["id"] == 2
    assert client.ask(watch(NOTES, 3, "unsubscribe"))["result"] == {}

    assert client.ask(writing(NOTES, 4))["id"] == 4
    assert client.ask(request("ping", id=5))["id"] == 5


def test_nothing_is_sent_after_a_subscription_was_cancelled() -> None:
    client = Client(serve_notes())
    client.ask(listen(NOTES))
    client.send(request("notifications/cancelled", {"requestId": "listen"}, id=...))

    assert client.ask(writing(NOTES, 4, meta=MODERN))["id"] == 4


def test_changes_while_a_notification_waits_are_one() -> None:
    protocol = protocol_of(notes)
    answers(protocol, watch(NOTES), watch(NOTES, 2))
    watched = protocol.in_flight.watched
    assert watched is not None

    [make] = watched.list_news(NOTES)
    assert watched.list_news(NOTES) == []
    assert json.loads(make() or b"") == update(NOTES)
    assert len(watched.list_news(NOTES)) == 1


def test_waiting_notification_is_dropped_if_the_client_stops_watching() -> None:
    protocol = protocol_of(notes)
    answers(protocol, watch(NOTES))
    watched = protocol.in_flight.watched
    assert watched is not None
    [make] = watched.list_news(NOTES)

    answers(protocol, watch(NOTES, 2, "unsubscribe"))

    assert make() is None


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (watch("notes://other"), -32002),
        (watch("notes://note/" + "x" * MAX_URI_CHARACTERS), -32002),
        (request("resources/subscribe", {"uri": 5}), -32602),
        (request("resources/subscribe", {"uri": NOTES, "_meta": MODERN}), -32601),
    ],
)
def test_resource_that_cannot_be_watched_is_refused(message: Any, code: int) -> None:
    [answer] = answers(protocol_of(notes, note), message)

    assert answer["error"]["code"] == code


def test_subscription_to_no_list_of_resources_is_refused() -> None:
    wanted = {"resourceSubscriptions": NOTES}
    params = {"notifications": wanted, "_meta": MODERN}
    [answer] = answers(protocol_of(notes), request("subscriptions/listen", params))

    assert answer["error"]["code"] == -32602


def test_server_without_resources_has_nothing_to_watch() -> None:
    watching, listing = answers(protocol_of(write), watch(NOTES), listen(NOTES))

    assert listing["params"]["notifications"] == {}
    assert watching["error"]["code"] == -32601


def test_server_with_resources_declares_that_they_can_be_watched() -> None:
    for kind in (notes, note):
        [answer] = answers(
            protocol_of(kind), request("initialize", {"protocolVersion": "2025-06-18"})
        )
        capabilities = answer["result"]["capabilities"]
        assert capabilities["resources"] == {"listChanged": True, "subscribe": True}


def test_no_more_resources_are_watched_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "MAX_WATCHED", 2)
    protocol = protocol_of(note)
    first, _, third = answers(protocol, *(watch(f"notes://note/{n}", n + 1) for n in range(3)))

    assert first["result"] == {}
    assert third["error"]["code"] == -31001
    [refused] = answers(protocol, listen(NOTES, "notes://note/9"))
    assert refused["error"]["code"] == -31001


ISOLATED = '''
from toolwire import Context, resource, tool_api

@resource("notes://all")
def notes() -> str:
    """All notes."""
    return "..."

@tool_api(runs_in="process")
def write(uri: str, context: Context) -> str:
    """Write a note."""
    context.resource_changed(uri)
    return "written"
'''


@pytest.mark.process
def test_tool_in_a_process_of_its_own_notifies_the_clients_of_its_server(tmp_path: Path) -> None:
    with served(tmp_path, ISOLATED) as process:
        process.ask(request("tools/list", id=0))
        assert process.ask(watch(NOTES))["result"] == {}

        process.send(writing(NOTES, 2))
        received = [process.receive(), process.receive()]

    assert update(NOTES) in received
    assert [each.get("id") for each in received if "id" in each] == [2]
