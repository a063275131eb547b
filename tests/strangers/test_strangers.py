"""The page about servers of strangers shows the recorded outcomes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from strangers.compare import OUTCOMES, PAGE, SERVERS, TABLE, format_table
from strangers.count_names import LIBRARIES, NAMES, find_names

if TYPE_CHECKING:
    from pathlib import Path


def test_the_page_shows_the_recorded_outcomes() -> None:
    shown = TABLE.search(PAGE.read_text("utf-8"))

    assert shown is not None
    assert shown[0] == format_table(json.loads(OUTCOMES.read_text("utf-8")))


def test_each_outcome_is_of_a_server_of_the_list() -> None:
    lines = SERVERS.read_text("utf-8").splitlines()
    requirements = {line.partition(" ")[0] for line in lines if not line.startswith("#")}

    assert set(json.loads(OUTCOMES.read_text("utf-8"))) == requirements


@pytest.mark.process
def test_all_that_more_than_two_percent_of_the_servers_import_may_be_imported(
    tmp_path: Path,
) -> None:
    counted = json.loads(NAMES.read_text("utf-8"))
    lines = []
    for number, (used, servers) in enumerate(counted["names"].items()):
        module, _, name = used.rpartition(".")
        if module.partition(".")[0] in LIBRARIES and servers > 0.02 * counted["servers"]:
            lines.append(f"from {module} import {name} as name_{number}")
    lines += ["from fastmcp import FastMCP", "mcp = FastMCP('all')", "mcp.tool(len)"]
    file = tmp_path / "server.py"
    file.write_text("\n".join(lines), "utf-8")

    command = [sys.executable, "-m", "toolwire", "list", "--adopt", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert len(lines) > 40
    assert (done.returncode, done.stderr) == (0, "")


def test_names_are_imports_and_members_of_servers_and_contexts() -> None:
    source = """
import fastmcp.settings
from mcp.server.fastmcp import Context, FastMCP
from . import mcp
server = FastMCP("x")

@server.tool()
async def f(ctx: Context | None, other: int):
    await ctx.info("x")
    other.name
"""
    assert find_names(source) == {
        "fastmcp.settings",
        "mcp.server.fastmcp.Context",
        "mcp.server.fastmcp.FastMCP",
        "FastMCP.tool",
        "Context.info",
    }
