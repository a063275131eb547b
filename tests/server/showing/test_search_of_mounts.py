"""A search over the tools of mounted servers, and what starts them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.server_process import request, served
from toolwire import RequestError, Server

pytestmark = pytest.mark.process

SCRIPT = Path(__file__).parents[2] / "support" / "foreign_server.py"


def foreign(folder: Path, *names: str) -> list[str]:
    """Return the command of a server with tools of these *names*."""
    folder.mkdir()
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    (folder / "lists.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return [sys.executable, str(SCRIPT), str(folder)]


def has_started(folder: Path) -> bool:
    return (folder / "journal").exists()


def own(a: int) -> int:
    return a


def names_in(server: Server) -> list[str]:
    return [tool["name"] for tool in server.request("tools/list")["tools"]]


def test_list_names_mounted_servers_and_starts_none(tmp_path: Path) -> None:
    with Server([own], show="search") as server:
        server.mount(foreign(tmp_path / "a", "echo"), "there")

        listed = server.request("tools/list")["tools"]

        assert [tool["name"] for tool in listed] == ["search_tools", "call_tool"]
        assert listed[0]["description"].endswith("There are tools of there.")
        assert not has_started(tmp_path / "a")


def test_search_waits_for_the_lists_of_all_servers(tmp_path: Path) -> None:
    with Server([own], show="search") as server:
        server.mount(foreign(tmp_path / "a", "echo"), "first")
        server.mount(foreign(tmp_path / "b", "count"), "second")

        result = server.call("search_tools", {"query": "count of second"})

        assert "def second_count(" in result["content"][0]["text"]
        assert has_started(tmp_path / "a")


def test_call_by_name_starts_the_server_of_that_tool_alone(tmp_path: Path) -> None:
    with Server([own], show="search") as server:
        server.mount(foreign(tmp_path / "a", "echo"), "first")
        server.mount(foreign(tmp_path / "b", "count"), "second")

        meant = {"name": "first_echo", "arguments": {"a": 1}}
        by_name = server.call("call_tool", meant)

        assert by_name == server.call("first_echo", {"a": 1})
        assert not by_name.get("isError")
        assert not has_started(tmp_path / "b")


def test_name_that_a_mounted_server_does_not_have_is_unknown(tmp_path: Path) -> None:
    with Server([], show="search") as server:
        server.mount(foreign(tmp_path / "a", "echo"), "there")

        with pytest.raises(RequestError, match=r"^Unknown tool: ech; search for it first"):
            server.call("call_tool", {"name": "ech"})
        problem = r"^Unknown tool: there_ech; did you mean there_echo\?\n\ndef there_echo\("
        with pytest.raises(RequestError, match=problem):
            server.call("call_tool", {"name": "there_ech"})


def test_pinned_tool_of_a_mounted_server_is_listed(tmp_path: Path) -> None:
    with Server([own], show="search", pin=["there_e*"]) as server:
        server.mount(foreign(tmp_path / "a", "echo", "count"), "there")

        assert names_in(server) == ["search_tools", "call_tool", "there_echo"]


@pytest.mark.parametrize(("tokens", "expected"), [(1, "search_tools"), (10_000, "own")])
def test_auto_counts_the_tools_of_mounted_servers(
    tmp_path: Path, tokens: int, expected: str
) -> None:
    with Server([own], show="auto", show_tokens=tokens) as server:
        server.mount(foreign(tmp_path / "a", "echo"), "there")

        assert names_in(server)[0] == expected


def test_options_of_serve_choose_what_is_listed(tmp_path: Path) -> None:
    source = "def add(a: int) -> int:\n    return a\n\ndef sub(a: int) -> int:\n    return a\n"
    options = ["--show", "auto", "--show-tokens", "1", "--pin", "s*", "--pin", "t*"]
    with served(tmp_path, source, *options) as process:
        listed = process.ask(request("tools/list"))

    names = [tool["name"] for tool in listed["result"]["tools"]]
    assert names == ["search_tools", "call_tool", "sub"]


def test_failed_program_says_which_servers_have_not_listed_their_tools(tmp_path: Path) -> None:
    with Server([own], show="code") as server:
        server.mount(foreign(tmp_path / "a", "echo"), "there")
        server.mount([sys.executable, "-c", "raise SystemExit(3)"], "broken")

        failed = server.call("run_program", {"code": "broken.echo()"})
        other = server.call("run_program", {"code": "nothing"})

        text = failed["content"][0]["text"]
        assert failed["isError"]
        assert text.endswith(
            "NameError: name 'broken' is not defined\n"
            "These servers have not listed their tools, so no program can call them: broken."
        )
        assert other["content"][0]["text"].endswith("NameError: name 'nothing' is not defined")
