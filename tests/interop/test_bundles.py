"""Bundles of `toolwire pack` pass the official `mcpb` CLI, and what it unpacks starts as a host
would start it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from interop import peers
from support.wheels import make_wheel, offline
from toolwire_client import connect

ROOT = Path(__file__).parents[2]
URL = "https://github.com/jane/shop/releases/download/v1/shop.mcpb"
PNG = b"\x89PNG\r\n\x1a\n"
TOOLS = '''# /// script
# dependencies = ["sizes_of_things>=1"]
# ///
"""The sizes of things in a shop."""

__version__ = "1.2.3"

import os

import sizes_of_things
from helper import polite
from toolwire import prompt, tool_api

@tool_api
def size(name: str) -> str:
    """Return the size of a thing."""
    return polite(sizes_of_things.size(name)) + os.environ["API_KEY"]

@prompt
def sell(thing: str) -> str:
    """Sell a thing."""
    return f"Praise the size of {thing}."
'''


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an author's file, and wheels of everything that its bundle needs."""
    home = tmp_path_factory.mktemp("bundles")
    (home / "shop.py").write_text(TOOLS)
    (home / "helper.py").write_text("def polite(text):\n    return f'{text}, madam'\n")
    (home / "icon.png").write_bytes(PNG)
    make_wheel(
        home / "wheels", "sizes_of_things", 'def size(name):\n    return f"{name} is large"\n'
    )
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--use-pep517",  # Debian's Python comes without `wheel`, which each setup.py would need
        "--wheel-dir",
        str(home / "wheels"),
        str(ROOT),
    ]
    assert peers.run(command, home).returncode == 0
    return home


def mcpb(home: Path, *words: str) -> str:
    cli = peers.installed_package("@anthropic-ai/mcpb") / "dist/cli/cli.js"
    done = peers.run(["node", str(cli), *words], home)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pack(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    more = {
        "PIP_FIND_LINKS": str(home / "wheels"),
        "API_KEY": "!",
        **{k: v for k, v in offline(home).items() if k[0] == "U"},
    }
    return peers.run(
        [sys.executable, "-m", "toolwire", "pack", "shop.py", "--author", "Jane", *words],
        home,
        more=more,
    )


def started(home: Path, folder: Path, value: dict[str, Any]) -> list[Any]:
    """Start an unpacked bundle as a host does, and use it."""
    given = value["server"]["mcp_config"]
    filled = json.loads(
        json.dumps(given)
        .replace("${__dirname}", str(folder))
        .replace("${user_config.API_KEY}", "?")
    )
    command = [shutil.which(filled["command"], path=offline(home)["PATH"]), *filled["args"]]
    env = {**offline(home), **filled["env"]}
    with connect(
        command, env=env, cwd=home / "wheels", start_timeout_seconds=peers.PATIENCE_SECONDS
    ) as client:
        names = [tool.name for tool in client.list_tools()]
        return [names, client.call_tool("size", {"name": "it"}).text]


@pytest.mark.parametrize("kind", ["uv", "python"])
def test_a_bundle_is_valid_and_serves_the_tools_where_it_is_unpacked(home: Path, kind: str) -> None:
    bundle = home / f"{kind}.mcpb"
    words = ["-o", str(bundle), "--env", "API_KEY", "--icon", "icon.png", "--registry", URL]
    done = pack(home, *words, *(["--vendored"] if kind == "python" else []))
    assert done.returncode == 0, done.stderr

    unpacked = home / f"unpacked {kind}"
    mcpb(home, "unpack", str(bundle), str(unpacked))
    assert "Manifest schema validation passes" in mcpb(home, "validate", str(unpacked))
    mcpb(home, "pack", str(unpacked), str(home / "again.mcpb"))

    manifest = json.loads((unpacked / "manifest.json").read_text())
    assert (manifest["server"]["type"], manifest["author"], manifest["icon"]) == (
        kind,
        {"name": "Jane"},
        "icon.png",
    )
    assert manifest["tools"] == [{"name": "size", "description": "Return the size of a thing."}]
    assert manifest["prompts_generated"] is True
    assert manifest["description"] == "The sizes of things in a shop."
    assert started(home, unpacked, manifest) == [["size"], "it is large, madam?"]

    entry = json.loads((home / "server.json").read_text())
    assert entry["packages"][0]["fileSha256"] == hashlib.sha256(bundle.read_bytes()).hexdigest()


def test_the_same_files_make_the_same_bundle(home: Path) -> None:
    digests = []
    for number in range(2):
        bundle = home / str(number) / "shop.mcpb"
        assert pack(home, "-o", str(bundle)).returncode == 0
        digests.append(hashlib.sha256(bundle.read_bytes()).hexdigest())
    assert digests[0] == digests[1]


def test_a_server_that_does_not_start_from_its_bundle_is_not_packed(home: Path) -> None:
    (home / "data.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('data.csv').read_text()\ndef f() ->"
        " int: ...\n"
    )
    (home / "data.csv").write_text("")
    command = [sys.executable, "-m", "toolwire", "pack", "data.py", "--author", "Jane"]
    done = peers.run(command, home)
    assert (done.returncode, (home / "data.mcpb").exists()) == (2, False)
    assert "data.csv" in done.stderr
    assert peers.run([*command, "--add", "data.csv"], home).returncode == 0
