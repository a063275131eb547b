from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from toolwire_client.protocol import (
    Answer,
    Failure,
    Noise,
    Notice,
    Progress,
    Reply,
    Session,
    Unreadable,
)
from toolwire_schemas.codec import decode
from toolwire_schemas.framing import Fault


def receive(text: str) -> list[Any]:
    return list(Session("t", "1").receive(text.encode()))


def test_each_kind_of_message_is_told_from_the_others() -> None:
    table = {
        '{"id":1,"result":null}': Answer(1, None),
        '{"id":"7","result":{}}': Answer(7, {}),
        '{"id":1,"result":{},"error":null}': Answer(1, {}),
        '{"id":1,"error":{"code":-1,"message":"no","data":[]}}': Failure(1, -1, "no", []),
        '{"id":1,"error":"broken"}': Failure(1, 0, "the server answered with an error that says nothing"),
        '{"method":"notifications/progress","params":{"progressToken":1,"progress":2}}': Progress(1, 2),
        '{"method":"notifications/progress","params":{"progressToken":1}}': Notice(
            "notifications/progress", {"progressToken": 1}
        ),
        '{"method":"notifications/tools/list_changed"}': Notice("notifications/tools/list_changed"),
        '{"id":null,"error":{"code":-32700,"message":"?"}}': Noise('{"id":null,"error":{"code":-32700,"message":"?"}}'),
        '{"id":true,"method":"ping"}': Noise('{"id":true,"method":"ping"}'),
        "hello": Noise("hello"),
        "[]": Noise("[]"),
    }
    assert {text: receive(text) for text in table} == {text: [event] for text, event in table.items()}


def test_a_batch_is_taken_apart() -> None:
    assert receive('[{"id":1,"result":1},{"id":2,"result":2}]') == [Answer(1, 1), Answer(2, 2)]


def test_a_ping_is_answered_whatever_its_id() -> None:
    assert receive('{"jsonrpc":"2.0","id":"a","method":"ping"}') == [Reply(b'{"jsonrpc":"2.0","id":"a","result":{}}')]


def test_an_answer_too_long_to_read_is_still_the_answer_to_its_request() -> None:
    first = Fault("a message of 9 bytes", too_large=True, head=b'{"jsonrpc":"2.0","id":4,"result":{"x', tail=b"x")
    last = Fault("a message of 9 bytes", too_large=True, head=b'{"result":{"id":9', tail=b'"id":7},"id":"5"}')
    lost = Fault("a message of 9 bytes", too_large=True, head=b'{"result":{"id":9', tail=b'"id":7}}')
    reason = "the server sent a message of 9 bytes"
    session = Session("t", "1")
    assert [session.receive(fault) for fault in (first, last, lost)] == [
        [Unreadable(4, reason)],
        [Unreadable(5, reason)],
        [Unreadable(None, reason)],
    ]


def test_progress_is_asked_for_by_the_request_s_own_number() -> None:
    number, message = Session("t", "1").request("tools/call", {"name": "x"}, progress=True)
    assert decode(message)["params"] == {"name": "x", "_meta": {"progressToken": number}}


def test_a_request_without_parameters_has_none() -> None:
    _, message = Session("t", "1").request("ping", None)
    assert "params" not in decode(message)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
members = st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), json_values)


@given(st.binary() | st.builds(lambda value: repr(value).encode(), json_values))
def test_no_bytes_are_too_strange(data: bytes) -> None:
    assert Session("t", "1").receive(data)


@given(members | st.lists(members))
def test_no_message_is_too_strange(message: Any) -> None:
    from toolwire_schemas.codec import encode

    assert Session("t", "1").receive(encode(message))
