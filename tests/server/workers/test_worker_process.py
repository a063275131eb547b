"""Tools in processes of their own: what a crash is, what passes through, and that nothing is left
running.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server_process import (
    MODERN,
    PATIENCE_SECONDS,
    Process,
    call,
    request,
    running,
    served,
    wait_until,
)

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the tests look into /proc"),
    pytest.mark.process,
]

TOOLS = '''
import ctypes, os, signal, subprocess, sys, threading, time
from collections.abc import Iterator
from toolwire import AsyncContext, Context, ToolError, tool_api
from toolwire_tools import Declined, Image

@tool_api(runs_in="process")
def pid() -> int:
    return os.getpid()

@tool_api
def pid_of_server() -> int:
    return os.getpid()

@tool_api(runs_in="process")
def add(a: int, b: int) -> dict[str, int]:
    return {"sum": a + b}

@tool_api(runs_in="process")
def leave(status: int) -> None:
    os._exit(status)

@tool_api(runs_in="process")
def get_signal(number: int) -> None:
    os.kill(os.getpid(), number)
    threading.Event().wait()

@tool_api(runs_in="process")
def crash() -> str:
    return ctypes.string_at(8).decode()

@tool_api(runs_in="process", memory_limit="64 MiB")
def allocate(bytes: int) -> int:
    return len(bytearray(bytes))

@tool_api(runs_in="process", memory_limit="64 MiB")
async def allocate_async(bytes: int) -> int:
    return len(bytearray(bytes))

@tool_api(runs_in="process")
def fork_and_die(path: str) -> None:
    libc = ctypes.CDLL(None)  # so that nothing of Python's lets go of the pipes in the children
    for _ in range(5):
        if libc.fork() == 0:
            libc.pause()
    note(path)
    os._exit(4)

def note(path: str) -> None:
    """The process group of whoever calls, at once and whole."""
    with open(path + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(path + ".new", path)

@tool_api(runs_in="process")
def with_child(path: str) -> None:
    child = subprocess.Popen(["sleep", "600"])
    note(path)
    child.wait()

@tool_api(runs_in="process", timeout_seconds=1.5)
def with_child_and_limit(path: str) -> None:
    with_child(path)

@tool_api(runs_in="process")
async def with_child_async(path: str) -> None:
    with_child(path)

def daemon(path: str) -> None:
    """Leave a process in a session of its own, whose parent has ended."""
    left = "setsid sh -c 'echo $$ > $0.new; mv $0.new $0; exec sleep 600' $0 & true"
    subprocess.run(["sh", "-c", left, path + ".daemon"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={})
    while not os.path.exists(path + ".daemon"):
        time.sleep(0.005)

@tool_api(runs_in="process")
def with_daemon(path: str) -> None:
    daemon(path)
    note(path)
    threading.Event().wait()

@tool_api(runs_in="process")
def stop_all(path: str) -> None:
    """Stop whatever would end it."""
    daemon(path)
    note(path)
    os.kill(os.getppid(), signal.SIGSTOP)
    threading.Event().wait()

@tool_api(runs_in="process")
def daemon_and_end(path: str, how: int) -> None:
    daemon(path)
    if not how:
        os._exit(3)
    os.kill(os.getpid(), how)
    threading.Event().wait()

@tool_api(runs_in="process")
def deaf(path: str) -> None:
    """Keep the interpreter's lock for ever."""
    subprocess.Popen(["sleep", "600"])
    note(path)
    sys.setswitchinterval(1e6)
    while True:
        pass

@tool_api(runs_in="process")
def patient(path: str, context: Context) -> None:
    note(path)
    while not context.cancelled:
        time.sleep(0.005)
    note(path + ".cancelled")

@tool_api(runs_in="process")
async def patiently(path: str) -> None:
    import anyio
    note(path)
    try:
        await anyio.sleep_forever()
    finally:
        note(path + ".cancelled")

@tool_api(runs_in="process")
def meet(mine: str, other: str) -> str:
    """Return when the other is there, too."""
    note(mine)
    while not os.path.exists(other):
        time.sleep(0.005)
    return "met"

@tool_api(runs_in="process")
def steps(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"step {number}"

@tool_api(runs_in="process")
def speak(context: Context) -> None:
    context.log("logged", level="warning", where="there")
    print("printed")
    os.write(2, b"written\\n")

@tool_api(runs_in="process")
def fail(text: str) -> None:
    raise ToolError(text)

@tool_api(runs_in="process")
def break_down() -> None:
    raise KeyError("unexpected")

@tool_api(runs_in="process")
def picture():
    return [Image(data=b"\\x89PNG", media_type="image/png"), "and text"]

@tool_api(runs_in="process")
def order(what: str, context: Context) -> str:
    context.progress(1, 2, "asking")
    try:
        count = context.ask(f"How many {what}?", int)
    except Declined:
        return "declined"
    context.progress(2, 2, "asked")
    return f"{count} {what}"

@tool_api(runs_in="process")
async def order_async(what: str, context: AsyncContext) -> str:
    context.progress(1, 2, "asking")
    try:
        count = await context.ask(f"How many {what}?", int)
    except Declined:
        return "declined"
    context.progress(2, 2, "asked")
    return f"{count} {what}"

@tool_api(runs_in="process")
def careful(context: Context) -> bool:
    return context.ask("Sure?", default=False)
'''  # noqa: E501


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    with served(tmp_path, TOOLS) as process:
        yield process


def text_of(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])


def value_of(answer: Any) -> Any:
    assert answer["result"]["isError"] is False, answer
    return answer["result"].get("structuredContent", {"result": text_of(answer)})["result"]


def group_of(path: Path) -> int:
    """Wait until a tool has left a note, and return what it says: the process group of its
    process.
    """
    wait_until(path.exists)
    return int(path.read_text())


def members(group: int) -> list[int]:
    """The processes of *group* that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, its_group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it ended meanwhile
            continue
        if int(its_group) == group and state not in "ZX":
            found.append(int(folder.name))
    return found


def wait_until_gone(group: int) -> None:
    wait_until(lambda: not members(group))


# What a crash is


CRASHES = [
    ("leave", {"status": 3}, "ended with exit status 3"),
    ("leave", {"status": 0}, "ended with exit status 0"),
    ("crash", {}, "was killed by signal 11 (SIGSEGV)"),
    ("get_signal", {"number": signal.SIGABRT}, "was killed by signal 6 (SIGABRT)"),
    (
        "get_signal",
        {"number": signal.SIGKILL},
        "was killed by signal 9 (SIGKILL), as happens when the system's memory",
    ),
    ("allocate", {"bytes": 1 << 28}, "ran out of memory (limit 64 MiB)"),
    ("allocate_async", {"bytes": 1 << 28}, "ran out of memory (limit 64 MiB)"),
]


@pytest.mark.parametrize(("name", "arguments", "told"), CRASHES)
def test_a_crash_is_one_failed_call_that_says_what_happened(
    process: Process, tmp_path: Path, name: str, arguments: Any, told: str
) -> None:
    before = value_of(process.ask(call("pid", id=1)))
    meeting = {"mine": str(tmp_path / "a"), "other": str(tmp_path / "b")}
    process.send(call("meet", meeting, id="other"))
    group_of(tmp_path / "a")

    answer = process.ask(call(name, arguments, id=2))

    assert answer["id"] == 2
    assert answer["result"]["isError"] is True
    assert f"{name}: the tool's process {told}" in text_of(answer)
    assert value_of(process.ask(call("pid", id=3))) not in (
        before,
        value_of(process.ask(call("pid_of_server"))),
    )
    (tmp_path / "b").touch()
    assert value_of(process.receive()) == "met"


def test_what_a_dying_process_leaves_behind_is_ended(process: Process, tmp_path: Path) -> None:
    answer = process.ask(call("fork_and_die", {"path": str(tmp_path / "note")}))

    assert "exit status 4" in text_of(answer)
    wait_until_gone(group_of(tmp_path / "note"))


def test_a_tool_within_its_memory_limit_is_not_bothered(process: Process) -> None:
    pids = {value_of(process.ask(call("pid")))}
    for _ in range(20):
        assert value_of(process.ask(call("allocate", {"bytes": 32 << 20}))) == 32 << 20
        assert value_of(process.ask(call("allocate_async", {"bytes": 32 << 20}))) == 32 << 20
    pids.add(value_of(process.ask(call("pid"))))

    assert len(pids) == 1


def test_a_process_that_dies_while_idle_is_replaced(process: Process) -> None:
    first = value_of(process.ask(call("pid", id=1)))
    os.kill(first, signal.SIGKILL)
    # Until the server has noticed: the threads of a zombie may hold its pipes a little longer.
    wait_until(lambda: not Path(f"/proc/{first}").exists())

    assert value_of(process.ask(call("pid", id=2))) != first


def cgroup() -> Path | None:
    """A new cgroup (version 2) for a server that may divide it; `None` if there can be none
    here.
    """
    try:
        if "memory" not in Path("/sys/fs/cgroup/cgroup.subtree_control").read_text().split():
            return None
        (path := Path(f"/sys/fs/cgroup/test-{os.getpid()}")).mkdir()
        return path
    except OSError:
        return None


FORKS = """
import mmap, os
from toolwire import tool_api

@tool_api(runs_in="process", memory_limit="64 MiB")
def fork(count: int) -> list[int]:
    "Have so many children that each use 32 MiB at the same time."
    read, write = os.pipe()
    pids = []
    for _ in range(count):
        if (pid := os.fork()) == 0:
            with mmap.mmap(-1, 32 << 20) as used:
                used.write(b"x" * len(used))
                os.close(write)
                os.read(read, 1)
                os._exit(0)
        pids.append(pid)
    os.close(write)
    return [os.waitpid(pid, 0)[1] for pid in pids]
"""


def test_a_memory_limit_holds_for_a_process_and_its_children_together_if_there_are_cgroups(
    tmp_path: Path,
) -> None:
    if (path := cgroup()) is None:
        pytest.skip("needs a cgroup of version 2 with the memory controller")
    try:
        with served(tmp_path, FORKS) as process:
            (path / "cgroup.procs").write_text(str(process.popen.pid))
            assert value_of(process.ask(call("fork", {"count": 2}))) == [0, 0]
            assert "ran out of memory (limit 64 MiB)" in text_of(
                process.ask(call("fork", {"count": 6}))
            )
            assert value_of(process.ask(call("fork", {"count": 2}))) == [0, 0]
            assert process.hang_up() == []
            assert "memory_limit holds for each process" not in process.stderr()
        wait_until(lambda: not [inner for inner in path.iterdir() if inner.is_dir()])
    finally:
        path.rmdir()


def test_the_log_says_once_if_a_memory_limit_holds_for_each_process_by_itself(
    tmp_path: Path,
) -> None:
    with served(tmp_path, FORKS) as process:  # which is not alone in the cgroup of these tests
        for _ in range(2):
            assert value_of(process.ask(call("fork", {"count": 4}))) == [0] * 4
        process.hang_up()
        assert process.stderr().count("memory_limit applies to each process separately") == 1


# Which process


def test_calls_one_after_another_share_a_process_and_calls_side_by_side_do_not(
    process: Process, tmp_path: Path
) -> None:
    pids = [value_of(process.ask(call("pid", id=number))) for number in range(5)]
    assert len(set(pids)) == 1

    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    process.send(
        call("meet", {"mine": a, "other": b}, id="a"), call("meet", {"mine": b, "other": a}, id="b")
    )

    assert [value_of(process.receive()) for _ in range(2)] == ["met", "met"]
    assert group_of(Path(a)) != group_of(Path(b))


def test_there_are_no_more_processes_than_allowed_and_other_tools_do_not_wait(
    tmp_path: Path,
) -> None:
    with served(
        tmp_path, TOOLS, "--limit", "max_processes=1", "--limit", "max_workers=1"
    ) as process:
        meeting = {"mine": str(tmp_path / "a"), "other": str(tmp_path / "b")}
        process.send(call("meet", meeting, id="first"))
        only = group_of(tmp_path / "a")
        process.send(call("pid", id="second"), call("pid", id="cancelled"), call("pid", id="third"))
        process.send(request("notifications/cancelled", {"requestId": "cancelled"}, id=...))
        assert process.ask(request("ping", id="ping"))["id"] == "ping"

        (tmp_path / "b").touch()

        assert [
            (answer["id"], value_of(answer)) for answer in (process.receive() for _ in range(3))
        ] == [
            ("first", "met"),
            ("second", only),
            ("third", only),
        ]


def test_isolate_is_for_every_tool_of_any_file(tmp_path: Path) -> None:
    source = (
        "import os\ndef pid() -> int:\n    return os.getpid()\ndef leave() -> None:\n   "
        " os._exit(1)\n"
    )
    with served(tmp_path, source, "--isolate") as process:
        assert "exit status 1" in text_of(process.ask(call("leave")))
        first = value_of(process.ask(call("pid")))
        assert first != process.popen.pid
        assert value_of(process.ask(call("pid"))) == first


def test_a_process_knows_what_the_server_knows(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("text = 'from next door'\n")
    source = """
        import os, sys
        from neighbour import text

        class Kit:
            from toolwire import tool_api

            @tool_api(runs_in="process")
            def where(self) -> list[str]:
                return [os.getcwd(), os.environ["ONLY"], text, sys.executable, *sys.argv[1:2]]

            @tool_api
            def here(self) -> list[str]:
                return [os.getcwd(), os.environ["ONLY"], text, sys.executable, *sys.argv[1:2]]
        """
    import textwrap

    env = {"ONLY": "here"}
    with served(
        tmp_path, textwrap.dedent(source), "--separator", "-", cwd=tmp_path, env=env
    ) as process:
        assert value_of(process.ask(call("Kit-where"))) == value_of(process.ask(call("Kit_here")))


def test_without_structured_content_a_process_sends_none_either(tmp_path: Path) -> None:
    source = "import os\n\ndef pid() -> int:\n    return os.getpid()\n"
    with served(tmp_path, source, "--isolate", "--no-structured") as process:
        [tool] = process.ask(request("tools/list"))["result"]["tools"]
        result = process.ask(call("pid"))["result"]

    assert "outputSchema" not in tool
    assert result == {
        "content": [{"type": "text", "text": result["content"][0]["text"]}],
        "isError": False,
    }
    assert int(result["content"][0]["text"]) != process.popen.pid


def test_reloaded_tools_get_new_processes_and_the_old_ones_end(tmp_path: Path) -> None:
    source = "import os\ndef pid() -> list[int]:\n    return [os.getpid(), VERSION]\n"
    with served(tmp_path, source.replace("VERSION", "1"), "--isolate", "--reload") as process:
        process.ask(request("initialize", {"protocolVersion": "2025-11-25"}, id=0))
        old, _ = value_of(process.ask(call("pid")))

        (tmp_path / "new.py").write_text(
            source.replace("VERSION", "2") + "def more() -> None: ...\n"
        )
        os.replace(tmp_path / "new.py", tmp_path / "tools_file.py")

        assert process.receive()["method"] == "notifications/tools/list_changed"
        new, version = value_of(process.ask(call("pid")))
        assert (new != old, version) == (True, 2)
        wait_until_gone(old)


def test_an_idle_process_ends_and_the_next_call_starts_another(
    tmp_path: Path,
) -> None:
    source = (
        "import os, time, toolwire.workers.process_pool\n"
        "toolwire.workers.process_pool._IDLE_SECONDS = 0.05\n"
        "def pid() -> int:\n    return os.getpid()\n"
        "def outlast_it() -> int:\n    time.sleep(0.3)\n    return os.getpid()\n"
    )
    with served(tmp_path, source, "--isolate") as process:
        process.ask(request("tools/list"))  # everything is imported
        descriptors = Path(f"/proc/{process.popen.pid}/fd")
        before = len(list(descriptors.iterdir()))

        for name in ("pid", "pid", "outlast_it", "outlast_it"):
            wait_until_gone(value_of(process.ask(call(name))))

        wait_until(lambda: len(list(descriptors.iterdir())) == before)
        assert process.hang_up() == []
        assert process.stderr() == ""


# What passes through


@pytest.mark.parametrize("isolated", [False, True])
def test_results_and_failures_are_the_same_as_in_the_server(tmp_path: Path, isolated: bool) -> None:
    source = (
        TOOLS
        if isolated
        else TOOLS.replace('runs_in="process"', "title=None").replace(', memory_limit="64 MiB"', "")
    )
    big = 10**30
    with served(tmp_path, source) as process:
        assert process.ask(call("add", {"a": big, "b": 1}))["result"] == {
            "content": [{"type": "text", "text": f'{{"sum":{big + 1}}}'}],
            "structuredContent": {"sum": big + 1},
            "isError": False,
        }
        assert process.ask(call("add", '{"a": "1", "b": 2}'))["result"]["structuredContent"] == {
            "sum": 3
        }
        assert (
            text_of(process.ask(call("add", {"a": "x"})))
            == 'arguments.a: "x" is not an integer\narguments.b: is missing'
        )
        assert (
            text_of(process.ask(call("fail", {"text": "Word for word: ü."}))) == "Word for word: ü."
        )
        assert text_of(process.ask(call("break_down"))) == "KeyError: 'unexpected'"
        assert process.ask(call("picture"))["result"]["content"] == [
            {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
            {"type": "text", "text": "and text"},
        ]


def test_unexpected_exceptions_can_be_masked(tmp_path: Path) -> None:
    with served(tmp_path, TOOLS, "--mask-errors") as process:
        assert text_of(process.ask(call("break_down"))) == "The tool break_down failed."


def test_progress_comes_before_the_answer(process: Process) -> None:
    process.send(call("steps", {"count": 3}, id=1, progressToken="t"))

    received = [process.receive() for _ in range(4)]

    assert [message["params"]["message"] for message in received[:3]] == [
        f"step {number}" for number in range(3)
    ]
    assert {message["params"]["progressToken"] for message in received[:3]} == {"t"}
    assert text_of(received[3]) == "step 0step 1step 2"


def test_what_a_tool_logs_prints_and_writes_reaches_stderr(process: Process) -> None:
    process.ask(call("speak", id="mine"))
    process.ask(call("break_down", id="broken"))
    process.hang_up()

    told = process.stderr()
    assert "toolwire: warning: logged (tool=speak id=mine where=there)\n" in told
    assert "printed\n" in told
    assert "written\n" in told
    assert "break_down failed (id=broken)\n" in told
    assert 'raise KeyError("unexpected")\n' in told


ASKING = {
    **MODERN,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    "progressToken": "t",
}
REPLIES = [
    ({"action": "accept", "content": {"answer": 3}}, "3 tea"),
    ({"action": "decline"}, "declined"),
    ({"action": "accept", "content": {"answer": "many"}}, "The answer is invalid"),
]


def greet(process: Process, capabilities: Any) -> None:
    process.ask(
        request("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities}, id=0)
    )


@pytest.mark.parametrize("name", ["order", "order_async"])
@pytest.mark.parametrize(("reply", "text"), REPLIES)
def test_a_legacy_client_is_asked_for_a_tool_in_a_process(
    process: Process, name: str, reply: Any, text: str
) -> None:
    greet(process, {"elicitation": {}})

    process.send(call(name, {"what": "tea"}, id=1, progressToken="t"))
    assert process.receive()["params"]["message"] == "asking"
    asked = process.receive()
    assert asked["method"] == "elicitation/create"
    assert asked["params"]["message"] == "How many tea?"
    assert asked["params"]["requestedSchema"]["properties"]["answer"]["type"] == "integer"
    answer = process.ask({"jsonrpc": "2.0", "id": asked["id"], "result": reply})
    if text == "3 tea":
        assert answer["params"]["message"] == "asked"
        answer = process.receive()

    assert answer["id"] == 1
    assert text_of(answer).startswith(text)


@pytest.mark.parametrize("name", ["order", "order_async"])
@pytest.mark.parametrize(("reply", "text"), REPLIES)
def test_a_modern_client_is_asked_for_a_tool_in_a_process(
    process: Process, name: str, reply: Any, text: str
) -> None:
    params = {"name": name, "arguments": {"what": "tea"}, "_meta": ASKING}
    process.send(request("tools/call", params, 1))
    assert process.receive()["params"]["message"] == "asking"
    asked = process.receive()["result"]
    assert asked["resultType"] == "input_required"

    again = {**params, "inputResponses": {"answer": reply}, "requestState": asked["requestState"]}
    answer = process.ask(request("tools/call", again, 2))
    if text == "3 tea":
        assert answer["params"]["message"] == "asked"
        answer = process.receive()

    assert answer["id"] == 2
    assert answer["result"]["resultType"] == "complete"
    assert text_of(answer).startswith(text)


def test_a_process_learns_whether_the_client_can_ask_with_each_call(process: Process) -> None:
    assert value_of(process.ask(call("careful"))) is False
    assert "does not support elicitation" in text_of(process.ask(call("order", {"what": "tea"})))
    before = value_of(process.ask(call("pid")))

    greet(process, {"elicitation": {}})
    asked = process.ask(call("careful", id=2))
    process.send(
        {
            "jsonrpc": "2.0",
            "id": asked["id"],
            "error": {"code": -32601, "message": "no such method"},
        }
    )

    assert text_of(process.receive()) == "The client could not ask the user: no such method."
    greet(process, {})
    assert value_of(process.ask(call("careful"))) is False
    assert value_of(process.ask(call("pid"))) == before


def test_a_call_that_waits_for_the_user_can_be_cancelled(process: Process) -> None:
    greet(process, {"elicitation": {}})
    before = value_of(process.ask(call("pid")))
    asked = process.ask(call("order", {"what": "tea"}, id=1))

    process.send(request("notifications/cancelled", {"requestId": 1}, id=...))

    assert process.receive()["params"] == {"requestId": asked["id"]}
    wait_until_gone(before)
    assert value_of(process.ask(call("pid"))) != before


def test_a_process_that_dies_while_its_tool_asks_takes_the_question_along(process: Process) -> None:
    greet(process, {"elicitation": {}})
    before = value_of(process.ask(call("pid")))
    asked = process.ask(call("order", {"what": "tea"}, id=1))

    os.kill(before, signal.SIGTERM)
    received = [process.receive(), process.receive()]

    assert {"requestId": asked["id"]} in [message.get("params") for message in received]
    [answer] = [message for message in received if "id" in message]
    assert "order: the tool's process" in text_of(answer)


# Nothing is left running


@pytest.mark.parametrize("name", ["with_child", "with_child_async", "deaf"])
def test_cancelling_ends_the_process_and_its_children(
    process: Process, tmp_path: Path, name: str
) -> None:
    process.send(call(name, {"path": str(tmp_path / "note")}, id=1))
    group = group_of(tmp_path / "note")
    assert members(group)

    process.send(request("notifications/cancelled", {"requestId": 1}, id=...))

    wait_until_gone(group)
    assert process.ask(request("ping", id=2))["id"] == 2
    assert value_of(process.ask(call("pid"))) != group
    assert process.hang_up() == []
    assert process.stderr() == ""


linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux can find what has left its group and its parent"
)


@linux
@pytest.mark.parametrize("name", ["with_daemon", "stop_all"])
def test_cancelling_ends_also_what_has_left_the_group_and_its_parent(
    process: Process, tmp_path: Path, name: str
) -> None:
    process.send(call(name, {"path": str(tmp_path / "note")}, id=1))
    group, daemon = group_of(tmp_path / "note"), group_of(tmp_path / "note.daemon")
    assert members(daemon) == [daemon]

    process.send(request("notifications/cancelled", {"requestId": 1}, id=...))

    wait_until_gone(group)
    wait_until_gone(daemon)
    assert process.ask(request("ping", id=2))["id"] == 2


@linux
@pytest.mark.parametrize(
    ("how", "told"),
    [
        (0, "exit status 3"),
        (signal.SIGKILL, "signal 9 (SIGKILL)"),
        (signal.SIGSEGV, "signal 11 (SIGSEGV)"),
    ],
)
def test_a_process_that_ends_by_itself_takes_along_what_has_left_it(
    process: Process, tmp_path: Path, how: int, told: str
) -> None:
    answer = process.ask(call("daemon_and_end", {"path": str(tmp_path / "note"), "how": how}))

    assert told in text_of(answer)
    assert not members(group_of(tmp_path / "note.daemon"))  # it was ended before the answer


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_has_left_its_group_does_not_outlive_the_server(tmp_path: Path, number: int) -> None:
    with served(tmp_path, TOOLS, "--limit", "grace_seconds=0.05") as process:
        process.send(call("with_daemon", {"path": str(tmp_path / "note")}))
        group, daemon = group_of(tmp_path / "note"), group_of(tmp_path / "note.daemon")

        process.popen.send_signal(number)
        process.wait()

        wait_until_gone(group)
        wait_until_gone(daemon)


def test_a_time_limit_ends_the_process_and_its_children(process: Process, tmp_path: Path) -> None:
    answer = process.ask(call("with_child_and_limit", {"path": str(tmp_path / "note")}))

    assert text_of(answer) == "with_child_and_limit did not finish within 1.5 seconds."
    wait_until_gone(group_of(tmp_path / "note"))


def test_the_time_to_start_a_process_counts_towards_no_limit(tmp_path: Path) -> None:
    source = "import time\ntime.sleep(2)\ndef quick() -> int:\n    return 1\n"
    with served(tmp_path, source, "--isolate", "--timeout", "1.8") as process:
        assert value_of(process.ask(call("quick"))) == 1


def test_processes_that_have_ended_cost_no_descriptors(process: Process) -> None:
    descriptors = Path(f"/proc/{process.popen.pid}/fd")
    process.ask(call("leave", {"status": 1}))
    before = len(list(descriptors.iterdir()))

    for _ in range(5):
        process.ask(call("leave", {"status": 1}))
        process.ask(call("get_signal", {"number": signal.SIGKILL}))

    assert len(list(descriptors.iterdir())) == before


@pytest.mark.parametrize("name", ["patient", "patiently"])
def test_a_tool_that_notices_can_clean_up_before_its_process_ends(
    tmp_path: Path, name: str
) -> None:
    # A quarter of a second may be too short where much else is running.
    patience = f"worker_process._COOPERATION_SECONDS = {PATIENCE_SECONDS}"
    source = f"{TOOLS}\nfrom toolwire.workers import worker_process\n{patience}\n"
    with served(tmp_path, source) as process:
        process.send(call(name, {"path": str(tmp_path / "note")}, id=1))
        group = group_of(tmp_path / "note")

        process.send(request("notifications/cancelled", {"requestId": 1}, id=...))

        assert group_of(tmp_path / "note.cancelled") == group
        wait_until_gone(group)


@pytest.mark.parametrize("name", ["with_child", "patient", "deaf"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_the_server_however_it_ends(
    tmp_path: Path, name: str, number: int
) -> None:
    with served(tmp_path, TOOLS, "--limit", "grace_seconds=0.05") as process:
        a, b = str(tmp_path / "a"), str(tmp_path / "b")
        process.send(
            call("meet", {"mine": a, "other": b}, id="a"),
            call("meet", {"mine": b, "other": a}, id="b"),
        )
        assert [value_of(process.receive()) for _ in range(2)] == ["met", "met"]
        process.send(call(name, {"path": str(tmp_path / "note")}))
        groups = {group_of(tmp_path / note) for note in ("a", "b", "note")}
        assert len(groups) == 2  # one of them idle

        process.popen.send_signal(number)
        process.wait()

        for group in groups:
            wait_until_gone(group)


def test_no_process_outlives_the_input(process: Process, tmp_path: Path) -> None:
    process.send(call("with_child", {"path": str(tmp_path / "note")}))
    group = group_of(tmp_path / "note")

    assert process.hang_up() == []
    assert process.wait() == 0
    wait_until_gone(group)


def test_answers_owed_at_the_end_of_input_are_sent(tmp_path: Path) -> None:
    # Sixteen processes must start before the last answer; on a busy machine that takes longer than
    # the default grace.
    with served(tmp_path, TOOLS, "--limit", f"grace_seconds={PATIENCE_SECONDS}") as process:
        process.send(*(call("pid", id=number) for number in range(40)))

        assert sorted(answer["id"] for answer in process.hang_up()) == list(range(40))
        assert process.wait() == 0
        assert process.stderr() == ""


# As a library


SCRIPT = """
import os, toolwire
from toolwire import tool_api

class Kit:
    def __init__(self, word: str = "made") -> None:
        self.word = word

    @tool_api
    def say(self) -> str:
        return f"{self.word} {os.getpid()}"

@tool_api(runs_in="process", memory_limit="1 GiB")
def pid() -> int:
    return os.getpid()

def plain() -> int:
    return os.getpid()

kit = Kit("named")
say = Kit("bound").say

if __name__ == "__main__":
    here = lambda: os.getpid()
    here.__name__ = "here"
    toolwire.serve(THINGS, isolate=ISOLATE)
"""


def script(folder: Path, things: str, *, isolate: bool = True) -> str:
    path = folder / "script.py"
    path.write_text(
        SCRIPT.replace("THINGS", things).replace("ISOLATE", repr(isolate)), encoding="utf-8"
    )
    return str(path)


def test_the_tools_of_a_script_are_found_again_by_their_names(tmp_path: Path) -> None:
    with running(script(tmp_path, "[pid, plain, [kit], say]")) as process:
        one = value_of(process.ask(call("pid")))
        assert one == value_of(process.ask(call("plain"))) != process.popen.pid
        assert value_of(process.ask(call("Kit_say"))) == f"named {one}"
        assert value_of(process.ask(call("say"))) == f"bound {one}"


def test_a_script_may_mix_tools_in_processes_with_others(tmp_path: Path) -> None:
    with running(script(tmp_path, "[pid, plain, here, Kit]", isolate=False)) as process:
        assert value_of(process.ask(call("pid"))) != process.popen.pid
        assert value_of(process.ask(call("plain"))) == process.popen.pid
        assert value_of(process.ask(call("here"))) == process.popen.pid
        assert text_of(process.ask(call("Kit_say"))) == f"made {process.popen.pid}"


def test_a_script_may_be_run_as_a_module_of_a_package(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "beside.py").write_text("WORD = 'beside'\n")
    relative = "from .beside import WORD\ndef word() -> str:\n    return WORD\n" + SCRIPT
    things = relative.replace("THINGS", "[word, pid]").replace("ISOLATE", "True")
    (package / "__main__.py").write_text(things, encoding="utf-8")
    with running("-m", "package", cwd=tmp_path) as process:
        assert value_of(process.ask(call("word"))) == "beside"
        assert value_of(process.ask(call("pid"))) != process.popen.pid


@pytest.mark.parametrize(
    "things", ["[here]", "[Kit('new')]", "[[plain, Kit('new')]]", "[toolwire.Server]"]
)
def test_what_has_no_name_to_be_found_by_is_refused_at_once(tmp_path: Path, things: str) -> None:
    with running(script(tmp_path, things)) as process:
        assert process.wait() != 0
        assert "RegistrationError" in process.stderr()


def test_the_remedy_is_reported(tmp_path: Path) -> None:
    with running(script(tmp_path, "[Kit('new')]")) as process:
        assert "'Kit_say': it cannot run in a process of its own" in process.stderr()
        assert "at the top level of a module" in process.stderr()


def test_a_script_that_serves_at_its_import_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(
        "import toolwire\ndef one() -> int:\n    return 1\ntoolwire.serve([one], isolate=True)\n"
    )
    with running(str(path)) as process:
        answer = process.ask(call("one"))
        assert "failed to start: it " in text_of(answer)
        process.hang_up()
        assert "under `if __name__ == '__main__':`" in process.stderr()


def test_within_a_process_tools_have_processes_too_and_lose_them_when_they_are_removed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "library.py"
    path.write_text(
        "import os, toolwire\n"
        "def pid() -> int:\n    return os.getpid()\n"
        "if __name__ == '__main__':\n"
        "    server = toolwire.Server([pid], isolate=True)\n"
        "    print(os.getpid(), flush=True)\n"
        "    print(server.call('pid')['structuredContent']['result'], flush=True)\n"
        "    server.remove('pid')\n"
        "    input()\n"
    )
    with running("-W", "error", str(path)) as process:
        us, there = process.receive(), process.receive()
        assert us != there
        wait_until_gone(there)
        assert process.hang_up() == []
        assert "EOFError" in process.stderr()


def test_only_who_wants_a_process_pays_for_it(tmp_path: Path) -> None:
    source = (
        "import sys\nfrom toolwire import tool_api\n@tool_api\ndef loaded() -> list[str]:\n   "
        " return [*sys.modules]\n"
    )
    with served(tmp_path, source) as process:
        before = set(value_of(process.ask(call("loaded"))))
    assert not {"toolwire.workers.worker_process", "toolwire.workers.isolated_tool"} & before
    source += "@tool_api(runs_in='process', memory_limit=1000)\ndef apart() -> None: ...\n"
    with served(tmp_path, source) as process:
        later = {"subprocess", "resource", "ast", "select", "toolwire_client"}
        assert not later & (set(value_of(process.ask(call("loaded")))) - before)
