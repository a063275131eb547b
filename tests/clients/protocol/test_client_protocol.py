from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from toolwire_client import BrokenRules, RequestFailed
from toolwire_client.protocol.client_protocol import ClientProtocol
from toolwire_client.protocol.events import (
    AutomaticReply,
    ElicitationRequest,
    ElicitationWithdrawn,
    Failure,
    ListChanged,
    LogEntry,
    Progress,
    Result,
    SubscriptionConfirmed,
)
from toolwire_schemas.wire.codec import decode
from toolwire_schemas.wire.messages import Fault


def noise(text: str) -> LogEntry:
    return LogEntry("warning", "output", text)


def ignored(method: str, params: Any) -> LogEntry:
    return LogEntry("debug", "client", f"ignored: {method}", params)


def comparable(event: Any) -> Any:
    """The event, with errors taken apart: two errors with the same members are not equal."""
    return (event.id, type(event.error), *event.error.args) if isinstance(event, Failure) else event


def receive(text: str) -> list[Any]:
    return [comparable(event) for event in ClientProtocol("t", "1").receive(text.encode())]


def test_each_kind_of_message_is_distinguished_from_the_others() -> None:
    table = {
        '{"id":1,"result":null}': Result(1, None),
        '{"id":"7","result":{}}': Result(7, {}),
        '{"id":7.0,"result":{}}': Result(7, {}),
        '{"id":1,"result":{},"error":null}': Result(1, {}),
        '{"id":1,"error":{"code":-1,"message":"no","data":[]}}': (1, RequestFailed, -1, "no", []),
        '{"id":1,"error":"broken"}': (
            1,
            RequestFailed,
            0,
            "the server answered with an error without a message",
            None,
        ),
        '{"method":"notifications/progress","params":{"progressToken":1,"progress":2}}': Progress(
            1, 2
        ),
        '{"method":"notifications/progress","params":{"progressToken":1}}': ignored(
            "notifications/progress", {"progressToken": 1}
        ),
        '{"method":"notifications/tools/list_changed"}': ListChanged("tools"),
        '{"method":"notifications/cancelled","params":{"requestId":"q"}}': ElicitationWithdrawn(
            "q"
        ),
        '{"method":"notifications/message","params":{"level":"error","data":[1]}}': LogEntry(
            "error", "server", "[1]", [1]
        ),
        '{"method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}': (
            SubscriptionConfirmed(False)
        ),
        '{"method":"notifications/x","params":[]}': ignored("notifications/x", []),
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}': (
            None,
            RequestFailed,
            -32700,
            "?",
            None,
        ),
        '{"jsonrpc":"2.0","id":7}': (
            7,
            BrokenRules,
            "the server sent a response with neither a result nor an error",
        ),
        # what programs log may be JSON, too
        '{"id":7,"level":"info"}': noise('{"id":7,"level":"info"}'),
        '{"error":"none","id":null}': noise('{"error":"none","id":null}'),
        '{"id":true,"method":"ping"}': noise('{"id":true,"method":"ping"}'),
        "hello": noise("hello"),
        "[]": noise("[]"),
    }
    assert {text: receive(text) for text in table} == {
        text: [event] for text, event in table.items()
    }


def test_an_answer_that_is_no_json_is_still_the_answer_to_its_request() -> None:
    for text in (
        '{"jsonrpc":"2.0","id":7,"result":NaN}',
        '{"result":"\\ud800","id":"7","jsonrpc":"2.0"}',
    ):
        [event] = receive(text)
        assert event[:2] == (7, BrokenRules)
    assert receive('{"id":7,"level":nothing}') == [noise('{"id":7,"level":nothing}')]


def test_a_batch_is_taken_apart() -> None:
    assert receive('[{"id":1,"result":1},{"id":2,"result":2}]') == [Result(1, 1), Result(2, 2)]


def test_a_ping_is_answered_whatever_its_id() -> None:
    assert receive('{"jsonrpc":"2.0","id":"a","method":"ping"}') == [
        AutomaticReply(b'{"jsonrpc":"2.0","id":"a","result":{}}')
    ]


def test_questions_are_for_those_who_can_ask() -> None:
    question = b'{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?"}}'
    [refusal] = ClientProtocol("t", "1").receive(question)
    assert isinstance(refusal, AutomaticReply)
    assert decode(refusal.message)["error"]["code"] == -32601
    assert ClientProtocol("t", "1", can_ask=True).receive(question) == [
        ElicitationRequest("q", {"message": "?"})
    ]


def test_only_those_who_can_ask_announce_it() -> None:
    def announced(session: ClientProtocol) -> list[Any]:
        meta = decode(session.discover()[1])["params"]["_meta"]
        return [
            decode(session.initialize()[1])["params"]["capabilities"],
            meta["io.modelcontextprotocol/clientCapabilities"],
        ]

    assert announced(ClientProtocol("t", "1")) == [{}, {}]
    assert announced(ClientProtocol("t", "1", can_ask=True)) == [{"elicitation": {"form": {}}}] * 2


def test_a_log_is_asked_for_only_where_it_is_read() -> None:
    key = "io.modelcontextprotocol/logLevel"
    assert key not in decode(ClientProtocol("t", "1").discover()[1])["params"]["_meta"]
    wants_log = ClientProtocol("t", "1")
    wants_log.set_log_level("debug")
    assert decode(wants_log.discover()[1])["params"]["_meta"][key] == "debug"


def test_a_log_message_that_is_nested_too_deeply_is_not_shown() -> None:
    for depth in (300, 900):
        data = '{"a":' * depth + "1" + "}" * depth
        (event,) = receive(
            f'{{"method":"notifications/message","params":{{"level":"error","data":{data}}}}}'
        )
        assert isinstance(event, LogEntry)
        assert event.text == "[not shown: nested more than 200 levels deep]"


def test_an_answer_too_long_to_read_is_still_the_answer_to_its_request() -> None:
    first = Fault(
        "a message of 9 bytes",
        too_large=True,
        head=b'{"jsonrpc":"2.0","id":4,"result":{"x',
        tail=b"x",
    )
    last = Fault(
        "a message of 9 bytes", too_large=True, head=b'{"result":{"id":9', tail=b'"id":7},"id":"5"}'
    )
    lost = Fault(
        "a message of 9 bytes", too_large=True, head=b'{"result":{"id":9', tail=b'"id":7}}'
    )
    reason = "the server sent a message of 9 bytes"
    session = ClientProtocol("t", "1")
    prose = Fault("a message of 9 bytes", too_large=True, head=b"AAAA", tail=b"AAAA")
    assert [[*map(comparable, session.receive(fault))] for fault in (first, last, lost, prose)] == [
        [(4, BrokenRules, reason)],
        [(5, BrokenRules, reason)],
        [(None, BrokenRules, reason)],
        [noise("AAAA")],
    ]


def test_progress_is_asked_for_by_the_request_s_own_number() -> None:
    number, message = ClientProtocol("t", "1").request("tools/call", {"name": "x"}, progress=True)
    assert decode(message)["params"] == {"name": "x", "_meta": {"progressToken": number}}


def test_a_request_without_parameters_has_none() -> None:
    _, message = ClientProtocol("t", "1").request("ping", None)
    assert "params" not in decode(message)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
members = st.dictionaries(
    st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), json_values
)


@given(st.binary() | st.builds(lambda value: repr(value).encode(), json_values))
def test_no_bytes_are_too_strange(data: bytes) -> None:
    assert ClientProtocol("t", "1").receive(data)


@given(members | st.lists(members))
def test_no_message_is_too_strange(message: Any) -> None:
    from toolwire_schemas.wire.codec import encode

    assert ClientProtocol("t", "1").receive(encode(message))


def test_a_request_that_only_clients_send_is_an_echo() -> None:
    protocol = ClientProtocol("t", "1")
    for number, request in (protocol.discover(), protocol.initialize()):
        [event] = protocol.receive(request)
        assert comparable(event) == (
            number,
            BrokenRules,
            "the server repeats what it gets, as `cat` does: it is no MCP server",
        )


def test_capabilities_are_declared_in_addition_to_elicitation() -> None:
    protocol = ClientProtocol("t", "1", capabilities={"roots": {}}, first_id=7)
    protocol.declare(can_ask=True)
    number, message = protocol.initialize()
    assert number == 7
    assert decode(message)["params"]["capabilities"] == {"roots": {}, "elicitation": {"form": {}}}
