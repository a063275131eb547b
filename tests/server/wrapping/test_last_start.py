"""Wrapped servers that take long to start: what a host gets from their last start."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from support.gated_start import (
    INITIALIZED,
    LIST,
    MODERN_LIST,
    GatedFolder,
    check_change,
    listen_for_changes,
    tool_names,
)
from support.server_process import (
    Process,
    call,
    request,
    wait_until,
)

pytestmark = pytest.mark.process

SERVER = """
import os, time
while not os.path.exists("gate"):
    time.sleep(0.01)
if os.path.exists("broken"):
    raise SystemExit("no database")
from toolwire import serve

def add(a: int, b: int) -> int:
    return a + b

def subtract(a: int, b: int) -> int:
    return a - b

tools = [add, subtract] if os.path.exists("more") else [add]
serve(tools, name="sums", version="2", instructions="Add.")
"""
CAPABILITIES: dict[str, Any] = {"roots": {}}
CALL = call("add", {"a": 1, "b": 2}, id="call")


def initialize(version: str = "2025-11-25", **capabilities: Any) -> dict[str, Any]:
    params = {
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": {"name": "host", "version": "1"},
    }
    return request("initialize", params, id="hello")


class Home(GatedFolder):
    """A folder with a server that starts when the gate opens."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "server.py").write_text(SERVER, encoding="utf-8")

    def wrap(self, *options: str) -> AbstractContextManager[Process]:
        """Wrap the server, which does not start before the gate is open."""
        return self.run("wrap", *options, "--", sys.executable, "server.py")

    def fill(self, *options: str, first: Any = None) -> None:
        """Let a start keep its lists."""
        with self.wrap("--list-cache", "always", *options) as process:
            self.open_gate()
            process.send(first or initialize(), LIST)
            process.receive()
            process.receive()
            wait_until(self.has_lists)
            process.hang_up()

    def has_lists(self) -> bool:
        return any(path.suffix == ".lists" for path in self.files())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize("mode", ["late", "always"])
def test_a_host_gets_handshake_and_lists_while_the_server_starts(home: Home, mode: str) -> None:
    home.fill()
    with home.wrap("--list-cache", mode) as process:
        process.send(initialize(), INITIALIZED, CALL, LIST)
        hello, listed = process.receive()["result"], process.receive()

        home.open_gate()

        assert hello["serverInfo"] == {"name": "sums", "version": "2"}
        assert hello["instructions"] == "Add."
        assert hello["capabilities"]["tools"] == {"listChanged": True}
        assert hello["protocolVersion"] == "2025-11-25"
        assert tool_names(listed) == ["add"]
        assert process.receive()["result"]["structuredContent"] == {"result": 3}
        assert process.hang_up() == []


def test_a_host_is_notified_of_what_the_server_lists_otherwise(home: Home) -> None:
    home.fill()
    (home.folder / "more").touch()
    with home.wrap("--list-cache", "always") as process:
        process.send(initialize(), INITIALIZED, LIST)
        process.receive()
        assert tool_names(process.receive()) == ["add"]

        home.open_gate()

        check_change(process, LIST, "add", "subtract")
        assert process.hang_up() == []


def test_a_modern_host_that_listens_is_notified_too(home: Home) -> None:
    home.fill(first=MODERN_LIST)
    (home.folder / "more").touch()
    with home.wrap("--list-cache", "always") as process:
        assert tool_names(process.ask(MODERN_LIST)) == ["add"]
        listen_for_changes(process)

        home.open_gate()

        check_change(process, MODERN_LIST, "add", "subtract")


def write_another_server(home: Home) -> None:
    (home.folder / "server.py").write_text(SERVER + "# changed\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "hello", "change"),
    [
        (("--list-cache", "never"), initialize(), None),
        (("--list-cache", "always", "--show", "search"), initialize(), None),
        (("--list-cache", "always"), initialize("2025-06-18"), None),
        (("--list-cache", "always"), initialize(elicitation={}), None),
        (("--list-cache", "always"), initialize(), write_another_server),
    ],
    ids=["never", "other options", "another revision", "other capabilities", "another program"],
)
def test_what_is_not_the_same_as_last_time_waits_for_the_server(
    home: Home, options: tuple[str, ...], hello: Any, change: Any
) -> None:
    home.fill()
    if change is not None:
        change(home)
    with home.wrap(*options) as process:
        process.send(hello, LIST, request("ping", id="ping"))

        assert process.receive()["id"] == "ping"

        home.open_gate()
        assert process.receive()["result"]["serverInfo"]["name"] == "sums"


def test_a_server_that_does_not_start_is_not_shown_again(home: Home) -> None:
    home.fill()
    (home.folder / "broken").touch()
    with home.wrap("--list-cache", "always") as process:
        process.send(initialize(), INITIALIZED, CALL)
        assert process.receive()["id"] == "hello"

        home.open_gate()

        failed = process.receive()
        assert failed["id"] == "call"
        assert "does not run" in failed["error"]["message"]
    assert home.files() == []


def test_without_a_cache_nothing_is_kept(home: Home) -> None:
    with home.wrap("--list-cache", "never") as process:
        home.open_gate()
        process.send(initialize(), LIST)
        process.receive()
        process.receive()
        process.hang_up()

    assert home.files() == []
