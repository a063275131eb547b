"""The example hosts do what examples/hosts/README.md says they do, with the commands it gives."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from interop import peers

if TYPE_CHECKING:
    import subprocess

FOLDER = peers.HERE.parents[1] / "examples" / "hosts"
TOOLS = FOLDER / "tools.py"
README = (FOLDER / "README.md").read_text("utf-8")
# The program that each host's command begins with, and what else it needs.
PROGRAMS = {
    "node/host.ts": [],
    "shell/pipeline.sh": ["jq"],
    "shell/host.bash": ["bash", "jq"],
    "neovim/host.lua": ["nvim"],
    "emacs/host.el": ["emacs"],
}
LISTED = [
    "add: Add two whole numbers.",
    "count: Count, reporting each number.",
    "wait: Wait until the time is over or the call is cancelled.",
    "add -> 5",
]
CALLED = [
    'add failed: arguments.a: "two" is not an integer',
    "count: 1 of 3",
    "count: 2 of 3",
    "count: 3 of 3",
    "count -> counted to 3",
    "wait cancelled: -32800",
    "the server left with status 0",
]
WITHOUT_CODE = [line.replace("cancelled: -32800", "cancelled") for line in LISTED + CALLED]
# The page's command that generates the client of a host.
GENERATE = {
    f"{found[1]}/host.{found[2]}": found[0].split()
    for found in re.finditer(r"toolwire client .* -o (\w+)/.*\.(\w+)$", README, re.MULTILINE)
}
PRINTS = {
    **dict.fromkeys(PROGRAMS, LISTED + CALLED),
    "shell/pipeline.sh": LISTED,
    # Their client libraries keep the code of a cancelled request to themselves.
    "neovim/host.lua": WITHOUT_CODE,
    "node/host.ts": WITHOUT_CODE,
}


def commands() -> dict[str, list[str]]:
    """The command of each host in the README's table, up to where the server's own command
    begins.
    """
    rows = re.findall(
        r"^\| \[.*?\]\((.*?)\) \|.*\| `(.*) toolwire serve tools\.py` \|$", README, re.MULTILINE
    )
    return {host: shlex.split(command) for host, command in rows}


def test_every_host_is_in_the_readme_with_its_command() -> None:
    assert list(commands()) == list(PROGRAMS)


def run(host: str, server: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    for program in PROGRAMS[host]:
        peers.installed_program(program)
    place = with_client(host, folder) if host in GENERATE else FOLDER / host
    command = [word.replace(host, str(place)) for word in commands()[host]]
    if host == "node/host.ts":
        command[0] = peers.node(newest=True)
    return peers.run([*command, *server], folder)


def with_client(host: str, folder: Path) -> Path:
    """Return a copy of *host* beside the client that its page generates."""
    copied = shutil.copytree(FOLDER, folder / "hosts")
    (copied / GENERATE[host][-1]).parent.mkdir(exist_ok=True)
    done = peers.run([sys.executable, "-m", *GENERATE[host]], copied)
    assert done.returncode == 0, done.stderr
    return copied / host


@pytest.mark.parametrize("host", PROGRAMS)
def test_a_host_lists_calls_receives_progress_cancels_and_closes(host: str, tmp_path: Path) -> None:
    done = run(host, peers.serve(tools=TOOLS), tmp_path)

    assert done.stdout.splitlines() == PRINTS[host], done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("host", PROGRAMS)
def test_a_host_whose_server_has_nothing_to_serve_fails_and_says_why(
    host: str, tmp_path: Path
) -> None:
    done = run(host, peers.serve(tools=tmp_path / "missing.py"), tmp_path)

    assert done.returncode > 0
    assert "missing.py" in done.stderr


@pytest.mark.parametrize("host", PROGRAMS)
def test_a_host_whose_server_ends_at_once_fails_and_says_why(host: str, tmp_path: Path) -> None:
    for turn in range(5):
        folder = tmp_path / str(turn)
        folder.mkdir()
        done = run(host, ["sh", "-c", "echo no tools today >&2"], folder)

        assert done.returncode > 0
        assert "no tools today" in done.stderr


@pytest.mark.parametrize("host", PROGRAMS)
def test_a_host_without_a_server_says_how_it_is_used(host: str, tmp_path: Path) -> None:
    done = run(host, [], tmp_path)

    assert done.returncode > 0
    assert "usage: " in done.stderr
