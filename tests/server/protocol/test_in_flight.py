"""Calls in flight: what counts, for how long, and which end is answered. Progress tokens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.server_process import MODERN, NoHost, call, protocol_of
from toolwire.errors import RequestError
from toolwire.protocol.call import Call, Origin
from toolwire.protocol.in_flight import InFlight
from toolwire.protocol.lifecycle import Identity
from toolwire.settings import Settings
from toolwire_schemas.wire.codec import decode
from toolwire_schemas.wire.messages import INVALID_REQUEST, OVERLOADED
from toolwire_tools import make_tool


def add(a: int = 1) -> int:
    return a


TOOL = make_tool(add)


def in_flight(**settings: int) -> InFlight:
    return InFlight(Settings(**settings), Identity("test", "1"))  # type: ignore[arg-type]


def call_of(id: Any, size: int = 10) -> Call:
    return Call(id, TOOL.entry, TOOL.handler, {}, Origin(size, None, False), None, False, NoHost())


def begin(calls: InFlight, id: Any, size: int = 10) -> Call:
    made = call_of(id, size)
    calls.begin(made, id, made.origin)
    return made


def is_refused(calls: InFlight, id: Any, size: int = 10) -> int:
    """Return the error code of one more call; 0 if it begins."""
    try:
        begin(calls, id, size)
    except RequestError as error:
        return error.code
    return 0


# What happens to a call of 60 bytes, and whether it is held after that.
LIVES = {
    "it runs": ([], True),
    "it ends": (["end"], False),
    "it is given up": (["give up"], True),
    "it is given up twice": (["give up", "give up"], True),
    "it is given up, and its tool returns": (["give up", "end"], False),
    "its tool returns, and it is given up": (["end", "give up"], False),
    "it is given up, and released": (["give up", "release"], False),
    "it is parked": (["park"], True),
    "it is parked, and ends": (["park", "end"], False),
    "it is parked, and given up": (["park", "give up"], True),
    "it is parked, given up, and its tool returns": (["park", "give up", "end"], False),
}


def live(calls: InFlight, made: Call, steps: list[str]) -> None:
    for step in steps:
        match step:
            case "end":
                calls.end(made)
            case "give up":
                calls.end(made, given_up=True)
            case "release":
                calls.release(made)
            case "park":
                with calls.lock:
                    calls.park(made)


@pytest.mark.parametrize("life", LIVES)
def test_a_call_counts_until_its_tool_has_returned(life: str) -> None:
    steps, is_held = LIVES[life]
    calls = in_flight(max_pending_calls=1)
    live(calls, begin(calls, "first"), steps)

    assert is_refused(calls, "second") == (OVERLOADED if is_held else 0)
    assert len(calls.running()) == 1


@pytest.mark.parametrize("life", LIVES)
@pytest.mark.parametrize("size", [40, 41])
def test_the_input_of_a_call_counts_until_its_tool_has_returned(life: str, size: int) -> None:
    steps, is_held = LIVES[life]
    calls = in_flight(max_pending_bytes=100)
    live(calls, begin(calls, "first", 60), steps)

    assert is_refused(calls, "second", size) == (OVERLOADED if is_held and size > 40 else 0)


def test_a_refused_call_holds_nothing() -> None:
    calls = in_flight(max_pending_bytes=100)
    begin(calls, "first", 60)
    assert is_refused(calls, "second", 41) == OVERLOADED
    assert is_refused(calls, "third", 40) == 0


def test_a_refusal_names_what_is_held_now_and_the_limit() -> None:
    calls = in_flight(max_pending_bytes=100)
    calls.end(begin(calls, "ended", 30))
    begin(calls, "running", 60)

    with pytest.raises(RequestError, match="hold 60 bytes of input, and the limit is 100"):
        begin(calls, "refused", 41)


@pytest.mark.parametrize(("held", "size", "code"), [(50, 50, 0), (50, 51, OVERLOADED)])
def test_the_responses_of_a_batch_count_as_held(held: int, size: int, code: int) -> None:
    calls = in_flight(max_pending_bytes=100)
    calls.hold(held)
    assert is_refused(calls, "call", size) == code

    calls.hold(-held)
    assert is_refused(calls, "next", 100 if code else 1) == 0


@pytest.mark.parametrize("steps", [[], ["give up"], ["park"], ["end"]])
def test_an_id_is_in_use_until_its_request_ends(steps: list[str]) -> None:
    calls = in_flight()
    live(calls, begin(calls, 1), steps)

    assert is_refused(calls, 1) == (0 if steps else INVALID_REQUEST)


def test_the_id_of_a_subscription_is_in_use() -> None:
    calls = in_flight()
    calls.subscriptions[1] = frozenset(("tools",))
    assert is_refused(calls, 1) == INVALID_REQUEST
    with pytest.raises(RequestError):
        calls.check_unused(1)
    calls.check_unused(2)


@pytest.mark.parametrize(
    ("steps", "answers"),
    [
        (["end"], [True]),
        (["end", "end"], [True, False]),
        (["give up", "end"], [True, False]),
        (["end", "give up"], [True, False]),
        (["park", "end"], [False]),
        (["park", "give up", "end"], [False, False]),
    ],
)
def test_a_request_is_answered_once_and_a_parked_call_has_none(
    steps: list[str], answers: list[bool]
) -> None:
    calls = in_flight()
    made = begin(calls, 1)
    found = []
    for step in steps:
        if step == "park":
            live(calls, made, [step])
        else:
            found.append(calls.end(made, given_up=step == "give up"))
    assert found == answers


def test_a_call_that_continues_keeps_what_it_holds_and_takes_the_new_id() -> None:
    calls = in_flight(max_pending_bytes=100)
    made = begin(calls, 1, 60)
    again = call_of(2, 30)
    with calls.lock:
        calls.park(made)
        calls.unpark(made, again)

    assert (made.id, made.origin.size) == (2, 30)
    assert calls.get(2) is made
    assert calls.get(1) is None
    assert is_refused(calls, 3, 71) == OVERLOADED
    assert is_refused(calls, 3, 70) == 0


def test_idleness_is_reported_at_once_and_whenever_the_last_call_ends() -> None:
    calls = in_flight()
    told: list[bool] = []
    calls.notify_when_idle(lambda: told.append(calls.is_idle()))
    first, second = begin(calls, 1), begin(calls, 2)

    calls.end(first)
    assert told == [True]
    calls.end(second)
    assert told == [True, True]


def test_the_end_of_the_server_ends_every_call_once() -> None:
    calls = in_flight()
    first, second = begin(calls, 1), begin(calls, 2)
    calls.end(first)

    assert calls.end_all() == [second]
    assert calls.end_all() == []
    assert second.given_up


TOKENS = [
    ("t", True),
    ("", True),
    (0, True),
    (-7, True),
    (True, False),
    (False, False),
    (None, False),
    (1.5, False),
    ([1], False),
    ({}, False),
]


@pytest.mark.parametrize(("token", "is_token"), TOKENS)
@pytest.mark.parametrize("meta", [{}, MODERN], ids=["legacy", "modern"])
def test_a_progress_token_is_text_or_a_whole_number_and_no_boolean(
    token: Any, is_token: bool, meta: dict[str, Any]
) -> None:
    host = Expecting()
    protocol = protocol_of(add)
    protocol._host = host
    request = call("add", progressToken=token, **meta)

    (made,) = protocol.receive(json.dumps(request).encode())

    assert isinstance(made, Call)
    assert (made.token, made.last_report is not None) == (
        (token, True) if is_token else (None, False)
    )
    assert type(made.token) is type(token) or not is_token
    assert host.expected == is_token
    assert protocol.in_flight.reporting() == ([(made, made.last_report)] if is_token else [])


class Expecting(NoHost):
    """Notes whether heartbeats are wanted."""

    def __init__(self) -> None:
        self.expected = 0

    def expect_progress(self) -> None:
        """Count one call that wants heartbeats."""
        self.expected += 1


@pytest.mark.parametrize(
    ("before", "done", "is_raised"),
    [(None, 0, False), (1, 2, False), (1, 1, True), (1, 0.5, True), (0, 0, True), (1e16, 1, True)],
)
def test_progress_increases_with_every_notification(
    before: float | None, done: float, is_raised: bool
) -> None:
    protocol = protocol_of(add)
    (made,) = protocol.receive(json.dumps(call("add", progressToken="t")).encode())
    assert isinstance(made, Call)
    if before is not None:
        made.progress_message(before, None, None)

    message = made.progress_message(done, 5, "text")

    assert message is not None
    params = decode(message)["params"]
    assert params.keys() == {"progressToken", "progress", "total", "message"}
    assert (params["progress"] > done) is is_raised
    assert before is None or params["progress"] > before


@pytest.mark.parametrize("steps", [["end"], ["give up"], ["park"]])
def test_a_call_without_a_request_reports_no_progress(steps: list[str]) -> None:
    protocol = protocol_of(add)
    (made,) = protocol.receive(json.dumps(call("add", progressToken="t")).encode())
    assert isinstance(made, Call)
    live(protocol.in_flight, made, steps)

    assert made.progress_message(1, None, None) is None
