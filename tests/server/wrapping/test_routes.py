"""Where a wrap sends each message: the tables of both directions, and the limits."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from typing import Any

import pytest
from toolwire.protocol.catalog import Catalog
from toolwire.protocol.lifecycle import Identity
from toolwire.runtime.loading_filter import WaitingMessages
from toolwire.runtime.session import Session
from toolwire.settings import Settings
from toolwire.wrapping.host_side import (
    HostDeclaration,
    HostSide,
    read_declaration,
    refuse,
)
from toolwire.wrapping.routes import (
    FIRST_ID,
    MAX_OPEN,
    Head,
    PassedRequests,
    Peers,
    Route,
    ServerState,
    make_host_table,
    note_passing,
    read_head,
    route_from_host,
    route_from_server,
)
from toolwire.wrapping.summary import summarize
from toolwire_schemas.wire.messages import Fault, make_oversize_fault

PASS, ANSWER, FOLLOW, WAIT = Route.PASS, Route.ANSWER, Route.FOLLOW, Route.WAIT
TABLE = make_host_table(
    ["tools/call", "tools/list", "ping", "logging/setLevel", "notifications/cancelled"]
)
ALL_PEERS = [Peers(*flags) for flags in product([False, True], repeat=4)]
LEGACY = Peers(has_legacy_host=True, has_legacy_server=True, has_tasks=True)
RESPONSE = Head(id=1)
NO_MESSAGE = Head(method="")


def request(method: str, **params: Any) -> Head:
    return Head(method=method, id=1, params=params)


def notification(method: str, **params: Any) -> Head:
    return Head(method=method, params=params)


def list_routes_from_host(head: Head) -> dict[Peers, Route]:
    """Return the route of *head* to a server that runs, for each combination of peers."""
    return {peers: route_from_host(TABLE, head, peers, ServerState.RUNNING) for peers in ALL_PEERS}


# --- from the host ---


@pytest.mark.parametrize(
    ("head", "route"),
    [
        (request("custom"), PASS),
        (notification("notifications/custom"), PASS),
        (notification("notifications/progress", progressToken=1), PASS),
        (request("tools/call", name="a"), ANSWER),
        (request("tools/list"), ANSWER),
        (request("ping"), ANSWER),
        (NO_MESSAGE, ANSWER),
        (RESPONSE, FOLLOW),
        (notification("notifications/cancelled", requestId=1), FOLLOW),
    ],
)
def test_a_message_of_the_host_to_a_server_that_runs(head: Head, route: Route) -> None:
    assert list_routes_from_host(head) == dict.fromkeys(ALL_PEERS, route)


def test_tasks_of_a_server_without_tasks_are_ours() -> None:
    of_tasks = list_routes_from_host(request("tasks/get", taskId="t"))
    of_calls = list_routes_from_host(request("tools/call", name="a", task={}))
    for peers in ALL_PEERS:
        are_theirs = peers.has_tasks and peers.has_legacy_host
        assert of_tasks[peers] is (PASS if are_theirs else ANSWER), peers
        assert of_calls[peers] is (PASS if peers.has_tasks else ANSWER), peers


def test_the_log_level_passes_only_between_legacy_peers() -> None:
    for peers, route in list_routes_from_host(request("logging/setLevel")).items():
        are_legacy = peers.has_legacy_host and peers.has_legacy_server
        assert route is (PASS if are_legacy else ANSWER), peers


@pytest.mark.parametrize(
    ("head", "absent", "starting", "ended"),
    [
        (request("custom"), WAIT, WAIT, WAIT),
        (request("tools/call", task={}), WAIT, WAIT, WAIT),
        (request("tools/call"), WAIT, WAIT, ANSWER),  # the call starts the server itself
        (request("ping"), ANSWER, ANSWER, ANSWER),
        (notification("notifications/cancelled", requestId=1), WAIT, WAIT, FOLLOW),
        (RESPONSE, FOLLOW, WAIT, FOLLOW),
        (NO_MESSAGE, ANSWER, WAIT, ANSWER),
    ],
)
def test_a_message_of_the_host_to_a_server_that_does_not_run(
    head: Head, absent: Route, starting: Route, ended: Route
) -> None:
    assert route_from_host(TABLE, head, LEGACY, ServerState.ABSENT) is absent
    assert route_from_host(TABLE, head, LEGACY, ServerState.STARTING) is starting
    assert route_from_host(TABLE, head, LEGACY, ServerState.ENDED) is ended


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (request("initialize"), ANSWER),
        (request("server/discover"), ANSWER),
        (notification("notifications/initialized"), ANSWER),
        (request("tools/list"), ANSWER),
        (request("resources/list"), ANSWER),
        (request("resources/templates/list"), ANSWER),
        (request("prompts/list"), ANSWER),
        (request("subscriptions/listen"), ANSWER),
        (request("ping"), ANSWER),
        (request("tools/call"), WAIT),
        (request("resources/read"), WAIT),
        (request("logging/setLevel"), WAIT),
        (notification("notifications/cancelled", requestId=1), WAIT),
        (RESPONSE, WAIT),
        (NO_MESSAGE, WAIT),
    ],
)
def test_lists_are_answered_for_a_server_whose_last_start_is_known(
    head: Head, known: Route
) -> None:
    assert route_from_host(TABLE, head, LEGACY, ServerState.KNOWN) is known


# --- from the wrapped server ---


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list", "custom", "ping"])
def test_requests_of_the_server_pass_to_legacy_hosts_except_for_pings(method: str) -> None:
    for peers in ALL_PEERS:
        has_to_pass = peers.has_legacy_host and method != "ping"
        assert route_from_server(request(method), peers) is (PASS if has_to_pass else ANSWER), peers


@pytest.mark.parametrize("params", [{}, {"mode": "form"}, {"mode": "url"}])
def test_elicitation_passes_to_legacy_hosts_unless_it_is_a_form_for_our_client(
    params: dict[str, Any],
) -> None:
    for peers in ALL_PEERS:
        is_ours = peers.can_ask and params.get("mode") != "url"
        has_to_pass = peers.has_legacy_host and not is_ours
        route = route_from_server(request("elicitation/create", **params), peers)
        assert route is (PASS if has_to_pass else ANSWER), peers


@pytest.mark.parametrize(
    ("head", "route"),
    [
        (notification("notifications/custom"), PASS),
        (notification("notifications/roots/list_changed"), PASS),
        (notification("notifications/resources/updated"), PASS),
        (notification("notifications/tools/list_changed"), ANSWER),
        (notification("notifications/resources/list_changed"), ANSWER),
        (notification("notifications/prompts/list_changed"), ANSWER),
        (notification("notifications/subscriptions/acknowledged"), ANSWER),
        (notification("notifications/tasks", taskId="t"), ANSWER),
        (notification("notifications/progress", progressToken="t"), PASS),
        (notification("notifications/progress", progressToken=FIRST_ID - 1), PASS),
        (notification("notifications/progress", progressToken=FIRST_ID), ANSWER),
        (notification("notifications/progress"), PASS),
        (notification("notifications/cancelled", requestId=1), FOLLOW),
        (RESPONSE, FOLLOW),
        (NO_MESSAGE, ANSWER),
    ],
)
def test_other_messages_of_the_server(head: Head, route: Route) -> None:
    routes = {peers: route_from_server(head, peers) for peers in ALL_PEERS}
    assert routes == dict.fromkeys(ALL_PEERS, route)


@pytest.mark.parametrize("method", ["notifications/message", "notifications/tasks/status"])
def test_messages_of_older_revisions_pass_only_between_legacy_peers(method: str) -> None:
    for peers in ALL_PEERS:
        are_legacy = peers.has_legacy_host and peers.has_legacy_server
        route = route_from_server(notification(method), peers)
        assert route is (PASS if are_legacy else ANSWER), peers


# --- what follows a request ---


def test_a_response_passes_once_if_its_request_did() -> None:
    own, opposite = PassedRequests(), PassedRequests()
    assert note_passing(request("custom"), PASS, opposite, own)
    assert note_passing(RESPONSE, FOLLOW, own, opposite)
    assert not note_passing(RESPONSE, FOLLOW, own, opposite)


def test_a_response_does_not_answer_a_request_of_its_own_side() -> None:
    own, opposite = PassedRequests(), PassedRequests()
    assert note_passing(request("custom"), PASS, own, opposite)
    assert not note_passing(RESPONSE, FOLLOW, own, opposite)


@pytest.mark.parametrize(("id", "is_passed"), [(1, True), (2, False), ("1", False), (None, False)])
def test_a_cancellation_passes_if_its_request_did(id: Any, is_passed: bool) -> None:
    own, opposite = PassedRequests(), PassedRequests()
    assert note_passing(request("custom"), PASS, own, opposite)
    head = notification("notifications/cancelled", requestId=id)
    assert note_passing(head, FOLLOW, own, opposite) is is_passed
    assert own.remove_all() == ([] if is_passed else [1])


def test_requests_pass_up_to_the_limit_and_notifications_beyond_it() -> None:
    own, opposite = PassedRequests(), PassedRequests()
    for id in range(MAX_OPEN):
        assert not own.is_full
        assert note_passing(Head(method="custom", id=id), PASS, own, opposite)
    assert own.is_full
    assert not note_passing(Head(method="custom", id="more"), PASS, own, opposite)
    assert note_passing(notification("custom"), PASS, own, opposite)
    assert own.remove(0)
    assert not own.is_full


@pytest.mark.parametrize("route", [ANSWER, WAIT])
def test_nothing_else_passes(route: Route) -> None:
    own, opposite = PassedRequests(), PassedRequests()
    assert not note_passing(request("custom"), route, own, opposite)
    assert own.remove_all() == []


# --- messages ---


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"no JSON",
        b"[]",
        b'[{"method":"a"}]',
        b'{"method":5}',
        b'{"method":"a","id":1.5}',
        b'{"method":"a","id":null}',
        b'{"method":"\xff"}',
        b"[" * 100_000,
        make_oversize_fault(9, 8, b"{", b"}"),
    ],
)
def test_the_head_of_a_batch_or_of_no_message_has_an_empty_method(frame: bytes | Fault) -> None:
    head = read_head(frame)
    assert head.method == ""
    assert refuse(head, -32603, "x") == []


def test_only_requests_are_refused() -> None:
    assert refuse(RESPONSE, -32603, "x") == []
    assert refuse(notification("a"), -32603, "x") == []
    [refusal] = refuse(request("a"), -32603, "x")
    assert json.loads(refusal) == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32603, "message": "x"},
    }


INFO = {"name": "host", "version": "3"}


@pytest.mark.parametrize(
    ("params", "declaration"),
    [
        ({}, HostDeclaration()),
        ({"_meta": 5, "capabilities": None}, HostDeclaration()),
        (
            {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": INFO},
            HostDeclaration(
                is_legacy=True,
                capabilities={"roots": {}},
                client_info=INFO,
                revision="2025-11-25",
            ),
        ),
        (
            {
                "protocolVersion": "2025-11-25",
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
                    "io.modelcontextprotocol/clientInfo": INFO,
                },
            },
            HostDeclaration(
                is_modern=True,
                capabilities={"roots": {}},
                client_info=INFO,
                revision="2026-07-28",
            ),
        ),
    ],
)
def test_the_first_message_of_a_host_says_who_it_is(
    params: dict[str, Any], declaration: HostDeclaration
) -> None:
    assert read_declaration(params) == declaration


# --- what waits ---


def test_messages_wait_up_to_the_limit_of_bytes() -> None:
    waiting = WaitingMessages(max_bytes=4)
    assert waiting.add(b"ab")
    assert waiting.add(b"cd")
    assert not waiting.add(b"e")
    assert waiting.frames == [b"ab", b"cd"]


def test_messages_wait_up_to_the_limit_of_their_number() -> None:
    waiting = WaitingMessages(max_bytes=1 << 30)
    for _ in range(MAX_OPEN):
        assert waiting.add(b"a")
    assert not waiting.add(b"a")


@pytest.mark.parametrize("is_legacy", [False, True])
def test_a_legacy_host_gets_messages_of_the_server_when_it_is_ready(is_legacy: bool) -> None:
    sent: list[bytes] = []
    session = Session(Catalog(()), Identity("", ""), Settings(), sent.append)
    host = HostSide(session)
    host.declaration = HostDeclaration(is_legacy=is_legacy)
    session.writer.enqueue(b"response")
    for number in range(101):  # one more than may wait
        host.pass_on(b"%d" % number, may_drop=False)
    session.writer.enqueue(b"ready")
    host.pass_early()
    host.pass_on(b"later", may_drop=True)
    session.end()
    numbers = [b"%d" % number for number in range(101)]
    came = b"".join(sent).splitlines()
    if is_legacy:
        assert came == [b"response", b"ready", *numbers[:100], b"later"]
    else:
        assert came == [b"response", *numbers, b"ready", b"later"]


# --- the summary ---


@pytest.mark.parametrize(
    ("counts", "has_warned", "done"),
    [
        ({}, False, "nothing had to be done"),
        ({}, True, "nothing had to be changed; see the warnings above"),
        ({"restart": 0}, False, "nothing had to be done"),
        ({"restart": 1, "lock": 2}, True, "1 restart, 2 tools refused"),
    ],
)
def test_the_summary_counts_what_was_done(
    counts: dict[str, int], has_warned: bool, done: str
) -> None:
    assert summarize("x", Counter(counts), has_warned=has_warned) == f"x: {done}"
