"""Processes that tools have started end with the server, however it ends, unless they have detached
themselves.
"""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.running_processes import is_running
from support.server_process import PATIENCE_SECONDS, Process, call, served, wait_until

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        sys.platform != "linux", reason="only Linux has /proc and session ids to find children by"
    ),
]

SOURCE = """
import os, signal, subprocess, sys

SLEEP = "import time; time.sleep(1000)"
IGNORE = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); "
PROGRAMS = {"child": [sys.executable, "-c", SLEEP], "stubborn": [sys.executable, "-c", IGNORE + SLEEP]}

def start(kind: str) -> int:
    match kind:
        case "child":
            return subprocess.Popen(PROGRAMS["child"]).pid
        case "child without an environment":
            return subprocess.Popen(PROGRAMS["child"], env={}).pid
        case "child in a group of its own":
            return subprocess.Popen(PROGRAMS["child"], process_group=0).pid
        case "child in a session of its own":
            return subprocess.Popen(PROGRAMS["child"], start_new_session=True).pid
        case "child that ignores SIGTERM":
            child = subprocess.Popen(PROGRAMS["stubborn"], stdout=subprocess.PIPE)
            child.stdout.readline()
            return child.pid
        case "grandchild whose parent has ended":
            code = f"import subprocess; print(subprocess.Popen({PROGRAMS['child']!r}, stdout=2).pid)"
            return int(subprocess.check_output([sys.executable, "-c", code]))
        case "fork":
            child = os.fork()
            if child == 0:
                while True:
                    signal.pause()
            return child
    raise ValueError(kind)
"""  # noqa: E501
KINDS = (
    "child",
    "child without an environment",
    "child in a group of its own",
    "child that ignores SIGTERM",
    "grandchild whose parent has ended",
    "fork",
)
DETACHED = "child in a session of its own"


def started(server: Process, kind: str) -> int:
    """Return the number of the process that the tool has started."""
    return result_of(server, "start", kind=kind)


def result_of(server: Process, tool: str, **arguments: str) -> int:
    answer = server.ask(call(tool, arguments))
    return int(answer["result"]["structuredContent"]["result"])


def end(server: Process, how: str) -> None:
    if how == "end of input":
        server.hang_up()
    else:
        os.kill(server.popen.pid, getattr(signal, how))


PIPELINE = """
import subprocess, sys
with subprocess.Popen([sys.executable, "-c", "input()"]) as inner:
    print(inner.pid, flush=True)
"""


@contextmanager
def at_terminal(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Serve `SOURCE` as a shell with job control does; yield the process and the terminal."""
    tools = folder / "tools.py"
    tools.write_text(SOURCE)
    terminal, stdin = pty.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "toolwire", "serve", str(tools)],
            stdin=stdin,
            stdout=subprocess.PIPE,
            process_group=0,
        ) as server:
            try:
                yield server, terminal
            finally:
                server.kill()
    finally:
        os.close(stdin)
        os.close(terminal)


@contextmanager
def rest_of_pipeline(
    server: subprocess.Popen[bytes],
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run another process in the group of *server*; yield it and the number of its child."""
    with subprocess.Popen(
        [sys.executable, "-c", PIPELINE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        process_group=server.pid,
    ) as rest:
        assert rest.stdout is not None
        try:
            yield rest, int(rest.stdout.readline())
        finally:
            rest.kill()


def started_at(server: subprocess.Popen[bytes], terminal: int, kind: str) -> int:
    """Return the number of the process that the tool has started."""
    os.write(terminal, json.dumps(call("start", {"kind": kind})).encode() + b"\n")
    assert server.stdout is not None
    answer = json.loads(server.stdout.readline())
    return int(answer["result"]["structuredContent"]["result"])


@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGKILL"])
def test_what_tools_have_started_ends_with_the_server(tmp_path: Path, how: str) -> None:
    with served(tmp_path, SOURCE) as server:
        children = [started(server, kind) for kind in KINDS]
        assert all(map(is_running, children))

        end(server, how)

        wait_until(lambda: not any(map(is_running, children)))


@pytest.mark.parametrize("how", ["end of input", "SIGKILL"])
def test_a_process_that_has_detached_itself_lives_on(tmp_path: Path, how: str) -> None:
    with served(tmp_path, SOURCE) as server:
        detached, child = started(server, DETACHED), started(server, "child")

        end(server, how)

        wait_until(lambda: not is_running(child))
        assert is_running(detached)
    os.kill(detached, signal.SIGKILL)


@pytest.mark.parametrize("how", ["end of input", "SIGKILL"])
def test_keep_children_lets_them_live_on(tmp_path: Path, how: str) -> None:
    with served(tmp_path, SOURCE, "--keep-children") as server:
        child = started(server, "child")
        end(server, how)
        server.wait()
    assert is_running(child)
    os.kill(child, signal.SIGKILL)


def test_a_child_that_was_started_when_tools_were_imported_ends_with_a_killed_server(
    tmp_path: Path,
) -> None:
    source = f"{SOURCE}\nCHILD = start('child')\n\ndef child() -> int:\n    return CHILD\n"
    with served(tmp_path, source) as server:
        child = result_of(server, "child")

        os.kill(server.popen.pid, signal.SIGKILL)

        wait_until(lambda: not is_running(child))


@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGKILL"])
def test_children_end_with_a_server_that_is_typed_at_a_terminal(tmp_path: Path, how: str) -> None:
    with at_terminal(tmp_path) as (server, terminal):
        child = started_at(server, terminal, "child")

        if how == "end of input":
            os.write(terminal, b"\x04")  # Ctrl-D
        else:
            server.send_signal(getattr(signal, how))

        wait_until(lambda: not is_running(child))
        server.wait(PATIENCE_SECONDS)


def test_the_rest_of_a_pipeline_lives_on_after_a_server_that_is_typed_at_a_terminal(
    tmp_path: Path,
) -> None:
    with at_terminal(tmp_path) as (server, terminal), rest_of_pipeline(server) as (rest, inner):
        child = started_at(server, terminal, "child")

        server.kill()

        wait_until(lambda: not is_running(child))
        assert is_running(inner)
        assert rest.poll() is None


def test_processes_that_are_not_of_the_server_are_left_alone(tmp_path: Path) -> None:
    bystander = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(1000)"]
    )  # as a host has others
    try:
        with served(tmp_path, SOURCE) as server:
            child = started(server, "child")
            end(server, "SIGKILL")
            wait_until(lambda: not is_running(child))
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
