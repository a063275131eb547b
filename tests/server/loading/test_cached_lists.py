"""Lists of an earlier start, while a server process imports the user's modules."""

from __future__ import annotations

import os
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
    MODERN,
    Process,
    call,
    request,
    wait_until,
)
from toolwire_schemas.wire.messages import LEGACY_VERSIONS, MODERN_VERSIONS

pytestmark = pytest.mark.process

INITIALIZE = request("initialize", {"protocolVersion": "2025-11-25"}, id="hello")
SOURCE = """
import os, time
EXTRA
open("importing", "w").close()
while not os.path.exists("gate"):
    time.sleep(0.01)

def add(a: int, b: int) -> int:
    '''Add two numbers.'''
    return a + b

for name in os.environ.get("MORE", "").split():
    exec(f"def {name}() -> None: 'More.'")
if "FAILS" in os.environ:
    raise ValueError("no database")
"""

FASTMCP = """
import os, time
from fastmcp import FastMCP
while not os.path.exists("gate"):
    time.sleep(0.01)
mcp = FastMCP("Sums", instructions=os.environ.get("INSTRUCTIONS", "Add."), version="3.1")

@mcp.tool
def add(a: int, b: int) -> int:
    return a + b

@mcp.prompt
def greet() -> str:
    return "Hi"
"""


class Home(GatedFolder):
    """A folder with a tools file, whose import ends when the gate opens."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.write(SOURCE.replace("EXTRA", ""))

    def write(self, source: str) -> None:
        (self.folder / "tools.py").write_text(source, encoding="utf-8")

    def serve(self, *options: str, **env: str) -> AbstractContextManager[Process]:
        """Run the server; its import waits from now on."""
        return self.run("serve", "tools.py", *options, **env)

    def fill(self, *options: str, **more: str) -> None:
        """Let a start keep its lists."""
        with self.serve("--list-cache", "always", *options, **more) as process:
            self.open_gate()
            process.send(INITIALIZE, INITIALIZED, LIST)
            process.hang_up()
            assert process.wait() == 0, process.stderr()
        assert self.files(), process.stderr()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize("mode", ["late", "always"])
def test_a_list_is_answered_during_an_import_and_a_call_after_it(home: Home, mode: str) -> None:
    home.fill()
    with home.serve("--list-cache", mode) as process:
        process.send(INITIALIZE, INITIALIZED, call("add", {"a": 1, "b": 2}, id="call"), LIST)
        assert process.receive()["id"] == "hello"
        listed = process.receive()

        home.open_gate()

        assert tool_names(listed) == ["add"]
        assert listed["result"]["tools"][0]["description"] == "Add two numbers."
        assert process.receive()["result"]["structuredContent"] == {"result": 3}
        assert process.hang_up() == []


@pytest.mark.parametrize("source", [SOURCE.replace("EXTRA", ""), FASTMCP], ids=["plain", "FastMCP"])
@pytest.mark.parametrize("revision", [*LEGACY_VERSIONS, *MODERN_VERSIONS])
def test_clients_of_every_revision_are_ready_during_an_import(
    home: Home, revision: str, source: str
) -> None:
    home.write(source)
    home.fill("--adopt")
    opening: list[Any] = [
        request("initialize", {"protocolVersion": revision}, id="hello"),
        INITIALIZED,
        LIST,
    ]
    if revision in MODERN_VERSIONS:
        opening = [request("server/discover", {"_meta": MODERN}, id="hello"), MODERN_LIST]
    with home.serve("--adopt") as process:
        for message in opening:
            process.send(message)
            if "id" in message:
                assert process.receive()["id"] == message["id"]


def test_a_long_import_keeps_lists_without_the_option(home: Home) -> None:
    with home.serve("--log-level", "debug") as process:
        wait_until(lambda: "no valid lists" in process.stderr_so_far())
        home.open_gate()
        process.ask(LIST)
        process.hang_up()
        process.wait()

    assert len(home.files()) == 1


def test_without_a_cache_a_list_waits_for_the_import(home: Home) -> None:
    home.fill()
    with home.serve("--list-cache", "never") as process:
        process.send(INITIALIZE, INITIALIZED, LIST, request("ping", id="ping"))
        assert [process.receive()["id"] for _ in range(2)] == ["hello", "ping"]

        home.open_gate()

        assert tool_names(process.receive()) == ["add"]


def test_what_differs_after_the_import_is_announced(home: Home) -> None:
    home.fill()
    with home.serve("--list-cache", "always", MORE="subtract") as process:
        process.send(INITIALIZE, INITIALIZED, LIST)
        process.receive()
        assert tool_names(process.receive()) == ["add"]

        home.open_gate()

        check_change(process, LIST, "add", "subtract")
        assert process.hang_up() == []
    with home.serve("--list-cache", "always", MORE="subtract") as process:
        assert tool_names(process.ask(LIST)) == ["add", "subtract"]


def test_a_modern_client_that_listens_is_notified_of_what_differs(home: Home) -> None:
    home.fill()
    with home.serve("--list-cache", "always", MORE="subtract") as process:
        listed = process.ask(MODERN_LIST)
        assert tool_names(listed) == ["add"]
        assert (listed["result"]["ttlMs"], listed["result"]["cacheScope"]) == (0, "private")
        listen_for_changes(process)

        home.open_gate()

        check_change(process, MODERN_LIST, "add", "subtract")


def change_the_file(home: Home) -> None:
    home.write(SOURCE.replace("EXTRA", "# changed"))


def change_a_module_that_it_imports(home: Home) -> None:
    (home.folder / "helper.py").write_text("B = 2\n", encoding="utf-8")


def describe_the_tools(home: Home) -> None:
    (home.folder / "tools_config.yaml").write_text("{}\n", encoding="utf-8")


@pytest.mark.parametrize(
    "change", [change_the_file, change_a_module_that_it_imports, describe_the_tools]
)
def test_lists_of_a_changed_source_do_not_answer(home: Home, change: Any) -> None:
    (home.folder / "helper.py").write_text("B = 1\n", encoding="utf-8")
    home.write(SOURCE.replace("EXTRA", "import helper"))
    home.fill()
    change(home)
    with home.serve("--list-cache", "always", "--log-level", "debug") as process:
        process.send(INITIALIZE, INITIALIZED, LIST, request("ping", id="ping"))
        assert [process.receive()["id"] for _ in range(2)] == ["hello", "ping"]
        wait_until(lambda: "cached lists are ignored" in process.stderr_so_far())


@pytest.mark.parametrize(
    "options", [("--exclude", "other"), ("--limit", "page_size=3"), ("--show", "search")]
)
def test_lists_of_other_options_do_not_answer(home: Home, options: tuple[str, ...]) -> None:
    home.fill()
    with home.serve("--list-cache", "always", *options) as process:
        process.send(INITIALIZE, INITIALIZED, LIST, request("ping", id="ping"))

        assert [process.receive()["id"] for _ in range(2)] == ["hello", "ping"]


def test_pages_have_the_same_cursors_during_an_import_and_after_it(home: Home) -> None:
    options = ("--limit", "page_size=1")
    home.fill(*options, MORE="subtract")
    with home.serve("--list-cache", "always", *options, MORE="subtract") as process:
        first = process.ask(LIST)
        second = request("tools/list", {"cursor": first["result"]["nextCursor"]}, id="second")
        early = process.ask(second)
        home.open_gate()
        assert process.ask(call("add", {"a": 1, "b": 2}))["result"]["structuredContent"]

        assert tool_names(first) == ["add"]
        assert process.ask(second) == early
        assert tool_names(early) == ["subtract"]


def test_a_search_and_the_names_of_a_host_are_listed_during_an_import(home: Home) -> None:
    options = ("--show", "search", "--for", "gemini")
    home.fill(*options)
    with home.serve("--list-cache", "always", *options) as process:
        early = process.ask(LIST)
        home.open_gate()
        process.ask(call("search_tools", {"query": "add"}))

        assert tool_names(early) == ["search_tools", "call_tool"]
        assert process.ask(LIST) == early


def test_the_handshake_of_a_fastmcp_file_is_that_of_its_last_start(home: Home) -> None:
    home.write(FASTMCP)
    home.fill("--adopt")
    with home.serve("--list-cache", "always", "--adopt") as process:
        early = process.ask(INITIALIZE)["result"]
        prompts = process.ask(request("prompts/list"))["result"]["prompts"]

    assert early["serverInfo"] == {"name": "Sums", "version": "3.1"}
    assert early["instructions"] == "Add."
    assert early["capabilities"].keys() == {"tools", "prompts", "logging", "tasks"}
    assert [prompt["name"] for prompt in prompts] == ["greet"]


def test_instructions_that_have_changed_are_logged_and_shown_from_then_on(home: Home) -> None:
    home.write(FASTMCP)
    home.fill("--adopt")
    options = ("--list-cache", "always", "--adopt")
    with home.serve(*options, INSTRUCTIONS="Subtract.") as process:
        assert process.ask(INITIALIZE)["result"]["instructions"] == "Add."
        home.open_gate()
        process.ask(call("add", {"a": 1, "b": 2}))
        assert process.ask(INITIALIZE)["result"]["instructions"] == "Subtract."
        process.hang_up()
        assert "connect again" in process.stderr()


def test_an_import_that_fails_ends_the_process_and_forgets_its_lists(home: Home) -> None:
    home.fill()
    with home.serve("--list-cache", "always", FAILS="yes") as process:
        process.send(INITIALIZE, INITIALIZED, LIST, call("add", {"a": 1, "b": 2}, id="call"))
        process.receive()
        assert tool_names(process.receive()) == ["add"]

        home.open_gate()

        failed = process.receive()
        assert failed["id"] == "call"
        assert "tools.py, line 15" in failed["error"]["message"]
        assert process.wait() == 2
    assert home.files() == []


def test_a_server_that_is_killed_during_an_import_leaves_its_lists_as_they_were(
    home: Home,
) -> None:
    home.fill()
    [before] = home.files()
    text = before.read_bytes()
    with home.serve("--list-cache", "always", MORE="subtract") as process:
        process.ask(LIST)

        process.popen.kill()
        process.wait()

    assert home.files() == [before]
    assert before.read_bytes() == text


def test_a_file_that_is_written_during_its_import_leaves_no_lists(home: Home) -> None:
    with home.serve("--list-cache", "always", "--log-level", "debug") as process:
        process.ask(INITIALIZE)
        wait_until(home.importing.exists)
        change_the_file(home)
        home.open_gate()
        process.ask(LIST)
        process.hang_up()
        assert "was written when the server started" in process.stderr()

    assert home.files() == []


def test_a_short_import_leaves_no_lists(home: Home) -> None:
    with home.serve() as process:
        home.open_gate()
        process.ask(LIST)
        process.hang_up()

    assert home.files() == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such modes")
def test_a_cache_that_others_may_write_to_is_ignored(home: Home) -> None:
    home.fill()
    [file] = home.files()
    file.parent.chmod(0o777)
    with home.serve("--list-cache", "always", "--log-level", "debug") as process:
        process.send(LIST, request("ping", id="ping"))

        assert process.receive()["id"] == "ping"
        wait_until(lambda: "others may use" in process.stderr_so_far())
