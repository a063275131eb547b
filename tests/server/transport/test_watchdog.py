"""A tool that holds the interpreter's lock: the end comes all the same, and whoever waits is told
why.
"""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.running_processes import is_running
from support.server_process import (
    PATIENCE_SECONDS,
    Process,
    call,
    filtered_environment,
    request,
    served,
    wait_until,
)

pytestmark = pytest.mark.process

TOOLS = """
import ctypes, os, re, signal, sys, threading, time

def add(a: int, b: int) -> int:
    return a + b

def hold_the_lock(note: str, seconds: int = 1000) -> str:
    open(note, "w").close()
    ctypes.PyDLL(None).sleep(seconds)
    return "done"

def match_for_ever(note: str) -> bool:
    open(note, "w").close()
    return re.match(r"(a+)+$", "a" * 40 + "b") is not None

async def hold_the_loop(note: str) -> None:
    open(note, "w").close()
    ctypes.PyDLL(None).sleep(1000)

def wait(note: str) -> None:
    open(note, "w").close()
    threading.Event().wait()

def pid() -> int:
    return os.getpid()

def children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        own = file.read().split()
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as file:
            own += file.read().split()
    return sorted({int(child) for child in own})

def leave_a_copy(note: str) -> str:
    if os.fork() == 0:
        os.setsid()
        with open(note, "w") as file:
            file.write(str(os.getpid()))
        threading.Event().wait()
    return "left"

if "SLOW" in os.environ:
    def handle(number, frame):
        open(os.environ["SLOW"], "w").close()
    signal.signal(signal.SIGALRM, handle)
"""

ADVICE = "--isolate"


def hold(process: Process, name: str, note: Path, **arguments: Any) -> None:
    """Send a call and return when its tool runs."""
    process.send(call(name, {"note": str(note), **arguments}, id=name))
    wait_until(note.exists)


@pytest.mark.parametrize("name", ["hold_the_lock", "match_for_ever", "hold_the_loop"])
@pytest.mark.parametrize("how", ["end of input", signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stuck_interpreter_does_not_outlive_its_host(tmp_path: Path, name: str, how: Any) -> None:
    with served(tmp_path, TOOLS, "--limit", "grace_seconds=0.05") as process:
        hold(process, name, tmp_path / "note")

        if how == "end of input":
            assert process.hang_up() == []
        else:
            process.popen.send_signal(how)
            assert process.receive_line() is None

        assert process.wait() == -signal.SIGKILL
        said = process.stderr()
        assert name in said
        assert ADVICE in said


def test_a_host_that_hangs_up_with_much_unread_is_noticed(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS, "--limit", "grace_seconds=0.05") as process:
        hold(process, "hold_the_lock", tmp_path / "note")
        process.send(*[request("ping", id=number) for number in range(500)])

        assert process.hang_up() == []
        assert process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("kind", ["socket", "half of a socket", "terminal", "file"])
def test_the_end_of_any_kind_of_input_is_noticed(tmp_path: Path, kind: str) -> None:
    (tmp_path / "tools_file.py").write_text(TOOLS, encoding="utf-8")
    note = tmp_path / "note"
    line = json.dumps(call("hold_the_lock", {"note": str(note)})).encode() + b"\n"
    near, far = socket.socketpair()
    ours, theirs = near.detach(), far.detach()
    if kind in ("terminal", "file"):
        os.close(ours)
        os.close(theirs)
        (tmp_path / "input").write_bytes(line)
        ours, theirs = (
            pty.openpty() if kind == "terminal" else (-1, os.open(tmp_path / "input", os.O_RDONLY))
        )
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
    with subprocess.Popen(
        command, stdin=theirs, stdout=pipe, stderr=pipe, cwd=tmp_path, env=filtered_environment()
    ) as popen:
        os.close(theirs)
        if kind != "file":
            os.write(ours, line)
            wait_until(note.exists)
            if kind == "half of a socket":
                with socket.socket(fileno=os.dup(ours)) as half:
                    half.shutdown(socket.SHUT_WR)
            else:
                os.close(ours)

        try:
            assert popen.wait(PATIENCE_SECONDS) == -signal.SIGKILL
        finally:
            popen.kill()
            if kind == "half of a socket":
                os.close(ours)


def test_a_connected_host_is_informed_of_a_stuck_interpreter_and_can_wait(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS) as process:
        hold(process, "wait", tmp_path / "waits")
        hold(process, "hold_the_lock", tmp_path / "holds", seconds=6)

        assert process.receive()["result"]["content"][0]["text"] == "done"
        assert process.ask(call("add", {"a": 1, "b": 2}))["result"]["structuredContent"] == {
            "result": 3
        }
        wait_until(lambda: "runs again" in process.stderr_so_far())
        process.popen.kill()
        stderr = process.stderr()
        assert "no Python code has run for 5 s, since one of hold_the_lock, wait holds" in stderr
        assert ADVICE in stderr


def test_the_tool_that_is_stuck_is_named_after_many_calls_of_another(tmp_path: Path) -> None:
    note = tmp_path / "note"
    with served(tmp_path, TOOLS, "--limit", "grace_seconds=0.05") as process:
        sums = [call("add", {"a": 1, "b": 2}, id=number) for number in range(50)]
        process.send(*sums, call("hold_the_lock", {"note": str(note)}, id=50))
        wait_until(note.exists)

        process.hang_up()

        assert process.wait() == -signal.SIGKILL
        assert "hold_the_lock" in process.stderr()


def test_a_server_suspended_during_a_call_is_reported_as_stuck(tmp_path: Path) -> None:
    """A limit that the docs name: from outside, a stopped server looks like one whose interpreter
    is held.
    """
    with served(tmp_path, TOOLS) as process:
        hold(process, "wait", tmp_path / "waits")
        process.popen.send_signal(signal.SIGSTOP)
        wait_until(lambda: "no Python code has run for 5 s" in process.stderr_so_far())

        process.popen.send_signal(signal.SIGCONT)
        assert process.ask(call("add", {"a": 1, "b": 2}))["result"]["structuredContent"] == {
            "result": 3
        }


def test_another_signal_does_not_end_a_server_that_is_busy(tmp_path: Path) -> None:
    note = tmp_path / "handled"
    with served(
        tmp_path,
        TOOLS,
        "--limit",
        "grace_seconds=0.05",
        env={**filtered_environment(), "SLOW": str(note)},
    ) as process:
        hold(process, "hold_the_lock", tmp_path / "note", seconds=3)
        process.popen.send_signal(signal.SIGALRM)

        assert process.receive()["result"]["content"][0]["text"] == "done"
        wait_until(note.exists)
        assert process.ask(call("add", {"a": 1, "b": 2}))["result"]["structuredContent"] == {
            "result": 3
        }


def test_a_named_pipe_may_change_hands(tmp_path: Path) -> None:
    (tmp_path / "tools_file.py").write_text(TOOLS, encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    theirs = os.open(tmp_path / "pipe", os.O_RDWR)
    command = [
        sys.executable,
        "-m",
        "toolwire",
        "serve",
        "tools_file.py",
        "--limit",
        "grace_seconds=0.05",
    ]
    with (
        (tmp_path / "pipe").open("rb") as pipe,
        subprocess.Popen(
            [*command, "--log-level", "off"], stdin=pipe, stdout=-1, cwd=tmp_path
        ) as popen,
    ):
        try:
            assert popen.stdout is not None
            os.write(theirs, json.dumps(request("tools/list")).encode() + b"\n")
            assert b"result" in popen.stdout.readline()  # everything is imported
            os.write(
                theirs,
                json.dumps(
                    call("hold_the_lock", {"note": str(tmp_path / "1"), "seconds": 3})
                ).encode(),
            )
            os.write(theirs, b"\n")
            wait_until((tmp_path / "1").exists)
            os.close(theirs)
            theirs = os.open(tmp_path / "pipe", os.O_RDWR)

            assert b"done" in popen.stdout.readline()
            os.write(theirs, json.dumps(request("ping")).encode() + b"\n")
            assert b"result" in popen.stdout.readline()
        finally:
            popen.kill()
            os.close(theirs)


def test_only_calls_in_this_process_are_watched_over(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS, "--isolate") as process:
        assert process.ask(call("children"))["result"]["structuredContent"] == {"result": []}


def test_the_guard_is_one_small_process_that_ends_with_the_server(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS) as process:
        process.ask(call("leave_a_copy", {"note": str(tmp_path / "copy")}))
        wait_until((tmp_path / "copy").exists)
        wait_until((tmp_path / "copy").read_text)
        copy = int((tmp_path / "copy").read_text())
        try:
            (guard,) = set(
                process.ask(call("children"))["result"]["structuredContent"]["result"]
            ) - {copy}
            assert b"watchdog_process.py" in Path(f"/proc/{guard}/cmdline").read_bytes()
            process.popen.kill()
            process.wait()

            wait_until(lambda: not is_running(guard))
        finally:
            os.kill(copy, signal.SIGKILL)
