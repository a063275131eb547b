"""Calls in flight: what counts, for how long, and which end is answered. Progress tokens."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from msgspec.structs import replace
from support.server_process import MODERN, PATIENCE_SECONDS, NoHost, call, protocol_of
from toolwire import log
from toolwire.errors import RequestError, UpstreamError
from toolwire.protocol.batch import Batch
from toolwire.protocol.call import Call, Origin
from toolwire.protocol.elicitation import PendingElicitation
from toolwire.protocol.in_flight import InFlight
from toolwire.protocol.lifecycle import Identity
from toolwire.settings import Settings
from toolwire_schemas.wire.codec import decode
from toolwire_schemas.wire.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    META_SERVER_INFO,
    OVERLOADED,
    encode_response,
)
from toolwire_tools import ArgumentsError, Cancelled, ToolError, make_tool


def add(a: int = 1) -> int:
    return a


TOOL = make_tool(add)


def in_flight(**settings: Any) -> InFlight:
    return InFlight(Settings(**settings), Identity("test", "1"))


def call_of(id: Any, size: int = 10) -> Call:
    return Call(id, TOOL.entry, TOOL.handler, {}, Origin(size, None, False), {}, False, NoHost())


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
    "it is given up, and its tool returns twice": (["give up", "end", "end"], False),
    "it is given up, and released twice": (["give up", "release", "release"], False),
}
# The flags of each state: `ended`, `given_up`, `lingers`.
STATES = {
    "in flight": ([], (False, False, False)),
    "parked": (["park"], (False, False, True)),
    "given up": (["give up"], (True, True, True)),
    "given up while parked": (["park", "give up"], (True, True, True)),
    "out of time": (["expire"], (True, True, True)),
    "ended": (["end"], (True, False, False)),
    "ended while parked": (["park", "end"], (True, False, False)),
    "given up, and its tool has returned": (["give up", "end"], (True, True, False)),
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
            case "expire":
                calls.expire(made, 1.0)
            case "park":
                with calls.lock:
                    calls.park(made)


@pytest.mark.parametrize("state", STATES)
def test_each_state_of_a_call_has_its_flags(state: str) -> None:
    steps, flags = STATES[state]
    calls = in_flight()
    made = begin(calls, 1)
    live(calls, made, steps)

    assert (made.ended, made.given_up, made.lingers) == flags


@pytest.mark.parametrize("life", LIVES)
def test_a_call_counts_until_its_tool_has_returned(life: str) -> None:
    steps, is_held = LIVES[life]
    calls = in_flight(max_pending_calls=1)
    live(calls, begin(calls, "first"), steps)

    assert is_refused(calls, "second") == (OVERLOADED if is_held else 0)
    assert len(calls.list_running()) == 1


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


@pytest.mark.parametrize("limits", [{"max_pending_calls": 1}, {"max_pending_bytes": 100}])
def test_a_parked_call_continues_at_the_limit(limits: dict[str, int]) -> None:
    calls = in_flight(**limits)
    made = begin(calls, 1, 60)
    live(calls, made, ["park"])
    with calls.lock:
        calls.unpark(made, call_of(2, 100))

    assert calls.get(2) is made
    assert is_refused(calls, 3, 1) == OVERLOADED
    calls.end(made)
    assert is_refused(calls, 3, 100) == 0


@pytest.mark.parametrize(
    ("id", "size", "code"), [("used", 10, INVALID_REQUEST), ("free", 91, OVERLOADED)]
)
def test_a_call_that_cannot_continue_stays_parked(id: str, size: int, code: int) -> None:
    calls = in_flight(max_pending_bytes=100)
    begin(calls, "used", 10)
    made = begin(calls, "first", 60)
    live(calls, made, ["park"])
    with calls.lock, pytest.raises(RequestError) as raised:
        calls.unpark(made, call_of(id, size))

    assert raised.value.code == code
    assert (made.id, made.lingers) == ("first", True)
    assert is_refused(calls, "more", 31) == OVERLOADED
    assert is_refused(calls, "more", 30) == 0


@pytest.mark.parametrize(
    ("steps", "count"),
    [(["end"], 1), (["give up"], 1), (["park", "end"], 1), (["park", "give up"], 1), (["park"], 0)],
)
def test_a_tool_that_waits_for_the_user_is_woken_by_the_end_of_its_call(
    steps: list[str], count: int
) -> None:
    calls = in_flight()
    made = begin(calls, 1)
    replies: list[Any] = []
    made.elicitation = PendingElicitation(made, {}, replies.append)

    live(calls, made, steps)

    assert [type(reply) for reply in replies] == [Cancelled] * count
    assert all(str(reply) == "the call of add was cancelled" for reply in replies)


@pytest.mark.parametrize("step", ["end", "release"])
def test_a_thread_that_waits_for_a_tool_is_notified_when_it_returns(step: str) -> None:
    calls = in_flight()
    made = begin(calls, 1)
    live(calls, made, ["give up"])
    notified: list[bool] = []
    is_waiting = threading.Event()

    def wait() -> None:
        with calls.returned:
            is_waiting.set()
            notified.append(calls.returned.wait(PATIENCE_SECONDS))

    waiter = threading.Thread(target=wait)
    waiter.start()
    is_waiting.wait(PATIENCE_SECONDS)
    live(calls, made, [step])  # takes the lock, so the thread waits by now
    waiter.join()

    assert notified == [True]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_pending_calls": 1}, "1 are in progress"),
        ({"max_pending_bytes": 15}, "10 bytes of input are held"),
    ],
)
def test_a_limit_that_refuses_calls_is_logged_once(
    limits: dict[str, int],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(log, "_last_written", {})
    calls = in_flight(**limits)
    begin(calls, 1)

    assert is_refused(calls, 2) == OVERLOADED
    assert is_refused(calls, 3) == OVERLOADED

    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith(f"toolwire: warning: calls are refused: {reason} ")


def failed_with(text: str) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": text}], "isError": True}}


# The method of `InFlight` for the end of a call, and the response to its request.
RESPONSES: dict[str, tuple[Any, dict[str, Any]]] = {
    "result": (
        lambda calls, made: calls.finish(made, {"content": []}),
        {"result": {"content": []}},
    ),
    "tool error": (
        lambda calls, made: calls.fail(made, ToolError("no such customer")),
        failed_with("no such customer"),
    ),
    "error of another server": (
        lambda calls, made: calls.fail(made, UpstreamError(-7, "odd", {"more": 1})),
        {"error": {"code": -7, "message": "odd", "data": {"more": 1}}},
    ),
    "out of time": (
        lambda calls, made: calls.expire(made, 1.5),
        failed_with("add did not finish within 1.5 seconds."),
    ),
    "refused": (
        lambda calls, made: calls.refuse(made, "no thread"),
        {"error": {"code": OVERLOADED, "message": "no thread"}},
    ),
    "no JSON": (
        lambda calls, made: calls.finish(made, {"value": float("nan")}),
        failed_with("add returned a value that JSON cannot represent: NaN is not JSON"),
    ),
}


@pytest.mark.parametrize("end", RESPONSES)
def test_the_first_end_of_a_call_is_its_response_and_a_later_one_has_none(end: str) -> None:
    respond, expected = RESPONSES[end]
    calls = in_flight()
    made = begin(calls, 7)

    message = respond(calls, made)

    assert message is not None
    response = decode(message)
    if end == "no JSON":
        response = without_reason(response)
        expected = without_reason(expected)
    assert response == {"jsonrpc": "2.0", "id": 7, **expected}
    assert respond(calls, made) is None


def without_reason(response: dict[str, Any]) -> dict[str, Any]:
    """Cut the encoder's own words from the text of a failure."""
    [block] = response["result"]["content"]
    text = block["text"].partition(":")[0]
    return {**response, "result": {"content": [{**block, "text": text}], "isError": True}}


@pytest.mark.parametrize("end", RESPONSES)
def test_a_notification_has_no_response(end: str) -> None:
    respond, _ = RESPONSES[end]
    calls = in_flight()
    assert respond(calls, begin(calls, None)) is None


@pytest.mark.parametrize("end", RESPONSES)
@pytest.mark.parametrize("id", [7, None])
def test_the_end_of_the_last_member_sends_the_batch(end: str, id: int | None) -> None:
    respond, _ = RESPONSES[end]
    batch = Batch(2, lambda size: None)
    calls = in_flight()
    first, last = call_of(1), call_of(id)
    for made in (first, last):
        made.origin = Origin(10, batch, False)
        calls.begin(made, made.id, made.origin)

    assert calls.finish(first, {"content": []}) is None
    message = respond(calls, last)

    assert message is not None
    assert [response["id"] for response in decode(message)] == ([1] if id is None else [1, 7])


def result_of(text_bytes: int, *, is_error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "x" * text_bytes}], "isError": is_error}


ENVELOPE_BYTES = len(encode_response(7, result_of(0)))


@pytest.mark.parametrize(("more", "is_whole"), [(-1, True), (0, True), (1, False)])
def test_a_response_of_the_most_bytes_is_whole_and_one_beyond_is_not(
    more: int, is_whole: bool
) -> None:
    calls = in_flight(max_result_bytes=1000)
    result = result_of(1000 - ENVELOPE_BYTES + more)

    message = calls.finish(begin(calls, 7), result)

    assert message is not None
    assert (decode(message)["result"] == result) is is_whole


def made_smaller(calls: InFlight) -> int:
    return 0 if calls.large is None else calls.large.made


def test_results_that_are_made_smaller_are_counted() -> None:
    calls = in_flight(max_result_bytes=5000, on_large_result="truncate")
    counts = [made_smaller(calls)]

    for id, text_bytes in enumerate((10, 20_000, 20_000)):
        calls.finish(begin(calls, id), result_of(text_bytes))
        counts.append(made_smaller(calls))

    assert counts == [0, 0, 1, 2]


@pytest.mark.parametrize(("text_bytes", "is_whole"), [(500, True), (5000, False)])
def test_the_text_of_a_failure_is_limited_too(text_bytes: int, is_whole: bool) -> None:
    calls = in_flight(max_result_bytes=1000)

    message = calls.fail(begin(calls, 7), ToolError("x" * text_bytes))

    assert message is not None
    result = decode(message)["result"]
    assert result["isError"]
    assert (result == result_of(text_bytes, is_error=True)) is is_whole
    assert len(message) <= 1000


def test_the_failure_that_names_the_limit_is_sent_whatever_its_size() -> None:
    calls = in_flight(max_result_bytes=10)

    message = calls.finish(begin(calls, 7), result_of(20))

    assert message is not None
    assert len(message) > 10
    assert decode(message)["result"]["isError"]


@pytest.mark.parametrize(("more", "is_whole"), [(0, True), (1, False)])
def test_the_responses_of_a_batch_share_the_limit(more: int, is_whole: bool) -> None:
    batch = Batch(2, lambda size: None)
    calls = in_flight(max_result_bytes=1000)
    first, last = call_of(6), call_of(7)
    for made in (first, last):
        made.origin = Origin(10, batch, False)
        calls.begin(made, made.id, made.origin)
    assert calls.finish(first, result_of(400 - ENVELOPE_BYTES)) is None
    result = result_of(600 - ENVELOPE_BYTES + more)

    message = calls.finish(last, result)

    assert message is not None
    assert (decode(message)[1]["result"] == result) is is_whole


def test_an_ended_call_without_a_response_gets_an_internal_error() -> None:
    calls = in_flight()
    made = begin(calls, 7)
    calls.end(made)

    message = calls.respond_internal_error(made)

    assert message is not None
    error = {"code": INTERNAL_ERROR, "message": "Internal error"}
    assert decode(message) == {"jsonrpc": "2.0", "id": 7, "error": error}


def test_a_parked_call_responds_to_its_current_request() -> None:
    calls = in_flight()
    made = begin(calls, 7)
    live(calls, made, ["park"])

    message = calls.respond_with_elicitation(
        made, {"resultType": "input_required", "inputRequests": {}}
    )

    assert message is not None
    response = decode(message)
    assert response["id"] == 7
    assert response["result"]["resultType"] == "input_required"
    assert META_SERVER_INFO in response["result"]["_meta"]


OF_A_RESOURCE = {"kind": "resources"}
REFUSAL = ArgumentsError([("arguments.a", "no")], private=True)


@pytest.mark.parametrize(
    ("entry", "error", "line"),
    [
        ({}, ToolError("no such customer"), ""),
        ({}, UpstreamError(-7, "odd"), ""),
        ({}, RequestError(-7, "odd"), "add failed"),
        ({}, ZeroDivisionError("by the tool"), "add failed"),
        (OF_A_RESOURCE, ToolError("no such note"), ""),
        (OF_A_RESOURCE, UpstreamError(-7, "odd"), ""),
        (OF_A_RESOURCE, RequestError(-7, "odd"), ""),
        (OF_A_RESOURCE, ZeroDivisionError("by the tool"), "add failed"),
        ({}, REFUSAL, ""),
    ],
)
@pytest.mark.parametrize(("id_in_log", "id"), [(None, "id=7"), ("outer", "id=outer")])
def test_an_error_that_is_not_for_the_caller_is_logged(
    entry: dict[str, Any],
    error: Exception,
    line: str,
    id_in_log: str | None,
    id: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    calls = in_flight()
    made = begin(calls, 7)
    made.entry = replace(made.entry, **entry)
    made.id_in_log = id_in_log

    calls.fail(made, error)

    logged = capfd.readouterr().err
    expected = f"toolwire: error: {line} ({id})" if line else ""
    assert logged.partition("\n")[0] == expected
    assert (type(error).__name__ in logged) is bool(line)


@pytest.mark.parametrize(
    ("cause", "shown"),
    [(ValueError("a secret"), "ValueError: a secret"), (None, "ArgumentsError: ")],
)
@pytest.mark.parametrize(("id_in_log", "id"), [(None, "id=7"), ("outer", "id=outer")])
def test_masked_arguments_are_logged_with_their_cause(
    cause: Exception | None,
    shown: str,
    id_in_log: str | None,
    id: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    calls = in_flight(mask_errors=True)
    made = begin(calls, 7)
    made.id_in_log = id_in_log
    error = ArgumentsError([("arguments.a", "no")], private=True)
    error.__cause__ = cause

    calls.fail(made, error)

    first, _, trace = capfd.readouterr().err.partition("\n")
    assert first == f"toolwire: error: add refused its arguments ({id})"
    assert shown in trace


@pytest.mark.parametrize(("id_in_log", "id"), [(None, "id=7"), ("outer", "id=outer")])
@pytest.mark.parametrize(
    ("result", "line"),
    [
        (
            {"value": float("inf")},
            "toolwire: error: add returned a value that JSON cannot represent",
        ),
        ({"value": "\ud800"}, "toolwire: warning: add returned a lone surrogate"),
    ],
)
def test_a_result_that_cannot_be_sent_as_it_is_is_logged(
    result: dict[str, Any],
    line: str,
    id_in_log: str | None,
    id: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    calls = in_flight()
    made = begin(calls, 7)
    made.id_in_log = id_in_log

    calls.finish(made, result)

    logged = capfd.readouterr().err
    assert logged.startswith(line)
    assert logged.endswith(f"({id})\n")


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
