"""Finds the programs that play the other side, and runs one of them against our server.

A peer that is not installed skips the test with the command that installs it; with
`TOOLWIRE_REQUIRE_PEERS=1`, as CI sets it, the test fails instead.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
from support.server_process import wait_until

HERE = Path(__file__).parent
INSTALLED = Path(os.environ.get("TOOLWIRE_PEERS", HERE.parents[1] / ".peers"))
TOOLS = HERE / "everyday.py"
PATIENCE_SECONDS = 120

# Set in the clients' own environment; a server that sees them was not given the filtered one.
CANARIES = {"TOOLWIRE_CANARY": "1", "PYTHONUTF8": "0"}


@dataclass(frozen=True)
class Attended:
    """What a client printed, and how its server has ended, as `attend.py` reports it."""

    report: Any
    server: dict[str, Any]


def serve(*arguments: str, tools: Path = TOOLS) -> list[str]:
    """The command that serves *tools*, the everyday ones unless told otherwise."""
    return [sys.executable, "-m", "toolwire", "serve", str(tools), *arguments]


def drive(
    program: list[str],
    mode: str,
    folder: Path,
    *,
    exercise: str = "everyday",
    server: list[str] | None = None,
    probes: int = 0,
) -> Attended:
    """Run the client *program* through one of the drivers' exercises until it and its server have
    ended.

    *server* is its command; by default it serves the everyday tools. The client starts it *probes*
    times more before, and may kill those at any time: how they end is left out.
    """
    ends = folder / "ends.jsonl"
    command = [
        sys.executable,
        str(HERE / "attend.py"),
        str(ends),
        *(serve() if server is None else server),
    ]
    done = run([*program, exercise, mode, *command], folder)
    assert done.returncode == 0, f"{program[-1]} {exercise} {mode} failed:\n{done.stderr}"

    def lines() -> list[dict[str, Any]]:
        return [json.loads(line) for line in ends.read_text(encoding="utf-8").splitlines()]

    def how_it_ended() -> list[dict[str, Any]]:
        return [line for line in lines() if line["process"] == process and "status" in line]

    (process,) = [line["process"] for line in lines() if "status" not in line][probes:]
    wait_until(lambda: bool(how_it_ended()))  # the client may end before it
    return Attended(json.loads(done.stdout), *how_it_ended())


def run(
    command: list[str], folder: Path, *, more: dict[str, str] | None = None, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a peer in *folder* to its end, which is its home too, so that nothing of ours is read or
    written.
    """
    environment = {
        **os.environ,
        **CANARIES,
        "TOOLWIRE_PEERS": str(INSTALLED),
        "HOME": str(folder),
        **(more or {}),
    }
    return subprocess.run(
        command,
        capture_output=True,
        cwd=folder,
        encoding="utf-8",
        env=environment,
        input="" if text is None else text,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def python_of(environment: str) -> Path:
    """The Python of a peer's own virtual environment."""
    python = INSTALLED / environment / "bin" / "python"
    if not python.exists():
        missing(f"the Python environment {environment}")
    return python


def python_driver(environment: str, driver: str) -> list[str]:
    """The command of a driver written in Python, run in the peer's own virtual environment."""
    return [str(python_of(environment)), str(HERE / "drivers" / driver)]


def node_driver(package: str, driver: str) -> list[str]:
    """The command of a driver written in JavaScript, which loads *package*."""
    installed_package(package)
    return [node(), str(HERE / "drivers" / driver)]


def installed_package(name: str) -> Path:
    """The folder of an installed JavaScript package."""
    folder = INSTALLED / "node_modules" / name
    if not folder.exists():
        missing(f"the JavaScript package {name}")
    return folder


def node(*, newest: bool = False) -> str:
    """Node; the *newest* installed, where a peer asks for more than Debian has."""
    own = INSTALLED / "node_modules" / "node-for-inspector" / "bin" / "node"
    return str(own) if newest and own.exists() else installed_program("node")


def installed_program(name: str) -> str:
    """The path of a program that Debian packages."""
    found = shutil.which(name)
    return found or missing(f"the program {name}")


def missing(what: str) -> NoReturn:
    reason = f"{what} is not installed: run tests/peers/install"
    if os.environ.get("TOOLWIRE_REQUIRE_PEERS") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
