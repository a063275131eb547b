"""Commands that are really run: what they are given, what is read of them, and that nothing of them
stays behind.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.running_processes import is_running, read_pid
from support.server_process import PATIENCE_SECONDS, wait_until
from toolwire_compat.yaml import run_command as subprocesses
from toolwire_compat.yaml.command import MAX_ERROR_BYTES, CommandResult, Invocation
from toolwire_compat.yaml.run_command import run
from toolwire_tools import ToolError

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of POSIX"),
    pytest.mark.process,
]


def invocation(
    *argv: str, stdin: bytes = b"", limit: int = 1000, cwd: str = "/", **env: str
) -> Invocation:
    return Invocation(list(argv), cwd, env, stdin, limit)


def ran(*argv: str, **more: Any) -> CommandResult:
    return anyio.run(run, invocation(*argv, **more))


SHOW = (
    "import json, os, sys; print(json.dumps([sys.argv[1:], os.getcwd(), os.environ.get('WORD')]))"
)


def test_command_gets_its_words_folder_and_environment(tmp_path: Path) -> None:
    nasty = ["", " ", "a b", "$HOME", "`id`", "*", "'\"", "; rm -rf /", "\n", "ü😀", "{x}", "\\"]

    ended = ran(sys.executable, "-c", SHOW, *nasty, cwd=str(tmp_path), WORD="$X")

    assert json.loads(ended.output) == [nasty, os.path.realpath(tmp_path), "$X"]
    assert ended.status == 0


def test_command_reads_only_its_own_standard_input() -> None:
    big = b"x" * 1_000_000
    assert ran("wc", "-c", stdin=big).output.split() == [b"1000000"]
    assert ran("cat").output == b""
    assert ran("true", stdin=big).status == 0  # it need not read it


def test_output_is_kept_up_to_its_limit_and_read_to_its_end() -> None:
    ended = ran(
        "sh",
        "-c",
        "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; printf end >&2; exit 7",
        limit=10,
    )

    assert (ended.status, ended.output, ended.output_bytes) == (7, b"\0" * 10, 300_000)
    assert (len(ended.errors), ended.errors[-3:], ended.errors_bytes) == (
        MAX_ERROR_BYTES,
        b"end",
        200_003,
    )


def test_killed_command_reports_its_signal() -> None:
    assert ran("sh", "-c", "kill -9 $$").status == -9


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (
            ["no-such-program"],
            "no-such-program is not installed, or not on the PATH of this server.",
        ),
        (["/no/such"], "/no/such cannot be started: No such file or directory: /no/such."),
        (["/"], "/ cannot be started: Permission denied: /."),
        (["true", "x" * 3_000_000], "true cannot be started: Argument list too long: true."),
    ],
)
def test_command_that_cannot_start_reports_the_reason(argv: list[str], told: str) -> None:
    with pytest.raises(ToolError) as caught:
        ran(*argv)
    assert told in str(caught.value)


def test_missing_folder_is_named() -> None:
    with pytest.raises(ToolError, match="No such file or directory: /no/such"):
        ran("true", cwd="/no/such")


needs_proc = pytest.mark.skipif(
    not os.path.isdir("/proc/self"), reason="looks at processes in /proc"
)


@needs_proc
def test_background_processes_end_with_the_command(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    ended = ran("sh", "-c", f"sleep 1000 & echo $! > {pid}.new; mv {pid}.new {pid}; echo done")

    assert ended.output == b"done\n"
    wait_until(lambda: not is_running(read_pid(pid)))


@needs_proc
@pytest.mark.parametrize("way", ["ends", "is cancelled"])
def test_process_that_left_the_group_ends_with_the_command(tmp_path: Path, way: str) -> None:
    pid = tmp_path / "pid"
    daemon = f"(setsid sh -c 'echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 1000' 3>&- &)"
    script = (
        f"{daemon} >&- 2>&-; while ! [ -e {pid} ]; do sleep 0.01; done;"
        f" {'' if way == 'ends' else 'sleep 1000'}"
    )

    async def run_it() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, invocation("sh", "-c", script))
            while way != "ends" and not await anyio.Path(pid).exists():
                await anyio.lowlevel.checkpoint()
            if way != "ends":
                tasks.cancel_scope.cancel()

    anyio.run(run_it)

    wait_until(lambda: not is_running(read_pid(pid)))


@needs_proc
def test_process_that_left_the_group_and_cleared_its_environment_survives(tmp_path: Path) -> None:
    """A limit that the docs name: nothing leads from the command to such a process."""
    pid = tmp_path / "pid"
    daemon = (
        f"(setsid env -i /bin/sh -c 'echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 1000'"
        " 3>&- &)"
    )
    try:
        ran("sh", "-c", f"{daemon} >&- 2>&-; while ! [ -e {pid} ]; do sleep 0.01; done")
        assert is_running(read_pid(pid))
    finally:
        os.kill(read_pid(pid), signal.SIGKILL)


@needs_proc
@pytest.mark.parametrize("trap", ["", "trap '' TERM;"], ids=["polite", "deaf"])
def test_cancelled_command_ends_with_its_children(tmp_path: Path, trap: str) -> None:
    own, child = tmp_path / "own", tmp_path / "child"
    script = f"{trap} sleep 1000 & echo $! > {child}; echo $$ > {own}.new; mv {own}.new {own}; wait"

    async def cancel_when_it_runs() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, invocation("sh", "-c", script))
            while not await anyio.Path(own).exists():
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()

    anyio.run(cancel_when_it_runs)

    wait_until(lambda: not (is_running(read_pid(own)) or is_running(read_pid(child))))


@needs_proc
def test_command_cancelled_during_its_start_leaves_no_process() -> None:
    mark = f"mark-{os.getpid()}"

    def marked() -> list[str]:
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as environ:
                found += [pid] if f"MARK={mark}".encode() in environ.read() else []
        return found

    async def cancel_after(steps: int) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, invocation("sh", "-c", "sleep 1000 & wait", MARK=mark))
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()

    for steps in range(30):
        anyio.run(cancel_after, steps)

    wait_until(lambda: not marked())


def test_cancelled_command_may_clean_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        subprocesses, "_TERMINATE_SECONDS", PATIENCE_SECONDS
    )  # it ends when the command does
    begun, cleaned = tmp_path / "begun", tmp_path / "cleaned"
    script = f"trap 'touch {cleaned}; exit' TERM; touch {begun}; while :; do sleep 0.01; done"

    async def cancel_when_it_runs() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, invocation("sh", "-c", script))
            while not await anyio.Path(begun).exists():
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()

    anyio.run(cancel_when_it_runs)

    assert cleaned.exists()


def test_number_of_concurrent_commands_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocesses, "_AT_ONCE", 3)
    journal, go = tmp_path / "journal", tmp_path / "go"
    script = f"echo 1 >> {journal}; while ! [ -e {go} ]; do sleep 0.01; done; echo -1 >> {journal}"

    async def run_eight() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(run, invocation("sh", "-c", script))
            while not journal.exists() or len(journal.read_text().split()) < 3:
                await anyio.lowlevel.checkpoint()
            go.touch()

    anyio.run(run_eight)

    running = list(accumulate(map(int, journal.read_text().split())))
    assert (len(running), max(running)) == (16, 3)


@needs_proc
def test_no_descriptor_stays_open() -> None:
    ran("true")
    gc.collect()  # what earlier tests have left open is not counted
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        ran("true")
        with pytest.raises(ToolError):
            ran("no-such-program")
    assert len(os.listdir("/proc/self/fd")) == before
