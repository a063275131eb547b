"""What code in the sandbox has, compared with a list that was reviewed: sandbox.json.

A change of the sandbox shows as a diff of that file. `python -m pytest` with
TOOLWIRE_WRITE_GOLDEN=1 writes it anew.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support.sandbox_runs import ALLOWED, REFUSED, decided, need_sandbox, texts
from toolwire_bundled.programs.limits import ProgramLimits
from toolwire_bundled.programs.program import Program
from toolwire_bundled.python_interpreter.syscalls import _MACHINES

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap and seccomp are Linux's"),
    pytest.mark.process,
]

GOLDEN = Path(__file__).with_name("sandbox.json")
ROOT, USER = "server is root", "server is a user"
PROGRAM = "code is a program that calls tools"
OF_A_MOUNT = {"ro", "rw", "nosuid", "nodev", "noexec"}

LOOK = """
import json, os
mounts = {}
for line in open('/proc/self/mountinfo'):
    fields = line.split()
    mounts[fields[4]] = fields[5]
descriptors = {}
for number in range(1024):
    try:
        descriptors[number] = os.readlink(f'/proc/self/fd/{number}')
    except OSError:
        pass
status = dict(line.rstrip().split(':', 1) for line in open('/proc/self/status'))
writable = []
for folder, inside, files in os.walk('/proc'):
    inside[:] = [name for name in inside if name not in ('fd', 'map_files')]  # files, and the pipes seen above
    for path in (os.path.join(folder, file) for file in files):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            writable.append(path)
        except OSError:
            pass
print(json.dumps({
    'mounts': mounts, 'descriptors': descriptors, 'environment': dict(os.environ), 'status': status,
    'writable in /proc': writable, 'oom': open('/proc/self/oom_score_adj').read().strip(),
}))
"""  # noqa: E501


def golden(name: str) -> Any:
    return json.loads(GOLDEN.read_text())[name]


def same(name: str, found: Any) -> None:
    """Fail if *found* is not what the list has by that *name*."""
    if os.environ.get("TOOLWIRE_WRITE_GOLDEN") == "1":
        every = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
        GOLDEN.write_text(json.dumps({**every, name: found}, indent=2) + "\n")
    assert found == golden(name)


@pytest.fixture(params=[ROOT, USER, PROGRAM])
def looked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What code sees, for a server of each kind."""
    need_sandbox()
    if request.param == ROOT and os.geteuid() != 0:
        pytest.skip("only root can")
    if request.param == USER:
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("SOME_API_KEY", "a secret of the server")
    monkeypatch.delenv("TZ", raising=False)
    if request.param == PROGRAM:
        found = look_from_program()
        doors = [place for place, what in found["descriptors"].items() if "socket" in what]
        assert len(doors) == 1
        del found["descriptors"][doors[0]]
        return found
    [said] = texts(LOOK, sandbox="required", answer_from_stdout=True, max_output_bytes=100_000)
    seen: dict[str, Any] = json.loads(said)
    return seen


def ignore(given: object) -> None:
    pass


def look_from_program() -> dict[str, Any]:
    program = Program(LOOK, [], ProgramLimits(max_output_bytes=100_000))
    [printed] = program.run(ignore, ignore, lambda: None, lambda: None)
    found: dict[str, Any] = json.loads(printed)
    return found


def test_only_these_folders_and_files_are_mounted(looked: dict[str, Any]) -> None:
    told = {
        _named(path): ",".join(sorted(OF_A_MOUNT & {*how.split(",")}))
        for path, how in looked["mounts"].items()
    }
    # Each machine has some of the system's folders: no others than these may be there, and all
    # read-only.
    optional = golden("mounts where there are such") if GOLDEN.exists() else []
    same("mounts", {path: how for path, how in sorted(told.items()) if path not in optional})
    assert {how for path, how in told.items() if path in optional} <= {
        "nodev,nosuid,ro",
        "nodev,noexec,nosuid,ro",
    }


def _named(path: str) -> str:
    """*path*, with what differs between machines replaced by names."""
    # The longest first: an environment may be in the folder of its Python.
    prefixes = {os.path.realpath(sys.base_prefix): "PYTHON", sys.base_prefix: "PYTHON"}
    prefixes |= {os.path.realpath(sys.prefix): "ENVIRONMENT", sys.prefix: "ENVIRONMENT"}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for prefix in sorted(prefixes, key=len, reverse=True):
        if path.startswith(f"{prefix}/") and prefix not in ("/usr", "/usr/local"):
            return prefixes[prefix] + path[len(prefix) :].replace(version, "VERSION")
    return path


def test_only_these_descriptors_are_open(looked: dict[str, Any]) -> None:
    same(
        "descriptors",
        {number: where.partition(":")[0] for number, where in looked["descriptors"].items()},
    )


def test_only_these_variables_are_set(looked: dict[str, Any]) -> None:
    same("environment", sorted(looked["environment"]))


def test_nothing_of_the_kernels_settings_can_be_written_and_memory_ends_this_process_first(
    looked: dict[str, Any],
) -> None:
    same("writable in /proc", looked["writable in /proc"])
    same("oom_score_adj", looked["oom"])


def test_no_right_is_left(looked: dict[str, Any]) -> None:
    rights = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Groups", "Seccomp")
    same("rights", {name: looked["status"][name].strip() for name in rights} | {"Groups": ""})


@pytest.mark.parametrize("name", _MACHINES)
def test_only_these_system_calls_are_refused(name: str) -> None:
    machine = _MACHINES[name]
    of_sockets = {
        family for family in range(256) if decided(machine, machine.socket, family) == ALLOWED
    }
    flags = [bit for bit in range(32) if decided(machine, machine.clone, 1 << bit) != ALLOWED]
    refused = {
        str(call): errno.errorcode[decision - REFUSED]
        for call in range(1024)
        if (decision := decided(machine, call, 1)) != ALLOWED
    }
    same(
        f"system calls on {name}",
        {"refused": refused, "clone flags": flags, "sockets": sorted(of_sockets)},
    )
