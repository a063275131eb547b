"""The Inspector, on its command line, finds nothing to complain about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from interop import peers
from interop.test_clients import TOOLS, answer, failure

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

ERAS = ["legacy", "auto", "modern"]


def inspect(
    folder: Path, era: str, *question: str, file: str = "everyday.py"
) -> subprocess.CompletedProcess[str]:
    launcher = (
        peers.installed_package("@modelcontextprotocol/inspector")
        / "clients/launcher/build/index.js"
    )
    options = ["--cli", "--protocol-era", era, *peers.serve(tools=peers.HERE / file)]
    return peers.run([peers.node(newest=True), str(launcher), *options, *question], folder)


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_lists_the_tools_and_finds_every_schema_portable(
    era: str, tmp_path: Path
) -> None:
    done = inspect(tmp_path, era, "--method", "tools/list", "--strict")

    assert done.returncode == 0, done.stderr
    assert sorted(tool["name"] for tool in json.loads(done.stdout)["tools"]) == TOOLS
    assert done.stderr == ""


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_calls_a_tool(era: str, tmp_path: Path) -> None:
    done = inspect(
        tmp_path, era, "--method", "tools/call", "--tool-name", "add", "--tool-arg", "a=2", "b=3"
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout).items() >= answer("5", {"result": 5}).items()


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_reads_a_resource_and_gets_a_prompt(era: str, tmp_path: Path) -> None:
    read = inspect(
        tmp_path, era, "--method", "resources/read", "--uri", "config://app", file="documents.py"
    )
    asked = ["--method", "prompts/get", "--prompt-name", "review", "--prompt-args", "code=x"]
    made = inspect(tmp_path, era, *asked, file="documents.py")

    assert (read.returncode, made.returncode) == (0, 0), read.stderr + made.stderr
    assert json.loads(read.stdout)["contents"][0]["text"] == '{"size":3}'
    assert json.loads(made.stdout)["messages"][1]["content"]["text"] == "x at 2"


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_exits_5_for_a_tool_that_fails(era: str, tmp_path: Path) -> None:
    done = inspect(
        tmp_path, era, "--method", "tools/call", "--tool-name", "refuse", "--tool-arg", "reason=no"
    )

    assert done.returncode == 5, done.stderr
    assert json.loads(done.stdout).items() >= failure("no").items()
