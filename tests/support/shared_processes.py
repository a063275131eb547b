"""Sessions of shared processes in a folder of their own, and the end of all that they leave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from .server_process import PATIENCE_SECONDS, Process, filtered_environment, running, wait_until


class SharedProcesses:
    """Starts sessions in *folder*, whose shared processes meet in *runtime*."""

    def __init__(self, folder: Path, runtime: str, stack: ExitStack) -> None:
        self.folder = folder
        self.runtime = runtime
        self._stack = stack

    def environment(self, **more: str) -> dict[str, str]:
        """Return the variables of a session."""
        return {**filtered_environment(), "XDG_RUNTIME_DIR": self.runtime, **more}

    def open(self, *words: str, **variables: str) -> Process:
        """Return a session that is started with the command line *words*."""
        environment = self.environment(**variables)
        return self._stack.enter_context(
            running("-m", "toolwire", *words, env=environment, cwd=self.folder)
        )

    def share(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `toolwire share` with *words*."""
        return subprocess.run(
            [sys.executable, "-m", "toolwire", "share", *words],
            env=self.environment(),
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_SECONDS,
        )

    def describe(self) -> list[dict[str, Any]]:
        """Return what the shared processes say of themselves."""
        found: list[dict[str, Any]] = json.loads(self.share("ls", "--json").stdout)
        return found

    def find_all(self) -> list[int]:
        """Return every process with our runtime folder in its environment."""
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and _has_variable(name, self.runtime):
                found.append(int(name))
        return found


def _has_variable(process: str, value: str) -> bool:
    try:
        variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return is_running(int(process)) and f"XDG_RUNTIME_DIR={value}".encode() in variables


def is_running(pid: int) -> bool:
    """Return whether the process *pid* runs: one that has ended may still have its number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


Made = TypeVar("Made", bound=SharedProcesses)


@contextmanager
def shared_processes(folder: Path, kind: Callable[[Path, str, ExitStack], Made]) -> Iterator[Made]:
    """Yield what *kind* makes to start sessions in *folder*; afterwards, end all processes."""
    with tempfile.TemporaryDirectory(prefix="tw") as runtime, ExitStack() as stack:
        processes = kind(folder, runtime, stack)
        yield processes
        stack.close()
        for pid in processes.find_all():
            with suppress(ProcessLookupError):  # its parent has taken it along
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: processes.find_all() == [])
