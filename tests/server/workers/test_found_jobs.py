"""Jobs on a cluster whose server was killed: a later server with the same store finds them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from server.tasks.tasking import META
from support.server_process import Process, request, served, wait_until
from support.slurm_commands import write_commands

from .test_cluster import cluster

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the tests look into /proc"),
    pytest.mark.process,
]

TOOLS = '''
import os, time
from toolwire import Context, tool_api

@tool_api(runs_in="there", task="always")
def wait_for(path: str, context: Context) -> int:
    """Wait for a file, and return the process."""
    with open(path + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(path + ".new", path + ".pid")
    while not os.path.exists(path):
        time.sleep(0.01)
    context.status("found")
    return os.getpid()
'''


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("support.server_process.PATIENCE_SECONDS", 90)


@contextmanager
def engine_of(kind: str, folder: Path) -> Iterator[str]:
    """The text for `--run-on`."""
    if kind == "slurm":
        write_commands(folder / "bin")
        yield f"submitit:slurm?folder={folder / 'jobs'}&listen=127.0.0.1"
        return
    with cluster(1, threads=3) as dask:
        yield f"dask:{dask.address}"


@contextmanager
def serving(folder: Path, engine: str) -> Iterator[Process]:
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    options = ("--run-on", f"there={engine}", "--task-store", str(folder / "tasks.db"))
    environment = {**os.environ, "HOME": str(folder), "PATH": path}
    with served(folder, TOOLS, *options, cwd=folder, env=environment) as process:
        yield process


def ask(process: Process, method: str, **params: Any) -> Any:
    return process.ask(request(method, {**params, "_meta": META}))["result"]


def begin(process: Process, path: Path) -> str:
    """Return the handle of a task that waits for *path*, once it runs."""
    made = ask(process, "tools/call", name="wait_for", arguments={"path": str(path)})
    wait_until(path.with_suffix(".pid").exists)
    return str(made["taskId"])


def wait_for_end(process: Process, task: str) -> Any:
    state: Any = {}

    def is_final() -> bool:
        state.update(ask(process, "tasks/get", taskId=task))
        return state["status"] != "working"

    wait_until(is_final)
    return state


def pid_of(path: Path) -> int:
    return int(path.with_suffix(".pid").read_text())


def is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("kind", ["slurm", "dask"])
def test_jobs_of_a_killed_server_are_found_again_and_can_be_cancelled(
    tmp_path: Path, kind: str
) -> None:
    early, late, endless = (tmp_path / name for name in ("early", "late", "endless"))
    with engine_of(kind, tmp_path) as engine:
        with serving(tmp_path, engine) as process:
            tasks = [begin(process, path) for path in (early, late, endless)]
            process.popen.kill()
            process.popen.wait()
        early.touch()

        with serving(tmp_path, engine) as process:
            first = wait_for_end(process, tasks[0])
            late.touch()
            second = wait_for_end(process, tasks[1])
            assert ask(process, "tasks/get", taskId=tasks[2])["status"] == "working"
            start = time.monotonic()
            ask(process, "tasks/cancel", taskId=tasks[2])
            wait_until(lambda: is_gone(pid_of(endless)))
            print(f"cancelled within {time.monotonic() - start:.3f} s")
            state = ask(process, "tasks/get", taskId=tasks[2])

        assert first["result"]["structuredContent"] == {"result": pid_of(early)}
        assert second["result"]["structuredContent"] == {"result": pid_of(late)}
        assert second["statusMessage"] == "found"
        assert state["status"] == "cancelled"
        wait_until(lambda: is_gone(pid_of(early)) and is_gone(pid_of(late)))
