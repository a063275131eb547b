"""The Dockerfile of examples/docker names files that exist, and a command that serves.

Docker itself is not run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "examples" / "docker" / "Dockerfile"


def instructions() -> list[tuple[str, str]]:
    """The instructions of the file, each with what follows it."""
    found = []
    for line in DOCKERFILE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            found.append((name, rest))
    return found


def test_each_file_that_is_copied_exists() -> None:
    for name, rest in instructions():
        if name == "COPY":
            *sources, _ = rest.split()
            assert all((ROOT / source).exists() for source in sources)


@pytest.mark.process
def test_the_command_serves_a_file_that_was_copied() -> None:
    lines = dict(instructions())
    entry, command = json.loads(lines["ENTRYPOINT"]), json.loads(lines["CMD"])
    assert entry == ["toolwire", "serve"]

    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    done = subprocess.run(
        [sys.executable, "-m", *entry, *command],
        cwd=ROOT / "examples",
        input=ping,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
