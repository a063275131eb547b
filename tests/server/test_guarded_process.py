"""A command below the subreaper: it runs as if started directly, and leaves no process behind
however it ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest
from support.running_processes import NOTE_PID, check_end_with_owner, is_running, read_pid
from support.server_process import PATIENCE_SECONDS, wait_until
from toolwire.guarded_process import start_guarded
from toolwire_client import NotStarted, ServerGone

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers"),
    pytest.mark.process,
]

PATH = {"PATH": os.environ["PATH"]}

DAEMON = f"setsid {NOTE_PID} & wait $!"
"""A process in a session of its own, whose parent has ended."""


class Run:
    """A started command, with its output and how it ended."""

    def __init__(self, *command: str, env: dict[str, str] = PATH, cwd: Path | None = None) -> None:
        self.process = start_guarded(command, env=env, cwd=cwd)
        self.output: SimpleQueue[bytes] = SimpleQueue()
        self._ends: SimpleQueue[ServerGone] = SimpleQueue()
        self.process.start(self.output.put, self._ends.put)

    def end(self) -> ServerGone:
        """Wait until the command has ended."""
        end = self._ends.get(timeout=PATIENCE_SECONDS)
        self.process.close()
        return end

    def text(self) -> str:
        """Wait until the command has ended, and return its output."""
        self.end()
        return b"".join(self.output.get() for _ in range(self.output.qsize())).decode()


@pytest.fixture(autouse=True)
def no_descriptor_is_lost() -> Iterator[None]:
    before = len(os.listdir("/proc/self/fd"))
    yield
    wait_until(
        lambda: len(os.listdir("/proc/self/fd")) <= before
    )  # earlier tests may leave some to the collector


@pytest.mark.parametrize(
    "env", [PATH, {**PATH, "LC_CTYPE": "C", "PYTHONPATH": "/nowhere", "WORD": "ü"}]
)
def test_a_command_gets_its_environment_folder_and_signals_as_from_a_shell(
    tmp_path: Path, env: dict[str, str]
) -> None:
    show = (
        "sh",
        "-c",
        "env | grep -v ^_= | sort; pwd; grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; ulimit -n",
    )
    directly = subprocess.run(
        show, env=env, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )

    assert Run(*show, env=env, cwd=tmp_path).text() == directly.stdout


@pytest.mark.parametrize(
    ("script", "status"), [("exit 7", 7), ("kill -SEGV $$", -11), ("kill -KILL $$", -9)]
)
def test_its_exit_status_and_stderr_are_reported(script: str, status: int) -> None:
    end = Run("sh", "-c", f"echo last words >&2; {script}").end()

    assert (end.exit_status, end.stderr) == (status, "last words")


def test_it_reads_what_is_sent_and_the_end_of_it() -> None:
    run = Run("cat")
    run.process.send(b"x" * 1_000_000)
    run.process.finish_input()

    assert run.text() == "x" * 1_000_000


def not_a_program(folder: Path) -> str:
    (folder / "data").write_text("no program")
    return str(folder / "data")


def test_what_cannot_be_started_is_an_error_at_once(tmp_path: Path) -> None:
    for command, cwd in [
        (["no-such-program"], None),
        (["./no-such-program"], tmp_path),
        ([not_a_program(tmp_path)], None),
        ([], None),
        (["cat"], tmp_path / "missing"),
    ]:
        with pytest.raises(NotStarted):
            start_guarded(command, env=PATH, cwd=cwd)


def test_a_command_below_the_working_directory_is_found_there(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\necho found\n")
    (tmp_path / "tool").chmod(0o700)

    assert Run("./tool", cwd=tmp_path).text() == "found\n"


def test_a_command_that_the_system_refuses_ends_with_127_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/no/such/interpreter\n")
    (tmp_path / "tool").chmod(0o700)

    end = Run(str(tmp_path / "tool")).end()

    assert end.exit_status == 127
    assert "No such file" in end.stderr


def test_closing_asks_it_to_end_before_it_is_killed() -> None:
    run = Run(
        "sh", "-c", "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
    )
    assert run.output.get(timeout=PATIENCE_SECONDS) == b"ready\n"

    run.process.close(5.0)  # which the shell has, too, to answer the signal

    assert run.output.get(timeout=PATIENCE_SECONDS) == b"asked\n"
    assert run.end().exit_status == 3


@pytest.mark.parametrize("end", ["close", "kill", "by itself"])
def test_no_descendant_outlives_it(tmp_path: Path, end: str) -> None:
    path = tmp_path / "daemon"
    script = DAEMON.format(path=path).replace(
        "wait $!", "read line" if end == "by itself" else "sleep 600"
    )
    run = Run("sh", "-c", script)
    wait_until(path.exists)
    assert is_running(read_pid(path))

    match end:
        case "close":
            run.process.close(0.05)
        case "kill":
            run.process.kill()
        case _:
            run.process.send(b"\n")
    run.end()

    assert not is_running(read_pid(path))


def test_a_child_that_keeps_stopping_the_subreaper_is_killed_by_the_second_attempt(
    tmp_path: Path,
) -> None:
    path = tmp_path / "note"
    stop = f"""
import os, signal
daemon = os.fork()
if daemon == 0:
    os.setsid()
    signal.pause()
with open({str(path)!r} + ".new", "w") as file:
    file.write(str(daemon))
os.rename({str(path)!r} + ".new", {str(path)!r})
while True:
    os.kill(os.getppid(), signal.SIGSTOP)
"""
    run = Run(sys.executable, "-c", stop)
    wait_until(path.exists)

    run.process.kill()
    run.process.kill()
    run.end()

    assert not is_running(read_pid(path))


START = """
from toolwire.guarded_process import start_guarded

process = start_guarded(["sh", "-c", sys.argv[1]], env={"PATH": os.environ["PATH"]})
process.start(lambda data: None, lambda end: None)
"""


@pytest.mark.parametrize("copies", ["alone", "forked"])
@pytest.mark.parametrize("end", ["killed", "exits"])
def test_nothing_outlives_the_process_that_started_it(
    tmp_path: Path, copies: str, end: str
) -> None:
    path = tmp_path / "daemon"
    check_end_with_owner(path, START, DAEMON.format(path=path), copies=copies, end=end)


def test_a_process_without_a_thread_for_it_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    process = start_guarded(["cat"], env=PATH)

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError):
            process.start(lambda data: None, lambda end: None)
    process.close()

    assert not Path(f"/proc/{process.pid}").exists()


@pytest.mark.skipif(
    sys.version_info < (3, 11, 4), reason="CPython itself loses descriptors there: gh-87474"
)
def test_without_descriptors_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe, left = os.pipe, 0

    def few() -> tuple[int, int]:
        nonlocal left
        if left == 0:
            raise OSError(24, "Too many open files")
        left -= 1
        return pipe()

    monkeypatch.setattr(os, "pipe", few)
    for available in range(4):
        left = available
        with pytest.raises(NotStarted, match="Too many open files"):
            start_guarded(["cat"], env=PATH)


def test_to_kill_or_close_one_that_was_let_go_of_does_nothing() -> None:
    run = Run("true")
    run.end()

    run.process.kill()
    run.process.kill()
    run.process.close()

    assert run.process.exit_status() == 0
