"""`MountOnDemand`: when a mount is opened, and when it is closed again."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, cast

import pytest
from support.fake_timers import FakeTimers
from toolwire.mounting.mount import Mount
from toolwire.mounting.mount_on_demand import MountOnDemand

IDLE_SECONDS = 10.0


class FakeMount:
    """A mount whose start ends when a test says so."""

    def __init__(self) -> None:
        self.running: object | None = None
        self.starting: Future[Any] = Future()
        self.is_closed = False

    def start(self, capabilities: Any) -> Future[Any]:
        return self.starting

    def finish_start(self) -> None:
        self.running = object()
        self.starting.set_result(self.running)

    def fail_start(self) -> None:
        self.starting.set_exception(OSError("does not start"))

    def close(self) -> None:
        self.is_closed = True


class Server:
    """A server on demand, its clock, and the mounts that were opened of it."""

    def __init__(self) -> None:
        self.timers = FakeTimers()
        self.mounts: list[FakeMount] = []
        self.process = MountOnDemand("the server", self.open, self.timers, IDLE_SECONDS)

    def open(self) -> Mount:
        mount = FakeMount()
        mount.finish_start()
        self.mounts.append(mount)
        return cast("Mount", mount)

    def run_until(self, now: float) -> None:
        self.timers.run_until(now)
        self.process.wait_for_end()

    @property
    def closed(self) -> list[bool]:
        return [mount.is_closed for mount in self.mounts]


@pytest.fixture
def server() -> Server:
    return Server()


def test_mount_is_opened_once_for_several_uses(server: Server) -> None:
    assert server.process.begin_use() is server.process.begin_use()


# Steps: `+` starts a use, `-` ends one; a number is the time that the clock shows then.
@pytest.mark.parametrize(
    ("steps", "closed"),
    [
        pytest.param(["+", 50], [False], id="not during a use"),
        pytest.param(["+", 5, "-", 14], [False], id="not before the idle time has passed"),
        pytest.param(["+", 5, "-", 15], [True], id="after the idle time"),
        pytest.param(["+", "+", "-", 50], [False], id="not during the other of two uses"),
        pytest.param(["+", "+", "-", "-", 10], [True], id="after both"),
        pytest.param(["+", "-", 9, "+", "-", 18], [False], id="a use begins the idle time anew"),
        pytest.param(["+", "-", 9, "+", 50, "-", 59], [False], id="after a long use, too"),
        pytest.param(["+", "-", 10, "+", 50], [True, False], id="the next use opens another"),
    ],
)
def test_mount_is_closed_after_an_idle_time(
    server: Server, steps: list[str | float], closed: list[bool]
) -> None:
    actions: dict[Any, Callable[[], Any]] = {
        "+": server.process.begin_use,
        "-": server.process.end_use,
    }

    for step in steps:
        if isinstance(step, str):
            actions[step]()
        else:
            server.run_until(step)

    assert server.closed == closed
    assert (server.process.current is None) == closed[-1]


def test_start_is_a_use_until_it_has_ended(server: Server) -> None:
    server.process.begin_use()
    (mount,) = server.mounts
    mount.starting = Future()
    server.process.start()
    server.process.end_use()

    server.run_until(50)
    assert server.closed == [False]

    mount.finish_start()
    server.run_until(60)
    assert server.closed == [True]


def test_mount_that_has_not_started_keeps_its_pause_before_the_next_start(server: Server) -> None:
    server.process.begin_use()
    (mount,) = server.mounts
    mount.running, mount.starting = None, Future()
    server.process.start()
    server.process.end_use()
    mount.fail_start()

    server.run_until(50)

    assert server.closed == [False]


def test_start_that_raises_is_no_use(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: FakeMount, capabilities: Any) -> Future[Any]:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(FakeMount, "start", refuse)
    with pytest.raises(RuntimeError):
        server.process.start()

    server.run_until(10)

    assert server.closed == [True]


def test_mount_that_is_opened_after_the_end_is_closed_at_once(server: Server) -> None:
    server.process.close()

    server.process.begin_use()

    assert server.closed == [True]
