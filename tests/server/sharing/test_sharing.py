"""Sessions in one process, each kept by real processes."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.server_process import (
    PATIENCE_SECONDS,
    Process,
    call,
    request,
    wait_until,
)
from support.shared_processes import SharedProcesses, is_running, shared_processes
from toolwire.sharing import starting
from toolwire.sharing.open_place import MAX_SESSIONS
from toolwire.sharing.place import CannotShare, find_place
from toolwire.sharing.starting import open_socket, read_line

pytestmark = pytest.mark.process

TOOLS = '''
import os, threading, time
from contextlib import contextmanager
import anyio
from toolwire import Context, ToolError

count = 0

@contextmanager
def __lifespan__():
    yield {"entered": os.getpid()}

def bump() -> int:
    """Count for all sessions."""
    global count
    count += 1
    return count

def pid() -> int:
    """Return the number of this process."""
    return os.getpid()

def state(context: Context) -> int:
    """Return the value of the lifespan."""
    return context.state["entered"]

def remember(value: str, context: Context) -> str:
    """Return the first value of this session."""
    return context.session_state.setdefault("value", value)

def variable(name: str) -> str:
    """Return a variable of the environment."""
    return os.environ.get(name, "")

async def echo(text: str) -> str:
    """Return the text after others."""
    await anyio.sleep(0)
    return text

def echo_plain(text: str) -> str:
    """Return the text."""
    return text

async def loop() -> int:
    """Return which thread runs the event loop."""
    return threading.get_ident()

async def hang() -> None:
    """Never end, and leave a note when cancelled."""
    open("hanging", "w").close()
    try:
        await anyio.sleep_forever()
    finally:
        open("cancelled", "w").close()

def hold(context: Context, seconds: float) -> str:
    """Hold the interpreter's lock."""
    open("holding", "w").close()
    import re
    re.match(r"(a+)+$", "a" * 40 + "b")
    return "done"

def die() -> None:
    """End the process at once."""
    os.kill(os.getpid(), 9)

def fork() -> int:
    """Leave a copy of this process behind, which sleeps."""
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
    return child
'''


GREETING = '''
from dataclasses import dataclass
from toolwire import Context

@dataclass
class Person:
    name: str

def greet(context: Context) -> str:
    """Greet the user."""
    context.log("asking")
    return "Hello, " + context.ask("Who are you?", Person).name
'''


OF_SESSIONS = '''
from toolwire import Context, tool_api

@tool_api()
def own_id(context: Context) -> str:
    """Return the id of this session."""
    return context.session_id

@tool_api(runs_in="process")
def id_in_worker(context: Context) -> str:
    """Return the id of this session, which calls a process of all."""
    return context.session_id
'''


UNSHARED = '''
import os
from contextlib import contextmanager
from toolwire import Context, tool_api

opened = []

@contextmanager
def __lifespan__():
    yield {"entered": os.getpid()}
    with open("left", "a") as file:
        print(os.getpid(), file=file)

@tool_api(shared=False)
def open_file(name: str, context: Context) -> list[str]:
    """Add to the files of this session, and return them."""
    opened.append(name)
    assert context.state["entered"] == os.getpid()
    return context.session_state.setdefault("opened", opened)

@tool_api(shared=False)
def own_pid() -> int:
    """Return the number of the process of this session."""
    return os.getpid()

@tool_api(shared=False, idempotent=False)
def leave() -> None:
    """End the process of this session."""
    os._exit(3)

@tool_api()
def pid() -> int:
    """Return the number of the process of all sessions."""
    return os.getpid()

@tool_api(runs_in="process")
def note(text: str, context: Context) -> str:
    """Return the first text that this session has left in a process of all."""
    return context.session_state.setdefault("text", text)
'''

UNSHARED_COMMAND = """
name: find_parent
description: The number of the process that runs this command.
shared: false
shell: true
command: echo $PPID
"""


class Sessions(SharedProcesses):
    """Starts sessions of one file."""

    @property
    def source(self) -> Path:
        return self.folder / "tools.py"

    def open(self, *options: str, **variables: str) -> Process:
        return super().open("serve", "--share", "tools.py", *options, **variables)


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    with shared_processes(tmp_path, Sessions) as made:
        yield made


def value(answer: Any) -> Any:
    assert "error" not in answer, answer
    result = answer["result"]
    if "structuredContent" in result:
        return result["structuredContent"]["result"]
    return result["content"][0]["text"]


def test_sessions_share_tools_lifespan_and_event_loop_but_no_state(sessions: Sessions) -> None:
    one, two = sessions.open(), sessions.open()
    assert sorted(value(each.ask(call("bump"))) for each in (one, two, one)) == [1, 2, 3]
    pids = {value(each.ask(call("pid"))) for each in (one, two)}
    assert len(pids) == 1
    assert pids == {value(each.ask(call("state"))) for each in (one, two)}
    assert len({value(each.ask(call("loop"))) for each in (one, two)}) == 1
    assert value(one.ask(call("remember", {"value": "a"}))) == "a"
    assert value(two.ask(call("remember", {"value": "b"}))) == "b"
    assert value(one.ask(call("remember", {"value": "c"}))) == "a"
    (facts,) = sessions.describe()
    assert {facts["pid"]} == pids
    assert facts["sessions"] == 2
    assert one.hang_up() == []
    assert one.wait() == 0
    assert one.stderr() == ""
    assert value(two.ask(call("pid"))) in pids


def test_each_session_has_its_own_revision_log_level_and_elicitation(sessions: Sessions) -> None:
    sessions.source.write_text(GREETING, encoding="utf-8")
    opened = {"Ada": sessions.open(), "Ben": sessions.open()}
    for session, version, level in zip(
        opened.values(), ("2025-06-18", "2025-11-25"), ("info", "error"), strict=True
    ):
        params = {"protocolVersion": version, "capabilities": {"elicitation": {}}}
        params["clientInfo"] = {"name": "host", "version": "1"}
        answer = session.ask(request("initialize", params))
        assert answer["result"]["protocolVersion"] == version
        session.send(request("notifications/initialized", id=...))
        session.ask(request("logging/setLevel", {"level": level}))

    for session in opened.values():
        session.send(call("greet"))

    assert opened["Ada"].receive()["method"] == "notifications/message"
    for name, session in opened.items():
        asked = session.receive()
        assert asked["method"] == "elicitation/create"
        result = {"action": "accept", "content": {"name": name}}
        session.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})
    for name, session in opened.items():
        assert value(session.receive()) == f"Hello, {name}"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_small_process_holds_at_most_nine_megabytes(sessions: Sessions) -> None:
    session = sessions.open()
    session.ask(call("pid"))

    lines = Path(f"/proc/{session.popen.pid}/smaps_rollup").read_text("utf-8").splitlines()

    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("Private_")]
    assert 0 < sum(kilobytes) <= 9_000


def test_each_session_has_an_id_also_in_worker_processes(sessions: Sessions) -> None:
    sessions.source.write_text(OF_SESSIONS, encoding="utf-8")
    ids = []
    for session in (sessions.open(), sessions.open()):
        id = value(session.ask(call("own_id")))
        assert value(session.ask(call("own_id"))) == id
        assert value(session.ask(call("id_in_worker"))) == id
        ids.append(id)
    assert len({*ids, ""}) == 3


def test_sessions_that_start_at_once_get_one_process(sessions: Sessions) -> None:
    opened = [sessions.open() for _ in range(6)]
    for each in opened:
        each.send(call("pid"))
    assert len({value(each.receive()) for each in opened}) == 1


def test_each_response_goes_to_the_session_of_its_request(sessions: Sessions) -> None:
    opened = [sessions.open() for _ in range(4)]
    chance = random.Random(7)
    calls_of_each = 150
    for number in range(calls_of_each):
        for secret, session in enumerate(opened):
            name = chance.choice(["echo", "echo_plain"])
            session.send(call(name, {"text": f"{secret}-{number}"}, id=number))
    for secret, session in enumerate(opened):
        answers = [session.receive() for _ in range(calls_of_each)]
        texts = {answer["id"]: value(answer) for answer in answers}
        assert texts == {number: f"{secret}-{number}" for number in range(calls_of_each)}


def test_other_environment_is_another_process_and_volatile_variables_reach_none(
    sessions: Sessions,
) -> None:
    one = sessions.open(TOKEN="first", WINDOWID="1")
    same = sessions.open(TOKEN="first", WINDOWID="2")
    other = sessions.open(TOKEN="second", WINDOWID="1")
    assert value(one.ask(call("pid"))) == value(same.ask(call("pid")))
    assert value(one.ask(call("pid"))) != value(other.ask(call("pid")))
    assert value(other.ask(call("variable", {"name": "TOKEN"}))) == "second"
    assert value(same.ask(call("variable", {"name": "TOKEN"}))) == "first"
    assert value(same.ask(call("variable", {"name": "WINDOWID"}))) == ""


def test_call_is_answered_if_the_host_hangs_up_while_the_tools_load(sessions: Sessions) -> None:
    gate = sessions.folder / "gate"
    os.mkfifo(gate)
    loading = sessions.folder / "loading"
    wait = f"open({str(loading)!r}, 'w').close(); open({str(gate)!r}).read()\n"
    sessions.source.write_text(wait + TOOLS.lstrip(), encoding="utf-8")
    one = sessions.open("--limit", f"grace_seconds={PATIENCE_SECONDS}")
    one.send(call("bump"))
    assert one.popen.stdin is not None
    one.popen.stdin.close()
    wait_until(loading.exists)

    gate.write_text("")

    assert value(one.receive()) == 1
    assert one.wait() == 0


def test_killed_session_ends_its_calls_and_no_other(sessions: Sessions) -> None:
    one, two = sessions.open(), sessions.open()
    one.send(call("hang"))
    wait_until((sessions.folder / "hanging").exists)
    one.popen.kill()
    wait_until((sessions.folder / "cancelled").exists)
    assert value(two.ask(call("bump"))) == 1


def test_lost_process_is_replaced_and_its_calls_are_answered(sessions: Sessions) -> None:
    one = sessions.open()
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}
    one.ask(request("initialize", hello, id="hello"))
    one.send(request("notifications/initialized", id=...))
    first = value(one.ask(call("pid")))
    one.send(call("hang", id=7))
    wait_until((sessions.folder / "hanging").exists)
    os.kill(first, signal.SIGKILL)
    lost = one.receive()
    assert lost["id"] == 7
    assert lost["error"]["code"] == -32603
    assert "may have done its work" in lost["error"]["message"]
    second = value(one.ask(call("pid", id=8)))
    assert second != first
    one.send(call("die", id=9))
    assert one.receive()["id"] == 9
    assert value(one.ask(call("pid", id=10))) not in (first, second)
    assert one.hang_up() == []
    assert one.stderr() == ""


def test_stopped_process_answers_what_runs_and_is_replaced(sessions: Sessions) -> None:
    one = sessions.open()
    first = value(one.ask(call("pid")))
    (facts,) = sessions.describe()
    assert sessions.share("stop", facts["key"][:6]).returncode == 0
    assert not is_running(first)
    assert value(one.ask(call("pid"))) != first
    assert sessions.share("stop", "--all").returncode == 0
    assert sessions.share("stop", "ab").returncode == 2


def test_process_ends_after_the_last_session(sessions: Sessions) -> None:
    one = sessions.open("--idle", "0.2")
    pid = value(one.ask(call("pid")))
    one.hang_up()
    wait_until(lambda: sessions.find_all() == [])
    assert not is_running(pid)
    assert not [name for name in os.listdir(f"{sessions.runtime}/toolwire") if "sock" in name]


def test_changed_source_gives_new_sessions_a_new_process(sessions: Sessions) -> None:
    old = sessions.open()
    first = value(old.ask(call("pid")))
    sessions.source.write_text(TOOLS + "\ndef added() -> int:\n    return 5\n", encoding="utf-8")
    new = sessions.open()
    assert value(new.ask(call("added"))) == 5
    assert value(new.ask(call("pid"))) != first
    assert value(old.ask(call("pid"))) == first

    facts = {each["pid"]: each for each in sessions.describe()}
    assert facts[first]["is_old"]
    assert len(facts) == 2
    assert f"{first}  1 (old)" in sessions.share("ls").stdout
    assert sessions.share("stop", facts[first]["key"]).returncode == 0
    assert value(old.ask(call("added"))) == 5


def test_module_that_must_not_be_shared_is_not(sessions: Sessions) -> None:
    sessions.source.write_text("__shared__ = False\n" + TOOLS, encoding="utf-8")
    opened = [sessions.open() for _ in range(3)]
    for each in opened:
        each.send(call("pid"))
    pids = {value(each.receive()) for each in opened}
    assert len(pids) == 3
    assert {each["pid"] for each in sessions.describe()} == pids
    for each in opened:
        assert each.hang_up() == []
        (line,) = each.stderr().splitlines()
        assert "__shared__ = False" in line
    wait_until(lambda: sessions.find_all() == [])
    assert not list(Path(sessions.runtime, "toolwire").glob("*.sock"))


def test_tool_that_must_not_be_shared_runs_in_a_process_of_its_session(
    sessions: Sessions,
) -> None:
    sessions.source.write_text(UNSHARED, encoding="utf-8")
    (sessions.folder / "command.yaml").write_text(UNSHARED_COMMAND, encoding="utf-8")
    one, two = sessions.open("command.yaml"), sessions.open("command.yaml")
    assert value(one.ask(call("pid"))) == value(two.ask(call("pid")))
    assert value(one.ask(call("open_file", {"name": "a"}))) == ["a"]
    assert value(two.ask(call("open_file", {"name": "b"}))) == ["b"]
    assert value(one.ask(call("open_file", {"name": "c"}))) == ["a", "c"]
    pid, other = value(one.ask(call("own_pid"))), value(two.ask(call("own_pid")))
    assert len({pid, other, value(one.ask(call("pid")))}) == 3
    assert value(two.ask(call("find_parent"))).strip() == str(other)
    one.hang_up()
    wait_until(lambda: not is_running(pid))
    assert (sessions.folder / "left").read_text() == f"{pid}\n"
    assert value(two.ask(call("own_pid"))) == other
    assert two.ask(call("leave"))["result"]["isError"]
    assert value(two.ask(call("open_file", {"name": "d"}))) == ["d"]


def test_process_of_a_killed_session_ends(sessions: Sessions) -> None:
    sessions.source.write_text(UNSHARED, encoding="utf-8")
    one = sessions.open()
    pid = value(one.ask(call("own_pid")))
    one.popen.kill()
    wait_until(lambda: not is_running(pid))


def test_tool_that_must_not_be_shared_is_an_ordinary_one_in_a_process_of_one_session(
    sessions: Sessions,
) -> None:
    sessions.source.write_text(UNSHARED, encoding="utf-8")
    alone = SharedProcesses.open(sessions, "serve", "tools.py")
    assert value(alone.ask(call("own_pid"))) == alone.popen.pid


def test_session_state_in_a_process_of_all_is_that_of_one_session(sessions: Sessions) -> None:
    sessions.source.write_text(UNSHARED, encoding="utf-8")
    one, two = sessions.open(), sessions.open()
    assert value(one.ask(call("note", {"text": "secret"}))) == "secret"
    assert value(one.ask(call("note", {"text": "other"}))) == "secret"
    assert value(two.ask(call("note", {"text": "own"}))) == "own"


def test_tools_that_cannot_be_loaded_fail_each_session(sessions: Sessions) -> None:
    sessions.source.write_text("import no_such_module_at_all\n", encoding="utf-8")
    one = sessions.open()
    one.send(request("tools/list"))
    assert "no_such_module_at_all" in one.receive()["error"]["message"]
    assert one.wait() == 2
    assert "no_such_module_at_all" in one.stderr()


def test_wrong_option_is_reported_with_status_2(sessions: Sessions) -> None:
    one = sessions.open("--no-such-option")
    assert one.wait() == 2
    assert "--no-such-option" in one.stderr()
    reloading = sessions.open("--reload")
    assert reloading.wait() == 2
    assert "--reload" in reloading.stderr()


@pytest.mark.parametrize("gone", ["socket", "folder"])
def test_session_goes_on_without_its_socket_and_new_ones_get_a_process(
    sessions: Sessions, gone: str
) -> None:
    old = sessions.open()
    first = value(old.ask(call("pid")))
    folder = Path(sessions.runtime, "toolwire")
    for path in folder.iterdir():
        if gone == "folder" or path.suffix == ".sock":
            path.unlink()
    if gone == "folder":
        folder.rmdir()
    new = sessions.open()
    assert value(new.ask(call("pid"))) != first
    assert value(old.ask(call("pid"))) == first


def test_socket_that_nothing_listens_on_is_replaced(sessions: Sessions) -> None:
    one = sessions.open()
    pid = value(one.ask(call("pid")))
    os.kill(pid, signal.SIGKILL)
    assert list(Path(sessions.runtime, "toolwire").glob("*.sock"))
    two = sessions.open()
    assert value(two.ask(call("bump"))) == 1


def test_fork_of_a_tool_does_not_keep_a_session_open(sessions: Sessions) -> None:
    one = sessions.open("--keep-children")
    child = value(one.ask(call("fork")))
    pid = value(one.ask(call("pid")))
    one.send(call("hang"))
    wait_until((sessions.folder / "hanging").exists)
    os.kill(pid, signal.SIGKILL)
    assert "error" in one.receive()
    assert value(one.ask(call("pid"))) != pid
    os.kill(child, signal.SIGKILL)


def test_session_of_a_stuck_process_ends_with_its_host_and_so_does_the_process(
    sessions: Sessions,
) -> None:
    options = ["--idle", "0.3", "--limit", "grace_seconds=0.2"]
    one = sessions.open(*options)
    pid = value(one.ask(call("pid")))
    one.send(call("hold", {"seconds": 60}))
    wait_until((sessions.folder / "holding").exists)
    assert one.hang_up() == []
    assert one.wait() == 0
    wait_until(lambda: not is_running(pid))


def test_signal_ends_a_session_and_not_the_process(sessions: Sessions) -> None:
    one, two = sessions.open(), sessions.open()
    pid = value(one.ask(call("pid")))
    one.popen.send_signal(signal.SIGTERM)
    assert one.wait() == 0
    assert value(two.ask(call("pid"))) == pid


def test_log_is_shown_without_escape_sequences(sessions: Sessions) -> None:
    sessions.source.write_text(
        TOOLS + '\ndef shout() -> int:\n    print("a\\x1b[31mred")\n    return 1\n',
        encoding="utf-8",
    )
    one = sessions.open()
    value(one.ask(call("shout")))
    (facts,) = sessions.describe()
    shown = sessions.share("log", facts["key"]).stdout
    assert "a\\u001b[31mred" in shown
    assert "\x1b" not in shown
    assert one.stderr_so_far() == ""


def test_list_without_a_process_says_so(sessions: Sessions) -> None:
    done = sessions.share("ls")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no shared process" in done.stderr
    assert sessions.share("nonsense").returncode == 2


def test_session_beyond_the_limit_has_its_own_process(sessions: Sessions) -> None:
    one = sessions.open()
    first = value(one.ask(call("pid")))
    (facts,) = sessions.describe()
    folder = Path(sessions.runtime, "toolwire")
    alive = (folder / f"{facts['key']}.alive").stat().st_ino
    with ExitStack() as stack:
        for _ in range(MAX_SESSIONS - 1):
            stream = open_socket(str(folder / f"{facts['key']}.sock"))
            assert stream is not None
            stack.callback(stream.close)
            stream.sendall(b"serve %d\n" % alive)
            assert read_line(stream).startswith(b"ok ")
        last = sessions.open()
        assert value(last.ask(call("pid"))) not in (first, None)
        assert value(one.ask(call("pid"))) == first
        last.hang_up()
        assert "256 sessions" in last.stderr()
    wait_until(lambda: sessions.describe()[0]["sessions"] == 1)


def test_process_that_does_not_greet_is_replaced(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "_PATIENCE_SECONDS", 0.2)
    monkeypatch.setenv("XDG_RUNTIME_DIR", sessions.runtime)
    monkeypatch.chdir(sessions.folder)
    words = ["serve", "--share", "tools.py"]
    place = find_place(words)
    os.mkfifo(place.alive, 0o600)
    with socket.socket(socket.AF_UNIX) as stuck:
        stuck.bind(place.socket)
        stuck.listen()
        monkeypatch.setattr(starting, "_PATIENCE_SECONDS", 0.2)
        connection = starting.connect(place, words)
    assert connection.grace_seconds == 1.5
    assert "does not answer" in connection.note
    assert Path(place.make_private(os.getpid()).socket).is_socket()  # where `share` finds it
    connection.close()


def test_peer_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert starting.read_peer(ours) == os.getpid()
        other = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: other)
        with pytest.raises(CannotShare):
            starting.read_peer(ours)


def test_config_writes_the_option_and_starts_no_shared_process(sessions: Sessions) -> None:
    config = [sys.executable, "-m", "toolwire", "config", "json", "tools.py", "--share"]
    done = subprocess.run(
        config,
        env=sessions.environment(),
        cwd=sessions.folder,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert '"--share"' in done.stdout
    assert sessions.describe() == []


def test_contract_kit_finds_no_difference(sessions: Sessions) -> None:
    toolwire = [sys.executable, "-m", "toolwire"]
    # The kit looks for processes that outlive a session.
    serve = [*toolwire, "serve", "--share", "--idle", "0", "tools.py"]
    done = subprocess.run(
        [*toolwire, "check", "--fail-on", "should", "--", *serve],
        env=sessions.environment(),
        cwd=sessions.folder,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
