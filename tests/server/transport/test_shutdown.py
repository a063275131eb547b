"""Every way in which it can end: in time, quietly, with nothing owed left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.server_process import (
    PATIENCE_SECONDS,
    Process,
    call,
    filtered_environment,
    request,
    running,
    served,
    wait_until,
)

pytestmark = pytest.mark.process

TOOLS = """
import atexit, os, subprocess, sys, threading, time
from toolwire import Context

def add(a: int, b: int) -> int:
    return a + b

def text(size: int) -> str:
    return "x" * size

def hang(note: str = "") -> str:
    if note:
        open(note, "w").close()
    threading.Event().wait()
    return "never"

async def hang_async(note: str = "") -> str:
    import anyio
    if note:
        open(note, "w").close()
    await anyio.sleep_forever()
    return "never"

async def hang_without_mercy(note: str = "") -> str:
    import anyio
    open(note, "w").close()
    while True:
        try:
            await anyio.sleep(1)
        except BaseException:
            continue

async def block_the_loop(note: str = "") -> str:
    open(note, "w").close()
    threading.Event().wait()
    return "never"

def hang_between(note: str = ""):
    yield "one"
    open(note, "w").close()
    try:
        threading.Event().wait()
        yield "two"
    finally:
        threading.Event().wait()

async def hang_between_async(note: str = ""):
    import anyio
    yield "one"
    open(note, "w").close()
    try:
        await anyio.sleep_forever()
        yield "two"
    finally:
        await anyio.sleep_forever()

def report_forever(context: Context, note: str = "") -> str:
    open(note, "w").close()
    number = 0
    while True:
        number += 1
        context.progress(number, None, "x" * 1000)

def spawn(note: str) -> str:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    with open(note, "w") as file:
        file.write(str(child.pid))
    child.wait()
    return "never"

def fail_loudly(times: int) -> str:
    raise ValueError("x" * 5000)
"""

HANGING = [
    "hang",
    "hang_async",
    "hang_without_mercy",
    "block_the_loop",
    "hang_between",
    "hang_between_async",
]
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def start(process: Process, name: str, note: Path, **meta: Any) -> None:
    """Send a call and return when its tool is running."""
    process.send(call(name, {"note": str(note)}, id=name, **meta))
    wait_until(note.exists)


@pytest.mark.parametrize("how", ["end of input", *SIGNALS])
def test_tools_that_never_end_do_not_delay_the_exit(tmp_path: Path, how: Any) -> None:
    with served(tmp_path, TOOLS, "--limit", "grace_seconds=0.05") as process:
        for name in HANGING:
            if name != "block_the_loop":
                start(process, name, tmp_path / name)
        start(
            process, "block_the_loop", tmp_path / "blocked"
        )  # now the event loop hears of nothing any more

        if how == "end of input":
            assert process.hang_up() == []
        else:
            process.popen.send_signal(how)
            assert process.receive_line() is None
        assert process.wait() == 0
        assert "Traceback" not in process.stderr()


@pytest.mark.parametrize("how", ["end of input", *SIGNALS])
def test_a_host_that_has_stopped_reading_does_not_delay_the_exit(tmp_path: Path, how: Any) -> None:
    with served(tmp_path, TOOLS, "--limit", "grace_seconds=0.05") as process:
        process.send(
            call("text", {"size": 1_000_000}, id=1), call("text", {"size": 1_000_000}, id=2)
        )
        start(process, "report_forever", tmp_path / "note", progressToken="t")
        process.send(*(request("ping", id=f"{number}{'x' * 1000}") for number in range(100)))
        process.send(b'{"jsonrpc":"2.0","id":3,"method":"ping"}')  # a last line without its end

        if how == "end of input":
            assert process.popen.stdin is not None
            process.popen.stdin.close()
        else:
            process.popen.send_signal(how)

        assert process.wait() == 0


@pytest.mark.parametrize("how", ["end of input", signal.SIGTERM])
def test_a_host_that_reads_neither_responses_nor_the_log_does_not_delay_the_exit(
    tmp_path: Path, how: Any
) -> None:
    (tmp_path / "tools_file.py").write_text(TOOLS, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "toolwire",
        "serve",
        "tools_file.py",
        "--limit",
        "grace_seconds=0.05",
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path) as popen:
        assert popen.stdin is not None
        sent = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%b","arguments":{"times":1}}}\n'  # noqa: E501
        for number in range(60):
            popen.stdin.write(sent % (number, b"fail_loudly"))
        popen.stdin.write(
            b'{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"hang"}}\n'
        )
        popen.stdin.flush()
        if how == "end of input":
            popen.stdin.close()
        else:
            popen.send_signal(how)

        assert popen.wait(PATIENCE_SECONDS) in (0, -how if isinstance(how, int) else 0)


def test_a_broken_stdout_in_the_middle_of_an_answer_is_a_quiet_end(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS) as process:
        start(process, "hang", tmp_path / "note")
        process.send(call("text", {"size": 5_000_000}, id=1))
        assert process.popen.stdout is not None
        assert os.read(process.popen.stdout.fileno(), 1000) != b""
        process.popen.stdout.close()

        assert process.wait() == 0
        assert process.stderr() == ""


def test_a_broken_stdout_is_noticed_by_progress_too(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS) as process:
        start(process, "report_forever", tmp_path / "note", progressToken="t")
        assert process.popen.stdout is not None
        process.popen.stdout.close()

        assert process.wait() == 0
        assert process.stderr() == ""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_ends_it_at_once(tmp_path: Path, number: int) -> None:
    with served(tmp_path, TOOLS, "--limit", "grace_seconds=1000") as process:
        start(process, "hang", tmp_path / "note")

        process.popen.send_signal(number)

        # Until the first has been taken, a second is the same one.
        def ends() -> bool:
            process.popen.send_signal(number)
            return process.popen.poll() is not None

        wait_until(ends)

        assert process.wait() == 0
        assert process.stderr() == ""


@pytest.mark.parametrize("first", ["the end of the input", "the signal"])
def test_a_signal_together_with_the_end_of_the_input_is_a_clean_end(
    tmp_path: Path, first: str
) -> None:
    for _ in range(10):
        with served(tmp_path, TOOLS) as process:
            process.ask(request("ping"))
            assert process.popen.stdin is not None
            ways = [process.popen.stdin.close, lambda: process.popen.send_signal(signal.SIGTERM)]

            for end in ways if first == "the end of the input" else ways[::-1]:
                end()

            assert process.receive_line() is None
            assert process.wait() == 0
            assert process.stderr() == ""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_the_tools_are_imported_is_a_clean_end_as_well(
    tmp_path: Path, number: int
) -> None:
    note, left = tmp_path / "note", tmp_path / "left"
    source = (
        "import atexit, threading\n"
        f"atexit.register(lambda: open({str(left)!r}, 'w').close())\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        f"open({str(note)!r}, 'w').close()\n"
        "try:\n"
        "    threading.Event().wait()\n"
        "except BaseException:\n"
        "    threading.Event().wait()\n"
    )
    with served(tmp_path, source) as process:
        wait_until(note.exists)

        process.popen.send_signal(number)

        assert process.receive_line() is None
        assert process.wait() == 0
        assert process.stderr() == ""
        assert left.exists()


def test_signals_come_at_any_moment_of_the_start(tmp_path: Path) -> None:
    """The main thread sends itself the signal at each line it runs, from taking the signals to
    waiting for the end.
    """
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal, sys\n"
        "import toolwire, toolwire.transport.stdio as stdio\n"
        "begin = stdio.end_on_signals\n"
        "left = int(sys.argv[1])\n"
        "def trace(frame, event, argument):\n"
        "    global left\n"
        "    left -= 1\n"
        "    if left == 0:\n"
        "        sys.settrace(None)\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "    return trace\n"
        "def begin_and_trace(*arguments):\n"
        "    begin(*arguments)\n"
        "    sys._getframe(1).f_trace = trace\n"
        "    sys.settrace(trace)\n"
        "stdio.end_on_signals = begin_and_trace\n"
        "toolwire.serve([])\n"
    )
    for step in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233):
        with running(str(script), str(step)) as process:
            with suppress(BrokenPipeError):
                process.send(request("ping"))
            if (
                process.receive_line() is not None
            ):  # it waits already, and somebody else must send the signal
                process.popen.send_signal(signal.SIGTERM)
            assert process.wait() == 0
            assert process.stderr() == ""


@pytest.mark.parametrize("redirections", ["<&-", ">&-", "<&- >&-"])
def test_without_stdin_or_stdout_it_says_so_and_ends(tmp_path: Path, redirections: str) -> None:
    (tmp_path / "tools_file.py").write_text(TOOLS, encoding="utf-8")

    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m toolwire serve tools_file.py {redirections}"],
        capture_output=True,
        stdin=subprocess.DEVNULL if redirections == ">&-" else None,
        cwd=tmp_path,
        timeout=PATIENCE_SECONDS,
        check=False,
    )

    assert done.returncode == 2
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


def test_an_answer_gathered_before_a_cancelled_call_is_sent_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "tools_file.py").write_text(TOOLS, encoding="utf-8")
    lines = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}\n'
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}\n'
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n'
    )
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-m", "toolwire", "serve", "tools_file.py"],
            input=lines,
            capture_output=True,
            cwd=tmp_path,
            env=filtered_environment(),
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        assert [line[:24] for line in done.stdout.splitlines()] == [b'{"jsonrpc":"2.0","id":1,']


def test_killing_it_leaves_nothing_of_toolwire_behind(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS) as process:
        start(process, "hang", tmp_path / "note")
        process.popen.kill()

        assert process.receive_line() is None
        assert process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("options", [["--limit", "grace_seconds=1e12"], ["--timeout", "1e12"]])
def test_any_number_of_seconds_will_do(tmp_path: Path, options: list[str]) -> None:
    with served(tmp_path, TOOLS, *options) as process:
        assert process.ask(call("add", {"a": 1, "b": 2}))["result"]["isError"] is False
        assert process.hang_up() == []
        assert process.wait() == 0
        assert process.stderr() == ""
