"""Calls of async tools share tasks: those that arrive together until one waits, others later."""

from __future__ import annotations

import asyncio
import json
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from queue import SimpleQueue
from typing import Any

import anyio
import pytest
from support.server_process import PATIENCE_SECONDS, call, protocol_of, request
from toolwire import AsyncContext, Server
from toolwire.runtime.call_tasks import CallTasks
from toolwire.runtime.task_reuse import TaskState

variable: ContextVar[object] = ContextVar("variable")


class Conversation:
    """A session with *tools*, whose calls arrive together, while the event loop is held."""

    def __init__(self, *tools: Callable[..., Any]) -> None:
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._gate = threading.Event()
        self._holds = threading.Event()

        async def hold() -> None:
            self._holds.set()
            self._gate.wait(PATIENCE_SECONDS)

        self._session = Server([hold, *tools]).open_session(self._receive)

    def send(self, *messages: dict[str, Any]) -> None:
        self._session.feed(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def send_together(self, *messages: dict[str, Any]) -> None:
        self._gate.clear()
        self._holds.clear()
        self.send(call("hold", id="hold"))
        assert self._holds.wait(PATIENCE_SECONDS)
        self.send(*messages)
        self._gate.set()
        assert self.receive()["id"] == "hold"

    def results_of(self, *names: str) -> list[Any]:
        """The structured results of calls that arrive together, in the order of the calls."""
        self.send_together(*(call(name, id=number) for number, name in enumerate(names)))
        answers = sorted((self.receive() for _ in names), key=lambda answer: answer["id"])
        return [answer["result"]["structuredContent"]["result"] for answer in answers]

    def result_of(self, name: str) -> Any:
        """The structured result of a call that arrives alone."""
        self.send(call(name, id=name))
        answer = self.receive()
        assert answer["id"] == name
        return answer["result"]["structuredContent"]["result"]

    def receive(self) -> Any:
        return self._answers.get(timeout=PATIENCE_SECONDS)

    def end(self) -> None:
        self._session.end()

    def _receive(self, data: bytes) -> None:
        for line in data.splitlines():
            self._answers.put(json.loads(line))


@contextmanager
def conversation(*tools: Callable[..., Any]) -> Iterator[Conversation]:
    opened = Conversation(*tools)
    try:
        yield opened
    finally:
        opened.end()


async def quick() -> int:
    return id(asyncio.current_task())


def test_calls_that_do_not_wait_share_a_task() -> None:
    with conversation(quick) as talk:
        assert len(set(talk.results_of(*["quick"] * 20))) == 1


def test_a_call_that_waits_does_not_hold_up_the_others() -> None:
    event = anyio.Event()

    async def wait() -> int:
        task = id(asyncio.current_task())
        await event.wait()
        assert id(asyncio.current_task()) == task
        return task

    async def release() -> int:
        event.set()
        return id(asyncio.current_task())

    with conversation(wait, quick, release) as talk:
        first, second, third, fourth = talk.results_of("wait", "quick", "wait", "release")

    assert first != third
    assert second == third, "the rest continued in another task"
    assert fourth not in (first, third)


def test_a_tool_that_has_waited_gets_a_task_for_each_call() -> None:
    async def wait() -> int:
        await asyncio.sleep(0)
        return id(asyncio.current_task())

    with conversation(wait) as talk:
        talk.results_of("wait")
        assert len(set(talk.results_of(*["wait"] * 5))) == 5


def task_number() -> int:
    """The number of the current task, which no later task has."""
    task = asyncio.current_task()
    assert task is not None
    return int(task.get_name().removeprefix("Task-"))


async def wait_for_a_future() -> None:
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    loop.call_soon(future.set_result, None)
    await future


async def wait_in_a_scope() -> None:
    with anyio.CancelScope():
        await anyio.sleep(0)


async def wait_in_a_group() -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.sleep, 0)


@pytest.mark.parametrize(
    "wait", [lambda: asyncio.sleep(0), wait_for_a_future, wait_in_a_scope, wait_in_a_group]
)
def test_a_task_is_used_again_when_its_call_has_waited(
    wait: Callable[[], Coroutine[Any, Any, None]],
) -> None:
    async def run() -> int:
        await wait()
        return task_number()

    with conversation(run) as talk:
        numbers = [talk.result_of("run") for _ in range(5)]

    assert len(set(numbers)) == 1


@pytest.mark.parametrize("what", ["a variable", "a reference", "a weak reference"])
def test_a_task_that_a_call_has_changed_after_it_waited_is_not_used_again(what: str) -> None:
    change, _ = CHANGES[what]
    kept: list[Any] = []

    async def run() -> int:
        await asyncio.sleep(0)
        change(kept)
        return task_number()

    with conversation(run) as talk:
        numbers = [talk.result_of("run") for _ in range(5)]

    assert len(set(numbers)) == 5


def test_calls_that_wait_take_turns_in_few_tasks() -> None:
    async def wait() -> int:
        await asyncio.sleep(0)
        return task_number()

    with conversation(wait) as talk:
        numbers = talk.results_of(*["wait"] * 900)

    assert len(set(numbers)) < 300


def test_more_calls_than_begin_in_a_turn_of_the_loop_all_wait_at_once() -> None:
    arrived: list[int] = []

    async def wait_for_all() -> int:
        arrived.append(1)
        while len(arrived) < 500:
            await asyncio.sleep(0)
        return 1

    with conversation(wait_for_all) as talk:
        assert talk.results_of(*["wait_for_all"] * 500) == [1] * 500


def test_a_cancellation_that_comes_when_the_wait_is_over_reaches_no_later_call() -> None:
    async def main() -> None:
        scopes: list[anyio.CancelScope] = []
        future = asyncio.get_running_loop().create_future()
        ended: list[str] = []

        async def run(made: Any, scope: anyio.CancelScope) -> None:
            made.scope = scope
            if made.id == "first":
                scopes.append(scope)
                await future
            else:
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            ended.append(made.id)
            made.scope = None

        protocol = protocol_of(quick)
        calls: dict[str, Any] = {}
        for id in ("first", "second"):
            [calls[id]] = protocol.receive(json.dumps(call("quick", id=id)).encode())
        async with asyncio.TaskGroup() as group:
            tasks = CallTasks(group, run, lambda made: True)
            tasks.start([calls["first"]])
            await asyncio.sleep(0)
            future.set_result(None)
            scopes[0].cancel()
            tasks.start([calls["second"]])
            for _ in range(10):
                await asyncio.sleep(0)
            tasks.end_idle()
        assert ended == ["first", "second"]

    anyio.run(main)


def test_a_call_follows_when_a_tool_has_cancelled_the_idle_tasks() -> None:
    async def wait() -> int:
        await asyncio.sleep(0)
        return 1

    async def cancel_idle_tasks() -> int:
        cancelled = 0
        for task in asyncio.all_tasks():
            coroutine: Any = task.get_coro()
            if coroutine.__name__ == "_run_calls" and task is not asyncio.current_task():
                cancelled += task.cancel()
        return cancelled

    with conversation(wait, cancel_idle_tasks) as talk:
        talk.results_of("wait", "wait", "wait")
        talk.results_of("wait", "wait", "wait")
        assert talk.result_of("cancel_idle_tasks") >= 2
        assert talk.results_of("wait", "wait", "wait") == [1, 1, 1]


def test_idle_tasks_end_with_the_session() -> None:
    threads = []

    async def wait() -> int:
        threads.append(threading.current_thread())
        await asyncio.sleep(0)
        return 1

    with conversation(wait) as talk:
        assert talk.results_of("wait", "wait") == [1, 1]
    threads[0].join(PATIENCE_SECONDS)

    assert not threads[0].is_alive()


def test_a_response_is_sent_though_the_next_call_blocks_the_loop() -> None:
    gate = threading.Event()

    async def block() -> int:
        gate.wait(PATIENCE_SECONDS)
        return 1

    with conversation(quick, block) as talk:
        talk.send_together(call("quick", id="quick"), call("block", id="block"))
        assert talk.receive()["id"] == "quick"
        gate.set()
        assert talk.receive()["id"] == "block"


def test_progress_and_log_messages_come_before_the_response() -> None:
    async def report(context: AsyncContext) -> int:
        context.log("a line")
        context.progress(1)
        return 1

    with conversation(quick, report) as talk:
        talk.send(request("logging/setLevel", {"level": "info"}, id="level"))
        assert talk.receive()["id"] == "level"
        for number in range(20):
            talk.send_together(
                call("quick", id="quick"), call("report", id=number, progressToken="token")
            )
            seen = [talk.receive() for _ in range(4)]
            own = [message for message in seen if message.get("id") != "quick"]
            assert [message.get("method", message.get("id")) for message in own] == [
                "notifications/message",
                "notifications/progress",
                number,
            ]


def test_no_call_sees_context_variables_of_another_one() -> None:
    async def look() -> bool:
        was_set = variable.get(None) is not None
        variable.set([])
        return was_set

    with conversation(look) as talk:
        assert talk.results_of(*["look"] * 5) == [False] * 5


def test_a_task_that_a_call_has_kept_runs_no_other_call() -> None:
    kept: list[object] = []

    async def keep() -> bool:
        task = asyncio.current_task()
        is_known = task in kept
        kept.append(task)
        return is_known

    with conversation(keep) as talk:
        assert talk.results_of(*["keep"] * 5) == [False] * 5


def test_a_call_that_cancels_its_task_and_returns_cancels_no_other_one() -> None:
    async def cancel_itself() -> bool:
        task = asyncio.current_task()
        assert task is not None
        return task.cancel()

    async def wait() -> bool:
        await asyncio.sleep(0)
        return True

    with conversation(cancel_itself, wait) as talk:
        assert talk.results_of("cancel_itself", "wait", "cancel_itself", "wait") == [True] * 4


def test_a_cancelled_call_ends_alone() -> None:
    event = anyio.Event()
    seen: list[str] = []

    async def wait(name: str) -> str:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(event.wait)
            try:
                await event.wait()
            finally:
                seen.append(name)
                # An anyio scope cancels each wait, not only the first.
                await anyio.sleep(0)
        return name

    async def release() -> int:
        event.set()
        return 1

    with conversation(wait, quick, release) as talk:
        talk.send_together(
            call("quick", id=0),
            call("wait", {"name": "a"}, id=1),
            call("wait", {"name": "b"}, id=2),
            call("quick", id=3),
        )
        assert {talk.receive()["id"], talk.receive()["id"]} == {0, 3}
        talk.send(request("notifications/cancelled", {"requestId": 1}, id=...))
        talk.send(request("notifications/cancelled", {"requestId": 0}, id=...))
        talk.send(call("quick", id=4))
        assert talk.receive()["id"] == 4
        assert seen == ["a"]
        talk.send(call("release", id=5))
        assert {talk.receive()["id"], talk.receive()["id"]} == {2, 5}

    assert seen == ["a", "b"]


def leave_as_it_was() -> None:
    token = variable.set(1)
    variable.reset(token)


CHANGES: dict[str, tuple[Callable[[list[Any]], object], bool]] = {
    "nothing": (lambda kept: None, True),
    "a variable that is reset": (lambda kept: leave_as_it_was(), True),
    "a variable": (lambda kept: variable.set(1), False),
    "a reference": (lambda kept: kept.append(asyncio.current_task()), False),
    "a weak reference": (lambda kept: kept.append(weakref.ref(current_task())), False),
    "a cancellation": (lambda kept: current_task().cancel(), False),
}


def current_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


@pytest.mark.parametrize("what", CHANGES)
def test_a_task_is_changed_by(what: str) -> None:
    change, is_unchanged = CHANGES[what]
    kept: list[Any] = []

    async def run() -> bool:
        state = TaskState()
        change(kept)
        return state.is_unchanged()

    async def main() -> bool:
        answers: list[bool] = []

        async def note() -> None:
            answers.append(await run())

        task = asyncio.get_running_loop().create_task(note(), context=copy_context())
        await asyncio.wait([task])
        return answers[0]

    assert asyncio.run(main()) is is_unchanged


def test_an_equal_value_of_a_variable_is_a_change() -> None:
    async def run() -> bool:
        variable.set([])
        state = TaskState()
        variable.set([])
        return state.is_unchanged()

    assert asyncio.run(run()) is False
