"""The example with five servers behind one: a list starts none of them, and a program those that it
calls.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from examples.conftest import EXAMPLES
from support.example_data import make_database
from support.server_process import call, filtered_environment, request, running

pytestmark = pytest.mark.process

PROGRAM = """
teas = shop.query("SELECT price FROM teas")["rows"]
prices = " + ".join(str(price) for (price,) in teas)
calculator.Calculator(prices)["decimal"]
"""


def find_children(process: int) -> list[str]:
    """Return the command lines of the children of *process*."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = path.read_text().rpartition(")")[2].split()[1]
            words = path.with_name("cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == str(process):
            found.append(b" ".join(words).decode())
    return found


def test_a_program_starts_only_the_servers_that_it_calls(tmp_path: Path) -> None:
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES, folder)
    config, lock = folder / "five_servers.json", folder / "five_servers.lock.json"
    database = make_database(tmp_path / "shop.db")
    scripts = Path(sys.executable).parent
    env = {
        **filtered_environment(),
        "DATABASE": str(database),
        "PATH": os.pathsep.join((str(scripts), os.environ["PATH"])),
    }
    locking = [sys.executable, "-m", "toolwire", "lock", "--config", str(config)]
    subprocess.run(locking, env=env, check=True, capture_output=True, timeout=120)
    options = ["--mount-config", str(config), "--lock", str(lock), "--show", "code"]
    options += ["--trust-hints", "shop", "--trust-hints", "calculator"]

    with running("-m", "toolwire", "serve", *options, env=env) as process:
        listed = process.ask(request("tools/list", {}))["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["search_tools", "run_program"]
        assert len(json.dumps(listed)) <= 2_000
        assert find_children(process.popen.pid) == []

        result = process.ask(call("run_program", {"code": PROGRAM}))["result"]

        assert result["content"][0]["text"] == "19.75"
        started = " ".join(find_children(process.popen.pid))
        assert "sqlite_database.py" in started
        assert "Calculator" in started
        assert "git_history.py" not in started
        assert "Clock" not in started
