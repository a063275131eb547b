"""Calls that go on as tasks, in both forms on the wire: how they begin, end, ask and are
cancelled.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from server.tasks.tasking import ACCEPT, CAPABILITIES, EXTENSION, META, Client, code_of
from support.server_process import MODERN
from toolwire import AsyncContext, Context, Server, ToolError, tool_api

FORMS = pytest.mark.parametrize("is_modern", [True, False], ids=["2026-07-28", "2025-11-25"])


class Tools:
    """Tools that go on until `go` is set."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.has_begun = threading.Event()
        self.has_ended = threading.Event()

    def server(self, **options: Any) -> Server:
        return Server(self.tools(), grace_seconds=0.0, **options)

    def tools(self) -> list[Any]:
        @tool_api(task="always")
        def wait(context: Context, status: str = "") -> str:
            """Wait."""
            self.has_begun.set()
            if status:
                context.status(status)
            try:
                while not self.go.wait(0.005):
                    context.check()
            finally:
                self.has_ended.set()
            return "gone"

        @tool_api(task="always")
        async def wait_async(context: AsyncContext) -> str:
            """Wait on the event loop."""
            self.has_begun.set()
            try:
                while not self.go.is_set():
                    await anyio.sleep(0.005)
            finally:
                self.has_ended.set()
            return "gone"

        @tool_api(task="always")
        def fail() -> str:
            """Fail."""
            raise ToolError("as told")

        @tool_api(task="always")
        def count(context: Context) -> str:
            """Report progress."""
            context.progress(1, 4, "one")
            context.progress(2, 4)
            self.go.wait(60)
            return "counted"

        @tool_api(task="always")
        def confirm(context: Context) -> str:
            """Ask."""
            return f"{context.ask('Really?')}"

        @tool_api(task="always")
        async def confirm_both(context: AsyncContext) -> str:
            """Ask two questions at once."""
            answers = {}

            async def ask(question: str) -> None:
                answers[question] = await context.ask(question)

            async with anyio.create_task_group() as group:
                group.start_soon(ask, "First?")
                group.start_soon(ask, "Second?")
            return f"{sorted(answers.items())}"

        @tool_api(task="required")
        def only_task() -> str:
            """Run as a task, or not at all."""
            return "a task"

        @tool_api(task="never")
        def never() -> str:
            """Run as a call."""
            self.go.wait(60)
            return "a call"

        def plain(context: Context) -> str:
            """Say nothing of tasks."""
            context.status("plainly")
            self.go.wait(60)
            return "a call"

        return [
            *(wait, wait_async, fail, count, confirm, confirm_both),
            *(only_task, never, plain),
        ]


@pytest.fixture
def tools() -> Iterator[Tools]:
    tools = Tools()
    yield tools
    tools.go.set()


def outcome(client: Client, task: str) -> Any:
    """Return the result of a task, which has one."""
    if client.is_modern:
        return client.until(task, "completed")["result"]
    return client.ask("tasks/result", taskId=task)["result"]


@FORMS
@pytest.mark.parametrize("name", ["wait", "wait_async"])
def test_a_call_goes_on_as_a_task_until_it_has_a_result(
    tools: Tools, is_modern: bool, name: str
) -> None:
    client = Client(tools.server(), is_modern=is_modern)

    task = client.begin(name)

    assert client.get(task)["status"] == "working"
    tools.go.set()
    assert outcome(client, task)["content"] == [{"type": "text", "text": "gone"}]
    assert client.get(task)["status"] == "completed"
    client.end()


def test_the_handle_has_the_members_of_the_extension_and_no_others(tools: Tools) -> None:
    client = Client(tools.server())

    made = client.call("wait")["result"]

    members = {"resultType", "taskId", "status", "createdAt", "lastUpdatedAt", "_meta"}
    assert made.keys() - {"statusMessage"} == members | {"ttlMs", "pollIntervalMs"}
    assert (made["resultType"], made["status"]) == ("task", "working")
    assert len(made["taskId"]) == 32
    assert 3_600_000 <= made["ttlMs"] < 3_700_000
    client.end()


@FORMS
def test_a_failure_of_the_tool_is_a_result(tools: Tools, is_modern: bool) -> None:
    client = Client(tools.server(), is_modern=is_modern)

    result = outcome(client, client.begin("fail"))

    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "as told"}]
    client.end()


@FORMS
@pytest.mark.parametrize("name", ["wait", "wait_async"])
def test_a_cancelled_task_stops_its_tool(tools: Tools, is_modern: bool, name: str) -> None:
    client = Client(tools.server(), is_modern=is_modern)
    task = client.begin(name)
    assert tools.has_begun.wait(60)

    acknowledged = client.ask("tasks/cancel", taskId=task)["result"]

    assert acknowledged.get("status") == (None if is_modern else "cancelled")
    assert client.get(task)["status"] == "cancelled"
    assert tools.has_ended.wait(60)
    again = client.ask("tasks/cancel", taskId=task)
    assert ("result" in again) is is_modern
    assert is_modern or code_of(again) == -32602
    client.end()


def test_a_cancelled_task_of_the_older_form_has_an_error_in_place_of_a_result(
    tools: Tools,
) -> None:
    client = Client(tools.server(), is_modern=False)
    task = client.begin("wait")
    waiting = client.send("tasks/result", taskId=task)

    client.ask("tasks/cancel", taskId=task)

    assert code_of(client.response(waiting)) == -32800
    client.end()


def test_a_cancelled_request_for_a_result_leaves_the_task_alone(tools: Tools) -> None:
    client = Client(tools.server(), is_modern=False)
    task = client.begin("wait")
    waiting = client.send("tasks/result", taskId=task)

    params = {"requestId": waiting}
    client.feed({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    tools.go.set()

    assert outcome(client, task)["isError"] is False
    assert waiting not in [message.get("id") for message in client.end()]


@FORMS
def test_a_status_is_that_of_the_tool(tools: Tools, is_modern: bool) -> None:
    client = Client(tools.server(), is_modern=is_modern)
    task = client.begin("wait", {"status": "reading"})
    method = "notifications/tasks/status"

    if not is_modern:
        client.wait(lambda message: message.get("method") == method)
    for _ in range(1000):
        state = client.get(task)
        if "statusMessage" in state:
            break

    assert state["statusMessage"] == "reading"
    client.end()


@FORMS
def test_progress_is_the_status_and_in_the_older_form_progress_too(
    tools: Tools, is_modern: bool
) -> None:
    client = Client(tools.server(), is_modern=is_modern)
    meta = {"progressToken": "p", **(META if is_modern else {})}

    task = client.begin("count", _meta=meta)
    for _ in range(1000):
        state = client.get(task)
        if state.get("statusMessage") == "2 of 4":
            break

    assert state["statusMessage"] == "2 of 4"
    progress = state.get("_meta", {}).get("toolwire/progress")
    assert progress == ({"progress": 2, "total": 4} if is_modern else None)
    tools.go.set()
    outcome(client, task)
    methods = [message.get("method") for message in client.end()]
    assert methods.count("notifications/progress") == (0 if is_modern else 2)


def test_a_question_is_answered_by_an_update(tools: Tools) -> None:
    client = Client(tools.server())
    task = client.begin("confirm")

    asked = client.until(task, "input_required")["inputRequests"]

    [(key, request)] = asked.items()
    assert request["params"]["message"] == "Really?"
    replies = {"unknown": {"ignored": True}, key: ACCEPT}
    assert client.ask("tasks/update", taskId=task, inputResponses=replies)["result"].keys() == {
        "resultType",
        "_meta",
    }
    assert outcome(client, task)["content"][0]["text"] == "True"
    client.end()


def test_questions_asked_at_once_are_answered_one_by_one(tools: Tools) -> None:
    client = Client(tools.server())
    task = client.begin("confirm_both")
    for _ in range(1000):
        asked = client.until(task, "input_required")["inputRequests"]
        if len(asked) == 2:
            break
    first, second = asked

    client.ask("tasks/update", taskId=task, inputResponses={first: ACCEPT})

    assert client.until(task, "input_required")["inputRequests"].keys() == {second}
    client.ask("tasks/update", taskId=task, inputResponses={second: ACCEPT})
    assert "('Second?', True)" in outcome(client, task)["content"][0]["text"]
    client.end()


def test_a_client_of_the_older_form_is_asked_by_a_request_that_names_the_task(
    tools: Tools,
) -> None:
    client = Client(tools.server(), is_modern=False)
    task = client.begin("confirm")

    question = client.wait(lambda message: message.get("method") == "elicitation/create")

    related = question["params"]["_meta"]["io.modelcontextprotocol/related-task"]
    assert related == {"taskId": task}
    assert client.until(task, "input_required")
    client.feed({"jsonrpc": "2.0", "id": question["id"], "result": ACCEPT})
    assert outcome(client, task)["content"][0]["text"] == "True"
    client.end()


def test_a_question_ends_with_its_task(tools: Tools) -> None:
    client = Client(tools.server())
    task = client.begin("confirm")
    [key] = client.until(task, "input_required")["inputRequests"]

    client.ask("tasks/cancel", taskId=task)

    assert "inputRequests" not in client.get(task)
    assert "result" in client.ask("tasks/update", taskId=task, inputResponses={key: ACCEPT})
    client.end()


def test_an_answer_that_is_no_object_is_refused_and_the_question_stays(tools: Tools) -> None:
    client = Client(tools.server())
    task = client.begin("confirm")
    [key] = client.until(task, "input_required")["inputRequests"]

    for wrong in ({key: "yes"}, [], None):
        assert code_of(client.ask("tasks/update", taskId=task, inputResponses=wrong)) == -32602

    assert client.get(task)["inputRequests"].keys() == {key}
    client.end()


def test_a_call_that_takes_long_becomes_a_task(tools: Tools) -> None:
    client = Client(tools.server(task_after_seconds=0.05))

    made = client.call("plain")["result"]

    assert (made["resultType"], made["statusMessage"]) == ("task", "plainly")
    tools.go.set()
    assert outcome(client, made["taskId"])["content"][0]["text"] == "a call"
    client.end()


def test_a_call_that_ends_before_has_its_result(tools: Tools) -> None:
    tools.go.set()
    client = Client(tools.server(task_after_seconds=5.0))

    assert client.call("plain")["result"]["resultType"] == "complete"
    client.end()


def test_with_no_time_every_call_becomes_a_task_at_once(tools: Tools) -> None:
    client = Client(tools.server(task_after_seconds=0))

    assert client.call("plain")["result"]["resultType"] == "task"
    client.end()


def test_a_tool_with_never_is_not_a_task_in_either_form(tools: Tools) -> None:
    client = Client(tools.server(task_after_seconds=0.01))
    never = client.send("tools/call", name="never", arguments={})
    older = Client(tools.server(), is_modern=False)

    assert code_of(older.call("never")) == -32601

    for _ in range(2):  # long enough for others that began later
        assert client.call("plain")["result"]["resultType"] == "task"
    tools.go.set()
    assert client.response(never)["result"]["resultType"] == "complete"
    client.end()
    older.end()


def test_a_client_without_the_extension_gets_no_task(tools: Tools) -> None:
    tools.go.set()
    client = Client(tools.server(task_after_seconds=0))

    result = client.call("wait", _meta=MODERN)["result"]

    assert result["resultType"] == "complete"
    client.end()


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_client_without_the_extension_gets_an_error_that_names_it(
    tools: Tools, method: str
) -> None:
    client = Client(tools.server())

    response = client.ask(method, taskId="x", inputResponses={}, _meta=MODERN)

    assert code_of(response) == -32021
    lacking = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
    assert response["error"]["data"] == lacking
    client.end()


def test_a_tool_that_needs_a_task_refuses_other_calls(tools: Tools) -> None:
    client = Client(tools.server())
    older = Client(tools.server(), is_modern=False)
    oldest = Client(tools.server(), is_modern=False, version="2025-06-18")

    assert code_of(client.call("only_task", _meta=MODERN)) == -32021
    assert code_of(older.ask("tools/call", name="only_task", arguments={})) == -32601
    assert code_of(oldest.call("only_task")) == -32601
    assert outcome(client, client.begin("only_task"))["content"][0]["text"] == "a task"
    assert outcome(older, older.begin("only_task"))["content"][0]["text"] == "a task"
    for each in (client, older, oldest):
        each.end()


def test_revisions_without_tasks_ignore_the_parameter(tools: Tools) -> None:
    tools.go.set()
    client = Client(tools.server(), is_modern=False, version="2025-06-18")

    assert client.call("wait")["result"]["content"][0]["text"] == "gone"
    assert code_of(client.ask("tasks/list")) == -32601
    client.end()


def test_only_tools_with_the_option_are_tasks_for_clients_that_decide_themselves(
    tools: Tools,
) -> None:
    server = tools.server()
    client = Client(server, is_modern=False)
    newer = Client(server)

    listed = client.ask("tools/list")["result"]["tools"]
    listed_newer = newer.ask("tools/list")["result"]["tools"]
    newer.end()

    support = {tool["name"]: tool.get("execution", {}).get("taskSupport") for tool in listed}
    assert support["wait"] == "optional"
    assert support["only_task"] == "required"
    assert support["plain"] is support["never"] is None
    assert [tool["name"] for tool in listed_newer if "execution" in tool] == []
    assert code_of(client.call("plain")) == -32601
    client.end()


@pytest.mark.parametrize("asked", [{"ttl": 0}, {"ttl": -1}, {"ttl": 1.5}, {"ttl": True}, 7, []])
def test_a_wrong_time_to_live_is_refused(tools: Tools, asked: Any) -> None:
    client = Client(tools.server(), is_modern=False)

    assert code_of(client.call("wait", task=asked)) == -32602
    assert client.ask("tasks/list")["result"] == {"tasks": []}
    assert tools.has_ended.is_set() is False
    client.end()


@pytest.mark.parametrize(("asked", "granted"), [(60_000, 60_000), (10**400, 3_600_000)])
def test_a_time_to_live_is_granted_up_to_the_limit(tools: Tools, asked: int, granted: int) -> None:
    client = Client(tools.server(), is_modern=False)

    ttl = client.call("wait", task={"ttl": asked})["result"]["task"]["ttl"]

    assert granted <= ttl < granted + 5000
    client.end()


UNKNOWN = ["", "x", "0" * 32, "../tasks", "\u0000", 7, None, ["a"]]


@FORMS
@pytest.mark.parametrize("handle", UNKNOWN)
def test_an_unknown_handle_is_an_error(tools: Tools, is_modern: bool, handle: Any) -> None:
    client = Client(tools.server(), is_modern=is_modern)
    methods = ["tasks/get", "tasks/cancel", "tasks/update" if is_modern else "tasks/result"]

    for method in methods:
        response = client.ask(method, taskId=handle, inputResponses={})
        assert code_of(response) == -32602
    client.end()


@FORMS
def test_another_clients_handle_is_unknown(tools: Tools, is_modern: bool) -> None:
    server = tools.server()
    mine, other = Client(server, is_modern=is_modern), Client(server, is_modern=is_modern)
    task = mine.begin("wait")

    assert code_of(other.ask("tasks/get", taskId=task)) == -32602
    assert code_of(other.ask("tasks/cancel", taskId=task)) == -32602
    assert mine.get(task)["status"] == "working"
    if not is_modern:
        assert other.ask("tasks/list")["result"] == {"tasks": []}
    mine.end()
    other.end()


def test_methods_of_one_form_do_not_exist_in_the_other(tools: Tools) -> None:
    client = Client(tools.server())
    older = Client(tools.server(), is_modern=False)
    task = client.begin("wait")

    assert code_of(client.ask("tasks/result", taskId=task)) == -32601
    assert code_of(client.ask("tasks/list")) == -32601
    assert code_of(older.ask("tasks/update", taskId="x", inputResponses={})) == -32601
    client.end()
    older.end()


def test_each_form_reads_the_tasks_of_the_other(tools: Tools) -> None:
    tools.go.set()
    client = Client(tools.server(), is_modern=False)
    older = client.begin("wait")

    client.is_modern = True
    client._schema = "messages-2026-07-28"
    newer = client.begin("wait")
    result = outcome(client, older)
    assert result["resultType"] == "complete"

    client.is_modern = False
    client._schema = "messages-2025-11-25"
    assert "resultType" not in outcome(client, newer)
    client.end()


def test_a_tasks_request_in_a_batch_is_refused_and_a_notification_ignored(tools: Tools) -> None:
    client = Client(tools.server(), is_modern=False, version="2025-11-25")
    task = client.begin("wait")
    params = {"taskId": task}
    client.feed([{"jsonrpc": "2.0", "id": "b", "method": "tasks/get", "params": params}])
    client.feed({"jsonrpc": "2.0", "method": "tasks/cancel", "params": params})

    assert client.get(task)["status"] == "working"
    [[refused]] = [message for message in client.end() if isinstance(message, list)]
    assert code_of(refused) == -32600


def test_a_task_that_runs_out_of_time_has_that_as_its_result(tools: Tools) -> None:
    client = Client(tools.server(timeout_seconds=0.05))

    result = outcome(client, client.begin("wait"))

    assert result["isError"] is True
    assert "did not finish within 0.05 seconds" in result["content"][0]["text"]
    assert tools.has_ended.wait(60)
    client.end()


def test_subscribers_get_each_state_as_get_would_return_it(tools: Tools) -> None:
    client = Client(tools.server())
    task = client.begin("wait")

    listen = client.send("subscriptions/listen", notifications={"taskIds": [task, "x", 7]})

    acknowledged = client.wait(
        lambda message: message.get("method") == "notifications/subscriptions/acknowledged"
    )
    assert acknowledged["params"]["notifications"] == {"taskIds": [task]}
    client.wait(lambda message: message.get("params", {}).get("status") == "working")
    tools.go.set()
    last = client.wait(lambda message: message.get("params", {}).get("status") == "completed")
    assert last["params"].pop("_meta") == {"io.modelcontextprotocol/subscriptionId": listen}
    state = client.get(task)
    del state["resultType"], state["_meta"]
    assert last["params"] == state
    client.end()


def test_a_subscription_to_tasks_needs_the_extension(tools: Tools) -> None:
    client = Client(tools.server())

    wanted = {"taskIds": []}
    response = client.ask("subscriptions/listen", notifications=wanted, _meta=MODERN)

    assert code_of(response) == -32021
    client.end()


def test_the_end_of_the_session_answers_what_waits_for_a_result(tools: Tools) -> None:
    client = Client(tools.server(), is_modern=False)
    waiting = client.send("tasks/result", taskId=client.begin("wait"))
    assert tools.has_begun.wait(60)

    client.end()

    assert code_of(client.response(waiting)) == -31002
    assert tools.has_ended.wait(60)


def test_no_more_tasks_are_kept_than_may_be(tools: Tools) -> None:
    client = Client(tools.server(max_tasks=2))
    for _ in range(2):
        client.begin("wait")
    tools.go.set()

    assert client.call("wait")["result"]["resultType"] == "complete"
    assert code_of(client.call("only_task")) == -31001
    client.end()


def test_a_result_that_was_delivered_makes_room(tools: Tools) -> None:
    tools.go.set()
    client = Client(tools.server(max_tasks=2))
    first, second = client.begin("wait"), client.begin("wait")
    client.until(second, "completed")

    client.begin("wait")

    assert code_of(client.ask("tasks/get", taskId=second)) == -32602
    assert client.until(first, "completed")
    client.end()


def test_results_of_tasks_stay_within_their_bytes(tools: Tools) -> None:
    tools.go.set()
    client = Client(tools.server(max_task_bytes=1))
    first = client.begin("wait")
    waiting = client.send("subscriptions/listen", notifications={"taskIds": [first]})
    client.wait(lambda message: message.get("params", {}).get("status") == "completed")

    assert client.call("wait")["result"]["resultType"] == "complete"

    client.get(first)
    assert client.call("wait")["result"]["resultType"] == "task"
    assert waiting
    client.end()


def test_a_result_is_forgotten_in_time(tools: Tools) -> None:
    tools.go.set()
    client = Client(tools.server(task_ttl_seconds=0.05))
    task = client.begin("wait")

    for _ in range(100_000):
        response = client.ask("tasks/get", taskId=task)
        if "error" in response:
            break

    assert code_of(response) == -32602
    client.end()


def test_many_tasks_come_and_go_without_growth(tools: Tools) -> None:
    """The older form waits for a result in one request, so that nothing is polled."""
    tools.go.set()
    client = Client(tools.server(max_tasks=8), is_modern=False)

    def run_tasks(count: int) -> list[int]:
        for _ in range(count):
            task = client.begin("wait")
            client.ask("tasks/result", taskId=task)
            client.wait(lambda message: message.get("params", {}).get("status") == "completed")
            client.get(task)
            client.messages.clear()
        tasks = client._session.get_tasks()
        kept = (tasks._tasks, tasks._states, tasks._announced)
        sizes = [len(each) for each in kept]
        return [*sizes, tasks._kept_bytes, len(client._session.in_flight.list_running())]

    first = run_tasks(16)

    assert run_tasks(48) == first
    assert first[0] == 8
    client.end()


def test_capabilities_other_than_an_object_declare_nothing(tools: Tools) -> None:
    tools.go.set()
    client = Client(tools.server(task_after_seconds=0))

    for extensions in (None, [], {EXTENSION: None}, {EXTENSION: True}, "tasks"):
        capabilities = {**CAPABILITIES, "extensions": extensions}
        meta = {**META, "io.modelcontextprotocol/clientCapabilities": capabilities}
        assert client.call("wait", _meta=meta)["result"]["resultType"] == "complete"
    client.end()
