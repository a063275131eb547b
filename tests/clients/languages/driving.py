"""What the tests of all generated clients share: servers, generation, and programs that drive a
client.

A language's test writes the generated text and a program of its own into a folder, compiles both
with the strictest settings, and runs the result with `drive`, which checks that no process of it is
left.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from interop.peers import INSTALLED, installed_package, missing, node, python_driver
from support.server_process import wait_until
from toolwire_client import connect
from toolwire_dialects.typed_clients import generate

HERE = Path(__file__).parent
PATIENCE_SECONDS = 300

EVERY_TYPE = (sys.executable, "-m", "toolwire", "serve", str(HERE / "every_type.py"))
"""The command of the server that has a tool for every type and every way a call can go."""

VALUE: dict[str, Any] = {
    "text": "grün </script> \u2028",
    "whole": 2**60,
    "number": 0.1,
    "flag": True,
    "nothing": None,
    "mode": "as usual",
    "colour": "light green",
    "level": 2,
    "one_or_two": 1,
    "words": ["a", ""],
    "pair": [1, "one"],
    "counts": {"a b": 1},
    "matrix": [[1, 2.5], []],
    "place": {"x": 1, "y": 2},
    "places": {"home": [{"x": 3, "y": 0}]},
    "shape": {"type": "circle", "centre": {"x": 1, "y": 0}, "radius": 2.5},
    "tree": {
        "name": "root",
        "branches": [{"name": "leaf", "branches": [], "parent": None}],
        "parent": None,
    },
    "maybe": None,
    "either": [1, 2],
    "options": {"type": "x", "func": None},
    "day": "2026-11-23",
    "anything": {"deep": [None, 2**60]},
    "kebab-case": "kebab",
}
"""The value that drivers send to the tool `every_type` and print when it has come back."""


def echo(entries: Sequence[Any], folder: Path) -> tuple[str, ...]:
    """Return the command of a server with these *entries* of `tools/list`, each of which returns
    its arguments.
    """
    file = folder / "entries.json"
    file.write_text(json.dumps(entries), "utf-8")
    return (sys.executable, str(HERE / "echo_server.py"), str(file))


def mirror(number: int, schema: Any) -> dict[str, Any]:
    """Return the entry of the tool `mirror_NUMBER`, which takes and returns a value of *schema*,
    called `result`.
    """
    root = {
        key: schema[key]
        for key in ("$defs", "definitions")
        if isinstance(schema, dict) and key in schema
    }
    whole = {"type": "object", "properties": {"result": schema}, "required": ["result"], **root}
    return {"name": f"mirror_{number}", "inputSchema": whole, "outputSchema": whole}


def everything() -> tuple[str, ...]:
    """Return the command of npm's `server-everything`."""
    package = installed_package("@modelcontextprotocol/server-everything")
    return (node(newest=True), str(package / "dist" / "index.js"))


def official() -> tuple[str, ...]:
    """Return the command of a server of the official Python SDK, second generation."""
    python, _ = python_driver("mcp2", "")
    return (python, str(HERE.parents[1] / "interop" / "servers" / "mcp2_server.py"))


@cache
def entries_of(command: tuple[str, ...]) -> list[Any]:
    """Return what the server of a *command* lists."""
    with connect(command, inherit_env=True) as client:
        return client.list_entries()


def generated(language: str, command: tuple[str, ...], *, embeds: bool = True) -> str:
    """Return the client of a server as `toolwire client` writes it."""
    return generate(
        language,
        entries_of(command),
        command=command,
        head=["A client made by a test."],
        runtime_in="client" if embeds else "package",
    )


def toolchain(name: str, *, under: str = "languages") -> Path:
    """Return the path of a program in a folder of the installed peers, or else of one on the
    path.
    """
    own = INSTALLED / under / name
    found = own if own.exists() else shutil.which(Path(name).name)
    return Path(found or missing(f"the program {Path(name).name}"))


def toolchain_at_least(name: str, version: tuple[int, int], *arguments: str) -> Path:
    """Return the path of a program as `toolchain` does, if its *arguments* print at least
    *version*.
    """
    found = toolchain(name)
    if not is_at_least(found, version, *arguments):
        missing(f"{found.name} {version[0]}.{version[1]} or later")
    return found


def is_at_least(program: Path, version: tuple[int, int], *arguments: str) -> bool:
    """Whether the first version in what a *program* prints is at least *version*; False if it
    fails.
    """
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
    except OSError:
        return False
    found = re.search(r"(\d+)\.(\d+)", done.stdout)
    if done.returncode != 0 or found is None:
        return False
    return (int(found[1]), int(found[2])) >= version


def run(program: Sequence[str | Path], folder: Path, env: Mapping[str, str] = {}) -> str:
    """Run a compiler or another program in *folder*, its home unless *env* names one; it must
    succeed.
    """
    done = subprocess.run(
        [str(word) for word in program],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), **env},
        input="",
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, (
        f"{program[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    )
    return done.stdout


def drive(program: Sequence[str | Path], folder: Path, env: Mapping[str, str] = {}) -> list[Any]:
    """Run a program that drives a client, and return its output, one JSON value a line.

    When it has ended, no process that it started may be left.
    """
    home = folder / uuid.uuid4().hex  # which clients pass on to servers, so it marks them
    home.mkdir()
    said = run(program, folder, {**env, "HOME": str(home)})
    wait_until(lambda: not list(_running_with(f"HOME={home}".encode())))
    return [
        json.loads(line) for line in said.split("\n") if line
    ]  # `splitlines` knows more ends than JSON


def _running_with(mark: bytes) -> Iterable[str]:
    """The processes that were started with *mark* in their environment, and still run."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                yield folder.name
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
