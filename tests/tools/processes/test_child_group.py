"""A child ends with everything that it has started: at the end of its owner, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.running_processes import NOTE_PID, check_end_with_owner, is_running, read_pid
from support.server_process import PATIENCE_SECONDS, wait_until
from toolwire_tools.processes import subreaper
from toolwire_tools.processes.child_group import ChildGroup, ReapedGroup, make_strongest_group

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc"),
    pytest.mark.process,
]
KINDS = pytest.mark.parametrize("kind", [ChildGroup, ReapedGroup])

BACKGROUND = f"{NOTE_PID} &"


def start(group: ChildGroup, script: str, **environment: str) -> subprocess.Popen[bytes]:
    return group.start(["sh", "-c", script], env={**environment, "PATH": os.environ["PATH"]})


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@KINDS
@pytest.mark.parametrize("is_done", [True, False], ids=["child is done", "child runs"])
def test_what_is_in_the_group_ends_with_it(
    tmp_path: Path, kind: type[ChildGroup], is_done: bool
) -> None:
    path = tmp_path / "background"
    group = kind()
    until_it_runs = f" while ! [ -e {path} ]; do sleep 0.01; done;"
    script = BACKGROUND.format(path=path) + until_it_runs + ("" if is_done else " wait")
    process = start(group, script)
    wait_until(path.exists)

    group.end()

    process.wait(PATIENCE_SECONDS)
    wait_until(lambda: not is_running(read_pid(path)))


@pytest.mark.parametrize("has_mark", [True, False])
def test_what_has_left_the_group_is_killed_by_its_mark(tmp_path: Path, has_mark: bool) -> None:
    path = tmp_path / "background"
    mark = f"TEST_MARK={os.getpid()}" if has_mark else ""
    group = ChildGroup(mark=mark)
    script = "setsid " + BACKGROUND.format(path=path) + " wait"
    process = start(group, script, TEST_MARK=str(os.getpid()))
    wait_until(path.exists)

    group.end()
    process.wait(PATIENCE_SECONDS)

    try:
        if has_mark:
            wait_until(lambda: not is_running(read_pid(path)))
        assert is_running(read_pid(path)) is not has_mark
    finally:
        if is_running(read_pid(path)):
            os.kill(read_pid(path), signal.SIGKILL)


@KINDS
def test_a_group_that_is_asked_to_end_may_clean_up(tmp_path: Path, kind: type[ChildGroup]) -> None:
    is_ready = tmp_path / "ready"
    group = kind()
    script = f"trap 'exit 7' TERM; touch {is_ready}; while :; do sleep 0.01; done"
    process = start(group, script)
    wait_until(is_ready.exists)

    group.terminate()

    assert process.wait(PATIENCE_SECONDS) == 7
    group.end()


def test_orphans_are_counted_below_a_subreaper() -> None:
    group = ReapedGroup()
    process = start(group, "sleep 600 & sleep 600 &")
    process.wait(PATIENCE_SECONDS)

    group.end()

    assert group.orphans == 2


@KINDS
def test_a_group_that_has_ended_has_no_descriptor_and_gets_no_signal(
    kind: type[ChildGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_descriptors()
    group = kind()
    process = start(group, "exit 3")
    assert process.wait(PATIENCE_SECONDS) == 3
    group.end()
    assert open_descriptors() == before

    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda process, number: sent.append(number))
    monkeypatch.setattr(os, "killpg", lambda process, number: sent.append(number))
    group.terminate()
    group.kill()
    group.kill_descendants()
    group.end()

    assert sent == []


def test_a_reaped_subreaper_gets_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    group = ReapedGroup()
    start(group, "exit 3").wait(PATIENCE_SECONDS)

    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda process, number: sent.append(number))
    group.kill()
    group.kill_descendants()
    group.close()

    assert sent == []


@KINDS
def test_a_child_that_was_not_started_leaves_no_descriptor(kind: type[ChildGroup]) -> None:
    before = open_descriptors()
    group = kind()
    assert open_descriptors() == before + 2

    group.end()

    assert open_descriptors() == before


def test_a_child_without_a_life_line_inherits_nothing() -> None:
    group = ChildGroup(has_life_line=False)

    assert group.descriptors == ()
    assert group.make_options(5)["pass_fds"] == (5,)


def test_linux_has_the_group_with_a_subreaper(monkeypatch: pytest.MonkeyPatch) -> None:
    group = make_strongest_group()
    group.close()
    assert type(group) is ReapedGroup

    monkeypatch.setattr(subreaper, "EXISTS", False)
    group = make_strongest_group()
    group.close()
    assert type(group) is ChildGroup


START = """
from toolwire_tools.processes.child_group import {kind}

group = {kind}()
child = group.start(["sh", "-c", sys.argv[1]], stdout=2)
"""


@KINDS
@pytest.mark.parametrize("copies", ["alone", "forked"])
@pytest.mark.parametrize("end", ["killed", "exits"])
def test_no_group_outlives_its_owner(
    tmp_path: Path, kind: type[ChildGroup], copies: str, end: str
) -> None:
    path = tmp_path / "background"
    start = START.format(kind=kind.__name__)
    script = BACKGROUND.format(path=path) + " wait"
    check_end_with_owner(path, start, script, copies=copies, end=end)


def test_subreaper_imports_little_before_its_child_starts() -> None:
    program = f"{subreaper.LOAD}print(*sorted(sys.modules))"
    command = [sys.executable, "-I", "-S", "-c", program]

    imported = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    assert {"subreaper", "typing", "contextlib", "re"} & set(imported) == set()
    assert "signal" in imported
