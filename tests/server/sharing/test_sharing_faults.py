"""Shared processes on a full disk, after an upgrade, and with other options."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server_process import Process, call, request
from support.shared_processes import SharedProcesses, is_running, shared_processes
from toolwire.sharing import starting
from toolwire.sharing.place import Place

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
TOOLS = '''
import os
import sys

def pid() -> int:
    """Return the number of this process."""
    return os.getpid()

def shout() -> int:
    """Print a lot."""
    print("x" * 100_000)
    return os.getpid()
'''


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[SharedProcesses]:
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    with shared_processes(tmp_path, SharedProcesses) as made:
        yield made


def value(answer: Any) -> Any:
    assert "error" not in answer, answer
    return answer["result"]["structuredContent"]["result"]


def open_session(processes: SharedProcesses, *options: str, **variables: str) -> Process:
    return processes.open("serve", "--share", "tools.py", *options, **variables)


def mount_small(processes: SharedProcesses, options: str) -> None:
    """Mount a file system with these limits at the runtime folder, in a namespace of this test."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"mode=0700,{options}", "none", processes.runtime],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("only root may mount a file system")


@pytest.fixture
def small_disk(processes: SharedProcesses) -> Iterator[SharedProcesses]:
    yield processes
    subprocess.run(["umount", "-l", processes.runtime], capture_output=True, check=False)


def test_session_without_room_for_a_socket_serves_its_tools_itself(
    small_disk: SharedProcesses,
) -> None:
    mount_small(small_disk, "size=4k,nr_inodes=2")
    one = open_session(small_disk)
    assert value(one.ask(call("pid"))) == one.popen.pid
    one.hang_up()
    assert "a process of its own" in one.stderr()


def test_full_disk_loses_the_log_and_no_call(small_disk: SharedProcesses) -> None:
    mount_small(small_disk, "size=64k")
    one, two = open_session(small_disk), open_session(small_disk)
    first = value(one.ask(call("shout")))
    for _ in range(3):
        assert value(two.ask(call("shout"))) == first
    assert value(one.ask(call("pid"))) == first


def test_upgraded_package_gives_new_sessions_a_new_process(
    processes: SharedProcesses, tmp_path: Path
) -> None:
    packages = tmp_path / "packages"
    for path in ("server/toolwire", "tools/toolwire_tools", "schemas/toolwire_schemas"):
        source = ROOT / path
        shutil.copytree(source, packages / source.name)
    variables = {"PYTHONPATH": str(packages)}
    old = open_session(processes, **variables)
    first = value(old.ask(call("pid")))
    settings = packages / "toolwire" / "settings.py"
    settings.write_text(settings.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    new = open_session(processes, **variables)
    second = value(new.ask(call("pid")))
    assert second != first
    assert value(old.ask(call("pid"))) == first
    another = open_session(processes, **variables)
    assert value(another.ask(call("pid"))) == second


def test_search_replaces_the_list_of_each_session(processes: SharedProcesses) -> None:
    for _ in range(2):
        one = open_session(processes, "--show", "search")
        listed = one.ask(request("tools/list"))["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["search_tools", "call_tool"]
        calls = call("call_tool", {"name": "pid", "arguments": {}})
        assert "error" not in one.ask(calls)


@pytest.mark.parametrize("cache", ["late", "always", "never"])
def test_list_cache_goes_with_sharing(processes: SharedProcesses, cache: str) -> None:
    one, two = (open_session(processes, "--list-cache", cache) for _ in range(2))
    for each in (one, two):
        listed = each.ask(request("tools/list"))["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["pid", "shout"]
    assert value(one.ask(call("pid"))) == value(two.ask(call("pid")))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--reload"], "--share does not go with --reload"),
        (["--mount", "x=cat"], "--share does not go with --mount"),
    ],
)
def test_option_that_cannot_be_shared_is_refused(
    processes: SharedProcesses, options: list[str], expected: str
) -> None:
    one = open_session(processes, *options)
    assert one.wait() == 2
    assert expected in one.stderr()


def test_host_that_kills_its_process_group_spares_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text(
        f"#!/bin/sh\nps -o sid= -p $$ > {tmp_path}/session\necho listening >&3\n", encoding="utf-8"
    )
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    place = Place(str(tmp_path), "key")
    starting._start(place, ["serve", "--share", "tools.py"], is_alone=False)
    session = int((tmp_path / "session").read_text(encoding="utf-8"))
    assert session != os.getsid(0)


def test_clock_that_is_set_back_ends_nothing(processes: SharedProcesses) -> None:
    one = open_session(processes)
    first = value(one.ask(call("pid")))
    past = 1_000_000_000
    for path in Path(processes.runtime, "toolwire").iterdir():
        os.utime(path, (past, past))
    assert value(open_session(processes).ask(call("pid"))) == first
    assert is_running(first)
