"""The client over Streamable HTTP, with a server that has every fault."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any, Literal

import pytest
from support.remote_server import (
    ADD,
    LEGACY,
    MODERN,
    Exchange,
    Received,
    RemoteStandIn,
    event,
    events,
    result,
    resumed_later,
    status,
    text,
)
from toolwire_client import (
    CallCancelled,
    RemoteServer,
    RequestFailed,
    TimedOut,
    Unreachable,
    connect,
)
from toolwire_client.transport import streamable_http

SECONDS = 60


@pytest.mark.parametrize("session", ["session-1", None])
@pytest.mark.parametrize("style", ["json", "events"])
@pytest.mark.parametrize(("era", "version"), [("legacy", LEGACY), ("modern", MODERN)])
def test_tools_of_a_remote_server_are_listed_and_called(
    era: Literal["legacy", "modern"],
    version: str,
    style: Literal["json", "events"],
    session: str | None,
) -> None:
    with (
        RemoteStandIn(era=era, style=style, session=session) as server,
        connect(server.url) as client,
    ):
        assert client.version == version
        assert client.server_info == {"name": "remote", "version": "1"}
        assert [tool.name for tool in client.list_tools()] == ["add"]
        assert client.call_tool("add", {"a": 1, "b": 2}).text == "3"


def test_legacy_requests_carry_the_session_and_the_revision_and_the_end_deletes_it() -> None:
    with RemoteStandIn() as server:
        with connect(server.url, era="legacy") as client:
            client.list_tools()

        first, *others = server.requests
    assert "mcp-session-id" not in first.headers
    for request in others:
        assert request.headers["mcp-session-id"] == "session-1"
        assert request.headers["mcp-protocol-version"] == LEGACY
    assert others[-1].verb == "DELETE"


def test_modern_requests_have_no_session_and_repeat_what_they_ask_for() -> None:
    with RemoteStandIn(era="modern") as server:
        with connect(server.url) as client:
            client.call_tool("add", {"a": 1})

        call = server.requests[-1]
    assert call.headers["mcp-protocol-version"] == MODERN
    assert (call.headers["mcp-method"], call.headers["mcp-name"]) == ("tools/call", "add")
    assert "mcp-session-id" not in call.headers


def test_arguments_are_repeated_in_the_headers_that_a_listed_tool_wants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = {"type": "integer", "x-mcp-header": "Left"}
    monkeypatch.setitem(ADD["inputSchema"], "properties", {"a": wanted, "b": {"type": "integer"}})
    with RemoteStandIn(era="modern") as server:
        with connect(server.url) as client:
            client.list_tools()
            client.call_tool("add", {"a": 1, "b": 2})

        call = server.requests[-1]
    repeated = {name: value for name, value in call.headers.items() if "param" in name.lower()}
    assert {name.lower(): value for name, value in repeated.items()} == {"mcp-param-left": "1"}


@pytest.mark.parametrize(("era", "count"), [("modern", 0), ("legacy", 1)])
def test_tool_with_an_invalid_header_is_left_out_of_a_modern_list(
    monkeypatch: pytest.MonkeyPatch, era: Literal["modern", "legacy"], count: int
) -> None:
    invalid = {"type": "number", "x-mcp-header": "Left"}
    monkeypatch.setitem(ADD["inputSchema"], "properties", {"a": invalid})
    with RemoteStandIn(era=era) as server, connect(server.url) as client:
        assert len(client.list_tools()) == count


def test_server_of_the_older_transport_is_named_as_one() -> None:
    with (
        RemoteStandIn(rule=lambda _: status(405)) as server,
        pytest.raises(Unreachable, match="405 Method Not Allowed; servers of the older HTTP"),
        connect(server.url) as client,
    ):
        client.list_tools()


def test_a_bearer_token_and_headers_are_sent_with_each_request() -> None:
    with RemoteStandIn() as server:
        remote = RemoteServer(server.url, bearer_token="secret", headers={"X-Team": "a"})
        with connect(remote) as client:
            client.list_tools()

        sent = {(each.headers["authorization"], each.headers["x-team"]) for each in server.requests}
    assert sent == {("Bearer secret", "a")}


def test_progress_arrives_before_the_result() -> None:
    def reply(exchange: Exchange) -> None:
        message = exchange.received.message
        params = {"progressToken": message["params"]["_meta"]["progressToken"], "progress": 1}
        progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        events(event(progress), event(result(message["id"])))(exchange)

    steps: list[float] = []
    with RemoteStandIn().then(reply) as server, connect(server.url) as client:
        client.call_tool("add", on_progress=lambda done, *_: steps.append(done))

    assert steps == [1]


def test_a_legacy_server_asks_within_a_call_and_gets_the_answer_in_a_post() -> None:
    def reply(exchange: Exchange) -> None:
        server, number = exchange.server, exchange.received.message["id"]
        question = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
        asked = {"jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": question}
        exchange.begin_events()
        exchange.write(event(asked))
        answer = server.wait_for(lambda each: each.method == "response").message
        exchange.write(event(result(number, answer["result"]["action"])))

    with (
        RemoteStandIn().then(reply) as server,
        connect(server.url, on_ask=lambda question: {}) as client,
    ):
        assert client.call_tool("add").text == "accept"


def test_messages_of_no_request_come_over_a_stream_of_their_own() -> None:
    changed = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hello"}}
    logged = threading.Event()
    with RemoteStandIn() as server:
        server.others.append(event(changed))
        with connect(server.url, on_log=lambda entry: entry.text == "hello" and logged.set()):
            assert logged.wait(SECONDS)


def test_a_list_is_read_anew_where_notifications_may_get_lost() -> None:
    with RemoteStandIn() as server, connect(server.url) as client:
        client.list_tools()
        client.list_tools()

        assert server.methods().count("tools/list") == 2


# Streams that break


def test_a_stream_that_ends_early_is_resumed_after_its_last_event() -> None:
    # Without a session there is no other GET, which could get the event.
    with RemoteStandIn(session=None).then(resumed_later) as server, connect(server.url) as client:
        assert client.call_tool("add").text == "resumed"

        resumed = [each for each in server.requests if "last-event-id" in each.headers]
    assert [each.headers["last-event-id"] for each in resumed] == ["e1"]


@pytest.mark.parametrize("then", ["end", "break"])
def test_a_stream_that_ends_early_without_ids_is_an_error(then: Literal["end", "break"]) -> None:
    with (
        RemoteStandIn().then(events(b": hello\n\n", then=then)) as server,
        connect(server.url) as client,
    ):
        with pytest.raises(RequestFailed, match="closed the response before it answered"):
            client.call_tool("add", timeout_seconds=SECONDS)
        assert client.call_tool("add", {"a": 1}).text == "1"


def test_a_stream_that_cannot_be_resumed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamable_http, "_MAX_FAILED_RESUMPTIONS", 2)
    with (
        RemoteStandIn(session=None).then(events(event(None, id="e1", retry=1))) as server,
        connect(server.url) as client,
    ):
        with pytest.raises(RequestFailed, match="cannot be resumed"):
            client.call_tool("add", timeout_seconds=SECONDS)

        assert server.methods().count("GET") == 2


# Cancellation


def test_a_cancelled_legacy_call_is_announced() -> None:
    with RemoteStandIn().then(events(then="stay")) as server, connect(server.url) as client:
        call = client.start("add")
        server.wait_for(lambda each: each.method == "tools/call")
        call.cancel()

        cancelled = server.wait_for(lambda each: each.method == "notifications/cancelled")
        with pytest.raises(CallCancelled):
            call.result()
    assert cancelled.message["params"]["requestId"] == call.id


def test_a_cancelled_modern_call_closes_its_stream_and_sends_nothing() -> None:
    left = threading.Event()

    def reply(exchange: Exchange) -> None:
        with suppress(ConnectionError):  # the client may leave before it has read the headers
            exchange.begin_events()
            while exchange.handler.connection.recv(1):
                pass
        left.set()

    with (
        RemoteStandIn(era="modern").then(reply) as server,
        connect(server.url) as client,
    ):
        call = client.start("add")
        server.wait_for(lambda each: each.method == "tools/call")
        call.cancel()

        assert left.wait(SECONDS)
        assert "notifications/cancelled" not in server.methods()


def test_a_call_without_an_answer_times_out() -> None:
    with RemoteStandIn().then(events(then="stay")) as server, connect(server.url) as client:
        with pytest.raises(TimedOut):
            client.call_tool("add", timeout_seconds=0.1)
        assert client.call_tool("add", {"a": 1}).text == "1"


# Refusals


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (status(500), "answered 500 Internal Server Error"),
        (status(429, retry_after="30"), "answered 429 Too Many Requests; try again in 30 seconds"),
        (status(202), "not with a message of MCP"),
        (text(200, "text/html", b"<html>"), "text/html, not with a message"),
        (text(200, "application/json", b"{"), "closed the response before it answered"),
        (status(302, location="http://127.0.0.1:9/"), "redirects to http://127.0.0.1:9/;"),
        (
            status(307, location="http://127.0.0.1:9/a?token=x"),
            "redirects to http://127.0.0.1:9/a;",
        ),
        (status(200, {}, content_encoding="gzip"), "compresses its answer"),
    ],
)
def test_an_answer_without_a_message_fails_its_request_alone(reply: Any, problem: str) -> None:
    with RemoteStandIn().then(reply) as server, connect(server.url) as client:
        with pytest.raises(RequestFailed) as failed:
            client.call_tool("add", timeout_seconds=SECONDS)
        assert problem in failed.value.message
        assert client.call_tool("add", {"a": 1}).text == "1"


@pytest.mark.parametrize("number", [None, "server-error"])
def test_an_error_with_another_id_is_that_of_the_request(number: Any) -> None:
    problem = {"code": -32602, "message": "no such tool"}
    reply = status(400, {"jsonrpc": "2.0", "id": number, "error": problem})
    with (
        RemoteStandIn().then(reply) as server,
        connect(server.url) as client,
        pytest.raises(RequestFailed, match="no such tool"),
    ):
        client.call_tool("add", timeout_seconds=SECONDS)


def test_a_redirect_within_the_server_is_followed_with_its_body() -> None:
    with RemoteStandIn().then(status(307, location="/mcp/")) as server:
        with connect(server.url) as client:
            assert client.call_tool("add", {"a": 1}).text == "1"

        assert [each.path for each in server.requests if each.method == "tools/call"] == [
            "/mcp",
            "/mcp/",
        ]


def test_endless_redirects_end() -> None:
    replies = [status(307, location="/mcp/") for _ in range(9)]
    with (
        RemoteStandIn().then(*replies) as server,
        connect(server.url) as client,
        pytest.raises(RequestFailed, match="redirects more than"),
    ):
        client.call_tool("add", timeout_seconds=SECONDS)


@pytest.mark.parametrize("style", ["json", "events"])
def test_a_message_beyond_the_limit_fails_its_request(style: str) -> None:
    def reply(exchange: Exchange) -> None:
        answer = result(exchange.received.message["id"], "x" * 5000)
        if style == "json":
            exchange.send(200, answer)
        else:
            events(event(answer))(exchange)

    with (
        RemoteStandIn().then(reply) as server,
        connect(server.url, max_message_bytes=2000) as client,
    ):
        with pytest.raises(RequestFailed, match="limit"):
            client.call_tool("add", timeout_seconds=SECONDS)
        assert client.call_tool("add", {"a": 1}).text == "1"


@pytest.mark.parametrize(
    ("code", "token", "problem"),
    [
        (401, None, "401 Unauthorized; it wants a token: after the address write --bearer-env"),
        (401, "old", "401 Unauthorized; it does not accept the token$"),
        (403, None, "403 Forbidden$"),
    ],
)
def test_a_server_that_refuses_this_client_is_unreachable(
    code: int, token: str | None, problem: str
) -> None:
    with (
        RemoteStandIn(rule=lambda received: status(code)) as server,
        pytest.raises(Unreachable, match=f"refuses this client: {problem}"),
        connect(RemoteServer(server.url, bearer_token=token)),
    ):
        pass


def test_an_address_without_a_server_is_unreachable() -> None:
    with RemoteStandIn() as server:
        url = server.url
    with pytest.raises(Unreachable, match="cannot be reached"), connect(url):
        pass


def test_an_address_that_serves_something_else_is_unreachable() -> None:
    with (
        RemoteStandIn(rule=lambda received: status(404)) as server,
        pytest.raises(Unreachable, match="answered 404 Not Found"),
        connect(server.url),
    ):
        pass


def test_too_many_open_requests_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamable_http, "MAX_OPEN_REQUESTS", 1)
    with RemoteStandIn().then(events(then="stay")) as server, connect(server.url) as client:
        client.start("add")
        server.wait_for(lambda each: each.method == "tools/call")

        with pytest.raises(RequestFailed, match=r"1 requests to .* are open"):
            client.call_tool("add", timeout_seconds=SECONDS)


def test_too_many_lines_that_wait_end_the_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamable_http, "MAX_WAITING_LINES", 3)
    may_accept = threading.Event()

    def rule(received: Received) -> Any:
        if received.method == "notifications/cancelled":
            may_accept.wait(SECONDS)
        return None

    with RemoteStandIn(rule=rule) as server, connect(server.url, era="legacy") as client:
        first = client.start("add")
        first.cancel()
        server.wait_for(lambda each: each.method == "notifications/cancelled")

        calls = [client.start("add") for _ in range(4)]
        with pytest.raises(Unreachable, match="does not accept messages"):
            calls[0].result(timeout_seconds=SECONDS)
        may_accept.set()


# Sessions


def test_a_session_that_has_ended_is_replaced_and_the_call_is_sent_again() -> None:
    with RemoteStandIn() as server:
        with connect(server.url, era="legacy") as client:
            client.list_tools()
            server.session = "session-2"

            assert client.call_tool("add", {"a": 1}).text == "1"

        first, second = [each for each in server.requests if each.method == "initialize"]
    assert "mcp-session-id" not in second.headers
    assert first.message == second.message
    assert server.methods().count("notifications/initialized") == 2
    assert server.requests[-1].headers["mcp-session-id"] == "session-2"


def test_concurrent_calls_begin_one_new_session() -> None:
    with RemoteStandIn() as server:
        with connect(server.url, era="legacy") as client:
            server.session = "session-2"
            calls = [client.start("add", {"a": number}) for number in range(5)]

            assert [call.result().text for call in calls] == ["0", "1", "2", "3", "4"]

        assert server.methods().count("initialize") == 2


def test_a_server_that_was_lost_is_connected_again_by_the_next_call() -> None:
    def rule(received: Received) -> Any:
        return status(401) if is_refusing else None

    is_refusing = False
    with RemoteStandIn(rule=rule) as server, connect(server.url) as client:
        is_refusing = True
        with pytest.raises(Unreachable):
            client.call_tool("add", timeout_seconds=SECONDS)
        is_refusing = False
        assert client.call_tool("add", {"a": 1}).text == "1"


def test_the_client_leaves_no_thread_behind() -> None:
    with RemoteStandIn() as server, connect(server.url) as client:
        client.list_tools()
        assert "toolwire-client-http" in [thread.name for thread in threading.enumerate()]

    assert "toolwire-client-http" not in [thread.name for thread in threading.enumerate()]
