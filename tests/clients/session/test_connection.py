"""Who gets what of all that a server sends, in any order and cut anywhere. No processes, no
threads.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_client import BrokenRules, Closed, RequestFailed, ServerGone
from toolwire_client.protocol.client_protocol import ClientProtocol
from toolwire_client.protocol.events import (
    ElicitationRequest,
    Event,
    Failure,
    ListChanged,
    LogEntry,
    Progress,
    Result,
)
from toolwire_client.session.connection import Connection
from toolwire_schemas.wire.codec import decode
from toolwire_schemas.wire.messages import Frame


class Pipe:
    """A wire whose other end is the test."""

    pid = None

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.closed = False

    def start(self, on_data: Any, on_end: Any) -> None:
        self.say_bytes, self.end = on_data, on_end

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        self.sent.append(decode(data))

    def close(self) -> None:
        self.closed = True

    def get_stderr_tail(self) -> str:
        return ""

    def say(self, *messages: Any) -> None:
        for message in messages:
            self.say_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


class Inbox(list[Any]):
    put = list.append


class Client:
    """A connection, and what came of it."""

    def __init__(
        self,
        *,
        can_ask: bool = False,
        version: str | None = "2025-11-25",
        max_message_bytes: int = 1000,
    ) -> None:
        self.pipe, self.heard = Pipe(), list[Event]()
        protocol = ClientProtocol("t", "1", can_ask=can_ask)
        protocol.version = version
        self.connection = Connection(
            self.pipe, protocol, max_message_bytes=max_message_bytes, on_event=self.heard.append
        )

    def begin(self, method: str = "x") -> tuple[int, Inbox]:
        request, inbox = self.connection.protocol.request(method, None), Inbox()
        self.connection.begin(request, inbox)
        return request[0], inbox


def answer(number: Any, result: Any = None) -> dict[str, Any]:
    return {"id": number, "result": result}


def progress(number: int, done: int) -> dict[str, Any]:
    return {
        "method": "notifications/progress",
        "params": {"progressToken": number, "progress": done},
    }


@given(st.data())
def test_everybody_gets_their_own_answer_once_however_the_stream_is_mixed_and_cut(
    data: st.DataObject,
) -> None:
    client = Client()
    inboxes = dict(client.begin() for _ in range(data.draw(st.integers(1, 6))))
    numbers = st.sampled_from([*inboxes, 99])
    lines = data.draw(
        st.lists(
            numbers.map(lambda number: (number, answer(number, f"for {number}")))
            | st.tuples(numbers, st.integers(0, 9)).map(lambda drawn: (drawn[0], progress(*drawn)))
            | st.sampled_from([(None, "no message"), (None, ""), (None, [1])])
        )
    )
    stream = b"".join(
        (line if isinstance(line, str) else json.dumps(line)).encode() + b"\n" for _, line in lines
    )
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        client.pipe.say_bytes(stream[:size])
        stream = stream[size:]

    for number, inbox in inboxes.items():
        expected: list[Any] = []
        for to, line in lines:
            if to == number and not any(isinstance(event, Result) for event in expected):
                is_answer = "result" in line
                expected.append(
                    Result(number, f"for {number}")
                    if is_answer
                    else Progress(number, line["params"]["progress"])
                )
        assert inbox == expected


@given(
    st.lists(
        st.sampled_from(["begin", "answer", "fail", "cancel", "answer late", "die", "close"]),
        max_size=30,
    )
)
def test_every_request_has_one_end_whatever_happens(steps: list[str]) -> None:
    client, inboxes = Client(), dict[int, Inbox]()
    open_now: list[int] = []
    cancelled: list[int] = []
    for step in steps:
        match step:
            case "begin":
                try:
                    number, inbox = client.begin()
                except (ServerGone, Closed):
                    assert client.connection.end is not None
                else:
                    inboxes[number] = inbox
                    open_now.append(number)
            case "answer" | "fail" if open_now:
                number = open_now.pop()
                error = {"id": number, "error": {"code": 1, "message": "no"}}
                client.pipe.say(answer(number) if step == "answer" else error)
            case "cancel" if open_now:
                cancelled.append(open_now.pop(0))
                client.connection.cancel(cancelled[-1], "enough")
            case "answer late" if cancelled:
                client.pipe.say(answer(cancelled[0]))
            case "die":
                client.pipe.end(ServerGone(7, "out of ideas"))
                open_now.clear()
            case "close":
                client.connection.close()
                open_now.clear()
    for number, inbox in inboxes.items():
        ends = 0 if number in open_now or number in cancelled else 1
        assert len(inbox) == ends
    told = [
        message["params"]["requestId"]
        for message in client.pipe.sent
        if message["method"] == "notifications/cancelled"
    ]
    assert told == cancelled


def test_ids_are_never_used_twice() -> None:
    client = Client()
    for _ in range(3):
        number, _ = client.begin()
        client.pipe.say(answer(number))
        number, _ = client.begin()
        client.connection.cancel(number, "enough")
    numbers = [message["id"] for message in client.pipe.sent if "id" in message]
    assert numbers == sorted(set(numbers))


def test_an_unexpected_response_is_logged() -> None:
    client = Client()
    client.pipe.say(answer(5))
    assert client.heard == [LogEntry("debug", "client", "ignored: response to no open request", 5)]


def test_lines_that_are_no_messages_are_logged_and_the_last_of_them_kept() -> None:
    client = Client()
    client.pipe.say_bytes(b"".join(b"%d\n" % number for number in range(30)))
    assert client.heard == [LogEntry("warning", "output", str(number)) for number in range(30)]
    assert client.connection.get_noise().split() == [str(number) for number in range(20, 30)]


def test_a_server_s_end_is_reported_with_what_it_wrote_in_the_wrong_place() -> None:
    client = Client()
    _, inbox = client.begin()
    client.pipe.say_bytes(b"usage: server [options]")  # without the end of the line
    client.pipe.end(ServerGone(2, ""))
    assert str(inbox[0]) == (
        "the server ended with exit status 2, and wrote nothing to its stderr; "
        "its output ended with lines that are not messages:\nusage: server [options]"
    )


def test_an_answer_beyond_the_limit_is_an_error_of_that_request_alone() -> None:
    client = Client(max_message_bytes=100)
    (first, inbox), (_, other) = client.begin(), client.begin()
    client.pipe.say(answer(first, "x" * 200))
    assert isinstance(inbox[0], Failure)
    assert isinstance(inbox[0].error, BrokenRules)
    assert other == []
    assert client.connection.end is None


def test_a_long_line_that_cannot_be_an_answer_is_noise() -> None:
    client = Client(max_message_bytes=100)
    _, inbox = client.begin()
    client.pipe.say_bytes(b"A" * 10_000 + b"\n")
    assert (len(client.connection.get_noise()), inbox, client.connection.end) == (512, [], None)


def test_a_long_message_that_may_be_anybody_s_answer_ends_it_all() -> None:
    client = Client(max_message_bytes=100)
    _, inbox = client.begin()
    client.pipe.say_bytes(b'{"result":"' + b"x" * 10_000 + b'"}\n')
    assert str(inbox[0]).startswith("the server sent a message of")
    assert client.connection.end is not None


def test_progress_that_is_not_read_is_limited() -> None:
    client = Client()
    number, inbox = client.begin()
    for done in range(10_100):
        client.pipe.say(progress(number, done))
    client.pipe.say(answer(number))
    assert len(inbox) == 10_001
    assert inbox[-1] == Result(number, None)


def test_an_error_without_an_id_is_the_answer_to_the_probe_and_to_nothing_else() -> None:
    client = Client(version=None)
    inbox = Inbox()
    client.connection.begin(client.connection.protocol.discover(), inbox)
    stray = {"id": None, "error": {"code": -32700, "message": "?"}}
    client.pipe.say(stray)
    [failure] = inbox
    assert (failure.id, type(failure.error), str(failure.error)) == (
        None,
        RequestFailed,
        "? (error -32700)",
    )
    client.connection.begin(client.connection.protocol.initialize(), inbox)
    client.pipe.say(stray)
    assert len(inbox) == 1


def asks(id: Any = "q") -> dict[str, Any]:
    return {"id": id, "method": "elicitation/create", "params": {}}


def test_a_question_is_taken_once_by_one_of_those_who_wait() -> None:
    client = Client(can_ask=True)
    (_, one), (_, other) = client.begin(), client.begin()
    client.pipe.say(asks())
    assert one == other == [ElicitationRequest("q", {})]
    question = client.connection.take_elicitation()
    assert question is not None
    assert client.connection.take_elicitation() is None
    client.connection.answer(question, b'{"jsonrpc":"2.0","id":"q","result":{}}')
    assert client.pipe.sent[-1] == {"jsonrpc": "2.0", "id": "q", "result": {}}


def test_a_question_that_was_put_back_is_for_the_others() -> None:
    client = Client(can_ask=True)
    client.pipe.say(asks())
    question = client.connection.take_elicitation()
    assert question is not None
    _, inbox = client.begin()
    client.connection.put_back(question)
    assert len(inbox) == 1
    assert client.connection.take_elicitation() is question


@pytest.mark.parametrize("taken", [True, False])
def test_a_question_that_was_withdrawn_is_not_answered(taken: bool) -> None:
    client = Client(can_ask=True)
    client.pipe.say(asks())
    question = client.connection.take_elicitation() if taken else None
    client.pipe.say({"method": "notifications/cancelled", "params": {"requestId": "q"}})
    if question is not None:
        assert not question.is_open
        client.connection.answer(question, b"{}")
        client.connection.put_back(question)
    assert client.pipe.sent == []
    assert client.connection.take_elicitation() is None


@pytest.mark.parametrize("id", [None, 1.5, [], "unknown"])
def test_withdrawing_what_was_never_asked_changes_nothing(id: Any) -> None:
    client = Client(can_ask=True)
    client.pipe.say(asks(), {"method": "notifications/cancelled", "params": {"requestId": id}})
    assert client.connection.take_elicitation() is not None


def test_the_number_of_questions_is_limited() -> None:
    client = Client(can_ask=True)
    client.pipe.say(*(asks(number) for number in range(150)), asks(0))
    refused = [message["id"] for message in client.pipe.sent if "error" in message]
    assert refused == [*range(100, 150), 0]


def test_a_message_that_is_taken_first_goes_no_further() -> None:
    pipe, taken, events = Pipe(), list[bytes](), list[Event]()

    def take_custom(frame: Frame, protocol: ClientProtocol) -> bool:
        if not isinstance(frame, bytes) or b"custom" not in frame:
            return False
        taken.append(frame)
        return True

    Connection(
        pipe,
        ClientProtocol("t", "1"),
        max_message_bytes=1000,
        on_event=events.append,
        take_frame=take_custom,
    )
    pipe.say_bytes(b'{"method":  "custom"}\n')
    pipe.say({"method": "notifications/tools/list_changed"})
    assert taken == [b'{"method":  "custom"}']
    assert events == [ListChanged("tools")]
