"""Files of several servers, as hosts keep them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from support import SUPPORT
from support.client_backends import FACES, nothing_leaks
from toolwire_agent import Toolbox
from toolwire_client import BadConfiguration, ClientError, NotStarted, ServerGone, connect_config
from toolwire_client.host_config import ServerConfig, read_config

LOOPS = FACES[1:]
FAKE = str(SUPPORT / "fake_server.py")
PYTHON = sys.executable


def fake(behaviour: str, **more: Any) -> dict[str, Any]:
    return {"command": PYTHON, "args": ["-IS", FAKE, behaviour], **more}


@pytest.mark.process
def test_every_server_of_a_file_is_connected_under_its_name(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(
        json.dumps({"mcpServers": {"old": fake("Server"), "new": fake("Modern", env={"A": "1"})}})
    )
    with nothing_leaks(), connect_config(file) as servers:
        assert {name: client.version for name, client in servers.items()} == {
            "old": "2025-06-18",
            "new": "2026-07-28",
        }
        assert servers.errors == {}
        assert servers["new"].call_tool("echo").structured["name"] == "echo"


@pytest.mark.process
@pytest.mark.parametrize("loop", LOOPS)
def test_what_fails_of_one_server_concerns_no_other(loop: str) -> None:
    config = {
        "mcpServers": {
            "fine": fake("Server"),
            "dead": fake("DiesAtTheHandshake"),
            "missing": {"command": "no-such-program"},
            "remote": {"type": "sse", "url": "https://example.com/mcp"},
            "off": fake("Server", disabled=True),
            "off too": fake("Server", enabled=False),
        }
    }

    async def main() -> None:
        async with connect_config(config) as servers:
            assert list(servers) == ["fine"]
            assert "dead" not in servers
            assert {name: type(error) for name, error in servers.errors.items()} == {
                "dead": ServerGone,
                "missing": NotStarted,
                "remote": BadConfiguration,
            }
            with pytest.raises(ServerGone, match="no licence found"):
                _ = servers["dead"]
            with pytest.raises(KeyError):
                _ = servers["off"]
            assert (await servers["fine"].call_tool("echo", {"a": 1})).text == '{"a": 1}'

    with nothing_leaks():
        anyio.run(main, backend=loop)


@pytest.mark.process
def test_threads_see_the_same_errors() -> None:
    config = {
        "servers": {
            "fine": fake("Server"),
            "dead": fake("DiesAtTheHandshake"),
            "also fine": fake("Modern"),
        }
    }
    with nothing_leaks(), connect_config(config) as servers:
        assert (sorted(servers), list(servers.errors)) == (["also fine", "fine"], ["dead"])


@pytest.mark.process
def test_servers_are_started_side_by_side(tmp_path: Path) -> None:
    """Each becomes ready only when the other has started."""
    script = tmp_path / "server.py"
    script.write_text(
        f"""
import pathlib, sys, time
sys.path.insert(0, {str(Path(FAKE).parent)!r})
import fake_server
mine, other = (pathlib.Path(__file__).with_name(name) for name in sys.argv[1:])
mine.touch()
while not other.exists():
    time.sleep(0.005)
fake_server.Server().serve()
"""
    )
    config = {
        "servers": {
            name: {"command": PYTHON, "args": [str(script), name, other]}
            for name, other in ("ab", "ba")
        }
    }
    with connect_config(config) as servers:
        assert sorted(servers) == ["a", "b"]


@pytest.mark.process
def test_an_exception_in_the_block_ends_all_servers() -> None:
    with (
        nothing_leaks(),
        pytest.raises(ZeroDivisionError),
        connect_config({"servers": {"a": fake("Server")}}),
    ):
        raise ZeroDivisionError


@pytest.mark.process
def test_all_tools_of_a_file_make_one_toolbox() -> None:
    with connect_config(
        {"servers": {"a": fake("Server"), "b": fake("Server"), "c": fake("Pages")}}
    ) as servers:
        tools = [tool.name for tool in Toolbox(servers).list_tools()]
    assert tools == ["a_echo", "b_echo", "tool0", "tool1", "tool2"]


def read(entry: Any, inputs: Any = None, folder: Path | None = None) -> Any:
    source: Any = {"servers": {"x": entry}}
    if folder is not None:
        (folder / "mcp.json").write_text(json.dumps(source))
        source = folder / "mcp.json"
    return read_config(source, inputs or {})["x"]


def test_what_is_left_open_is_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIVEN", "value")
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.delenv("MISSING", raising=False)
    project = tmp_path / "project"
    (project / ".vscode").mkdir(parents=True)
    entry = {
        "type": "stdio",
        "command": "~/bin/${GIVEN}",
        "args": [
            "${env:GIVEN}",
            "${MISSING:-default}",
            "${workspaceFolder}/x",
            "${userHome}",
            "$GIVEN",
            7,
        ],
        "env": {"KEY": "${input:key}", "NONE": None, "ON": True},
        "cwd": "..",
    }
    assert read(entry, {"key": "secret"}, project / ".vscode") == ServerConfig(
        command=[
            "/home/ann/bin/value",
            "value",
            "default",
            f"{project}/x",
            "/home/ann",
            "$GIVEN",
            "7",
        ],
        env={"KEY": "secret", "ON": "true"},
        cwd=str(project / ".vscode" / ".."),
    )


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_file_of_variables_is_read_and_gives_way_to_env(tmp_path: Path, mark: str) -> None:
    text = mark + 'A=1\n# keys=none\nexport B="two words"\n\nC=from file\nnonsense\n'
    (tmp_path / "vars").write_text(text, encoding="utf-8")
    config = read({"command": "x", "envFile": "vars", "env": {"C": "from env"}}, folder=tmp_path)
    assert config.env == {"A": "1", "B": "two words", "C": "from env"}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("python", "Expected `object`"),
        ({}, "missing required field `command`"),
        ({"command": ""}, "at `$.command`"),
        ({"command": "x", "args": "y"}, "at `$.args`"),
        ({"command": "x", "args": [[]]}, "at `$.args[0]`"),
        ({"command": "x", "env": ["A=1"]}, "at `$.env`"),
        ({"command": "x", "env": {"A": []}}, "at `$.env[...]`"),
        ({"command": "x", "cwd": 1.5}, "at `$.cwd`"),
        ({"command": "x", "args": ["${MISSING}"]}, "needs the environment variable MISSING"),
        ({"command": "${input:key}"}, "give inputs={'key': ...}"),
        ({"command": "x", "envFile": "nowhere"}, "cannot be read"),
        ({"type": "sse", "url": "https://example.com"}, "transport 'sse' is not used"),
    ],
)
def test_what_is_wrong_with_an_entry_is_reported(
    entry: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MISSING", raising=False)
    error = read(entry)
    assert isinstance(error, BadConfiguration)
    assert str(error).startswith("server 'x': ")
    assert said in str(error)


def test_a_file_of_variables_that_is_no_text_is_a_fault_of_its_server_alone(tmp_path: Path) -> None:
    (tmp_path / "vars").write_bytes(b"KEY=\xff")
    error = read({"command": "x", "envFile": "vars"}, folder=tmp_path)
    assert isinstance(error, BadConfiguration)
    assert "it is not UTF-8" in str(error)


def test_comments_and_trailing_commas_are_allowed_and_strings_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(
        """\ufeff// my servers
{ /* all
   of them */
  "servers": {
    "x": { "command": "a//b", "args": ["/* no comment */", "\\\\\\"//", ",]",], }, // the end
  },
}""",
        encoding="utf-8",
    )
    config = read_config(file, {})["x"]
    assert isinstance(config, ServerConfig)
    assert config.command == ["a//b", "/* no comment */", '\\"//', ",]"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (b"[]", 'no "mcpServers"'),
        (b'{"servers": []}', 'no "mcpServers"'),
        (b"{", ""),
        (b"[" * 10_000, ""),  # where Python has stack left, it is found to end too early
        (b'"\\' * 20_000, "truncated"),  # a string without end, which is looked through once
        (b'{"\xff": 1}', "not UTF-8 (byte 2)"),
    ],
)
def test_an_invalid_file_is_an_error_that_names_it(
    tmp_path: Path, written: bytes, said: str
) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(written)
    with pytest.raises(ClientError, match=r"mcp\.json") as caught:
        connect_config(file)
    assert said in str(caught.value)


def test_a_file_that_is_missing_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        connect_config(tmp_path / "mcp.json")
