"""Tools that do what they must not with the process they run in: streams, descriptors, forks,
exits.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.server_process import (
    PATIENCE_SECONDS,
    call,
    filtered_environment,
    request,
    running,
    served,
    wait_until,
)

pytestmark = pytest.mark.process

TOOLS = """
import atexit, ctypes, io, logging, multiprocessing, os, signal, subprocess, sys, threading, time, warnings
from typing import Any
from toolwire import Context

def add(a: int, b: int) -> int:
    return a + b

def forks_and_returns(context: Context) -> str:
    if os.fork() == 0:
        context.progress(1, None, "from the child")
        print("child printed")
        return "child"
    return "parent " + str(os.waitstatus_to_exitcode(os.wait()[1]))

def forks_and_exits() -> str:
    if os.fork() == 0:
        sys.exit(7)
    return "parent " + str(os.waitstatus_to_exitcode(os.wait()[1]))

def forks_and_raises() -> str:
    if os.fork() == 0:
        raise ValueError("in the child")
    return "parent " + str(os.waitstatus_to_exitcode(os.wait()[1]))

async def forks_on_the_loop() -> str:
    if os.fork() == 0:
        return "child"
    return "parent " + str(os.waitstatus_to_exitcode(os.wait()[1]))

def forks_while_printing() -> list:
    printing = True
    def chatter():
        while printing:
            print("chatter" * 100)
    thread = threading.Thread(target=chatter)
    thread.start()
    statuses = []
    for _ in range(4):
        if os.fork() == 0:
            return ["child"]
        statuses.append(os.waitstatus_to_exitcode(os.wait()[1]))
    printing = False
    thread.join()
    return statuses

def square(number: int) -> int:
    return number * number

def pool(method: str) -> list:
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.map(square, range(5))

def terminates() -> str:
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(1000,))
    child.start()
    child.terminate()
    child.join(10)
    told = str(child.exitcode)
    child.kill()
    return told

def leaves_an_orphan(path: str) -> str:
    child = os.fork()
    if child == 0:
        with open(path, "w") as file:
            file.write(str(os.getpid()))
        threading.Event().wait()
    return "left"

def closes_descriptors() -> str:
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    return "closed"

def closes_streams() -> str:
    sys.stdin.close(); sys.stdout.close(); sys.stderr.close()
    return "closed"

def replaces_streams() -> str:
    sys.stdout = sys.stderr = io.StringIO()
    print("nowhere")
    sys.stdin = None
    return "replaced"

def removes_streams() -> str:
    sys.stdin = sys.stdout = sys.stderr = None
    print("nowhere")
    return "removed"

def asks() -> str:
    return input("name? ")

def writes_everywhere() -> str:
    print("by print")
    sys.__stdout__.write("by __stdout__\\n")
    sys.stdout.buffer.write(b"by buffer\\n")
    os.write(1, b"by descriptor\\n")
    libc = ctypes.CDLL(None)
    libc.printf(b"by printf\\n")
    libc.fflush(None)
    logging.warning("by logging")
    warnings.warn("by warnings")
    subprocess.run([sys.executable, "-c", "print('by a child')"])
    thread = threading.Thread(target=print, args=("by a thread",))
    thread.start()
    thread.join()
    return "written"

class Noisy:
    def __del__(self):
        print("by __del__")

def writes_later() -> str:
    atexit.register(print, "by atexit")
    globals()["noisy"] = Noisy()
    ctypes.CDLL(None).printf(b"left in the buffer of C\\n")
    print("left in our buffer", end="")
    return "later"

def leaves() -> str:
    os._exit(7)

def exits() -> str:
    sys.exit(7)

def interrupts() -> str:
    raise KeyboardInterrupt

def runs_out() -> str:
    raise MemoryError

def recurses() -> str:
    return recurses()

def stops_signals() -> str:
    raise GeneratorExit

class Unprintable(Exception):
    def __str__(self):
        raise SystemExit(3)
    __repr__ = __str__

def is_unprintable() -> str:
    raise Unprintable()

async def is_unprintable_async() -> str:
    raise Unprintable()
"""  # noqa: E501

needs_fork = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="nothing forks here")


def text_of(answer: Any) -> Any:
    return answer["result"]["content"][0]["text"]


@needs_fork
@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("forks_and_returns", 0),
        ("forks_and_exits", 7),
        ("forks_and_raises", 1),
        ("forks_on_the_loop", 0),
    ],
)
def test_a_forked_child_that_comes_back_is_no_second_server(
    tmp_path: Path, name: str, status: int
) -> None:
    with served(tmp_path, TOOLS + "\natexit.register(print, 'exit function')\n") as process:
        for number in range(3):
            answer = process.ask(call(name, id=number, progressToken="t"))
            assert (answer["id"], text_of(answer)) == (number, f"parent {status}")
        assert process.ask(request("ping", id="p"))["id"] == "p"

        assert process.hang_up() == []
        assert process.wait() == 0
        assert process.stderr().count("exit function") == 1


@needs_fork
def test_a_forked_child_ends_though_its_stdout_is_locked_for_ever(tmp_path: Path) -> None:
    """The thread that was printing at that moment does not exist in the child, and cannot let go of
    the lock.
    """
    with served(tmp_path, TOOLS) as process:
        assert text_of(process.ask(call("forks_while_printing"))) == "[0,0,0,0]"


@needs_fork
def test_multiprocessing_works_in_a_tool(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS) as process:
        for method in ("fork", "spawn"):
            assert text_of(process.ask(call("pool", {"method": method}))) == "[0,1,4,9,16]"
        assert text_of(process.ask(call("terminates"))) == "-15"

        assert process.hang_up() == []
        assert process.wait() == 0


@needs_fork
def test_an_orphan_of_a_tool_keeps_neither_stream_open(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with served(tmp_path, TOOLS) as process:
        assert text_of(process.ask(call("leaves_an_orphan", {"path": str(note)}))) == "left"
        wait_until(lambda: note.exists() and note.read_text() != "")
        try:
            assert process.hang_up() == []  # the end of the stream comes, though the child lives on
            assert process.wait() == 0
        finally:
            subprocess.run(["kill", "-9", note.read_text()], check=True)


@pytest.mark.parametrize(
    "name",
    [
        "closes_descriptors",
        "closes_streams",
        "replaces_streams",
        "removes_streams",
        "writes_everywhere",
    ],
)
@pytest.mark.parametrize("unbuffered", [False, True])
def test_whatever_a_tool_does_to_the_standard_streams_the_protocol_goes_on(
    tmp_path: Path, name: str, unbuffered: bool
) -> None:
    env = {**filtered_environment(), **({"PYTHONUNBUFFERED": "1"} if unbuffered else {})}
    with served(tmp_path, TOOLS, env=env) as process:
        assert process.ask(call(name, id=1))["result"]["isError"] is False
        assert process.ask(call("is_unprintable", id=2))["result"]["isError"] is True
        assert process.ask(call("add", {"a": 1, "b": 2}, id=3))["result"]["structuredContent"] == {
            "result": 3
        }

        assert process.hang_up() == []
        assert process.wait() == 0
        told = process.stderr()
    if name == "writes_everywhere":
        for way in (
            "print",
            "__stdout__",
            "buffer",
            "descriptor",
            "printf",
            "logging",
            "warnings",
            "a child",
        ):
            assert f"by {way}" in told


@pytest.mark.parametrize("unbuffered", [False, True])
def test_what_is_written_at_the_end_reaches_stderr_at_most(
    tmp_path: Path, unbuffered: bool
) -> None:
    env = {**filtered_environment(), **({"PYTHONUNBUFFERED": "1"} if unbuffered else {})}
    with served(tmp_path, TOOLS, env=env) as process:
        assert text_of(process.ask(call("writes_later"))) == "later"

        assert process.hang_up() == []
        assert process.wait() == 0
        # What C has kept in a buffer of its own is lost; nobody but its author can flush that.
        assert set(process.stderr().splitlines()) - {"left in the buffer of C"} == {
            "left in our bufferby atexit"
        }


def test_whatever_a_tool_raises_is_its_own_failure(tmp_path: Path) -> None:
    names = ["asks", "exits", "interrupts", "runs_out", "recurses", "stops_signals"]
    names += ["is_unprintable", "is_unprintable_async"]
    with served(tmp_path, TOOLS) as process:
        for name in names * 2:
            answer = process.ask(call(name, id=name))
            assert (answer["id"], answer["result"]["isError"]) == (name, True)
            assert process.ask(request("ping", id="p")) == {
                "jsonrpc": "2.0",
                "id": "p",
                "result": {},
            }

        assert process.hang_up() == []
        assert process.wait() == 0


def test_a_tool_that_ends_the_process_ends_it(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS) as process:
        process.send(call("leaves"))

        assert process.receive_line() is None
        assert process.wait() == 7


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full"])
def test_a_process_without_a_working_stderr_serves(tmp_path: Path, closed: str) -> None:
    (tmp_path / "tools_file.py").write_text(TOOLS, encoding="utf-8")
    sent = b'{"jsonrpc":"2.0","id":"%b","method":"tools/call","params":{"name":"%b"}}\n'
    names = [b"is_unprintable", b"writes_everywhere", b"writes_later"]

    done = subprocess.run(
        [
            "sh",
            "-c",
            f"{sys.executable} -m toolwire serve tools_file.py --limit grace_seconds=60 {closed}",
        ],
        input=b"".join(sent % (name, name) for name in names),
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        timeout=PATIENCE_SECONDS,
        check=True,
    )

    starts = {line.partition(b',"result":')[0] for line in done.stdout.splitlines()}
    assert starts == {b'{"jsonrpc":"2.0","id":"%b"' % name for name in names}


def test_answers_go_to_a_file_while_stderr_is_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "tools_file.py").write_text(
        "def shouts() -> None:\n    print('\u00e9')\n", encoding="utf-8"
    )

    with open(tmp_path / "answers", "wb") as answers:
        done = subprocess.run(
            [sys.executable, "-m", "toolwire", "serve", "tools_file.py"],
            input=json.dumps(call("shouts")).encode(),
            stdout=answers,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            timeout=PATIENCE_SECONDS,
            check=True,
        )

    assert done.stderr.decode() == "\u00e9\n"
    assert json.loads((tmp_path / "answers").read_bytes())["result"]["isError"] is False


def test_without_stderr_nothing_is_written_into_the_hosts_socket(tmp_path: Path) -> None:
    """Node, for one, gives its children sockets, which can be written to at either end."""
    import socket

    (tmp_path / "tools_file.py").write_text(TOOLS, encoding="utf-8")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            [
                "sh",
                "-c",
                f"exec {sys.executable} -m toolwire serve tools_file.py --limit grace_seconds=60"
                " 2>&-",
            ],
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            cwd=tmp_path,
        )
        theirs.close()
        ours.sendall(
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writes_everywhere"}}\n'
        )
        ours.shutdown(socket.SHUT_WR)
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0
        assert len(out.splitlines()) == 1
        ours.settimeout(PATIENCE_SECONDS)
        assert ours.recv(1000) == b""


def test_streams_made_non_blocking_are_served(tmp_path: Path) -> None:
    """As a wrapper in Node does that has left us its own standard streams."""
    (tmp_path / "tools_file.py").write_text(
        'def text(size: int) -> str:\n    return "x" * size\n', encoding="utf-8"
    )
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    with open(our_out, "wb", buffering=0) as questions, open(our_in, "rb") as answers:
        process = subprocess.Popen(
            [sys.executable, "-m", "toolwire", "serve", "tools_file.py"],
            stdin=their_in,
            stdout=their_out,
            cwd=tmp_path,
        )

        def ask(size: int) -> int:
            questions.write(json.dumps(call("text", {"size": size})).encode() + b"\n")
            return len(json.loads(answers.readline())["result"]["content"][0]["text"])

        sizes = [ask(1)]
        for descriptor in (their_in, their_out):
            os.set_blocking(descriptor, False)
            os.close(descriptor)  # what was said of the stream holds for whoever else has it
        # Reading for the third finds nothing yet, and the long one does not fit into a pipe.
        sizes += [ask(2), ask(300_000), ask(3)]
        questions.close()
        status = process.wait(PATIENCE_SECONDS)
    assert (sizes, status) == ([1, 2, 300_000, 3], 0)


def test_a_script_that_serves_is_protected_as_well(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        TOOLS + "\nimport toolwire\ntoolwire.serve([writes_everywhere, forks_and_returns])\n"
    )
    with running(str(script)) as process:
        assert text_of(process.ask(call("writes_everywhere"))) == "written"
        assert text_of(process.ask(call("forks_and_returns"))) == "parent 0"
        assert process.hang_up() == []
        assert process.wait() == 0
