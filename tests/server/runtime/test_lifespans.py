"""The lifespans of modules and servers: entered before the first call, left after the last."""

from __future__ import annotations

import json
import os
import signal
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.server_process import Process, call, request, running, wait_until
from toolwire import AsyncContext, Context, Server, tool_api
from toolwire.errors import LifespanFailed
from toolwire_tools import make_tool

pytestmark = pytest.mark.process

SYNC = """
@contextmanager
def __lifespan__():
    note("entered")
    yield {"opened by": os.getpid()}
    note("left")
"""
ASYNC = SYNC.replace("@context", "@asynccontext").replace("def __", "async def __")
TOOLS = """
import asyncio, os, sys, threading, time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from toolwire import AsyncContext, Context, tool_api

FOLDER = Path(__file__).parent

def note(text):
    with open(FOLDER / "notes", "a") as notes:
        notes.write(f"{text} {os.getpid()}\\n")

def here(context: Context) -> dict[str, int]:
    return context.state
async def on_the_loop(context: AsyncContext) -> dict[str, int]:
    return context.state
@tool_api(runs_in="process")
def elsewhere(context: Context) -> list[int]:
    return [*context.state.values(), os.getpid()]
def slow(context: Context) -> str:
    note("slow started")
    while not (FOLDER / "go").exists():
        time.sleep(0.01)
    note("slow ended")
    return str(sorted(context.state))
async def slow_on_the_loop(context: AsyncContext) -> str:
    note("slow started")
    try:
        while not (FOLDER / "go").exists():
            await asyncio.sleep(0.01)
    finally:
        note("slow ended")
    return str(sorted(context.state))

__tools__ = [here, on_the_loop, elsewhere, slow, slow_on_the_loop]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes").touch()
    return tmp_path


@contextmanager
def serving(folder: Path, lifespan: str, *options: str) -> Iterator[Process]:
    (folder / "tools.py").write_text(TOOLS + lifespan)
    with running(
        "-P", "-m", "toolwire", "serve", str(folder / "tools.py"), *options, cwd=folder
    ) as process:
        yield process


def notes(folder: Path) -> list[str]:
    """The noted events, without process ids."""
    return [line.rpartition(" ")[0] for line in (folder / "notes").read_text().splitlines()]


def value(answer: dict[str, Any]) -> Any:
    return answer["result"]["structuredContent"]


@pytest.mark.parametrize("lifespan", [SYNC, ASYNC])
def test_it_is_entered_before_the_first_call_and_left_at_the_end(
    folder: Path, lifespan: str
) -> None:
    with serving(folder, lifespan) as process:
        process.ask(request("tools/list"))
        assert notes(folder) == ["entered"]
        state = {"opened by": process.popen.pid}
        assert value(process.ask(call("here"))) == value(process.ask(call("on_the_loop"))) == state
        assert process.hang_up() == []
        assert process.wait() == 0
    assert notes(folder) == ["entered", "left"]


@pytest.mark.parametrize("lifespan", [SYNC, ASYNC])
@pytest.mark.parametrize("tool", ["slow", "slow_on_the_loop"])
def test_a_call_in_flight_at_the_end_finishes_before_it_is_left(
    folder: Path, lifespan: str, tool: str
) -> None:
    with serving(folder, lifespan, "--limit", "grace_seconds=20") as process:
        process.send(call(tool))
        wait_until(lambda: "slow started" in notes(folder))
        process.popen.send_signal(signal.SIGTERM)
        (folder / "go").touch()
        assert process.receive()["result"]["content"][0]["text"] == "['opened by']"
        assert process.wait() == 0
    assert notes(folder) == ["entered", "slow started", "slow ended", "left"]


def test_a_cancelled_call_cleans_up_before_it_is_left(folder: Path) -> None:
    with serving(folder, ASYNC, "--limit", "grace_seconds=0") as process:
        process.send(call("slow_on_the_loop"))
        wait_until(lambda: "slow started" in notes(folder))
        assert process.hang_up() == []
    assert notes(folder) == ["entered", "slow started", "slow ended", "left"]


@pytest.mark.parametrize("options", [(), ("--isolate",)])
def test_each_worker_process_enters_and_leaves_its_own(
    folder: Path, options: tuple[str, ...]
) -> None:
    with serving(folder, SYNC, *options, "--limit", "grace_seconds=20") as process:
        opened_by, pid = value(process.ask(call("elsewhere")))["result"]
        assert opened_by == pid != process.popen.pid
        assert process.hang_up() == []
    here = [] if options else [process.popen.pid]
    lines = (folder / "notes").read_text().splitlines()
    assert sorted(lines) == sorted(
        f"{what} {each}" for each in [*here, pid] for what in ("entered", "left")
    )


@pytest.mark.parametrize("lifespan", [SYNC, ASYNC])
def test_after_a_reload_the_old_one_is_left_when_its_calls_have_ended(
    folder: Path, lifespan: str
) -> None:
    with serving(folder, lifespan, "--reload") as process:
        process.ask(request("initialize", {"protocolVersion": "2025-11-25"}))
        process.send(call("slow", id="slow"))
        wait_until(lambda: "slow started" in notes(folder))
        new = lifespan.replace('"entered"', '"entered the new"').replace('"left"', '"left the new"')
        (folder / "tools.py").write_text(TOOLS + new.replace("opened by", "new"))
        wait_until(lambda: "entered the new" in notes(folder))
        wait_until(lambda: value(process.ask(call("here"))) == {"new": process.popen.pid})
        assert "left" not in notes(folder)
        (folder / "go").touch()
        wait_until(lambda: "left" in notes(folder))
        process.hang_up()
    assert notes(folder) == [
        "entered",
        "slow started",
        "entered the new",
        "slow ended",
        "left",
        "left the new",
    ]


def test_after_a_reload_that_cannot_enter_the_old_one_stays(folder: Path) -> None:
    with serving(folder, SYNC, "--reload") as process:
        process.ask(request("tools/list"))
        (folder / "tools.py").write_text(TOOLS + SYNC.replace("note(", "raise ValueError(", 1))
        wait_until(lambda: "the old tools are still served" in process.stderr_so_far())
        assert value(process.ask(call("here"))) == {"opened by": process.popen.pid}
        wait_until(lambda: "raise ValueError" in process.stderr_so_far())
        assert notes(folder) == ["entered"]


@pytest.mark.parametrize("lifespan", [SYNC, ASYNC])
def test_one_that_fails_ends_the_server_like_an_import_that_fails(
    folder: Path, lifespan: str
) -> None:
    with serving(folder, lifespan.replace("note(", "raise ValueError(", 1)) as process:
        assert process.wait() == 2
        told = process.stderr().splitlines()
    assert told[0] == "Traceback (most recent call last):"
    assert told[1].strip().startswith(f'File "{folder / "tools.py"}"')
    assert told[-2:] == [
        "ValueError: entered",
        "toolwire: tools.__lifespan__ cannot be entered: ValueError",
    ]


def test_those_entered_before_one_that_fails_are_left(folder: Path) -> None:
    (folder / "bad.py").write_text(
        "def __lifespan__():\n    1 / 0\n    yield\ndef unused() -> None: ...\n"
    )
    (folder / "tools.py").write_text(TOOLS + SYNC)
    with running("-P", "-m", "toolwire", "serve", "tools.py", "bad.py", cwd=folder) as process:
        assert process.wait() == 2
    assert notes(folder) == ["entered", "left"]


@pytest.mark.parametrize(
    ("lifespan", "told"),
    [
        (
            "def __lifespan__():\n    return 5\n",
            "tools.__lifespan__ must return a context manager, not int; did you forget `yield`?",
        ),
        (
            "__lifespan__ = 5\n",
            (
                "a lifespan (`__lifespan__`) must be a function that returns a context manager,"
                " not int"
            ),
        ),
    ],
)
def test_what_is_no_context_manager_is_reported_with_the_remedy(
    folder: Path, lifespan: str, told: str
) -> None:
    with serving(folder, lifespan) as process:
        assert process.wait() == 2
        assert process.stderr() == f"toolwire: {told}\n"


@pytest.mark.parametrize("lifespan", [SYNC, ASYNC])
def test_one_that_fails_when_it_is_left_is_logged(folder: Path, lifespan: str) -> None:
    with serving(folder, lifespan.replace('note("left")', 'raise ValueError("stuck")')) as process:
        assert process.hang_up() == []
        assert process.wait() == 0
        assert "tools.__lifespan__ failed when it was left" in process.stderr()
        assert "ValueError: stuck" in process.stderr()


@pytest.mark.parametrize("lifespan", [SYNC, ASYNC])
def test_one_that_hangs_when_it_is_left_does_not_keep_the_process(
    folder: Path, lifespan: str
) -> None:
    with serving(
        folder,
        lifespan.replace('note("left")', "threading.Event().wait()"),
        "--limit",
        "grace_seconds=0.1",
    ) as process:
        assert process.hang_up() == []
        assert process.wait() == 0


def test_one_that_hangs_when_it_is_entered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from toolwire.runtime import lifespans

    monkeypatch.setattr(lifespans, "_ENTER_SECONDS", 0.05)
    forever = threading.Event()

    @contextmanager
    def hanging() -> Iterator[None]:
        forever.wait()
        yield

    with pytest.raises(LifespanFailed, match=r"hanging was not entered within 0\.05 seconds"):
        Server([], lifespan=hanging).request("tools/list")
    forever.set()


def test_several_modules_have_their_own_and_share_what_they_import(tmp_path: Path) -> None:
    (tmp_path / "common.py").write_text(
        "from contextlib import contextmanager\nopened = []\n"
        "@contextmanager\ndef __lifespan__():\n    opened.append(1)\n    yield opened\n"
    )
    tool = (
        "from toolwire import Context\ndef {0}(context: Context) -> list[int]:\n    return"
        " context.state\n"
    )
    (tmp_path / "a.py").write_text("from common import __lifespan__\n" + tool.format("first"))
    (tmp_path / "b.py").write_text("from common import __lifespan__\n" + tool.format("second"))
    (tmp_path / "c.py").write_text("def __lifespan__():\n    yield [3]\n" + tool.format("third"))
    (tmp_path / "d.py").write_text(tool.format("fourth"))
    with running(
        "-P", "-m", "toolwire", "serve", "a.py", "b.py", "c.py", "d.py", cwd=tmp_path
    ) as process:
        states = [value(process.ask(call(name)))["result"] for name in ("first", "second", "third")]
        failed = process.ask(call("fourth"))["result"]
    assert states == [[1], [1], [3]]
    assert failed["content"][0]["text"].endswith(
        "fourth has no context.state: define __lifespan__ in its module"
    )


def state(context: Context) -> str:
    return str(context.state)


def test_a_server_in_python_has_one_and_passes_itself() -> None:
    happened: list[object] = []

    @contextmanager
    def life(server: Server) -> Iterator[str]:
        happened.append(server)
        yield "open"
        happened.append("left")

    with Server([state], lifespan=life) as server:
        assert server.call("state")["content"][0]["text"] == "open"
        server.add(tool_api(name="again")(lambda context: context.state))
        assert happened == [server]
    assert happened == [server, "left"]


def test_one_that_is_wanted_again_stays_while_others_are_entered() -> None:
    started, finish, left = threading.Event(), threading.Event(), threading.Event()

    def first() -> Iterator[str]:
        yield "first"
        left.set()

    def second() -> Iterator[str]:
        finish.set()  # the last call that uses `first` ends
        caller.join(5)
        yield f"entered, {left.wait(0.5)}"

    def wait(context: Context) -> str:
        started.set()
        return str(finish.wait(60))

    waiting = make_tool(wait).with_lifespan(first)
    of_first, of_second = (
        make_tool(state, name=each.__name__).with_lifespan(each) for each in (first, second)
    )
    with Server([waiting, of_first]) as server:
        caller = threading.Thread(target=server.call, args=("wait",))
        caller.start()
        assert started.wait(60)
        server.replace([])
        server.replace([of_first, of_second])
        assert server.call("second")["content"][0]["text"] == "entered, False"
        assert server.call("first")["content"][0]["text"] == "first"
        assert not left.is_set()
    assert left.is_set()


def test_an_error_in_python_has_its_cause() -> None:
    def life() -> Iterator[None]:
        raise ValueError("no such database")
        yield

    with pytest.raises(LifespanFailed) as raised:
        Server([state], lifespan=life).call("state")
    assert repr(raised.value.__cause__) == "ValueError('no such database')"


def test_an_async_one_runs_on_the_loop_of_the_tools() -> None:
    from asyncio import get_running_loop
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def life() -> Any:
        async with anyio.create_task_group() as tasks:
            yield get_running_loop()
            tasks.cancel_scope.cancel()

    async def same(context: AsyncContext) -> bool:
        return context.state is get_running_loop()

    with Server([same], lifespan=life) as server:
        assert server.call("same")["structuredContent"] == {"result": True}


def test_a_program_that_does_not_close_its_server_leaves_it_at_exit(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        textwrap.dedent("""
            from toolwire import AsyncContext, Context, Server
            def life():
                yield "open"
                print("left")
            def state(context: Context) -> str:
                return context.state
            print(Server([state], lifespan=life).call("state")["content"][0]["text"])
            """)
    )
    with running(str(tmp_path / "script.py")) as process:
        assert (process.receive_line(), process.receive_line()) == (b"open", b"left")


def test_a_server_in_python_passes_it_to_worker_processes(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(
        "import os\nfrom toolwire import AsyncContext, Context, Server\n"
        "def life():\n    yield os.getpid()\n"
        "def pids(context: Context) -> list[int]:\n    return [context.state, os.getpid()]\n"
        "if __name__ == '__main__':\n"
        "    with Server([pids], lifespan=life, isolate=True) as server:\n"
        "        print(server.call('pids')['structuredContent']['result'])\n"
    )
    with running(str(tmp_path / "library.py")) as process:
        opened_by, pid = json.loads(process.receive_line() or b"")
        assert opened_by == pid not in (process.popen.pid, os.getpid())


def test_tools_share_values_while_the_client_is_connected() -> None:
    def count(context: Any) -> int:
        values = context._caller.session_state
        values["calls"] = values.get("calls", 0) + 1
        return int(values["calls"])

    count.__annotations__["context"] = Context
    server = Server([count])
    assert [server.call("count")["structuredContent"]["result"] for _ in range(2)] == [1, 2]
    server.close()
    assert server.call("count")["structuredContent"]["result"] == 1
    server.close()
