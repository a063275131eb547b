"""Folders of the bundled tools that go with whoever uses them, even if that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.running_processes import is_running
from support.server_process import wait_until
from toolwire_bundled.temp_folders import Scratch

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked there"),
    pytest.mark.process,
]

USES_ONE = """
import os, subprocess, sys
from toolwire_bundled.temp_folders import Scratch
path = Scratch("test").path
open(os.path.join(path, "file"), "w").close()
started = subprocess.Popen(
    [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"],
    env={"HOME": path}, start_new_session=True, stdout=subprocess.PIPE,
)
started.stdout.readline()  # before that, it may not have its environment yet
print(path, started.pid, flush=True)
"""
WAITS = "sys.stdin.read()\n"


class User:
    """A process that uses a folder, in which works another that has left its group."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USES_ONE + WAITS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        assert self.process.stdout is not None
        path, pid = self.process.stdout.readline().split()
        self.scratch, self.started = Path(path), int(pid)

    def end(self) -> None:
        """Have it end in an orderly way, and wait for that."""
        self.process.communicate("")


def test_a_folder_goes_with_the_process_that_made_it(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.scratch.is_dir()

    user.end()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_what_works_in_a_folder_ends_with_it_wherever_it_has_gone(tmp_path: Path) -> None:
    user = User(tmp_path)
    assert is_running(user.started)

    user.end()

    wait_until(lambda: not is_running(user.started))  # it is killed, and may not be dead yet


def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_else(tmp_path: Path) -> None:
    killed, living = User(tmp_path), User(tmp_path)
    others = [
        tmp_path / "toolwire-notes",
        tmp_path / "toolwire-file.scratch",
        tmp_path / "toolwire-link.scratch",
    ]
    others[0].mkdir()
    others[1].touch()
    others[2].symlink_to(others[0])
    killed.process.send_signal(signal.SIGKILL)
    killed.process.communicate()
    assert killed.scratch.is_dir()

    User(tmp_path).end()

    assert sorted(tmp_path.iterdir()) == sorted([living.scratch, *others])
    assert (living.scratch / "file").exists()
    if sys.platform == "linux":
        wait_until(lambda: not is_running(killed.started))
        assert is_running(living.started)
    living.end()


def test_a_copy_of_the_process_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scratch = Scratch("test")
    if (child := os.fork()) == 0:
        scratch.end()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

    assert os.path.isdir(scratch.path)
    scratch.end()
    assert not os.path.exists(scratch.path)


def test_folders_without_permissions_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scratch = Scratch("test")
    deep = Path(scratch.path, "a", "b")
    deep.mkdir(parents=True)
    (deep / "file").touch()
    deep.parent.chmod(0)

    scratch.end()

    assert not os.path.exists(scratch.path)
