"""`confirm` over the wire: in both eras, in every place where a tool can run, and for clients that
cannot ask.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command_line import CommandLine
from support.server_process import MODERN, Process, call, request, served
from support.terminal import Terminal
from toolwire import Server, tool_api
from toolwire_client import Elicitation, NoAnswer, connect

pytestmark = pytest.mark.process

TOOLS = '''
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from toolwire import tool_api

@tool_api(confirm="Really remove {path}?", destructive=True)
def remove(path: Path) -> str:
    """Remove a file."""
    path.unlink()
    return "removed"

@tool_api(confirm="Really remove {path}?")
async def remove_async(path: Path) -> str:
    """Remove a file."""
    path.unlink()
    return "removed"

@tool_api(confirm="Really remove {path}?")
def remove_slowly(path: Path) -> Iterator[str]:
    """Remove a file."""
    path.unlink()
    yield "removed"

@tool_api(confirm=lambda path: f"Really remove {str(path)!r}?".replace("'", '"'), runs_in="process")
def remove_there(path: Path) -> str:
    """Remove a file."""
    path.unlink()
    return "removed"

@tool_api(confirm="Really remove {path}?", runs_in="process")
async def remove_there_async(path: Path) -> str:
    """Remove a file."""
    path.unlink()
    return "removed"

@tool_api
def ping() -> str:
    """Reply."""
    return "pong"
'''
NAMES = ["remove", "remove_async", "remove_slowly", "remove_there", "remove_there_async"]
FORM = {
    "type": "object",
    "properties": {"answer": {"type": "boolean", "title": "Answer"}},
    "required": ["answer"],
}
ASKING = {**MODERN, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
YES = {"action": "accept", "content": {"answer": True}}
REPLIES: list[tuple[Any, str | None]] = [
    (YES, None),
    ({"action": "accept", "content": {"answer": False}}, "The user said no."),
    ({"action": "accept"}, "invalid"),
    ({"action": "decline"}, "declined"),
    ({"action": "cancel"}, "closed"),
]


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with served(tmp_path_factory.mktemp("served"), TOOLS) as process:
        yield process


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with served(tmp_path_factory.mktemp("plain"), TOOLS) as process:
        yield process


@pytest.fixture
def legacy(tmp_path: Path) -> Iterator[Process]:
    with served(tmp_path, TOOLS) as process:
        params = {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}}
        assert "result" in process.ask(request("initialize", params, id=0))
        yield process


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "notes"
    file.touch()
    return file


def check_outcome(result: Any, path: Path, problem: str | None) -> None:
    text = result["content"][0]["text"]
    assert result["isError"] is (problem is not None), text
    assert path.exists() is (problem is not None)
    if problem is not None:
        assert "did not run, since it needs the user's consent" in text
        assert problem in text


@pytest.mark.parametrize("name", NAMES)
def test_a_legacy_client_is_asked_before_the_tool_runs(
    legacy: Process, path: Path, name: str
) -> None:
    for number, (reply, problem) in enumerate(reversed(REPLIES)):
        asked = legacy.ask(call(name, {"path": str(path)}, id=number))
        assert asked["method"] == "elicitation/create"
        assert asked["params"] == {"message": f'Really remove "{path}"?', "requestedSchema": FORM}
        assert path.exists()
        answer = legacy.ask({"jsonrpc": "2.0", "id": asked["id"], "result": reply})
        check_outcome(answer["result"], path, problem)


@pytest.mark.parametrize("name", NAMES)
def test_a_modern_client_is_answered_with_the_question(
    process: Process, path: Path, name: str
) -> None:
    for number, (reply, problem) in enumerate(reversed(REPLIES)):
        params = {"name": name, "arguments": {"path": str(path)}, "_meta": ASKING}
        asked = process.ask(request("tools/call", params, 2 * number))["result"]
        assert asked["resultType"] == "input_required"
        (entry,) = asked["inputRequests"].values()
        assert entry["params"]["message"] == f'Really remove "{path}"?'
        assert path.exists()
        again = {
            **params,
            "inputResponses": {"answer": reply},
            "requestState": asked["requestState"],
        }
        answer = process.ask(request("tools/call", again, 2 * number + 1))
        check_outcome(answer["result"], path, problem)


def test_consent_to_one_call_is_not_consent_to_another(
    process: Process, path: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.touch()
    params = {"name": "remove", "arguments": {"path": str(path)}, "_meta": ASKING}
    asked = process.ask(request("tools/call", params, 1))["result"]
    consent = {"inputResponses": {"answer": YES}, "requestState": asked["requestState"]}

    forged = process.ask(
        request("tools/call", {**params, "arguments": {"path": str(other)}, **consent}, 2)
    )
    assert forged["error"]["code"] == -32602
    without_state = {**params, "inputResponses": {"answer": YES}}
    again = process.ask(request("tools/call", without_state, 3))["result"]
    assert again["resultType"] == "input_required"
    assert other.exists()
    assert path.exists()


@pytest.mark.parametrize("name", NAMES)
def test_a_client_without_a_handshake_gets_an_error_and_the_tool_does_not_run(
    plain: Process, path: Path, name: str
) -> None:
    answer = plain.ask(call(name, {"path": str(path)}, id=1))
    check_outcome(answer["result"], path, "does not support elicitation")


def test_a_client_that_cannot_ask_gets_an_error_in_both_eras(tmp_path: Path, path: Path) -> None:
    with served(tmp_path, TOOLS) as process:
        params = {"name": "remove", "arguments": {"path": str(path)}, "_meta": MODERN}
        answer = process.ask(request("tools/call", params, 1))
        check_outcome(answer["result"], path, "does not support elicitation")
        greeting = {"protocolVersion": "2025-11-25", "capabilities": {}}
        assert "result" in process.ask(request("initialize", greeting, id=2))
        answer = process.ask(call("remove", {"path": str(path)}, id=3))
        check_outcome(answer["result"], path, "does not support elicitation")


def test_a_notification_cannot_remove_anything(plain: Process, path: Path) -> None:
    plain.send(
        {
            "jsonrpc": "2.0",
            "method": "tools/call",
            "params": {"name": "remove", "arguments": {"path": str(path)}},
        }
    )
    assert plain.ask(call("ping", id=7))["id"] == 7
    assert path.exists()


@pytest.mark.parametrize("name", NAMES)
def test_the_calls_of_a_batch_ask_too(tmp_path: Path, path: Path, name: str) -> None:
    with served(tmp_path, TOOLS) as process:
        greeting = {"protocolVersion": "2025-03-26", "capabilities": {"elicitation": {}}}
        assert "result" in process.ask(request("initialize", greeting, id=0))
        asked = process.ask([call(name, {"path": str(path)}, id=1), call("ping", id=2)])  # type: ignore[arg-type]
        assert asked["method"] == "elicitation/create"
        assert path.exists()
        answers: Any = process.ask(
            {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}}
        )
        (removal,) = [answer for answer in answers if answer["id"] == 1]
        check_outcome(removal["result"], path, "declined")


@pytest.mark.parametrize("option", [(), ("--isolate",)])
def test_a_mounted_server_asks_through_its_host(
    tmp_path: Path, path: Path, option: tuple[str, ...]
) -> None:
    file = tmp_path / "tools_file.py"
    file.write_text(TOOLS)
    inner = f"toolwire serve {file} {' '.join(option)}"
    questions: list[str] = []

    def refuse(question: Elicitation) -> NoAnswer:
        questions.append(question.message)
        return NoAnswer.DECLINED

    with connect(["toolwire", "serve", "--mount", f"inner={inner}"], on_ask=refuse) as client:
        (name,) = [tool.name for tool in client.list_tools() if tool.name.endswith("_remove")]
        assert client.call_tool(name, {"path": str(path)}).is_error
    assert questions == [f'Really remove "{path}"?']
    assert path.exists()


def test_a_server_in_this_process_asks(path: Path) -> None:
    @tool_api(confirm="Really remove {path}?")
    def remove(path: Path) -> str:
        path.unlink()
        return "removed"

    with connect(Server([remove])) as client:
        assert "did not run" in client.call_tool("remove", {"path": str(path)}).text
        assert path.exists()
    with connect(Server([remove]), on_ask=lambda _: NoAnswer.DECLINED) as client:
        assert "declined" in client.call_tool("remove", {"path": str(path)}).text
        assert path.exists()
    with connect(Server([remove]), on_ask=lambda _: {"answer": True}) as client:
        assert client.call_tool("remove", {"path": str(path)}).text == "removed"
    assert not path.exists()


def test_call_asks_at_the_terminal(tmp_path: Path, path: Path) -> None:
    (tmp_path / "t.py").write_text(TOOLS)
    for keys, problem in (("n", True), ("y", False)):
        with Terminal("call", "t.py", "remove", f"path={path}", cwd=tmp_path) as terminal:
            terminal.types(f"{keys}\r", at="Really remove")
            assert terminal.ends() == int(problem)
        assert path.exists() is problem


def test_call_without_a_terminal_fails_and_says_so(
    command_line: CommandLine, tmp_path: Path, path: Path
) -> None:
    (tmp_path / "t.py").write_text(TOOLS)
    done = command_line("call", "t.py", "remove", f"path={path}")
    assert done.returncode == 1
    assert "remove did not run, since it needs the user's consent" in done.stderr
    assert path.exists()


def test_list_shows_the_question(command_line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(TOOLS)
    shown = command_line("list", "t.py").stdout
    assert "    asks first: Really remove {path}?\n" in shown
    assert "    asks first\n" in shown


def test_lint_notes_a_destructive_tool_that_never_asks(
    command_line: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "t.py").write_text(
        "from toolwire import tool_api\n@tool_api(destructive=True)\ndef silent(a: int) -> int:\n  "
        "  'Do.'\n    return a\n@tool_api(destructive=True, confirm='{a}?')\ndef asks(a: int) ->"
        " int:\n    'Do.'\n    return a\n"
    )
    findings = json.loads(command_line("list", "t.py", "--lint", "--json").stdout)
    about = [finding for finding in findings if finding["where"] == "annotations.destructiveHint"]
    assert [(finding["tool"], finding["severity"]) for finding in about] == [("silent", "note")]
