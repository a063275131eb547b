"""The messages that a client sends while its server's tools are loaded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.server_process import MODERN, call, request
from toolwire import Server
from toolwire.errors import LoadError
from toolwire.list_cache.cached_catalog import CachedCatalog
from toolwire.loading.failed_start import answer_failure
from toolwire.runtime.loading_filter import LoadingFilter
from toolwire.runtime.session import Session
from toolwire_schemas.wire.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    LOADING_FAILED,
    OVERLOADED,
    PARSE_ERROR,
)


def add(a: int, b: int) -> int:
    return a + b


INITIALIZE = request("initialize", {"protocolVersion": "2025-11-25"}, id="hello")
LIST = request("tools/list", id="list")
PING = request("ping", id="ping")


class Host:
    """A client of *server*, whose tools are loaded by `load`."""

    def __init__(
        self, *, answers_handshake: bool = True, max_bytes: int = 10_000, **settings: Any
    ) -> None:
        self.server = Server(name="late", version="1", **settings)
        self.received: list[Any] = []
        self.session: Session = self.server.open_session(self._receive)
        self.kept = LoadingFilter(
            self.session, answers_handshake=answers_handshake, max_bytes=max_bytes
        )

    def send(self, *messages: Any) -> None:
        for message in messages:
            self.session.feed(json.dumps(message).encode() + b"\n")

    def load(self) -> None:
        self.server.add(add)
        self.kept.serve()

    def end(self) -> list[Any]:
        self.session.end()
        return self.received

    def ids(self) -> list[Any]:
        return [message.get("id") for message in self.end()]

    def _receive(self, data: bytes) -> None:
        self.received += [json.loads(line) for line in data.splitlines()]


def test_the_handshake_and_pings_are_answered_and_the_rest_waits() -> None:
    host = Host()

    host.send(INITIALIZE, request("notifications/initialized", id=...), LIST, PING)

    assert host.kept.has_requests
    assert host.ids() == ["hello", "ping"]


def test_what_waits_is_served_in_its_order_when_the_tools_are_loaded() -> None:
    host = Host()
    host.send(LIST, call("add", {"a": 1, "b": 2}, id="call"), request("tools/list", id="again"))

    host.load()

    answers = {message["id"]: message["result"] for message in host.end()}
    assert [tool["name"] for tool in answers["list"]["tools"]] == ["add"]
    assert answers["call"]["structuredContent"] == {"result": 3}
    assert list(answers).index("list") < list(answers).index("again")


def test_messages_take_the_usual_way_after_loading() -> None:
    host = Host()
    host.load()

    host.send(LIST)

    assert host.ids() == ["list"]


def test_a_client_that_has_seen_no_list_is_not_notified_of_changes() -> None:
    host = Host()
    host.send(INITIALIZE)

    host.load()

    assert [message for message in host.end() if "method" in message] == []


def test_a_client_is_notified_of_changes_after_loading() -> None:
    host = Host()
    host.send(INITIALIZE)
    host.load()

    host.server.remove("add")

    news = [message["method"] for message in host.end() if "method" in message]
    assert news == ["notifications/tools/list_changed"]


def test_a_handshake_that_depends_on_the_tools_waits_for_them() -> None:
    host = Host(answers_handshake=False)
    host.send(INITIALIZE, PING)
    assert [message["id"] for message in host.received] == ["ping"]

    host.load()

    [hello] = [message for message in host.end() if message["id"] == "hello"]
    assert hello["result"]["capabilities"].keys() == {"tools", "logging", "tasks"}


def test_a_handshake_that_waits_too_long_is_answered_with_all_lists() -> None:
    host = Host(answers_handshake=False)
    host.send(INITIALIZE, LIST)

    host.kept.answer_late()
    host.load()
    host.send(request("prompts/list", id="prompts"))

    answers = {message["id"]: message.get("result") for message in host.end()}
    assert answers["hello"]["capabilities"].keys() == {
        "tools",
        "resources",
        "prompts",
        "logging",
        "completions",
        "tasks",
    }
    assert answers["prompts"] == {"prompts": []}


class Earlier:
    """Lists of an earlier start with one tool, if they are *valid*."""

    def __init__(self, host: Host, *, valid: bool = True) -> None:
        self._session = host.session
        self._valid = valid
        self.is_saved = self.is_forgotten = False

    def show(self) -> bool:
        if self._valid:
            entries = {"tools": [{"name": "old", "inputSchema": {"type": "object"}}]}
            self._session.replace(CachedCatalog(entries, {"tools": {"listChanged": True}}))
            self._session.notifies_of_changes = True
        return self._valid

    def save(self) -> None:
        self.is_saved = True

    def forget(self) -> None:
        self.is_forgotten = True


CALL = call("add", {"a": 1, "b": 2}, id="call")
LISTEN = request("subscriptions/listen", {"_meta": MODERN, "notifications": {}}, id="listen")
MODERN_LIST = request("tools/list", {"_meta": MODERN}, id="list")


@pytest.mark.parametrize("late_first", [True, False], ids=["late, then known", "known, then late"])
@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        ([INITIALIZE, LIST, CALL], ["hello", "list"]),
        ([INITIALIZE, CALL, LIST, PING], ["hello", "list", "ping"]),
        ([LIST, INITIALIZE], ["list", "hello"]),
        ([CALL, INITIALIZE], []),
        ([[LIST]], []),
        ([MODERN_LIST, LISTEN], ["list", None, "listen"]),
    ],
)
def test_lists_of_an_earlier_start_answer_when_it_is_late(
    late_first: bool, sent: list[Any], answered: list[Any]
) -> None:
    host = Host()
    for step in (late_first, not late_first):
        if step:
            host.kept.answer_late()
        else:
            host.kept.use_early(Earlier(host))

    host.send(*sent)

    assert host.ids() == answered


def test_a_handshake_that_waits_declares_what_an_earlier_start_declared() -> None:
    host = Host(answers_handshake=False)
    host.kept.use_early(Earlier(host))
    host.send(INITIALIZE, LIST)
    assert host.received == []

    host.kept.answer_late()

    [hello, listed] = host.end()
    assert hello["result"]["capabilities"].keys() == {"tools", "tasks"}
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["old"]


def test_a_client_is_notified_of_what_an_earlier_start_listed_otherwise() -> None:
    host = Host()
    earlier = Earlier(host)
    host.kept.use_early(earlier)
    host.kept.answer_late()
    host.send(INITIALIZE, LIST, CALL)

    host.load()

    hello, _, news, called = host.end()
    assert hello["id"] == "hello"
    assert news["method"] == "notifications/tools/list_changed"
    assert called["result"]["structuredContent"] == {"result": 3}
    assert earlier.is_saved


def test_lists_of_an_earlier_start_that_are_not_valid_do_not_answer() -> None:
    host = Host(answers_handshake=False)
    host.kept.use_early(Earlier(host, valid=False))
    host.send(INITIALIZE, LIST)

    host.kept.answer_late()

    assert host.ids() == ["hello"]


def test_lists_of_an_earlier_start_do_not_replace_those_of_an_import_that_has_ended() -> None:
    host = Host()
    host.kept.use_early(Earlier(host))
    host.kept.note_import()
    host.server.add(add)

    host.kept.answer_late()
    host.kept.serve()
    host.send(LIST)

    [listed] = host.end()
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["add"]


def test_an_import_that_fails_leaves_no_lists() -> None:
    host = Host()
    earlier = Earlier(host)
    host.kept.use_early(earlier)

    answer_failure(host.kept, LoadError("no such file"))

    assert earlier.is_forgotten


@pytest.mark.parametrize("message", [INITIALIZE, LIST, [PING, LIST], {"id": 1}])
def test_after_a_message_that_waits_a_handshake_waits_too(message: Any) -> None:
    host = Host()

    host.send(LIST, INITIALIZE, message)

    assert host.ids() == []


def test_faults_of_what_is_sent_are_answered_in_their_order() -> None:
    host = Host(max_message_bytes=1000)
    too_long = b'{"jsonrpc":"2.0","id":2,"method":"' + b"x" * 1000 + b'"}\n'
    host.session.feed(b'{"jsonrpc":"2.0","id":1\n' + too_long)

    host.load()

    assert [message["error"]["code"] for message in host.end()] == [PARSE_ERROR, INVALID_REQUEST]


def test_requests_beyond_the_limit_are_refused_and_pings_still_answered() -> None:
    host = Host(max_bytes=200)

    host.send(LIST, request("tools/list", {"cursor": "x" * 200}, id="large"), PING)

    [large, ping] = host.end()
    assert (large["id"], large["error"]["code"]) == ("large", OVERLOADED)
    assert ping["id"] == "ping"


def test_a_call_that_is_cancelled_while_it_waits_has_no_response() -> None:
    host = Host()
    host.send(call("add", {"a": 1, "b": 2}, id="call"))
    host.send(request("notifications/cancelled", {"requestId": "call"}, id=...))

    host.load()

    assert host.ids() == []


def test_requests_that_wait_fail_with_the_reason_if_the_tools_cannot_be_loaded() -> None:
    host = Host()
    host.send(LIST, request("notifications/cancelled", {"requestId": 5}, id=...))

    answer_failure(host.kept, LoadError("no such file"))

    [refused] = host.end()
    assert refused["id"] == "list"
    assert refused["error"] == {
        "code": INTERNAL_ERROR,
        "message": "The tools cannot be loaded: no such file",
        "data": LOADING_FAILED,
    }
