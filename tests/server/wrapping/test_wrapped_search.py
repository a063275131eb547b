"""A wrapped server whose list is replaced by a search: `toolwire wrap --show`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.sandbox_runs import need_sandbox
from support.server_process import Process, call, request, running

pytestmark = pytest.mark.process

READS = {"readOnlyHint": True}
SCRIPT = Path(__file__).parents[2] / "support" / "foreign_server.py"


@contextmanager
def wrapped(folder: Path, *options: str) -> Iterator[Process]:
    """A foreign server with the tools `echo` and `read.notes`, wrapped, after the handshake."""
    tools = [
        {"name": name, "description": f"About {name}.", "inputSchema": {"type": "object"}}
        for name in ("echo", "read.notes")
    ]
    (folder / "lists.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    command = (sys.executable, str(SCRIPT), str(folder))
    with running("-m", "toolwire", "wrap", *options, "--", *command) as process:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        process.ask(request("initialize", {**params, "clientInfo": {"name": "h", "version": "1"}}))
        process.send(request("notifications/initialized", id=...))
        yield process


def names_in(process: Process) -> list[str]:
    listed: dict[str, Any] = process.ask(request("tools/list"))["result"]
    return [tool["name"] for tool in listed["tools"]]


def test_list_of_a_wrapped_server_has_a_search_and_pinned_tools(tmp_path: Path) -> None:
    with wrapped(tmp_path, "--show", "search", "--pin", "ec*") as process:
        assert names_in(process) == ["search_tools", "call_tool", "echo"]


@pytest.mark.parametrize(("tokens", "first"), [("1", "search_tools"), ("10000", "echo")])
def test_auto_counts_the_tokens_of_its_list(tmp_path: Path, tokens: str, first: str) -> None:
    with wrapped(tmp_path, "--show", "auto", "--show-tokens", tokens) as process:
        assert names_in(process)[0] == first


def test_search_and_call_have_the_names_that_the_host_takes(tmp_path: Path) -> None:
    with wrapped(tmp_path, "--show", "search", "--for", "vscode") as process:
        found = process.ask(call("search_tools", {"query": "notes"}))["result"]
        assert "def read_notes(" in found["content"][0]["text"]

        by_name = process.ask(call("call_tool", {"name": "read_notes", "arguments": {"a": 1}}))
        direct = process.ask(call("read_notes", {"a": 1}))

    assert "result" in direct
    assert by_name == direct


def test_program_calls_the_tools_of_a_wrapped_server(tmp_path: Path) -> None:
    need_sandbox()
    tools = tmp_path / "shop.py"
    tools.write_text(
        "from toolwire import tool_api\n\n@tool_api(read_only=True)\ndef price(n: int) -> int:\n"
        "    return 10 * n\n"
    )
    command = (sys.executable, "-m", "toolwire", "serve", str(tools))
    options = ("--show", "code", "--trust-hints", "yes")
    with running("-m", "toolwire", "wrap", *options, "--", *command) as process:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        process.ask(request("initialize", {**params, "clientInfo": {"name": "h", "version": "1"}}))
        process.send(request("notifications/initialized", id=...))
        assert names_in(process) == ["search_tools", "run_program"]

        result = process.ask(call("run_program", {"code": "sum(map(price, range(4)))"}))["result"]

    assert result["content"][0]["text"] == "60"


def test_recording_names_the_program_of_a_call_and_progress_reaches_the_host(
    tmp_path: Path,
) -> None:
    need_sandbox()
    tools = [{"name": "count", "inputSchema": {"type": "object"}, "annotations": READS}]
    (tmp_path / "lists.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    options = ("--show", "code", "--trust-hints", "yes", "--record", str(tmp_path / "r.jsonl"))
    command = (sys.executable, str(SCRIPT), str(tmp_path))
    with running("-m", "toolwire", "wrap", *options, "--", *command) as process:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        process.ask(request("initialize", {**params, "clientInfo": {"name": "h", "version": "1"}}))
        process.send(request("notifications/initialized", id=...))
        program = {"name": "run_program", "arguments": {"code": "1\ncount()"}}
        asked = {**program, "_meta": {"progressToken": "p"}}
        process.send(request("tools/call", asked, id="outer"))
        messages: list[Any] = []
        while not messages or messages[-1].get("id") != "outer":
            messages.append(process.receive())

    reports = [each["params"]["message"] for each in messages if "method" in each]
    assert any(report.endswith("; count: 1 of 2") for report in reports)
    recorded = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    calls = [line["message"] for line in recorded if _is_call(line)]
    assert [call["params"]["_meta"]["toolwire/program"] for call in calls] == [
        {"call": "outer", "line": 2}
    ]


def _is_call(line: dict[str, Any]) -> bool:
    message = line.get("message")
    return isinstance(message, dict) and message.get("method") == "tools/call"


def test_list_that_stays_unread_cannot_be_searched() -> None:
    with running(
        "-m", "toolwire", "wrap", "--show", "search", "--without", "schemas", "--", "x"
    ) as process:
        assert process.wait() == 2
        assert "--show reads the list of tools" in process.stderr()
