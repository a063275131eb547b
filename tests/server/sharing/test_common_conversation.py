"""One conversation with a server for several sessions, decided without any process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.server_process import call, request
from toolwire.sharing.common_conversation import CommonConversation, Delivery

HOST = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "host"}}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class Conversation:
    """A conversation spoken to in objects; sessions are called by their names."""

    def __init__(self, *sessions: str) -> None:
        self.held: list[bytes] = []
        self.common = CommonConversation(self.held.append)
        for session in sessions:
            self.common.join(session)

    def send(self, session: str, message: Any) -> list[tuple[Any, Any]]:
        return list(map(_read, self.common.send(session, json.dumps(message).encode())))

    def receive(self, message: Any) -> list[tuple[Any, Any]]:
        return list(map(_read, self.common.receive(json.dumps(message).encode())))

    def leave(self, session: str) -> list[tuple[Any, Any]]:
        return list(map(_read, self.common.leave(session)))

    def call(self, session: str, id: Any, **meta: Any) -> Any:
        """Return the number by which the server knows the call."""
        ((receiver, message),) = self.send(session, call("add", {"id": id}, id=id, **meta))
        assert receiver is None
        assert message["params"]["arguments"] == {"id": id}
        return message["id"]


def _read(delivery: Delivery) -> tuple[Any, Any]:
    return delivery.session, json.loads(delivery.line)


def respond(id: Any, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def test_equal_ids_of_two_sessions_get_their_own_responses() -> None:
    one = Conversation("a", "b")
    first, second = one.call("a", 1), one.call("b", 1)
    assert first != second
    assert one.receive(respond(second, of="b")) == [("b", respond(1, of="b"))]
    assert one.receive(respond(first, of="a")) == [("a", respond(1, of="a"))]
    assert one.receive(respond(first, of="a")) == []


@pytest.mark.parametrize("changed", [str, float])
def test_number_that_the_server_sends_back_in_another_type_is_known(changed: Any) -> None:
    one = Conversation("a")
    number = one.call("a", "mine")
    assert one.receive(respond(changed(number))) == [("a", respond("mine"))]


def test_bytes_of_members_stay() -> None:
    common = CommonConversation(lambda id: None)
    common.join("a")
    sent = b'{"id":1,"method":"x","params":{"big": 12345678901234567890123, "x":1.50}}'
    ((delivery),) = common.send("a", sent)
    assert b'{"big": 12345678901234567890123, "x":1.50}' in delivery.line
    ((delivery),) = common.receive(b'{"id":1,  "result": {"y": 1e2,"z":[ ]}}')
    assert b'{"y": 1e2,"z":[ ]}' in delivery.line


def test_progress_goes_to_its_session_under_its_token() -> None:
    one = Conversation("a", "b")
    numbers = [one.call(session, 7, progressToken="t") for session in ("a", "b")]
    for session, number in zip("ab", numbers, strict=True):
        progress = {"progressToken": number, "progress": 1}
        ((receiver, message),) = one.receive(request("notifications/progress", progress, id=...))
        assert receiver == session
        assert message["params"] == {"progressToken": "t", "progress": 1}
    one.receive(respond(numbers[0]))
    late = {"progressToken": numbers[0], "progress": 2}
    assert one.receive(request("notifications/progress", late, id=...)) == []


def test_cancellation_names_the_request_of_its_session_alone() -> None:
    one = Conversation("a", "b")
    number = one.call("b", 1)
    cancellation = request("notifications/cancelled", {"requestId": 1, "reason": "r"}, id=...)
    assert one.send("a", cancellation) == []
    ((receiver, message),) = one.send("b", cancellation)
    assert receiver is None
    assert message["params"] == {"requestId": number, "reason": "r"}
    assert one.receive(respond(number)) == []


@pytest.mark.parametrize("method", ["initialize", "server/discover"])
def test_handshake_is_sent_once_and_answers_all(method: str) -> None:
    one = Conversation("a", "b", "c")
    ((_, first),) = one.send("a", request(method, HOST, id=1))
    assert one.send("b", request(method, HOST, id="two")) == []
    assert one.receive(respond(first["id"], serverInfo={})) == [
        ("a", respond(1, serverInfo={})),
        ("b", respond("two", serverInfo={})),
    ]
    assert one.send("c", request(method, HOST, id=3)) == [("c", respond(3, serverInfo={}))]


def test_server_learns_once_that_a_host_is_ready() -> None:
    one = Conversation("a", "b")
    ready = request("notifications/initialized", id=...)
    assert one.send("a", ready) == [(None, ready)]
    assert one.send("b", ready) == []


def test_handshake_of_a_session_that_leaves_answers_the_others() -> None:
    one = Conversation("a", "b")
    ((_, first),) = one.send("a", request("initialize", HOST, id=1))
    one.send("b", request("initialize", HOST, id=2))
    assert one.leave("a") == []
    assert one.receive(respond(first["id"])) == [("b", respond(2))]


def test_refused_handshake_is_known() -> None:
    one = Conversation("a")
    ((_, first),) = one.send("a", request("initialize", HOST, id=1))
    assert not one.common.has_failed
    one.receive({"jsonrpc": "2.0", "id": first["id"], "error": {"code": 1, "message": "no"}})
    assert one.common.has_failed


def test_error_without_an_id_answers_the_probe() -> None:
    one = Conversation("a", "b")
    one.send("a", request("server/discover", {}, id=1))
    one.send("b", request("server/discover", {}, id=2))
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no"}}
    assert one.receive(error) == [("a", {**error, "id": 1}), ("b", {**error, "id": 2})]


def test_program_that_repeats_its_input_is_no_server() -> None:
    one = Conversation("a")
    ((_, sent),) = one.send("a", request("initialize", HOST, id=9))
    assert one.receive(sent) == [("a", {**sent, "id": 9})]


def test_notification_goes_to_all() -> None:
    one = Conversation("a", "b")
    changed = request("notifications/tools/list_changed", id=...)
    assert one.receive(changed) == [("a", changed), ("b", changed)]


def test_log_goes_to_sessions_that_want_its_level_and_the_server_logs_for_all() -> None:
    one = Conversation("a", "b")
    ((_, first),) = one.send("a", request("logging/setLevel", {"level": "error"}, id=1))
    assert first["params"] == {"level": "error"}
    ((_, second),) = one.send("b", request("logging/setLevel", {"level": "debug"}, id=1))
    assert second["params"] == {"level": "debug"}
    ((_, third),) = one.send("a", request("logging/setLevel", {"level": "warning"}, id=2))
    assert third["params"] == {"level": "debug"}
    info = request("notifications/message", {"level": "info", "data": "x"}, id=...)
    assert one.receive(info) == [("b", info)]
    critical = request("notifications/message", {"level": "critical", "data": "x"}, id=...)
    assert one.receive(critical) == [("a", critical), ("b", critical)]


def test_subscription_lasts_until_the_last_session_ends_it() -> None:
    one = Conversation("a", "b")
    for session in ("a", "b"):
        one.send(session, request("resources/subscribe", {"uri": "x:1"}, id=1))
    one.send("b", request("resources/subscribe", {"uri": "x:2"}, id=2))
    updated = request("notifications/resources/updated", {"uri": "x:1"}, id=...)
    assert sorted(one.receive(updated)) == [("a", updated), ("b", updated)]
    end = request("resources/unsubscribe", {"uri": "x:1"}, id=3)
    assert one.send("a", end) == [("a", respond(3))]
    assert one.receive(updated) == [("b", updated)]
    left = [message["params"]["uri"] for _, message in one.leave("b") if "id" in message]
    assert left == ["x:1", "x:2"]


def test_subscription_of_the_modern_era_has_the_id_of_its_session() -> None:
    one = Conversation("a", "b")
    one.call("a", 1)
    ((_, sent),) = one.send("b", request("subscriptions/listen", {}, id=1))
    meta = {"_meta": {SUBSCRIPTION: sent["id"]}}
    changed = request("notifications/tools/list_changed", meta, id=...)
    ((receiver, message),) = one.receive(changed)
    assert receiver == "b"
    assert message["params"]["_meta"] == {SUBSCRIPTION: 1}
    assert one.receive(respond(sent["id"], **meta)) == [("b", respond(1, _meta={SUBSCRIPTION: 1}))]


def test_batch_of_the_server_is_taken_apart() -> None:
    one = Conversation("a", "b")
    numbers = [one.call(session, 1) for session in ("a", "b")]
    assert one.receive([respond(number, of=number) for number in numbers]) == [
        ("a", respond(1, of=numbers[0])),
        ("b", respond(1, of=numbers[1])),
    ]


@pytest.mark.parametrize("noise", [b"Server is ready", b"7", b"\xff\xfe", b"{}"])
def test_line_that_is_no_message_goes_to_one_session(noise: bytes) -> None:
    common = CommonConversation(lambda id: None)
    common.join("a")
    common.join("b")
    assert common.receive(noise) == [Delivery("a", noise)]


# --- requests of the server ---

SAMPLE = request("sampling/createMessage", {"messages": []}, id="s")


def test_ping_of_the_server_is_answered_here() -> None:
    one = Conversation("a", "b")
    assert one.receive(request("ping", id="p")) == [(None, respond("p"))]


def test_request_of_the_server_goes_to_the_session_with_an_open_call() -> None:
    one = Conversation("a", "b")
    one.call("b", 1)
    assert one.receive(SAMPLE) == [("b", SAMPLE)]
    assert one.send("a", respond("s")) == []
    assert one.send("b", respond("s")) == [(None, respond("s"))]
    assert one.common.unshareable == ""


def test_withdrawn_request_is_withdrawn_from_its_session() -> None:
    one = Conversation("a", "b")
    one.call("b", 1)
    one.receive(SAMPLE)
    withdrawn = request("notifications/cancelled", {"requestId": "s"}, id=...)
    assert one.receive(withdrawn) == [("b", withdrawn)]
    assert one.send("b", respond("s")) == []


def test_unclear_request_waits_until_one_session_is_left_and_ends_the_sharing() -> None:
    one = Conversation("a", "b", "c")
    first, second = one.call("a", 1), one.call("b", 1)
    assert one.receive(SAMPLE) == []
    assert one.held == [b'"s"']
    assert "calls of several sessions" in one.common.unshareable
    assert one.common.find_idle() == ["c"]
    assert one.receive(respond(first)) == [("a", respond(1)), ("b", SAMPLE)]
    assert one.send("b", respond("s")) == [(None, respond("s"))]
    one.receive(respond(second))
    assert one.common.find_idle() == ["b", "c"]


def test_unclear_request_is_refused_if_it_stays_unclear() -> None:
    one = Conversation("a", "b")
    one.call("a", 1)
    one.call("b", 1)
    one.receive(SAMPLE)
    (refusal,) = map(_read, one.common.refuse_held(b'"s"'))
    assert refusal[0] is None
    assert refusal[1]["error"]["code"] == -32603
    assert one.common.refuse_held(b'"s"') == []


def test_request_for_roots_goes_to_the_first_session_and_ends_the_sharing() -> None:
    one = Conversation("a", "b")
    one.call("b", 1)
    roots = request("roots/list", id="r")
    assert one.receive(roots) == [("a", roots)]
    assert "roots/list" in one.common.unshareable
    assert one.send("a", respond("r", roots=[])) == [(None, respond("r", roots=[]))]
    assert one.common.find_idle() == []


def test_request_without_a_call_goes_to_a_single_session() -> None:
    one = Conversation("a")
    assert one.receive(SAMPLE) == [("a", SAMPLE)]
    assert one.common.unshareable == ""


def test_session_that_leaves_cancels_its_calls_and_refuses_what_it_was_asked() -> None:
    one = Conversation("a", "b")
    number = one.call("a", 1)
    one.receive(SAMPLE)
    (cancelled, refused) = one.leave("a")
    assert cancelled[1]["method"] == "notifications/cancelled"
    assert cancelled[1]["params"]["requestId"] == number
    assert refused[1]["id"] == "s"
    assert "error" in refused[1]
    assert one.receive(respond(number)) == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40), st.randoms())
def test_every_call_is_answered_once_and_to_its_session(
    calls: list[tuple[str, bool]], chance: Any
) -> None:
    one = Conversation("a", "b", "c")
    numbers = {}
    for id, (session, is_cancelled) in enumerate(calls):
        number = one.call(session, id, progressToken=0)
        if is_cancelled:
            one.send(session, request("notifications/cancelled", {"requestId": id}, id=...))
        numbers[number] = (session, id, is_cancelled)
    order = list(numbers)
    chance.shuffle(order)
    for number in order:
        session, id, is_cancelled = numbers[number]
        expected = [] if is_cancelled else [(session, respond(id, secret=number))]
        assert one.receive(respond(number, secret=number)) == expected
