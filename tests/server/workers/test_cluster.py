"""Tools on engines: a Dask cluster, submitit and executors. They behave as in processes of this
machine.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from server.tasks.tasking import META
from support.running_processes import parent_of
from support.server_process import Process, call, request, running, served, wait_until
from toolwire.settings import make_settings
from toolwire.workers.isolated_tool import isolate_loaded
from toolwire_tools import RegistrationError, find_tools, tool_api

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the tests look into /proc"),
    pytest.mark.process,
]

TOOLS = """
import os, sys, threading, time
from collections.abc import Iterator
from toolwire import Context, tool_api
from toolwire_tools import Declined

def note(path: str) -> None:
    with open(path + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(path + ".new", path)

@tool_api(runs_in="there")
def pid() -> int:
    return os.getpid()

@tool_api
def pid_of_server() -> int:
    return os.getpid()

@tool_api(runs_in="there")
def leave(status: int) -> None:
    os._exit(status)

@tool_api(runs_in="there", memory_limit="64 MiB")
def allocate(bytes: int) -> int:
    return len(bytearray(bytes))

@tool_api(runs_in="there")
def forever(path: str) -> None:
    note(path)
    threading.Event().wait()

@tool_api(runs_in="there", task="always")
def job(path: str, context: Context) -> None:
    context.status("running")
    forever(path)

@tool_api(runs_in="there", timeout_seconds=1.5)
def too_long(path: str) -> None:
    forever(path)

@tool_api(runs_in="there")
def patient(path: str, context: Context) -> None:
    note(path)
    while not context.cancelled:
        time.sleep(0.005)
    note(path + ".cancelled")

@tool_api(runs_in="there")
def steps(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"step {number}"

@tool_api(runs_in="there")
def speak(text: str) -> None:
    print(text)

@tool_api(runs_in="there")
def order(what: str, context: Context) -> str:
    try:
        return f"{context.ask(f'How many {what}?', int)} {what}"
    except Declined:
        return "declined"

@tool_api(runs_in="there", confirm="Really remove {path}?")
def remove(path: str) -> str:
    os.unlink(path)
    return "removed"

@tool_api(runs_in="there")
def once(path: str) -> None:
    "Write a line for each time that it runs, and wait for ever the first time."
    with open(path, "a") as file:
        file.write(f"{os.getpid()}\\n")
    if len(open(path).readlines()) == 1:
        threading.Event().wait()

@tool_api(runs_in="there", idempotent=True)
def repeatable(path: str) -> int:
    once(path)
    return len(open(path).readlines())
"""

IN_A_SCRIPT = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import toolwire
import tools_file

if __name__ == "__main__":
    executor = {executor}
    tools = [value for value in vars(tools_file).values() if hasattr(value, "api_description")]
    toolwire.serve(tools, run_on={{"there": executor}})
"""
EXECUTORS = {
    "threads": "ThreadPoolExecutor(4)",
    "processes": "ProcessPoolExecutor(4, mp_context=multiprocessing.get_context('spawn'))",
}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    # Servers and nodes import Dask one after the other, which takes many seconds where much else is
    # running.
    monkeypatch.setattr("support.server_process.PATIENCE_SECONDS", 90)


class Cluster(NamedTuple):
    """A Dask cluster: the process of its scheduler, and the address."""

    process: subprocess.Popen[str]
    address: str


@contextmanager
def cluster(workers: int, *, threads: int = 1) -> Iterator[Cluster]:
    command = [sys.executable, "-m", "support.dask_cluster", str(workers), str(threads)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Cluster(process, process.stdout.readline().strip())
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # the workers, too
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[Cluster]:
    with cluster(2) as shared:
        yield shared


@contextmanager
def serving(folder: Path, engine: str, *options: str) -> Iterator[Process]:
    """Serve the tools on *engine*: one of the executors, or text for `--run-on`."""
    environment = {**os.environ, "HOME": str(folder)}
    if engine not in EXECUTORS:
        with served(
            folder, TOOLS, "--run-on", f"there={engine}", *options, cwd=folder, env=environment
        ) as process:
            yield process
        return
    (folder / "tools_file.py").write_text(TOOLS)
    (folder / "script.py").write_text(IN_A_SCRIPT.format(executor=EXECUTORS[engine]))
    with running(str(folder / "script.py"), cwd=folder, env=environment) as process:
        yield process


@pytest.fixture(params=["dask", "dask:local", "submitit:local", *EXECUTORS])
def process(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Process]:
    engine = request.param
    if engine == "dask":
        engine = f"dask:{request.getfixturevalue('shared').address}"
    with serving(tmp_path, engine) as process:
        yield process


@pytest.fixture
def on_dask(shared: Cluster, tmp_path: Path) -> Iterator[Process]:
    with serving(tmp_path, f"dask:{shared.address}") as process:
        yield process


def text_of(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])


def value_of(answer: Any) -> Any:
    assert answer["result"]["isError"] is False, answer
    return answer["result"].get("structuredContent", {"result": text_of(answer)})["result"]


def noted(path: Path) -> int:
    """Wait until a tool has left a note, and return its process."""
    wait_until(path.exists)
    return int(path.read_text())


def wait_until_gone(pid: int) -> None:
    wait_until(lambda: not Path(f"/proc/{pid}").exists())


def answers_by_id(process: Process, count: int) -> dict[Any, Any]:
    return {answer["id"]: answer for answer in (process.receive() for _ in range(count))}


def cancel(process: Process, id: Any) -> None:
    process.send(request("notifications/cancelled", {"requestId": id}, id=...))


# On every engine


def test_calls_on_an_engine_behave_as_in_a_process(process: Process, tmp_path: Path) -> None:
    first = value_of(process.ask(call("pid")))
    assert first != value_of(process.ask(call("pid_of_server")))
    assert value_of(process.ask(call("pid"))) == first

    assert "leave: the tool's process ended with exit status 3" in text_of(
        process.ask(call("leave", {"status": 3}))
    )
    assert "ran out of memory (limit 64 MiB)" in text_of(
        process.ask(call("allocate", {"bytes": 1 << 28}))
    )
    assert value_of(process.ask(call("allocate", {"bytes": 1 << 20}))) == 1 << 20

    note = tmp_path / "limit"
    assert "did not finish within 1.5 seconds" in text_of(
        process.ask(call("too_long", {"path": str(note)}))
    )
    wait_until_gone(noted(note))

    process.send(call("steps", {"count": 3}, id="steps", progressToken="p"))
    reports = [process.receive()["params"]["message"] for _ in range(3)]
    assert reports == ["step 0", "step 1", "step 2"]
    assert text_of(process.receive()) == "step 0step 1step 2"

    value_of(process.ask(call("speak", {"text": "printed there"})))
    wait_until(lambda: "printed there" in process.stderr_so_far())

    note = tmp_path / "cancelled"
    process.send(call("forever", {"path": str(note)}, id="endless"))
    there = noted(note)
    cancel(process, "endless")
    wait_until_gone(there)
    process.send(call("patient", {"path": str(tmp_path / "patient")}, id="patient"))
    there = noted(tmp_path / "patient")
    cancel(process, "patient")
    assert noted(tmp_path / "patient.cancelled") == there

    last = value_of(process.ask(call("pid")))
    assert process.hang_up() == []
    assert process.wait() == 0
    wait_until_gone(last)


def test_a_question_reaches_the_user_from_an_engine(process: Process) -> None:
    client = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "test", "version": "1"}}
    process.ask(request("initialize", {**client, "capabilities": {"elicitation": {}}}))
    question = process.ask(call("order", {"what": "apples"}, id="order"))
    assert question["method"] == "elicitation/create"
    assert question["params"]["message"] == "How many apples?"

    process.send(
        {
            "jsonrpc": "2.0",
            "id": question["id"],
            "result": {"action": "accept", "content": {"answer": 3}},
        }
    )

    assert text_of(process.receive()) == "3 apples"
    assert (
        process.hang_up() == []
    )  # a server that is killed leaves the processes of its script's executor


def test_a_tool_of_an_engine_runs_only_with_the_consent_of_the_user(
    process: Process, tmp_path: Path
) -> None:
    path = tmp_path / "kept"
    path.touch()
    client = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "test", "version": "1"}}
    process.ask(request("initialize", {**client, "capabilities": {"elicitation": {}}}))
    for answer, text in ((False, "remove did not run"), (True, "removed")):
        question = process.ask(call("remove", {"path": str(path)}, id="remove"))
        assert question["params"]["message"] == f'Really remove "{path}"?'
        assert path.exists()
        reply = {"action": "accept", "content": {"answer": answer}}
        assert text_of(
            process.ask({"jsonrpc": "2.0", "id": question["id"], "result": reply})
        ).startswith(text)
        assert path.exists() is not answer
    assert (
        process.hang_up() == []
    )  # a server that is killed leaves the processes of its script's executor


def listening(pid: int) -> set[str]:
    """The addresses, in hexadecimal, on which the process *pid* listens for TCP connections."""
    files = [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]
    sockets = {os.readlink(file) for file in files if os.path.lexists(file)}
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()
    ]
    return {
        row[1].rpartition(":")[0]
        for row in rows
        if row[3] == "0A" and f"socket:[{row[9]}]" in sockets
    }


def test_the_local_cluster_listens_on_no_address_of_others(tmp_path: Path) -> None:
    with serving(tmp_path, "dask:local") as process:
        value_of(process.ask(call("pid")))

        assert listening(process.popen.pid) == {"0100007F"}


@pytest.mark.parametrize("engine", ["dask", "submitit:local"])
def test_a_task_on_an_engine_is_cancelled(shared: Cluster, tmp_path: Path, engine: str) -> None:
    if engine == "dask":
        engine = f"dask:{shared.address}"
    with serving(tmp_path, engine) as process:
        path = tmp_path / "job"
        task = about_tasks(process, "tools/call", name="job", arguments={"path": str(path)})
        there = noted(path)
        state: dict[str, Any] = {}

        def says_running() -> bool:
            state.update(about_tasks(process, "tasks/get", taskId=task["taskId"]))
            return state.get("statusMessage") == "running"

        wait_until(says_running)
        about_tasks(process, "tasks/cancel", taskId=task["taskId"])

        wait_until_gone(there)
        assert state["status"] == "working"
        state = about_tasks(process, "tasks/get", taskId=task["taskId"])
        assert state["status"] == "cancelled"


def about_tasks(process: Process, method: str, **params: Any) -> Any:
    """Return the result of a request of a client that can have tasks."""
    return process.ask(request(method, {**params, "_meta": META}))["result"]


# On a Dask cluster


def test_a_thousand_calls_are_answered_once_each(on_dask: Process) -> None:
    on_dask.send(*(call("pid", id=number) for number in range(1000)))

    answers = [on_dask.receive() for _ in range(1000)]

    assert sorted(answer["id"] for answer in answers) == list(range(1000))
    assert len({value_of(answer) for answer in answers}) == 2  # the cluster's places


def test_a_cancelled_call_frees_its_place_for_the_next(on_dask: Process, tmp_path: Path) -> None:
    on_dask.send(
        *(call("forever", {"path": str(tmp_path / str(number))}, id=number) for number in range(2))
    )
    for number in range(2):
        noted(tmp_path / str(number))
    on_dask.send(call("pid", id="queued"))

    cancel(on_dask, 0)

    assert on_dask.receive()["id"] == "queued"


def test_a_call_that_waits_for_a_place_can_be_cancelled(on_dask: Process, tmp_path: Path) -> None:
    on_dask.send(
        *(call("forever", {"path": str(tmp_path / str(number))}, id=number) for number in range(2))
    )
    for number in range(2):
        noted(tmp_path / str(number))
    on_dask.send(call("forever", {"path": str(tmp_path / "queued")}, id="queued"))
    on_dask.ask(request("ping", id="ping"))

    cancel(on_dask, "queued")
    cancel(on_dask, 0)

    value_of(on_dask.ask(call("pid", id="after")))
    assert not (tmp_path / "queued").exists()


def test_a_call_waits_only_for_a_time_for_a_place(
    on_dask: Process, shared: Cluster, tmp_path: Path
) -> None:
    on_dask.send(
        *(call("forever", {"path": str(tmp_path / str(number))}, id=number) for number in range(2))
    )
    for number in range(2):
        noted(tmp_path / str(number))

    with serving(tmp_path, f"dask:{shared.address}?wait=0.5") as other:
        assert "could not be started: dask:" in (reason := text_of(other.ask(call("pid"))))
        assert "none was free within 0.5 seconds" in reason


def test_two_servers_share_a_cluster(shared: Cluster, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    engine = f"dask:{shared.address}?idle=0.1"
    with serving(tmp_path / "a", engine) as one, serving(tmp_path / "b", engine) as other:
        for process in (one, other):
            process.send(*(call("pid", id=number) for number in range(50)))
        found = [
            {value_of(answer) for answer in answers_by_id(each, 50).values()}
            for each in (one, other)
        ]

    assert not found[0] & found[1]


def worker_of(pid: int) -> int:
    """Return the process of Dask that has started the tool's process *pid*: two above it is the
    subreaper's parent.
    """
    for _ in range(2):
        pid = parent_of(pid)
    return pid


def test_a_call_is_not_repeated_when_its_worker_dies(tmp_path: Path) -> None:
    path = tmp_path / "runs"
    with cluster(2) as dask, serving(tmp_path, f"dask:{dask.address}") as process:
        process.send(call("once", {"path": str(path)}, id="once"))
        wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
        os.kill(worker_of(int(path.read_text())), signal.SIGKILL)

        assert "once: the tool's process broke off the connection" in text_of(process.receive())
        wait_until_gone(int(path.read_text()))
        value_of(process.ask(call("pid")))  # on the other worker, or a new one

        assert len(path.read_text().splitlines()) == 1


def test_an_idempotent_call_is_repeated_once_when_its_worker_dies(tmp_path: Path) -> None:
    path = tmp_path / "runs"
    with cluster(2) as dask, serving(tmp_path, f"dask:{dask.address}") as process:
        process.send(call("repeatable", {"path": str(path)}, id="repeatable"))
        wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
        os.kill(worker_of(int(path.read_text())), signal.SIGKILL)

        assert value_of(process.receive()) == 2


def test_a_scheduler_that_is_gone_fails_its_calls_and_the_server_goes_on(tmp_path: Path) -> None:
    with cluster(1) as dask, serving(tmp_path, f"dask:{dask.address}") as process:
        process.send(call("forever", {"path": str(tmp_path / "running")}, id="running"))
        there = noted(tmp_path / "running")
        process.send(call("forever", {"path": str(tmp_path / "queued")}, id="queued"))
        process.ask(request("ping", id="ping"))

        dask.process.kill()

        answers = answers_by_id(process, 2)
        assert "broke off the connection" in text_of(answers["running"])
        assert "its scheduler is gone" in text_of(answers["queued"])
        wait_until_gone(there)
        assert "could not be started: dask:" in text_of(process.ask(call("pid", id="later")))
        assert value_of(process.ask(call("pid_of_server"))) == process.popen.pid


def test_a_killed_server_leaves_no_worker_behind(shared: Cluster, tmp_path: Path) -> None:
    with serving(tmp_path, f"dask:{shared.address}") as process:
        process.send(call("forever", {"path": str(tmp_path / "running")}))
        there = noted(tmp_path / "running")
        process.popen.kill()
        process.wait()
    wait_until_gone(there)


# Errors


def test_an_unreachable_scheduler_is_an_error_of_the_call(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
    with serving(tmp_path, f"dask:{address}") as process:
        process.send(*(call("pid", id=number) for number in range(3)))

        assert all(
            f"pid: the tool's process could not be started: dask:{address}: "
            in text_of(process.receive())
            for _ in range(3)
        )
        assert value_of(process.ask(call("pid_of_server"))) == process.popen.pid


def test_a_node_without_the_file_says_so(tmp_path: Path) -> None:
    with serving(tmp_path, "dask:local") as process:
        process.ask(request("tools/list"))  # they are loaded
        (tmp_path / "tools_file.py").unlink()

        assert "failed to start: it ended with exit status 2" in text_of(process.ask(call("pid")))
        wait_until(lambda: "tools_file" in process.stderr_so_far())


REFUSED = [
    ("there=dask", "'dask' is no engine; write --run-on NAME=dask:tcp://HOST:PORT"),
    ("there=celery:x", "'celery:x' is no engine"),
    (
        "elsewhere=dask:local",
        "it runs in 'there', which this server does not have; add --run-on there=dask:tcp://",
    ),
    ("elsewhere=dask:local", "or there=process for this machine; it has only 'elsewhere'"),
    ("there", "--run-on takes NAME=ENGINE, as in cluster=dask:tcp://HOST:8786, not 'there'"),
]


@pytest.mark.parametrize(("option", "reason"), REFUSED)
def test_an_engine_that_does_not_exist_is_refused_at_the_start(
    tmp_path: Path, option: str, reason: str
) -> None:
    with served(tmp_path, TOOLS, "--run-on", option) as process:
        assert process.wait() == 2
        assert reason in process.stderr()


def test_an_engine_that_no_tool_runs_in_is_named(tmp_path: Path) -> None:
    with serving(tmp_path, "process", "--run-on", "ther=dask:local") as process:
        process.ask(request("ping"))

        told = "--run-on ther=… has no effect: no tool has runs_in='ther'"
        wait_until(lambda: told in process.stderr_so_far())


def test_an_engine_whose_package_is_missing_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @tool_api(runs_in="there")
    def tool() -> None: ...

    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setattr("toolwire.workers.cluster.engines.find_spec", lambda name: None)

    with pytest.raises(ValueError, match=r"pip install 'toolwire\[dask\]'"):
        isolate_loaded(
            find_tools(tool),
            {"targets": ["file.py"]},
            make_settings({"run_on": {"there": "dask:local"}}),
        )


def test_a_name_for_this_machine_needs_no_engine(tmp_path: Path) -> None:
    with serving(tmp_path, "process") as process:
        assert value_of(process.ask(call("pid"))) != process.popen.pid


def test_a_tool_of_an_unknown_engine_is_named() -> None:
    @tool_api(runs_in="there")
    def tool() -> None: ...

    with pytest.raises(RegistrationError, match="tool 'tool': it runs in 'there'"):
        isolate_loaded(find_tools(tool), {"targets": ["file.py"]}, make_settings({}))
