"""A call as its tool sees it: what reaches the client, and when."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from support.server_process import NoHost
from toolwire.protocol.call import Call, Origin, ProgressReport
from toolwire_schemas.wire.codec import decode
from toolwire_tools import make_tool


def add(a: int = 1) -> int:
    return a


TOOL = make_tool(add)
SEEN: dict[str, Any] = {}
REPLY = {"action": "accept", "content": {"value": 3}}


class RecordingHost(NoHost):
    """Keeps what a call sends."""

    session_state = SEEN
    session_id = "own"

    def __init__(self, log_level: int | None = None) -> None:
        self.log_level = log_level
        self.notifications: list[tuple[bytes | None, int]] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []

    @property
    def log_messages(self) -> list[dict[str, Any]]:
        """The parameters of the log messages among the notifications."""
        found = []
        for message, _ in self.notifications:
            notification = decode(message or b"null")
            if notification["method"] == "notifications/message":
                found.append(notification["params"])
        return found

    def get_state(self, entry: Any) -> Any:
        return f"the state of {entry.name}"

    def send_notification(self, *arguments: Any) -> None:
        _, make, size = arguments
        self.notifications.append((make(), size))

    def get_elicitations(self) -> RecordingHost:
        return self

    def ask(self, *arguments: Any) -> dict[str, Any]:
        _, params, key = arguments
        self.asked.append((key, params))
        return REPLY

    async def ask_async(self, *arguments: Any) -> dict[str, Any]:
        return self.ask(*arguments)


def call_of(host: RecordingHost, id: Any = 7, **more: Any) -> Call:
    origin = Origin(10, None, False)
    return Call(id, TOOL.entry, TOOL.handler, {}, origin, {}, False, host, **more)


def test_a_new_call_is_in_flight_and_has_nothing() -> None:
    made = call_of(RecordingHost())

    flags = (made.ended, made.given_up, made.lingers, made.cancelled)
    assert flags == (False, False, False, False)
    assert made.slot == 0
    assert made.last_report is None


def test_the_state_is_that_of_the_tool_and_of_the_session() -> None:
    made = call_of(RecordingHost())

    assert made.state == "the state of add"
    assert made.session_state is SEEN
    assert made.session_id == "own"


@pytest.mark.parametrize(
    ("token", "ended", "is_sent"),
    [
        ("t", False, True),
        (0, False, True),
        ("t", True, False),
        (None, False, False),
        (None, True, False),
    ],
)
def test_progress_is_sent_with_a_token_until_the_call_ends(
    token: Any, ended: bool, is_sent: bool
) -> None:
    host = RecordingHost()
    call_of(host, token=token, ended=ended).progress(1, 2, "half")

    assert bool(host.notifications) is is_sent


@pytest.mark.parametrize(
    ("total", "message", "members", "size"),
    [
        (2, "half", {"total": 2, "message": "half"}, 4),
        (None, None, {}, 0),
        (0, "", {"total": 0, "message": ""}, 0),
    ],
)
def test_progress_has_a_total_and_a_message_if_the_tool_gave_them(
    total: float | None, message: str | None, members: dict[str, Any], size: int
) -> None:
    host = RecordingHost()
    made = call_of(host, token="t", last_report=ProgressReport(0.0))

    made.progress(1, total, message)

    assert made.last_report is not None
    assert made.last_report.by_tool
    [(sent, sent_size)] = host.notifications
    assert sent is not None
    assert decode(sent) == {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": "t", "progress": 1, **members},
    }
    assert sent_size == size


@pytest.mark.parametrize("before", [10**400, 2**1024])
def test_progress_beyond_the_range_of_floats_increases_by_one(before: int) -> None:
    made = call_of(RecordingHost(), token="t", last_report=ProgressReport(0.0, done=before))

    message = made.progress_message(1, None, None)

    assert message is not None
    assert decode(message)["params"]["progress"] == before + 1


@pytest.mark.parametrize("by_tool", [True, False])
def test_a_report_says_whether_it_is_the_tools(by_tool: bool) -> None:
    made = call_of(RecordingHost(), token="t", last_report=ProgressReport(0.0))
    made.progress_message(1, 5, None, by_tool=by_tool)

    assert made.last_report is not None
    report = made.last_report
    assert (report.done, report.total, report.by_tool) == (1, 5, by_tool)


@pytest.mark.parametrize(
    ("id", "id_in_log", "fields", "logger", "line"),
    [
        (7, None, {}, None, "toolwire: warning: noted (tool=add id=7)\n"),
        (7, "outer", {}, None, "toolwire: warning: noted (tool=add id=outer)\n"),
        (None, None, {}, None, "toolwire: warning: noted (tool=add)\n"),
        (7, None, {"n": 1}, "mine", "toolwire: warning: noted (tool=add id=7 logger=mine n=1)\n"),
    ],
)
def test_a_message_is_a_line_on_stderr_with_the_hosts_id(
    id: Any,
    id_in_log: Any,
    fields: dict[str, Any],
    logger: str | None,
    line: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    call_of(RecordingHost(), id, id_in_log=id_in_log).log("warning", "noted", fields, logger)

    assert capfd.readouterr().err == line


@pytest.mark.parametrize(
    ("of_request", "of_client", "is_sent"),
    [(None, None, False), (0, None, True), (None, 0, True), (3, 3, False)],
)
def test_a_message_goes_to_a_client_that_wants_its_level(
    of_request: int | None, of_client: int | None, is_sent: bool
) -> None:
    host = RecordingHost(of_client)
    call_of(host, log_level=of_request).log("info", "noted", {}, None)

    assert bool(host.log_messages) is is_sent


@pytest.mark.parametrize(
    ("fields", "logger", "data", "sent_logger"),
    [
        ({}, None, "noted", "add"),
        ({}, "mine", "noted", "mine"),
        ({"n": 1}, None, {"n": 1, "message": "noted"}, "add"),
    ],
)
def test_a_sent_message_has_its_fields_and_the_tools_name_unless_it_names_a_logger(
    fields: dict[str, Any], logger: str | None, data: Any, sent_logger: str
) -> None:
    host = RecordingHost(0)
    call_of(host).log("info", "noted", fields, logger)

    assert host.log_messages == [{"level": "info", "logger": sent_logger, "data": data}]


@pytest.mark.parametrize("is_async", [False, True])
def test_an_elicitation_has_the_message_the_schema_and_the_key(is_async: bool) -> None:
    host = RecordingHost()
    made = call_of(host)

    if is_async:
        reply = anyio.run(made.ask_async, "How many?", {"type": "object"}, "count")
    else:
        reply = made.ask("How many?", {"type": "object"}, "count")

    assert reply == REPLY
    params = {"message": "How many?", "requestedSchema": {"type": "object"}}
    assert host.asked == [("count", params)]
