"""Wrapped servers that take long to start: what a host gets from their last start."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.server_process import (
    MODERN,
    Process,
    call,
    filtered_environment,
    request,
    running,
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
INITIALIZED = request("notifications/initialized", id=...)
LIST = request("tools/list", id="list")
CALL = call("add", {"a": 1, "b": 2}, id="call")


def initialize(version: str = "2025-11-25", **capabilities: Any) -> dict[str, Any]:
    params = {
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": {"name": "host", "version": "1"},
    }
    return request("initialize", params, id="hello")


class Home:
    """A folder with a server that starts as soon as there is a file called gate."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.caches = folder / "caches"
        (folder / "server.py").write_text(SERVER, encoding="utf-8")

    @contextmanager
    def wrap(self, *options: str) -> Iterator[Process]:
        """Wrap the server, which does not start before the gate is open."""
        (self.folder / "gate").unlink(missing_ok=True)
        env = {**filtered_environment(), "XDG_CACHE_HOME": str(self.caches)}
        words = ("-m", "toolwire", "wrap", *options, "--", sys.executable, "server.py")
        with running(*words, env=env, cwd=self.folder) as process:
            yield process

    def open_gate(self) -> None:
        (self.folder / "gate").touch()

    def fill(self, *options: str, first: Any = None) -> None:
        """Let a start keep its lists."""
        with self.wrap("--list-cache", "always", *options) as process:
            self.open_gate()
            process.send(first or initialize(), LIST)
            process.receive()
            process.receive()
            wait_until(lambda: bool(self.files()))
            process.hang_up()

    def files(self) -> list[Path]:
        return [path for path in self.caches.rglob("*.lists") if path.is_file()]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def tool_names(response: Any) -> list[str]:
    return [tool["name"] for tool in response["result"]["tools"]]


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

        assert process.receive()["method"] == "notifications/tools/list_changed"
        assert tool_names(process.ask(LIST)) == ["add", "subtract"]
        assert process.hang_up() == []


def test_a_modern_host_that_listens_is_notified_too(home: Home) -> None:
    listing = request("tools/list", {"_meta": MODERN}, id="list")
    home.fill(first=listing)
    (home.folder / "more").touch()
    listen = {"notifications": {"toolsListChanged": True}, "_meta": MODERN}
    with home.wrap("--list-cache", "always") as process:
        assert tool_names(process.ask(listing)) == ["add"]
        acknowledged = process.ask(request("subscriptions/listen", listen, id="listen"))
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"

        home.open_gate()

        assert process.receive()["method"] == "notifications/tools/list_changed"
        assert tool_names(process.ask(listing)) == ["add", "subtract"]


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
