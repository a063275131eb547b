"""Programs that are interrupted while they use a client: they end, and so do their servers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import SUPPORT
from support.client_backends import WAIT
from support.running_processes import running_in_group
from support.server_process import wait_until

pytestmark = pytest.mark.process

FAULTY = str(SUPPORT / "faulty_server.py")

# Each program says `ready` from inside the call that never ends.
PROGRAMS = {
    "threads": """
import sys
from toolwire_client import connect
with connect(sys.argv[1:], env={"PIDS": "pids", "MARK": "mark"}, era="legacy") as client:
    call = client.start("echo")
    print("ready", flush=True)
    call.result()
""",
    "asyncio": """
import asyncio, sys
from toolwire_client import connect
async def main():
    async with connect(sys.argv[1:], env={"PIDS": "pids", "MARK": "mark"}, era="legacy") as client:
        call = await client.start("echo")
        print("ready", flush=True)
        await call.result()
asyncio.run(main())
""",
    "trio": """
import sys, trio
from toolwire_client import connect
async def main():
    async with connect(sys.argv[1:], env={"PIDS": "pids", "MARK": "mark"}, era="legacy") as client:
        call = await client.start("echo")
        print("ready", flush=True)
        await call.result()
trio.run(main)
""",
    "handshake": """
import sys
from toolwire_client import connect
print("ready", flush=True)
with connect(sys.argv[1:], env={"PIDS": "pids", "MARK": "mark"}, era="legacy"):
    pass
""",
}


class Program:
    """A program with a server that fails at *step* as *fault* says."""

    def __init__(self, program: str, fault: str, step: str, folder: Path) -> None:
        self._folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAMS[program], sys.executable, "-IS", FAULTY, fault, step],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"
        wait_until((folder / "mark").exists)

    def interrupt(self) -> None:
        os.kill(self.process.pid, signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """The exit status and what was written to stderr."""
        _, stderr = self.process.communicate(timeout=WAIT)
        return self.process.returncode, stderr

    def servers_run(self) -> bool:
        return any(
            running_in_group(int(pid)) for pid in (self._folder / "pids").read_text().split()
        )


@pytest.mark.parametrize("face", ["threads", "asyncio", "trio"])
def test_ctrl_c_during_a_call_ends_program_and_server(face: str, tmp_path: Path) -> None:
    program = Program(face, "is_silent", "tools/call", tmp_path)
    program.interrupt()
    status, stderr = program.end()
    assert (status, stderr.splitlines()[-1]) == (-signal.SIGINT, "KeyboardInterrupt")
    wait_until(lambda: not program.servers_run())


def test_ctrl_c_during_the_handshake_ends_program_and_server(tmp_path: Path) -> None:
    program = Program("handshake", "is_silent", "initialize", tmp_path)
    program.interrupt()
    assert program.end()[0] == -signal.SIGINT
    wait_until(lambda: not program.servers_run())


@pytest.mark.parametrize("face", ["threads", "asyncio", "trio"])
def test_ctrl_c_again_while_a_stubborn_server_is_ended_leaves_nothing_running(
    face: str, tmp_path: Path
) -> None:
    program = Program(face, "ignores_everything", "tools/call", tmp_path)
    program.interrupt()
    # It is now asked to end, which it ignores; the second one comes while that is waited for.
    with pytest.raises(subprocess.TimeoutExpired):
        program.process.wait(0.3)
    program.interrupt()
    assert program.end()[0] != 0
    wait_until(lambda: not program.servers_run())


def test_a_program_that_is_killed_takes_its_server_along(tmp_path: Path) -> None:
    program = Program("threads", "is_silent", "tools/call", tmp_path)
    program.process.kill()
    program.end()
    wait_until(lambda: not program.servers_run())


def test_a_program_that_exits_within_the_block_takes_its_server_along(tmp_path: Path) -> None:
    script = (
        PROGRAMS["handshake"]
        .replace("    pass", "    sys.exit(3)")
        .replace('print("ready", flush=True)', "")
    )
    command = [
        sys.executable,
        "-c",
        script,
        sys.executable,
        "-IS",
        FAULTY,
        "ignores_everything",
        "end",
    ]
    done = subprocess.run(command, cwd=tmp_path, timeout=WAIT, check=False)
    assert done.returncode == 3
    [pid] = (tmp_path / "pids").read_text().split()
    wait_until(lambda: not running_in_group(int(pid)))
