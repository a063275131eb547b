"""Lists of mounted servers that are those of their last start."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server_process import wait_until
from toolwire import Server

pytestmark = pytest.mark.process

SCRIPT = Path(__file__).parents[2] / "support" / "foreign_server.py"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A foreign server that has listed `echo` once, and waits for the file `go` from now on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = tmp_path / "foreign"
    made.mkdir()
    write_lists(made, "echo")
    with open_server(made) as server:
        assert names(server) == ["there_echo"]
    (made / "wait").touch()
    (made / "journal").unlink()
    return made


def write_lists(folder: Path, *tools: str) -> None:
    entries = [{"name": name, "inputSchema": {"type": "object"}} for name in tools]
    (folder / "lists.json").write_text(json.dumps({"tools": entries}), encoding="utf-8")


def open_server(folder: Path, list_cache: Any = "always") -> Server:
    server = Server()
    server.mount([sys.executable, str(SCRIPT), str(folder)], "there", list_cache=list_cache)
    return server


def names(server: Server) -> list[str]:
    return [each["name"] for each in server.request("tools/list")["tools"]]


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with open_server(folder) as made:
        yield made


def test_list_is_that_of_the_last_start_and_starts_the_server(server: Server, folder: Path) -> None:
    assert names(server) == ["there_echo"]

    wait_until((folder / "journal").exists)
    (folder / "go").touch()
    assert not server.call("there_echo").get("isError")


def test_what_differs_is_listed_after_the_start(server: Server, folder: Path) -> None:
    write_lists(folder, "echo", "count")
    assert names(server) == ["there_echo"]
    assert server._mounts is not None
    (mounted,) = server._mounts._servers

    (folder / "go").touch()
    mounted.process.start().result(60)

    assert names(server) == ["there_echo", "there_count"]


def test_server_that_does_not_start_fails_its_calls_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_lists(tmp_path, "echo")
    with open_server(tmp_path) as server:
        names(server)
    (tmp_path / "lists.json").write_text("no JSON")
    with open_server(tmp_path) as server:
        assert names(server) == ["there_echo"]
        answer = server.call("there_echo")

    assert answer["isError"]
    assert "there" in answer["content"][0]["text"]


def test_nothing_is_remembered_unless_it_is_asked_for(folder: Path) -> None:
    (folder / "go").touch()
    with open_server(folder, "never") as server:
        write_lists(folder, "count")

        assert names(server) == ["there_count"]
