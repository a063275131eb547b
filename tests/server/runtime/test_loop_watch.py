"""A tool that blocks the event loop is named in the log, with its line."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest
from support.server_process import PATIENCE_SECONDS, call, served, wait_until
from toolwire import Server, log
from toolwire.runtime import loop_watch
from toolwire.runtime.loop_watch import MOST_TICKS, LoopWatch
from toolwire_client import connect


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> SimpleQueue[str]:
    """The lines of the log."""
    found: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr(log, "warning", found.put)
    monkeypatch.setattr(log, "info", found.put)
    return found


def test_a_blocking_call_in_an_async_tool_is_named_with_its_line(
    lines: SimpleQueue[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop_watch, "TICK_SECONDS", 0.01)
    is_reported = threading.Event()

    def helper() -> str:
        is_reported.wait(PATIENCE_SECONDS)  # blocks
        return "waited"

    async def wait_badly() -> str:
        await asyncio.sleep(0)
        return helper()

    with connect(Server([wait_badly])) as client:
        caller = threading.Thread(target=client.call_tool, args=("wait_badly",))
        caller.start()
        report = lines.get(timeout=PATIENCE_SECONDS)
        is_reported.set()
        again = lines.get(timeout=PATIENCE_SECONDS)
        caller.join(PATIENCE_SECONDS)
    line = helper.__code__.co_firstlineno + 1
    assert report.startswith(
        "wait_badly has blocked the event loop for 0.05 s, so other async calls wait: "
    )
    assert (
        f": test_loop_watch.py:{line} `is_reported.wait(PATIENCE_SECONDS)  # blocks`; await"
        " something" in report
    )
    assert again == "the event loop runs again"


class Clock:
    """Timers that run a task when the test says so."""

    def __init__(self) -> None:
        self.tasks: list[object] = []

    def after(self, seconds: float, task: object) -> None:
        self.tasks.append(task)

    def tick(self) -> None:
        task: object = self.tasks.pop()
        task()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("answers_after", "reports"),
    [(0, 0), (1, 0), (MOST_TICKS - 1, 0), (MOST_TICKS, 2), (MOST_TICKS + 3, 2), (None, 1)],
)
def test_a_loop_is_reported_once_if_it_answers_too_late(
    lines: SimpleQueue[str], answers_after: int | None, reports: int
) -> None:
    clock = Clock()
    asked: list[object] = []

    def soon(task: object) -> bool:
        asked.append(task)
        return True

    watch = LoopWatch(clock, soon, lambda: True, lambda: None, Clock.tick.__code__)  # type: ignore[arg-type]
    watch.watch()
    watch.watch()
    clock.tick()
    for tick in range(MOST_TICKS + 5):
        if tick == answers_after:
            asked.pop()()  # type: ignore[operator]
            break
        clock.tick()
    assert lines.qsize() == reports
    assert len(clock.tasks) == 1


def test_nothing_is_watched_while_no_call_is_under_way(lines: SimpleQueue[str]) -> None:
    clock = Clock()
    watch = LoopWatch(clock, lambda task: True, lambda: False, lambda: None, Clock.tick.__code__)  # type: ignore[arg-type]
    watch.watch()
    clock.tick()
    assert clock.tasks == []
    with pytest.raises(Empty):
        lines.get_nowait()


def test_a_loop_that_has_not_started_or_has_ended_is_not_reported(lines: SimpleQueue[str]) -> None:
    clock = Clock()
    is_running = False
    watch = LoopWatch(
        clock, lambda task: is_running, lambda: True, lambda: None, Clock.tick.__code__
    )  # type: ignore[arg-type]
    watch.watch()
    for _ in range(2 * MOST_TICKS):
        clock.tick()
    is_running = True
    clock.tick()
    watch.forget()
    is_running = False
    for _ in range(2 * MOST_TICKS):
        clock.tick()
    assert lines.qsize() == 0


@pytest.mark.process
@pytest.mark.slow
def test_a_server_names_time_sleep_in_an_async_tool(tmp_path: Path) -> None:
    source = "import time\n\nasync def nap() -> str:\n    time.sleep(7)\n    return 'rested'\n"
    with served(tmp_path, source) as process:
        process.send(call("nap", id=1))
        wait_until(lambda: "nap has blocked the event loop" in process.stderr_so_far())
        assert "tools_file.py:4 `time.sleep(7)`" in process.stderr_so_far()
        assert process.receive()["id"] == 1
