"""Promises about the process: its streams, its threads, its end. Each kept by a real one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
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

TOOLS = '''
import os, subprocess, sys, threading, time
from toolwire import Context, ToolError

def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b

def block(path: str) -> str:
    """Wait until the file exists."""
    while not os.path.exists(path):
        threading.Event().wait(0.005)
    return "seen"

def patient(context: Context, path: str) -> str:
    """Wait to be cancelled, and leave a note."""
    open(path + ".started", "w").close()
    while not context.cancelled:
        threading.Event().wait(0.005)
    open(path, "w").close()
    return "too late"

async def patiently(path: str) -> str:
    """Wait to be cancelled, and leave a note."""
    import anyio
    open(path + ".started", "w").close()
    try:
        await anyio.sleep_forever()
    finally:
        open(path, "w").close()

def steps(count: int):
    """Report each step."""
    for number in range(count):
        yield f"step {number}"

def hang() -> None:
    """Never end."""
    threading.Event().wait()

async def hang_async() -> None:
    """Never end."""
    import anyio
    await anyio.sleep_forever()

def noisy() -> str:
    """Write wherever it must not."""
    print("printed")
    sys.stdout.buffer.write(b"buffered\\n")
    sys.stdout.flush()
    os.write(1, b"written\\n")
    child = "print('by a child'); import sys; sys.exit(len(sys.stdin.read()))"
    subprocess.run([sys.executable, "-c", child], check=True)
    os.system("echo by a shell; cat")
    print("left in the buffer", end="")
    return sys.stdin.read()
'''


def start(process: Process, message: dict[str, Any], started: Path) -> None:
    """Send a call and return when its tool is running."""
    process.send(message)
    wait_until(started.exists)


@pytest.fixture
def process(tmp_path: Path) -> Any:
    with served(tmp_path, TOOLS) as process:
        yield process


def test_calls_are_served_while_a_tool_blocks(process: Process, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    process.send(call("block", {"path": str(gate)}, id="slow"))

    assert process.ask(call("add", {"a": 1, "b": 2}, id=1))["id"] == 1
    assert process.ask(request("ping", id=2)) == {"jsonrpc": "2.0", "id": 2, "result": {}}
    gate.touch()
    assert process.receive()["id"] == "slow"


@pytest.mark.parametrize("name", ["patient", "patiently"])
@pytest.mark.parametrize("lsp", [False, True])
def test_a_cancelled_tool_is_notified_and_only_an_editor_gets_a_response(
    process: Process, tmp_path: Path, name: str, lsp: bool
) -> None:
    note = tmp_path / "note"
    start(process, call(name, {"path": str(note)}, id=7), tmp_path / "note.started")

    if lsp:
        process.send(request("$/cancelRequest", {"id": 7}, id=...))
        assert process.receive()["error"]["code"] == -32800
    else:
        process.send(request("notifications/cancelled", {"requestId": 7}, id=...))
    wait_until(note.exists)

    assert process.ask(request("ping", id=8))["id"] == 8
    assert process.hang_up() == []
    assert process.wait() == 0


def test_progress_comes_before_the_answer_and_only_when_asked_for(process: Process) -> None:
    process.send(
        call("steps", {"count": 3}, id=1, progressToken="t"), call("steps", {"count": 2}, id=2)
    )

    received = [process.receive() for _ in range(5)]

    progress = [message["params"] for message in received if "method" in message]
    assert [(one["progressToken"], one["message"]) for one in progress] == [
        ("t", f"step {n}") for n in range(3)
    ]
    first = next(message for message in received if message.get("id") == 1)
    assert received.index(first) > max(received.index(m) for m in received if "method" in m)


@pytest.mark.parametrize("unbuffered", [False, True])
def test_nothing_but_protocol_reaches_stdout_whatever_a_tool_writes(
    tmp_path: Path, unbuffered: bool
) -> None:
    env = {**filtered_environment(), **({"PYTHONUNBUFFERED": "1"} if unbuffered else {})}
    with served(tmp_path, TOOLS, env=env) as process:
        process.send(call("noisy", id=1), request("ping", id=2))
        answers = {answer["id"]: answer for answer in (process.receive(), process.receive())}

        assert answers[1]["result"]["content"][0]["text"] == ""
        assert process.hang_up() == []
        told = process.stderr()
        for text in (
            "printed",
            "buffered",
            "written",
            "by a child",
            "by a shell",
            "left in the buffer",
        ):
            assert text in told


def test_answers_still_owed_at_the_end_of_input_are_sent(tmp_path: Path) -> None:
    (tmp_path / "tools_file.py").write_text(TOOLS, encoding="utf-8")
    lines = b"".join(
        b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add","arguments":{"a":%d,"b":1}}}\n'
        % (n, n)
        for n in range(500)
    )

    done = subprocess.run(
        [sys.executable, "-m", "toolwire", "serve", "tools_file.py"],
        input=lines.rstrip(b"\n"),
        capture_output=True,
        cwd=tmp_path,
        timeout=PATIENCE_SECONDS,
        check=True,
    )

    assert len(done.stdout.splitlines()) == 500
    assert done.stderr == b""


@pytest.mark.parametrize("name", ["hang", "hang_async"])
def test_a_tool_that_hangs_does_not_keep_the_process_alive(tmp_path: Path, name: str) -> None:
    with served(tmp_path, TOOLS, "--limit", "grace_seconds=0.05") as process:
        process.send(call(name, id=1), request("ping", id=2))
        assert process.receive()["id"] == 2

        assert process.hang_up() == []
        assert process.wait() == 0
        assert name in process.stderr()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_quietly_with_owed_answers_sent(
    process: Process, tmp_path: Path, number: int
) -> None:
    gate = tmp_path / "gate"
    process.send(call("block", {"path": str(gate)}, id=1))
    assert process.ask(request("ping", id=2))["id"] == 2

    process.popen.send_signal(number)
    gate.touch()

    assert process.receive()["id"] == 1
    assert process.receive_line() is None
    assert process.wait() == 0
    assert process.stderr() == ""


def test_it_leaves_quietly_when_the_host_no_longer_reads(process: Process) -> None:
    assert process.ask(request("ping"))["id"] == 1
    assert process.popen.stdout is not None
    process.popen.stdout.close()

    process.send(request("ping", id=2))

    assert process.wait() == 0
    assert process.stderr() == ""


@pytest.mark.parametrize("name", ["hang", "hang_async", "patient"])
def test_a_call_that_takes_too_long_is_answered_and_its_thread_replaced(
    tmp_path: Path, name: str
) -> None:
    arguments = {"path": str(tmp_path / "note")} if name == "patient" else {}
    with served(tmp_path, TOOLS, "--timeout", "0.05", "--limit", "max_workers=1") as process:
        for number in range(3):
            answer = process.ask(call(name, arguments, id=number))
            assert answer["id"] == number
            assert answer["result"]["isError"] is True
            assert "within 0.05 seconds" in answer["result"]["content"][0]["text"]
        assert process.ask(call("add", {"a": 1, "b": 2}, id="next"))["result"][
            "structuredContent"
        ] == {"result": 3}


def test_content_length_framing_is_answered_in_kind(process: Process) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    process.send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    expected = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    assert process.receive_line() == b"Content-Length: %d\r" % len(expected)
    assert process.receive_line() == b"\r"
    assert process.popen.stdin is not None
    process.popen.stdin.close()
    assert process.popen.stdout is not None
    assert process._buffer + process.popen.stdout.read() == expected


def test_a_process_started_without_stdin_says_so(tmp_path: Path) -> None:
    (tmp_path / "tools_file.py").write_text(TOOLS, encoding="utf-8")

    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m toolwire serve tools_file.py <&-"],
        capture_output=True,
        cwd=tmp_path,
        timeout=PATIENCE_SECONDS,
        check=False,
    )

    assert done.returncode == 2
    assert b"standard input" in done.stderr
    assert b"Traceback" not in done.stderr


def test_exit_functions_run_and_none_can_hold_the_process(tmp_path: Path) -> None:
    source = TOOLS + (
        "import atexit\n"
        "atexit.register(threading.Event().wait)\n"
        "atexit.register(print, 'hooked')\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
    )
    with served(tmp_path, source) as process:
        assert process.ask(request("ping"))["id"] == 1

        assert process.hang_up() == []
        assert process.wait() == 0
        assert process.stderr() == "hooked\n"


def test_a_library_user_serves_with_one_call_and_not_twice(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import toolwire\n"
        "from toolwire.transport.stdio import AlreadyClaimed\n"
        "def again() -> str:\n"
        "    try:\n"
        "        toolwire.serve([])\n"
        "    except AlreadyClaimed as error:\n"
        "        return str(error)\n"
        "toolwire.serve([again], name='mine')\n",
        encoding="utf-8",
    )
    with running(str(script)) as process:
        answer = process.ask(call("again"))

        assert "serves tools already" in answer["result"]["content"][0]["text"]
        assert process.hang_up() == []
        assert process.wait() == 0


def test_1000_tools_wait_side_by_side(tmp_path: Path) -> None:
    source = """
        import anyio
        waiting = 0
        everyone = None

        async def gather(count: int) -> int:
            "Return when so many calls are under way."
            global waiting, everyone
            everyone = everyone or anyio.Event()
            waiting += 1
            if waiting == count:
                everyone.set()
            await everyone.wait()
            return waiting
        """
    import textwrap

    with served(tmp_path, textwrap.dedent(source)) as process:
        process.send(*(call("gather", {"count": 1000}, id=number) for number in range(1000)))
        received = [process.receive() for _ in range(1000)]

    assert sorted(answer["id"] for answer in received) == list(range(1000))
    assert {answer["result"]["structuredContent"]["result"] for answer in received} == {1000}


def test_64_blocking_tools_wait_side_by_side(tmp_path: Path) -> None:
    source = (
        "import threading\n"
        "barrier = threading.Barrier(64)\n"
        "def meet() -> int:\n"
        "    'Return when 64 calls are under way.'\n"
        "    return barrier.wait() * 0\n"
    )
    with served(tmp_path, source) as process:
        process.send(*(call("meet", id=number) for number in range(64)))
        received = [process.receive() for _ in range(64)]

    assert sorted(answer["id"] for answer in received) == list(range(64))
    assert all(answer["result"]["isError"] is False for answer in received)


def test_a_host_that_writes_everything_before_it_reads_is_served(process: Process) -> None:
    # More than the pipes hold, however many threads wait to write into them: a server that had to
    # be read before it reads on would hang here.
    text = "x" * 2000
    sent = [request("ping", id=f"{number}{text}") for number in range(8000)]

    process.send(*sent)

    assert {process.receive()["id"] for _ in sent} == {message["id"] for message in sent}


def test_children_inherit_neither_stream(process: Process, tmp_path: Path) -> None:
    assert process.ask(request("ping"))["id"] == 1
    descriptors = Path(f"/proc/{process.popen.pid}/fd")
    if not descriptors.exists():
        pytest.skip("this system does not show a process's descriptors")

    pipes = {os.readlink(descriptors / str(number)) for number in (0, 1)}
    ours = (process.popen.stdin, process.popen.stdout)
    protocol = {os.readlink(f"/proc/self/fd/{stream.fileno()}") for stream in ours if stream}

    assert not pipes & protocol


CONTAINED = '''
import os, subprocess, time

def zombies() -> int:
    """How many processes have ended that nobody waits for."""
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                found += file.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
    return found

def leave_orphans(count: int) -> None:
    """Have processes whose parent ends before they do."""
    for _ in range(count):
        subprocess.run(["sh", "-c", "sleep 0.01 &"], check=True)

def status_of_a_child_that_ended_long_ago() -> int:
    child = subprocess.Popen(["sh", "-c", "exit 7"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    leave_orphans(3)
    while zombies() > 1:
        time.sleep(0.01)
    return child.wait()

def numbers() -> list[int]:
    return [os.getpid(), os.getppid()]
'''


@pytest.fixture
def contained(tmp_path: Path) -> Iterator[Process]:
    """A server that is started as the first process of a PID namespace, as in a container."""
    wrapper = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*wrapper, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody make a PID namespace")
    path = tmp_path / "contained.py"
    path.write_text(CONTAINED)
    serve = [*wrapper, sys.executable, "-m", "toolwire", "serve", str(path)]
    start = f"import os; os.execvp('unshare', {serve!r})"
    with running("-c", start) as process:
        yield process


def value(process: Process, name: str, **arguments: Any) -> Any:
    return process.ask(call(name, arguments))["result"]["structuredContent"]["result"]


def test_the_first_process_of_a_container_reaps_orphans_and_takes_no_status_from_a_tool(
    contained: Process,
) -> None:
    assert value(contained, "numbers")[1] == 1
    assert value(contained, "status_of_a_child_that_ended_long_ago") == 7

    contained.ask(call("leave_orphans", {"count": 5}))

    wait_until(lambda: value(contained, "zombies") == 0)
    assert contained.hang_up() == []
    assert contained.wait() == 0


def test_the_first_process_of_a_container_ends_when_it_is_asked_to(contained: Process) -> None:
    assert value(contained, "numbers")[1] == 1

    [first] = (
        Path(f"/proc/{contained.popen.pid}/task/{contained.popen.pid}/children").read_text().split()
    )
    os.kill(int(first), signal.SIGTERM)

    assert contained.wait() == 0
