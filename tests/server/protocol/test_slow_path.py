"""Two paths through the decision, one answer: the fast one, and the slow one that jsonrpcserver
judges.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonrpcserver import Success, dispatch_to_serializable
from support.server_process import MODERN, call, protocol_of, request, run
from toolwire.protocol import slow_path
from toolwire.protocol.batch import Batch
from toolwire.protocol.call import Call, Cancel, Send
from toolwire.protocol.server_protocol import ServerProtocol
from toolwire_schemas.wire.codec import decode, encode


def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
IDS = st.integers() | st.text(max_size=8)
METHODS = st.sampled_from(
    ["tools/call", "tools/list", "ping", "initialize", "server/discover", "notifications/cancelled",
     "notifications/initialized", "$/cancelRequest", "no/such", ""]
)  # fmt: skip
KEYS = st.sampled_from(
    ["name", "arguments", "cursor", "_meta", "requestId", "id", "protocolVersion", "self", "params"]
)
PARAMS = st.one_of(
    st.just({"name": "add", "arguments": {"a": 1, "b": 2}}),
    st.just({"_meta": MODERN}),
    st.just({"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": MODERN}),
    st.just({"protocolVersion": "2025-06-18"}),
    st.dictionaries(KEYS | st.text(max_size=5), ANY | st.just("add"), max_size=4),
)


@st.composite
def well_formed(draw: st.DrawFn) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": draw(METHODS)}
    if draw(st.booleans()):
        message["params"] = draw(PARAMS)
    if draw(st.booleans()):
        message["id"] = draw(IDS)
    return message


@st.composite
def members_askew(draw: st.DrawFn) -> dict[str, Any]:
    """A request with a member that is not what it should be."""
    return {
        **draw(well_formed()),
        draw(st.sampled_from(["jsonrpc", "method", "id", "params", "result", "x"])): draw(ANY),
    }


def in_one_form(protocol: ServerProtocol, decisions: Any) -> list[Any]:
    """What came out of a lane, comparable: the answers, with every call run."""
    out: list[Any] = []
    for decision in decisions:
        if isinstance(decision, Call):
            answer = run(protocol, decision)
            out.append(None if answer is None else decode(answer))
        elif isinstance(decision, Send):
            out.append(decode(decision.message))
        elif isinstance(decision, Cancel):
            out.append("cancel")
    return out


@given(st.lists(well_formed(), min_size=1, max_size=4))
def test_well_formed_messages_get_the_same_answer_in_both_lanes(sent: list[dict[str, Any]]) -> None:
    fast, slow = protocol_of(add), protocol_of(add)
    for message in sent:
        text = encode(message)

        quickly = in_one_form(fast, fast.receive(text))
        slow_pathly = in_one_form(slow, slow.get_slow_path().receive(text))

        assert quickly == slow_pathly


@given(st.lists(well_formed() | ANY | members_askew(), min_size=1, max_size=4))
def test_members_of_a_batch_get_the_answers_that_each_would_get_of_jsonrpcserver(
    sent: list[Any],
) -> None:
    together, judged = protocol_of(add), protocol_of(add)
    sent = decode(encode(sent))

    decided = in_one_form(together, together.get_slow_path().receive(encode(sent)))

    batch = Batch(
        sum(not slow_path._is_response(element) for element in sent), judged.in_flight.hold
    )
    one_by_one = [
        each for element in sent for each in judged.get_slow_path()._receive_one(element, 1, batch)
    ]
    assert decided == in_one_form(judged, one_by_one)


def verdict_of_jsonrpcserver(message: Any) -> Any:
    """What jsonrpcserver alone, with its own validator, makes of a message: nothing, or ids and
    codes.
    """
    methods = {"ping": lambda **_: Success({})}
    answer = dispatch_to_serializable(json.dumps(message), methods)
    return [
        (one["id"], one.get("error", {}).get("code"))
        for one in (answer if isinstance(answer, list) else [answer])
    ]


# Each known difference, shown by a message on which the two disagree.
SHOWN_BY: dict[str, tuple[Any, Any]] = {
    "responses": ({"jsonrpc": "2.0", "id": 1, "result": {}}, []),
    "params-null": ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None}, [(1, None)]),
    "extra-members": ({"jsonrpc": "2.0", "id": 1, "method": "ping", "trace": 1}, [(1, None)]),
    "readable-ids": ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, [(1, -32600)]),
    "one-bad-element": ([5, request("ping", id=2)], [(None, -32600), (2, None)]),
    "id-types": ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, [(None, -32600)]),
}


def ours(message: Any) -> Any:
    protocol = protocol_of(add)
    found = in_one_form(protocol, protocol.receive(encode(message)))
    listed = found[0] if found and isinstance(found[0], list) else found
    return [(one["id"], one.get("error", {}).get("code")) for one in listed]


@pytest.mark.parametrize("difference", sorted(slow_path.DIFFERENCES))
def test_each_listed_difference_from_jsonrpcserver_is_one(difference: str) -> None:
    message, expected = SHOWN_BY[difference]

    assert ours(message) == expected
    assert verdict_of_jsonrpcserver(message) != expected


@pytest.mark.parametrize(
    "message",
    [
        request("ping"),
        request("ping", id="a"),
        request("no/such"),
        [],
        {"jsonrpc": "1.0", "method": "ping"},
        {"jsonrpc": "2.0", "method": 5},
        {"jsonrpc": "2.0", "method": "ping", "params": 5, "id": None},
        [request("ping"), request("no/such", id=2)],
        5,
    ],
)
def test_elsewhere_the_verdicts_are_the_same(message: Any) -> None:
    assert ours(message) == verdict_of_jsonrpcserver(message)


@given(ANY | st.lists(ANY | well_formed(), max_size=3))
def test_any_json_is_answered_validly_or_not_at_all_and_the_next_request_is_served(
    message: Any,
) -> None:
    protocol = protocol_of(add)

    for answer in in_one_form(protocol, protocol.receive(encode(message))):
        for one in answer if isinstance(answer, list) else [answer]:
            if one not in (None, "cancel"):
                assert one["jsonrpc"] == "2.0"
                assert ("result" in one) != ("error" in one)
                assert type(one["id"]) in (int, str, type(None))

    again = in_one_form(
        protocol, protocol.receive(encode(call("add", {"a": 1, "b": 2}, id="next", **MODERN)))
    )
    assert again[0]["result"]["structuredContent"] == {"result": 3}
