"""The page about servers of strangers shows the recorded outcomes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from strangers.compare import (
    OUTCOMES,
    PAGE,
    TABLE,
    Stranger,
    format_table,
    read_line,
    read_servers,
)
from strangers.count_names import LIBRARIES, NAMES, find_names

if TYPE_CHECKING:
    from pathlib import Path


def test_the_page_shows_the_recorded_outcomes() -> None:
    shown = TABLE.search(PAGE.read_text("utf-8"))

    assert shown is not None
    assert shown[0] == format_table(json.loads(OUTCOMES.read_text("utf-8")))


def test_each_outcome_is_of_a_server_of_the_list() -> None:
    titles = json.loads(OUTCOMES.read_text("utf-8"))

    assert {title.partition(" ")[0] for title in titles} == {
        stranger.requirement for stranger in read_servers()
    }


def test_nine_of_ten_servers_that_start_with_their_own_package_start_here() -> None:
    kinds = Counter(
        outcome.partition(":")[0] for outcome in json.loads(OUTCOMES.read_text("utf-8")).values()
    )
    here = kinds["same"] + kinds["differs"]
    there = here + kinds["refused"]

    assert there >= 60
    assert here >= 0.9 * there


def test_a_server_with_two_libraries_is_one_server_of_the_table() -> None:
    table = format_table(
        {
            "a==1": "rescued: no module",
            "a==1 mcp<2": "same: 3 calls",
            "b==1": "refused: no such thing",
            "c==1": "neither: no key",
        }
    )

    assert "| `a==1` | does not start | starts | no module |" in table
    assert "| `a==1`, `mcp<2` | starts | same | 3 calls |" in table
    assert "Of 3 servers, 2 start with their own package, 1 of these only with `mcp<2`." in table
    assert "Here 1 of the 2 start (50 %), and 1 are the same" in table


def test_line_of_a_server_may_set_variables_and_name_its_command() -> None:
    assert read_line("a-mcp==1") == Stranger("a-mcp==1", "a-mcp", {})
    assert read_line("a-mcp==1 KEY=x -m a stdio") == Stranger(
        "a-mcp==1", "-m a stdio", {"KEY": "x"}
    )


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
