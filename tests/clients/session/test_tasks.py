"""Calls that become tasks, in both forms of MCP and in all ways of waiting."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.client_backends import FACES, WAIT, ask
from support.task_server import (
    LEGACY,
    MODERN,
    QUESTION,
    TEXT,
    Message,
    TaskServer,
    asking,
    completed,
    working,
)
from toolwire_client import (
    AsyncClient,
    BrokenRules,
    CallCancelled,
    NoTasks,
    RequestFailed,
    TaskStatus,
    TimedOut,
)
from toolwire_client.protocol.tasks import MOST_POLL_SECONDS, find_task, read_status

FORMS = (MODERN, LEGACY)
BROKEN = {"status": "failed", "error": {"code": -32603, "message": "burnt"}}
CANCELLED = {"status": "cancelled", "statusMessage": "enough"}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("version", FORMS)
def test_task_gives_its_result_when_it_is_awaited(version: str, face: str) -> None:
    server = TaskServer(working(), working("half"), completed(), version=version)

    async def scenario(client: AsyncClient) -> None:
        task = await client.call_tool("work", {"a": 1}, task=True)
        assert (task.id, task.tool) == ("t", "work")
        assert (await task).text == "done"
        assert (await task.result()).text == "done"

    ask(face, server.connect(), scenario)
    assert len(server.list_requests("tasks/get")) == 3
    assert server.list_requests("tasks/cancel") == []


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("version", FORMS)
def test_each_change_of_a_task_is_yielded_once(version: str, face: str) -> None:
    states = [working(), working(), working("half"), working("half"), completed()]
    server = TaskServer(*states, version=version)

    async def scenario(client: AsyncClient) -> list[tuple[str, str]]:
        task = await client.call_tool("work", task=True)
        return [(status.state, status.message) async for status in task]

    assert ask(face, server.connect(), scenario) == [
        ("working", ""),
        ("working", "half"),
        ("completed", ""),
    ]


@pytest.mark.parametrize("version", FORMS)
def test_blocking_client_has_the_same_tasks(version: str) -> None:
    server = TaskServer(working(), completed(), version=version)
    with server.connect() as client:
        task = client.call_tool("work", task=True)
        assert [status.state for status in task] == ["working", "completed"]
        assert client.task("t").result().text == "done"


def test_changes_that_are_no_longer_wanted_end_the_subscription() -> None:
    server = TaskServer(working("a"), working("b"), completed())
    with server.connect() as client:
        for status in client.task("t"):
            assert status.message == "a"
            break
    methods = [request["method"] for request in server.requests]
    assert methods[1:] == ["subscriptions/listen", "tasks/get"]


@pytest.mark.parametrize("face", FACES)
def test_plain_call_waits_for_the_task_that_a_modern_server_makes(face: str) -> None:
    server = TaskServer(working(), completed())

    async def scenario(client: AsyncClient) -> str:
        return (await client.call_tool("work")).text

    assert ask(face, server.connect(), scenario) == "done"


def test_status_messages_are_progress_of_the_call() -> None:
    seen: list[tuple[float, float | None, str | None]] = []
    server = TaskServer(working("one"), working("one"), working("two"), completed())
    with server.connect() as client:
        client.call_tool("work", on_progress=lambda *step: seen.append(step))
    assert seen == [(0.0, None, "one"), (0.0, None, "two")]


def test_progress_in_the_state_of_a_task_is_progress_of_the_call() -> None:
    seen: list[tuple[float, float | None, str | None]] = []
    half = {"_meta": {"toolwire/progress": {"progress": 1, "total": 2}}}
    server = TaskServer(working("one"), {**working("one"), **half}, completed())
    with server.connect() as client:
        client.call_tool("work", on_progress=lambda *step: seen.append(step))
    assert seen[:2] == [(0.0, None, "one"), (1, 2, "one")]


@pytest.mark.parametrize(
    "meta",
    [
        None,
        {"toolwire/progress": 1},
        {"toolwire/progress": {"progress": 1}},
        {"toolwire/progress": {"progress": True, "total": 2}},
        {"toolwire/progress": {"progress": 1, "total": "2"}},
        {"toolwire/progress": {"progress": 10**400, "total": 2}},
    ],
)
def test_malformed_progress_of_a_task_is_unknown(meta: Any) -> None:
    assert read_status({"taskId": "t", "status": "working", "_meta": meta}).progress is None


def test_progress_of_the_call_goes_on_while_its_task_runs() -> None:
    class Reporting(TaskServer):
        def call(self, request: Message) -> None:
            if "task" not in request["params"]:
                self.refuse(request, -32601, "task required")
                return
            self.token = request["params"]["_meta"]["progressToken"]
            super().call(request)

        def get(self, request: Message) -> None:
            progress = {"progressToken": self.token, "progress": 1, "total": 2}
            self.send(method="notifications/progress", params=progress)
            super().get(request)

    seen: list[tuple[float, float | None, str | None]] = []
    server = Reporting(working("half"), completed(), version=LEGACY)
    with server.connect() as client:
        client.call_tool("work", on_progress=lambda *step: seen.append(step))
    assert seen == [(1, 2, None), (1, 2, "half"), (1, 2, None)]


@pytest.mark.parametrize("version", FORMS)
def test_failed_task_raises_the_error_of_its_call(version: str) -> None:
    server = TaskServer(working(), BROKEN, version=version)
    with server.connect() as client:
        task = client.call_tool("work", task=True)
        with pytest.raises(RequestFailed) as failed:
            task.result(WAIT)
    assert (failed.value.code, failed.value.message) == (-32603, "burnt")


@pytest.mark.parametrize("version", FORMS)
def test_task_that_the_server_cancelled_raises(version: str) -> None:
    server = TaskServer(working(), CANCELLED, version=version)
    with server.connect() as client:
        task = client.call_tool("work", task=True)
        with pytest.raises(CallCancelled, match="the task was cancelled: enough"):
            task.result(WAIT)


@pytest.mark.parametrize("version", FORMS)
def test_task_that_is_not_waited_for_any_longer_goes_on(version: str) -> None:
    server = TaskServer(working(), version=version)
    with server.connect() as client:
        task = client.call_tool("work", task=True)
        with pytest.raises(TimedOut, match="the task has not ended"):
            task.result(0.2)
        assert server.list_requests("tasks/cancel") == []
        assert task.read_status().state == "working"


def test_plain_call_that_times_out_cancels_its_task() -> None:
    server = TaskServer(working())
    with server.connect() as client, pytest.raises(TimedOut):
        client.call_tool("work", timeout_seconds=0.2)
    assert server.list_requests("tasks/cancel") == [{"taskId": "t"}]


class LateTaskServer(TaskServer):
    """Gives the handle of a task only when its call has been cancelled."""

    def call(self, request: Message) -> None:
        self._call = request

    def feed(self, data: bytes) -> None:
        super().feed(data)
        if b'"notifications/cancelled"' in data:
            super().call(self._call)


@pytest.mark.parametrize("version", FORMS)
def test_task_whose_handle_comes_after_its_call_was_cancelled_is_cancelled(version: str) -> None:
    server = LateTaskServer(working(), version=version)
    with server.connect() as client, pytest.raises(TimedOut):
        client.call_tool("work", task=True, timeout_seconds=0.2)
    assert server.list_requests("tasks/cancel") == [{"taskId": "t"}]


@pytest.mark.parametrize("version", FORMS)
def test_cancelled_task_ends(version: str) -> None:
    server = TaskServer(working(), version=version)
    with server.connect() as client:
        task = client.call_tool("work", task=True)
        task.cancel()
        assert task.read_status().state == "cancelled"


def test_task_that_has_ended_may_be_cancelled() -> None:
    class Strict(TaskServer):
        def cancel(self, request: Message) -> None:
            self.refuse(request, -32602, "has ended")

    server = Strict(completed(), version=LEGACY)
    with server.connect() as client:
        client.task("t").cancel()
        server.states = [working()]
        with pytest.raises(RequestFailed, match="has ended"):
            client.task("t").cancel()


def test_questions_of_a_task_are_asked_once_each() -> None:
    server = TaskServer(asking("a"), asking("a", "b"), asking("b"), working(), completed())
    asked: list[str | None] = []

    def on_ask(question: Any) -> dict[str, Any]:
        asked.append(question.tool)
        return {}

    with server.connect(on_ask=on_ask) as client:
        assert client.call_tool("work").text == "done"
    accepted = {"action": "accept", "content": {}}
    assert asked == ["work", "work"]
    assert server.list_requests("tasks/update") == [
        {"taskId": "t", "inputResponses": {"a": accepted}},
        {"taskId": "t", "inputResponses": {"b": accepted}},
    ]


def test_question_whose_answer_failed_is_asked_by_the_next_wait() -> None:
    server = TaskServer(asking("a"), asking("a"), completed())
    answers: list[Any] = [KeyError("no"), {}]

    def on_ask(question: Any) -> dict[str, Any]:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)

    with server.connect(on_ask=on_ask) as client:
        task = client.call_tool("work", task=True)
        with pytest.raises(KeyError):
            task.result()
        assert task.result().text == "done"
    assert len(server.list_requests("tasks/update")) == 1


def test_legacy_task_asks_while_its_result_is_waited_for() -> None:
    class Asking(TaskServer):
        def give_result(self, request: Message) -> None:
            self.send(id="q", method="elicitation/create", params=QUESTION["params"])
            self.pending = request

        def feed(self, data: bytes) -> None:
            super().feed(data)
            if self.requests[-1].get("id") == "q":
                super().give_result(self.pending)

    server = Asking({"status": "input_required"}, completed(), version=LEGACY)
    with server.connect(on_ask=lambda question: {}) as client:
        assert client.call_tool("work", task=True).result(WAIT).text == "done"


def test_question_that_this_client_did_not_offer_to_ask_ends_the_wait() -> None:
    server = TaskServer(asking("a"))
    with server.connect() as client, pytest.raises(BrokenRules, match="did not offer"):
        client.call_tool("work")
    assert server.list_requests("tasks/cancel") == [{"taskId": "t"}]


def test_server_that_answers_at_once_gives_a_task_that_has_ended() -> None:
    class Quick(TaskServer):
        def call(self, request: Message) -> None:
            self.answer(request, **TEXT)

    with Quick().connect() as client:
        task = client.call_tool("work", task=True)
        task.cancel()
        assert task.id == ""
        assert [status.state for status in task] == ["completed"]
        assert task.result().text == "done"


def test_server_without_tasks_is_not_called() -> None:
    server = TaskServer(version="2025-06-18")
    with server.connect() as client:
        with pytest.raises(NoTasks, match="has no tasks"):
            client.call_tool("work", task=True)
        with pytest.raises(NoTasks, match="does not list"):
            client.list_tasks()
    assert server.list_requests("tools/call") == []


def test_legacy_tool_that_runs_only_as_a_task_is_called_as_one() -> None:
    class Demanding(TaskServer):
        def call(self, request: Message) -> None:
            if "task" not in request["params"]:
                self.refuse(request, -32601, "task required")
            else:
                super().call(request)

        def list_tools(self, request: Message) -> None:
            tool = {"name": "work", "inputSchema": {"type": "object"}}
            self.answer(request, tools=[{**tool, "execution": {"taskSupport": "required"}}])

    server = Demanding(completed(), version=LEGACY)
    with server.connect() as client:
        assert client.call_tool("work").text == "done"
        assert ["task" in params for params in server.list_requests("tools/call")] == [False, True]
        client.list_tools()
        assert client.call_tool("work").text == "done"
        assert ["task" in params for params in server.list_requests("tools/call")][2:] == [True]


def test_legacy_server_lists_its_tasks() -> None:
    server = TaskServer(working("half"), version=LEGACY)
    with server.connect() as client:
        (status,) = client.list_tasks()
    assert (status.id, status.state, status.message) == ("t", "working", "half")


def test_poll_interval_of_the_server_is_kept() -> None:
    server = TaskServer(working(), working(), completed(), poll=150)
    with server.connect() as client:
        start = time.monotonic()
        client.call_tool("work")
        assert time.monotonic() - start >= 0.45


def test_notification_makes_the_client_ask_at_once() -> None:
    class Telling(TaskServer):
        def get(self, request: Message) -> None:
            super().get(request)
            self.send(method="notifications/tasks", params={"taskId": "t", "status": "working"})
            self.send(method="notifications/tasks", params={"taskId": "other"})

    server = Telling(working(), completed(), poll=3_600_000)
    with server.connect() as client:
        task = client.task("t")
        assert task.result(WAIT).text == "done"
    assert server.list_requests("subscriptions/listen") == [{"notifications": {"taskIds": ["t"]}}]


# Hostile servers


def test_flood_of_notifications_costs_at_most_one_request_in_50_ms() -> None:
    class Flooding(TaskServer):
        def get(self, request: Message) -> None:
            for _ in range(1000):
                self.send(method="notifications/tasks", params={"taskId": "t"})
            super().get(request)
            for _ in range(1000):
                self.send(method="notifications/tasks", params={"taskId": "t"})

    server = Flooding(working(), poll=0)
    with server.connect() as client, pytest.raises(TimedOut):
        client.call_tool("work", timeout_seconds=0.5)
    assert len(server.list_requests("tasks/get")) <= 11


def test_endless_task_is_asked_for_no_more_often_than_the_shortest_interval() -> None:
    server = TaskServer(working(), poll=-5)
    with server.connect() as client, pytest.raises(TimedOut):
        client.call_tool("work", timeout_seconds=0.5)
    assert len(server.list_requests("tasks/get")) <= 11


def test_task_that_asks_for_ever_is_given_up() -> None:
    class Curious(TaskServer):
        def get(self, request: Message) -> None:
            keys = [str(number) for number in range(len(self.requests) * 40)]
            self.answer(request, taskId="t", **asking(*keys))

    opening = Curious().connect(on_ask=lambda question: {})
    with opening as client, pytest.raises(BrokenRules, match="more than 100 questions"):
        client.call_tool("work")


@pytest.mark.parametrize(
    "members",
    [
        {"taskId": "other", "status": "working"},
        {"taskId": 7, "status": "working"},
        {"taskId": "", "status": "working"},
        {"taskId": "t" * 1025, "status": "working"},
        {"taskId": "t", "status": "asleep"},
        {"taskId": "t", "status": ["working"]},
        {"taskId": "t"},
    ],
)
def test_malformed_status_ends_the_wait(members: Message) -> None:
    class Odd(TaskServer):
        def get(self, request: Message) -> None:
            self.answer(request, **members)

    with Odd().connect() as client, pytest.raises(BrokenRules):
        client.task("t").result(WAIT)


def test_completed_task_without_a_result_breaks_the_rules() -> None:
    opening = TaskServer({"status": "completed"}).connect()
    with opening as client, pytest.raises(BrokenRules, match="no result"):
        client.task("t").result(WAIT)


@pytest.mark.parametrize(
    ("milliseconds", "seconds"),
    [
        (1500, 1.5),
        (0, 0.05),
        (-1, 0.05),
        (10**400, MOST_POLL_SECONDS),
        (1e300, MOST_POLL_SECONDS),
        ("2", 1.0),
        (True, 1.0),
        (None, 1.0),
    ],
)
def test_interval_between_requests_is_bounded(milliseconds: Any, seconds: float) -> None:
    for name in ("pollIntervalMs", "pollInterval"):
        status = read_status({"taskId": "t", "status": "working", name: milliseconds})
        assert status.poll_seconds == seconds


@pytest.mark.parametrize(
    ("milliseconds", "seconds"),
    [(60_000, 60.0), (None, None), (-1, 0.0), (10**400, 2**53 / 1000), ("1", None)],
)
def test_time_to_live_of_any_size_is_read(milliseconds: Any, seconds: float | None) -> None:
    for name in ("ttlMs", "ttl"):
        status = read_status({"taskId": "t", "status": "working", name: milliseconds})
        assert status.ttl_seconds == seconds


def test_answer_to_a_call_is_a_task_in_the_form_of_its_revision_only() -> None:
    modern, legacy = {"resultType": "task", "taskId": "t"}, {"task": {"taskId": "t"}}
    assert find_task(modern, is_modern=True) == modern
    assert find_task(legacy, is_modern=False) == {"taskId": "t"}
    assert find_task(legacy, is_modern=True) is None
    assert find_task(modern, is_modern=False) is None
    assert find_task({"content": [], "task": {}}, is_modern=False) is None
    assert find_task("task", is_modern=True) is None


def test_status_has_what_the_server_said() -> None:
    members = {
        "taskId": "t",
        "status": "working",
        "statusMessage": "half",
        "createdAt": "2026-11-28T10:00:00Z",
        "lastUpdatedAt": "2026-11-28T10:01:00Z",
        "ttlMs": 60_000,
        "pollIntervalMs": 500,
    }
    assert read_status(members) == TaskStatus(
        id="t",
        state="working",
        message="half",
        created_at="2026-11-28T10:00:00Z",
        updated_at="2026-11-28T10:01:00Z",
        ttl_seconds=60.0,
        poll_seconds=0.5,
        raw=members,
    )
