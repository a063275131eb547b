"""Mounted servers whose lists come from a lock: which of them run, and when."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command_line import CommandLine
from support.server_process import call, request, running, wait_until
from toolwire import RequestError, Server
from toolwire.mounting.locking import LockedEntries
from toolwire.mounting.mounts import MAX_STARTS

pytestmark = pytest.mark.process

SCRIPT = Path(__file__).parents[2] / "support" / "foreign_server.py"


def tool(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


class Foreign:
    """A foreign server in *folder*, which lists *lists*."""

    def __init__(self, folder: Path, **lists: Any) -> None:
        folder.mkdir()
        self.folder = folder
        self.command = [sys.executable, str(SCRIPT), str(folder)]
        self.list(**lists)

    def list(self, **lists: Any) -> None:
        (self.folder / "lists.json").write_text(json.dumps(lists), encoding="utf-8")

    @property
    def starts(self) -> int:
        """How often it was started."""
        journal = self.folder / "journal"
        lines = journal.read_text("utf-8").splitlines() if journal.exists() else []
        return sum(json.loads(line).get("method") == "initialize" for line in lines)


@pytest.fixture
def foreign(tmp_path: Path) -> Foreign:
    return Foreign(tmp_path / "foreign", tools=[tool("echo"), tool("count")])


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


def write_lock(folder: Path, *tools: dict[str, Any], **members: Any) -> LockedEntries:
    lock = {"version": 2, "tools": list(tools), **members}
    (folder / "lock.json").write_text(json.dumps(lock), encoding="utf-8")
    return LockedEntries(str(folder / "lock.json"))


def names(server: Server) -> list[str]:
    return [each["name"] for each in server.request("tools/list")["tools"]]


def test_list_and_search_start_nothing_and_a_call_starts_its_server_alone(
    foreign: Foreign, tmp_path: Path
) -> None:
    other = Foreign(tmp_path / "other", tools=[tool("echo")])
    lock = write_lock(tmp_path, tool("a_echo"), tool("a_count"), tool("b_echo"))
    with Server(show="search") as server:
        server.mount(foreign.command, "a", lock=lock)
        server.mount(other.command, "b", lock=lock)
        assert names(server) == ["search_tools", "call_tool"]
        found = server.call("search_tools", {"query": "count"})["content"][0]["text"]
        assert "def a_count(" in found
        assert (foreign.starts, other.starts) == (0, 0)

        assert not server.call("call_tool", {"name": "a_echo"}).get("isError")

        assert (foreign.starts, other.starts) == (1, 0)


def test_a_server_that_is_as_approved_changes_no_list(server: Server, foreign: Foreign) -> None:
    schema = {"type": "object", "required": ["b", "a"], "properties": {"a": {}, "b": {}}}
    foreign.list(tools=[tool("zoom"), {**tool("echo"), "inputSchema": schema, "title": None}])
    schema = {**schema, "required": ["a", "b"]}
    locked = {**tool("there_echo"), "inputSchema": schema}
    lock = write_lock(foreign.folder.parent, locked, tool("there_zoom"))
    server.mount(foreign.command, "there", lock=lock)
    before = server.request("tools/list")

    server.call("there_echo", {"a": 1, "b": 2})

    assert foreign.starts == 1
    assert server.request("tools/list") == before


def test_a_change_refuses_the_first_call_and_the_tool_is_listed_no_more(
    server: Server, foreign: Foreign
) -> None:
    annotations = {"readOnlyHint": True}
    lock = write_lock(
        foreign.folder.parent, tool("there_echo", annotations=annotations), tool("there_count")
    )
    server.mount(foreign.command, "there", lock=lock)

    with pytest.raises(RequestError, match="there_echo is refused, since it is not what was"):
        server.call("there_echo")

    assert names(server) == ["there_count"]


def test_a_tool_that_is_gone_and_one_that_is_new_cannot_be_called(
    server: Server, foreign: Foreign
) -> None:
    lock = write_lock(foreign.folder.parent, tool("there_echo"), tool("there_gone"))
    server.mount(foreign.command, "there", lock=lock)

    with pytest.raises(RequestError, match="there_gone is in the lock, but the mounted server"):
        server.call("there_gone")
    with pytest.raises(RequestError, match=r"there_count is refused.*it is not in the lock"):
        server.call("there_count")

    assert names(server) == ["there_echo"]


def test_approved_texts_are_shown_before_and_after_a_start(
    server: Server, foreign: Foreign
) -> None:
    foreign.list(tools=[tool("echo", description="Obey.")])
    lock = write_lock(foreign.folder.parent, tool("there_echo", description="Echo."))
    server.mount(foreign.command, "there", lock=lock)
    before = server.request("tools/list")

    server.call("there_echo")

    assert before["tools"][0]["description"] == "Echo."
    assert server.request("tools/list") == before


def test_concurrent_first_calls_start_a_server_once(server: Server, foreign: Foreign) -> None:
    server.mount(
        foreign.command, "there", lock=write_lock(foreign.folder.parent, tool("there_echo"))
    )
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(server.call("there_echo"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(results) == 8
    assert foreign.starts == 1


def test_a_start_that_fails_is_the_answer_and_the_next_call_tries_again(
    server: Server, foreign: Foreign
) -> None:
    gate = foreign.folder / "gate"
    script = f"""
import os, runpy, sys
if not os.path.exists({str(gate)!r}):
    sys.exit("no gate")
sys.argv[1:] = [{str(foreign.folder)!r}]
runpy.run_path({str(SCRIPT)!r}, None, "__main__")
"""
    lock = write_lock(foreign.folder.parent, tool("there_echo"))
    server.mount([sys.executable, "-c", script], "there", lock=lock)

    failed = server.call("there_echo")
    gate.touch()
    answered = server.call("there_echo")

    assert failed["isError"]
    assert "the mounted server there does not run" in failed["content"][0]["text"]
    assert not answered.get("isError")


def test_an_idle_server_ends_and_the_next_call_starts_it(server: Server, foreign: Foreign) -> None:
    server.mount(foreign.command, "there", idle_seconds=0.05)

    def has_ended() -> bool:
        assert server._mounts is not None
        return all(mount.process.current is None for mount in server._mounts._servers)

    for starts in range(1, 6):  # no pause before the later ones: the server has not failed
        assert not server.call("there_echo").get("isError")
        assert foreign.starts == starts
        wait_until(has_ended)

    assert names(server) == ["there_echo", "there_count"]
    assert foreign.starts == 5  # the lists of the last start stay


def test_a_resource_of_a_lock_is_read_from_the_server_that_has_it(
    foreign: Foreign, tmp_path: Path, server: Server
) -> None:
    note = {"uri": "notes://a", "name": "a"}
    lock = write_lock(tmp_path, resources=[note], servers={"notes://a": "notes"})
    notes = Foreign(tmp_path / "notes", tools=[], resources=[note])
    server.mount(foreign.command, "there", lock=lock)
    server.mount(notes.command, "notes", lock=lock)
    assert server.request("resources/list")["resources"] == [note]

    server.request("resources/read", {"uri": "notes://a"})

    assert (foreign.starts, notes.starts) == (0, 1)


@pytest.mark.parametrize(
    "entry", [tool("a_x", inputSchema=3), tool("a_x", inputSchema={}), tool("a_x", outputSchema=1)]
)
def test_an_entry_of_an_edited_lock_that_hosts_cannot_read_is_left_out(
    server: Server, foreign: Foreign, entry: Any
) -> None:
    lock = write_lock(foreign.folder.parent, entry, tool("a_echo"), tool("unknown_x"))
    server.mount(foreign.command, "a", lock=lock)

    assert names(server) == ["a_echo"]


def test_a_hundred_locked_servers_are_listed_without_a_process(tmp_path: Path) -> None:
    servers, tools = {}, []
    for number in range(100):
        servers[f"s{number}"] = {"command": "no-such-program", "args": [str(number)]}
        tools.append(tool(f"s{number}_look"))
    (tmp_path / "hosts.json").write_text(json.dumps({"mcpServers": servers}))
    write_lock(tmp_path, *tools)
    options = (
        "--mount-config",
        str(tmp_path / "hosts.json"),
        "--lock",
        str(tmp_path / "lock.json"),
    )
    with running("-m", "toolwire", "serve", *options) as process:
        listed = process.ask(request("tools/list"))["result"]["tools"]
        children = Path(f"/proc/{process.popen.pid}/task/{process.popen.pid}/children")
        started = children.read_text().split() if children.exists() else []
        failed = process.ask(call("s7_look", {}))

    assert len(listed) == 100
    assert started == []
    assert "the mounted server s7 does not run" in failed["result"]["content"][0]["text"]


def test_lock_of_a_config_has_the_servers_that_start_and_names_the_others(
    command_line: CommandLine, foreign: Foreign, tmp_path: Path
) -> None:
    program, *args = foreign.command
    broken = {"command": sys.executable, "args": ["-c", "1/0"]}
    config = {"good": {"command": program, "args": args}, "broken": broken}
    (tmp_path / "host.json").write_text(json.dumps({"mcpServers": config}))
    foreign.list(tools=[tool("echo")], resources=[{"uri": "notes://a", "name": "a"}])

    done = command_line("lock", "--config", "host.json")

    assert done.returncode == 1
    assert done.stdout == "Locked 1 tool, 1 resource in host.lock.json.\n"
    problem = "toolwire: the mounted server broken does not run: the server ended with exit status"
    assert problem in done.stderr
    assert done.stderr.count("ZeroDivisionError") == 1
    assert foreign.starts == 1
    lock = json.loads((tmp_path / "host.lock.json").read_text())
    assert [entry["name"] for entry in lock["tools"]] == ["good_echo"]
    assert lock["servers"] == {"notes://a": "good"}


def test_lock_of_a_config_keeps_the_entries_of_a_server_that_does_not_start(
    command_line: CommandLine, foreign: Foreign, tmp_path: Path
) -> None:
    program, *args = foreign.command
    servers = {"a": {"command": program, "args": args}}
    servers |= {"b": {"command": "none"}, "c": {"command": "none"}}
    (tmp_path / "host.json").write_text(json.dumps({"mcpServers": servers}))
    note = {"uri": "notes://b", "name": "b"}
    write_lock(tmp_path, tool("b_look"), resources=[note], servers={"notes://b": "b"})

    done = command_line("lock", "lock.json", "--config", "host.json", "--update")

    assert done.returncode == 1
    outcomes = [line.rpartition("; ")[2] for line in done.stderr.splitlines() if "; " in line]
    assert outcomes == ["its entries in the lock stay", "it is not in the lock"]
    lock = json.loads((tmp_path / "lock.json").read_text())
    assert [entry["name"] for entry in lock["tools"]] == ["a_count", "a_echo", "b_look"]
    assert lock["servers"] == {"notes://b": "b"}


def test_lock_of_a_config_none_of_whose_servers_starts_writes_nothing(
    command_line: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "host.json").write_text('{"mcpServers": {"b": {"command": "none"}}}')

    done = command_line("lock", "--config", "host.json")

    assert done.returncode == 1
    assert "host.lock.json is not written: the mounted server b does not run" in done.stderr
    assert not (tmp_path / "host.lock.json").exists()


def test_lock_of_a_config_starts_a_few_servers_at_once(
    command_line: CommandLine, tmp_path: Path
) -> None:
    # Each adds its process to the folder for as long as it runs, and writes how many there are.
    script = """
import os, pathlib, sys
here = pathlib.Path(sys.argv[1])
own = here / str(os.getpid())
own.touch()
with (here.parent / "counts").open("a") as counts:
    print(len(list(here.iterdir())), file=counts)
own.unlink()
sys.exit(1)
"""
    (tmp_path / "running").mkdir()
    (tmp_path / "script.py").write_text(script)
    entry = {"command": sys.executable, "args": ["script.py", str(tmp_path / "running")]}
    servers = {f"s{number}": {**entry, "cwd": str(tmp_path)} for number in range(20)}
    (tmp_path / "host.json").write_text(json.dumps({"mcpServers": servers}))

    command_line("lock", "--config", "host.json")

    counts = [int(line) for line in (tmp_path / "counts").read_text().splitlines()]
    assert len(counts) >= 20
    assert max(counts) <= MAX_STARTS
