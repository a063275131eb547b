"""Sessions with one server of others, each kept by real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server_process import (
    MODERN,
    Process,
    call,
    request,
    wait_until,
)
from support.shared_processes import SharedProcesses, is_running, shared_processes

pytestmark = pytest.mark.process

SERVER = Path(__file__).parents[2] / "support" / "concurrent_server.py"
WITH_TASKS = {
    **MODERN,
    "io.modelcontextprotocol/clientCapabilities": {
        "extensions": {"io.modelcontextprotocol/tasks": {}}
    },
}
HOST: dict[str, Any] = {"sampling": {}, "roots": {}}


class Wraps(SharedProcesses):
    """Starts sessions of one server."""

    def start(self, *options: str, server: tuple[str, ...] = (), **variables: str) -> Process:
        command = [sys.executable, str(SERVER), *server]
        share = [] if any(option.startswith("--share") for option in options) else ["--share"]
        return self.open("wrap", *share, *options, "--", *command, **variables)

    def shake_hands(
        self, *options: str, name: str = "host", server: tuple[str, ...] = (), **variables: str
    ) -> Process:
        """Return a session after the handshake with the host *name*."""
        process = self.start(*options, server=server, **variables)
        info = {"name": name, "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": HOST, "clientInfo": info}
        assert "error" not in process.ask(request("initialize", hello, id="hello"))
        process.send(request("notifications/initialized", id=...))
        return process


@pytest.fixture
def wraps(tmp_path: Path) -> Iterator[Wraps]:
    with shared_processes(tmp_path, Wraps) as made:
        yield made


def text(answer: Any) -> str:
    assert "error" not in answer, answer
    found: str = answer["result"]["content"][0]["text"]
    return found


def test_sessions_share_one_server(wraps: Wraps) -> None:
    one, two = wraps.shake_hands(), wraps.shake_hands()
    assert text(one.ask(call("pid"))) == text(two.ask(call("pid")))
    assert [text(each.ask(call("count"))) for each in (one, two, one)] == ["1", "2", "3"]
    (facts,) = wraps.describe()
    assert facts["sessions"] == 2
    assert one.hang_up() == []
    assert one.wait() == 0
    assert one.stderr() == ""
    assert text(two.ask(call("count"))) == "4"


def test_modern_and_legacy_hosts_reach_it(wraps: Wraps) -> None:
    modern = wraps.start()
    assert text(modern.ask(call("count", {}, **MODERN))) == "1"
    another = wraps.start()
    assert text(another.ask(call("count", {}, **MODERN))) == "2"
    assert text(wraps.shake_hands().ask(call("echo", {"a": 1}))) == '{"a": 1}'


def test_hosts_with_another_handshake_have_another_server(wraps: Wraps) -> None:
    one, two = wraps.shake_hands(name="one"), wraps.shake_hands(name="two")
    assert text(one.ask(call("pid"))) != text(two.ask(call("pid")))
    assert text(one.ask(call("pid"))) == text(wraps.shake_hands(name="one").ask(call("pid")))
    assert len(wraps.describe()) == 1


def test_each_response_goes_to_the_session_of_its_request(wraps: Wraps) -> None:
    opened = [wraps.shake_hands() for _ in range(4)]
    calls_of_each = 100
    for number in range(calls_of_each):
        for secret, session in enumerate(opened):
            session.send(call("echo", {"text": f"{secret}-{number}"}, id=number))
    for secret, session in enumerate(opened):
        answers = [session.receive() for _ in range(calls_of_each)]
        texts = {answer["id"]: json.loads(text(answer))["text"] for answer in answers}
        assert texts == {number: f"{secret}-{number}" for number in range(calls_of_each)}


def test_cancellation_and_progress_belong_to_one_session(wraps: Wraps) -> None:
    one, two = wraps.shake_hands(), wraps.shake_hands()
    paths = []
    for name, session in (("one", one), ("two", two)):
        begun, ended = wraps.folder / f"{name}-begun", wraps.folder / f"{name}-ended"
        arguments = {"begun": str(begun), "ended": str(ended)}
        session.send(call("hang", arguments, id=1, progressToken="same"))
        progress = session.receive()
        assert progress["params"]["progressToken"] == "same"
        paths.append((begun, ended))
    one.send(request("notifications/cancelled", {"requestId": 1}, id=...))
    wait_until(paths[0][1].exists)
    assert not paths[1][1].exists()
    two.popen.kill()
    wait_until(paths[1][1].exists)
    assert text(one.ask(call("echo", {}, id=2))) == "{}"


def test_request_of_the_server_reaches_the_session_of_its_call(wraps: Wraps) -> None:
    one, two = wraps.shake_hands(), wraps.shake_hands()
    for secret, session in (("first", one), ("second", two)):
        session.send(call("sample", id=5))
        asked = session.receive()
        assert asked["method"] == "sampling/createMessage"
        session.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"model": secret}})
        assert json.loads(text(session.receive()))["result"] == {"model": secret}
    assert text(one.ask(call("pid"))) == text(two.ask(call("pid")))


def test_server_that_asks_for_roots_is_left_to_the_first_session(wraps: Wraps) -> None:
    one = wraps.shake_hands(server=("roots",))
    asked = one.receive()
    assert asked["method"] == "roots/list"
    one.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}})
    first = text(one.ask(call("pid")))
    two = wraps.shake_hands(server=("roots",))
    asked = two.receive()
    assert asked["method"] == "roots/list"
    two.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}})
    assert text(two.ask(call("pid"))) != first
    assert text(one.ask(call("pid"))) == first
    assert len(wraps.describe()) == 1
    assert two.hang_up() == []
    (line,) = two.stderr().splitlines()
    assert "roots/list" in line


def test_unclear_request_is_asked_when_it_is_clear(wraps: Wraps) -> None:
    one, two, idle = wraps.shake_hands(), wraps.shake_hands(), wraps.shake_hands()
    first = text(idle.ask(call("pid")))
    begun, ended = wraps.folder / "begun", wraps.folder / "ended"
    one.send(call("hang", {"begun": str(begun), "ended": str(ended)}, id=1))
    wait_until(begun.exists)
    two.send(call("sample", id=2))
    wait_until(lambda: "calls of several sessions" in idle.stderr_so_far())
    assert text(idle.ask(call("pid"))) != first
    one.send(request("notifications/cancelled", {"requestId": 1}, id=...))
    asked = two.receive()
    assert asked["method"] == "sampling/createMessage"
    two.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"model": "m"}})
    assert json.loads(text(two.receive()))["result"] == {"model": "m"}


def test_lost_server_answers_its_calls_and_is_started_once_again(wraps: Wraps) -> None:
    one, two = wraps.shake_hands(), wraps.shake_hands()
    first = text(one.ask(call("pid")))
    begun, ended = wraps.folder / "begun", wraps.folder / "ended"
    two.send(call("hang", {"begun": str(begun), "ended": str(ended)}, id=7))
    wait_until(begun.exists)
    os.kill(int(first), signal.SIGKILL)
    lost = two.receive()
    assert lost["id"] == 7
    assert lost["result"]["isError"]
    second = text(one.ask(call("pid", id=8)))
    assert second != first
    assert text(two.ask(call("pid", id=9))) == second


def test_lost_shared_process_leaves_no_server_and_is_replaced(wraps: Wraps) -> None:
    one = wraps.shake_hands()
    server = int(text(one.ask(call("pid"))))
    (facts,) = wraps.describe()
    begun = wraps.folder / "begun"
    one.send(call("hang", {"begun": str(begun), "ended": str(begun)}, id=7))
    wait_until(begun.exists)
    os.kill(facts["pid"], signal.SIGKILL)
    lost = one.receive()
    assert lost["id"] == 7
    assert "may have done its work" in lost["error"]["message"]
    assert text(one.ask(call("pid"))) != str(server)
    wait_until(lambda: not is_running(server))


def test_server_ends_after_its_last_session(wraps: Wraps) -> None:
    one = wraps.shake_hands("--idle", "0.2")
    server = int(text(one.ask(call("pid"))))
    one.hang_up()
    wait_until(lambda: wraps.find_all() == [])
    assert not is_running(server)


def test_host_that_does_not_read_holds_up_no_other(wraps: Wraps) -> None:
    options = ["--without", "results"]
    full, other = wraps.shake_hands(*options), wraps.shake_hands(*options)
    results = 20
    for number in range(results):
        full.send(call("large", {"size": 1_000_000}, id=number))
    for _ in range(results):
        assert text(other.ask(call("echo", {"a": 1}))) == '{"a": 1}'
    received = {full.receive()["id"] for _ in range(results)}
    assert received == set(range(results))


def test_missing_program_is_named_and_starts_no_shared_process(wraps: Wraps) -> None:
    one = wraps.open("wrap", "--share", "--", "no-such-program-at-all")
    answer = one.ask(request("tools/list"))
    assert "no-such-program-at-all" in answer["error"]["message"]
    assert one.hang_up() == []
    assert one.wait() == 1
    assert "there is no program 'no-such-program-at-all' to share" in one.stderr()
    assert wraps.describe() == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--record", "file.jsonl"], "--record"),
        (["--without", "restart"], "--without restart"),
        (["--no-such-option"], "--no-such-option"),
        (["--share=often"], "one of auto, always"),
    ],
)
def test_wrong_option_is_reported_with_status_2(
    wraps: Wraps, options: list[str], expected: str
) -> None:
    one = wraps.start(*options)
    assert one.wait() == 2
    assert expected in one.stderr()


def test_server_that_is_known_to_keep_state_is_shared_only_if_wanted(wraps: Wraps) -> None:
    linked = wraps.folder / "chrome-devtools-mcp"
    linked.symlink_to(SERVER)
    command = ["--", sys.executable, str(linked)]
    opened = [wraps.open("wrap", "--share", *command) for _ in range(2)]
    first, second = (text(each.ask(call("pid", {}, **MODERN))) for each in opened)
    assert first != second
    opened[0].hang_up()
    assert "chrome-devtools-mcp is not shared" in opened[0].stderr()
    opened = [wraps.open("wrap", "--share=always", *command) for _ in range(2)]
    first, second = (text(each.ask(call("pid", {}, **MODERN))) for each in opened)
    assert first == second


def test_task_goes_on_when_its_session_is_killed_and_another_one_cancels_it(wraps: Wraps) -> None:
    begun, ended = wraps.folder / "begun", wraps.folder / "ended"
    arguments = {"begun": str(begun), "ended": str(ended)}
    params = {"name": "hang", "arguments": arguments, "_meta": WITH_TASKS}
    one = wraps.start("--task-after", "0")
    task = one.ask(request("tools/call", params))["result"]["taskId"]
    wait_until(begun.exists)

    one.popen.kill()

    two = wraps.start("--task-after", "0")
    about = {"taskId": task, "_meta": WITH_TASKS}
    # The process may notice the end of the first session later than it takes the second one.
    wait_until(lambda: "result" in two.ask(request("tasks/get", about)))
    assert "error" not in two.ask(request("tasks/cancel", about))
    wait_until(ended.exists)


def test_contract_kit_finds_no_difference(wraps: Wraps) -> None:
    source = wraps.folder / "tools.py"
    source.write_text("def add(a: int, b: int) -> int:\n    return a + b\n", encoding="utf-8")
    toolwire = [sys.executable, "-m", "toolwire"]
    # The kit looks for processes that outlive a session.
    wrap = [*toolwire, "wrap", "--share", "--idle", "0", "--", *toolwire, "serve", str(source)]
    # They pass only if the wrapped server starts within the grace after the end of the input.
    skipped = ("--skip", "ending/answers-first", "--skip", "ending/last-line")
    done = subprocess.run(
        [*toolwire, "check", "--fail-on", "should", *skipped, "--", *wrap],
        env=wraps.environment(),
        cwd=wraps.folder,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
