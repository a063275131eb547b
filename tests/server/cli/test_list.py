"""What `toolwire list` shows of a server with resources and prompts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command_line import CommandLine
from toolwire.cli.commands.list import _print_all
from toolwire.mounting.foreign_stderr import MAX_LINES
from toolwire_dialects.python_stub import format_signature, from_entry

TOOL = {"name": "add", "inputSchema": {"type": "object"}}
RESOURCE = {"uri": "notes://all", "name": "notes", "description": "All notes."}
TEMPLATE = {"uriTemplate": "notes://note/{name}", "name": "note", "mimeType": "text/plain"}
PROMPT = {"name": "plan", "arguments": [{"name": "day"}]}

RESOURCES_TABLE = [
    "URI                  type        what it is",
    "notes://all                      All notes.",
    "notes://note/{name}  text/plain",
]
PROMPTS_TABLE = ["prompt  arguments  what it is for", "plan    day?"]


@pytest.mark.parametrize(
    ("tools", "resources", "prompts", "shown"),
    [
        ([], [], [], ["The server has no tools."]),
        ([TOOL], [], [], ["add()"]),
        ([TOOL], [RESOURCE], [], ["add()", "", "1 resource (--resources)"]),
        ([TOOL], [], [PROMPT, PROMPT], ["add()", "", "2 prompts (--prompts)"]),
        (
            [TOOL],
            [RESOURCE],
            [PROMPT],
            ["add()", "", "1 resource (--resources), 1 prompt (--prompts)"],
        ),
        ([], [RESOURCE, TEMPLATE], [], RESOURCES_TABLE),
        ([], [], [PROMPT], PROMPTS_TABLE),
        ([], [RESOURCE, TEMPLATE], [PROMPT], [*RESOURCES_TABLE, "", *PROMPTS_TABLE]),
    ],
)
def test_tools_are_shown_with_what_else_there_is_and_without_tools_that_is_shown(
    capsys: pytest.CaptureFixture[str],
    tools: list[Any],
    resources: list[Any],
    prompts: list[Any],
    shown: list[str],
) -> None:
    _print_all(tools, {"resources": resources, "prompts": prompts})
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == shown


BOTH = """
from toolwire import prompt, resource, tool_api

@tool_api
def add(a: int) -> int:
    return a

@resource("notes://{name}")
def note(name: str) -> str:
    return name

@prompt
def plan(day: str) -> str:
    return day
"""


@pytest.mark.process
@pytest.mark.parametrize("is_target", [True, False], ids=["target", "command"])
def test_the_list_of_tools_ends_with_the_number_of_resources_and_prompts(
    command_line: CommandLine, is_target: bool
) -> None:
    command_line.folder.joinpath("tools.py").write_text(BOTH)
    server = ["--", sys.executable, "-m", "toolwire", "serve", "tools.py"]
    done = command_line("list", *(["tools.py"] if is_target else server))
    assert done.stdout.splitlines()[-1] == "1 resource (--resources), 1 prompt (--prompts)"
    assert command_line("list", "--as", "python", "tools.py").stdout.count("resource") == 0


REFUSING = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": message.get("id")}
    if message["method"] == "initialize":
        capabilities = {"tools": {}, "resources": {}, "prompts": {}}
        info = {"name": "a", "version": "1"}
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    elif message["method"] == "tools/list":
        answer["result"] = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    if "id" in message:
        print(json.dumps(answer), flush=True)
"""  # noqa: E501


@pytest.mark.process
def test_the_tools_are_listed_if_the_server_lists_nothing_else(command_line: CommandLine) -> None:
    command_line.folder.joinpath("server.py").write_text(REFUSING)
    done = command_line("list", "--", sys.executable, "server.py")
    assert (done.returncode, done.stdout) == (0, "add()\n")
    assert "the resources cannot be listed: " in done.stderr
    assert "the prompts cannot be listed: " in done.stderr


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"contentEncoding": "base64"}, "bytes"),
        ({"format": "byte"}, "bytes"),
        ({"format": "date-time"}, "datetime"),
        ({"format": "date"}, "date"),
        ({"format": "path"}, "Path"),
        ({"format": "email"}, "str"),
        ({"format": ["date"]}, "str"),
        ({"x-toolwire-type": "Path"}, "Path"),
        ({"x-toolwire-type": "\x1b[31m"}, "str"),
        ({"x-toolwire-type": ["Path"]}, "str"),
        ({}, "str"),
    ],
)
def test_texts_are_shown_as_what_they_are_in_python(schema: dict[str, Any], shown: str) -> None:
    text = {"type": "string", **schema}
    properties = {
        "a": text,
        "b": {"type": "array", "items": text},
        "c": {"anyOf": [text, {"type": "null"}]},
    }
    tool = {
        "name": "put",
        "inputSchema": {"type": "object", "properties": properties, "required": ["a", "b", "c"]},
    }
    assert " ".join(format_signature(tool)) == f"(a: {shown}, b: list[{shown}], c: {shown} | None)"
    assert "def put(a: str, b: list[str], c: str | None)" in from_entry(tool)  # a model sends texts


TEXTS = """
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated
from uuid import UUID
import msgspec

def put(data: bytes, when: datetime, where: list[Path], day: date | None = None, took: timedelta | None = None) -> Path:
    return where[0]

def look(key: UUID, here: Annotated[datetime, msgspec.Meta(tz=True)]) -> datetime:
    return here
"""  # noqa: E501


@pytest.mark.process
def test_types_that_no_schema_tells_apart_are_shown_and_not_sent(command_line: CommandLine) -> None:
    command_line.folder.joinpath("tools.py").write_text(TEXTS)
    lines = " ".join(command_line("list", "tools.py").stdout.split())
    assert (
        lines
        == "put( data: bytes, when: datetime, where: list[Path], day: date | None = None, took:"
        " timedelta | None = None) -> Path look(key: UUID, here: datetime) -> datetime"
    )
    assert "x-toolwire-type" not in command_line("list", "tools.py", "--json").stdout


@pytest.mark.process
@pytest.mark.parametrize("words", [["list"], ["call", "x"], ["check"]], ids=lambda words: words[0])
def test_a_program_that_repeats_what_it_gets_is_no_server(
    command_line: CommandLine, words: list[str]
) -> None:
    done = command_line(*words, "--", "cat")
    assert done.returncode == 1
    assert "repeats what it gets, as `cat` does: it is no MCP server" in done.stdout + done.stderr


NOISY = """
import sys

for number in range(20_000):
    print(number, file=sys.stderr)

def add(a: int) -> int:
    return a
"""


@pytest.mark.process
@pytest.mark.parametrize("is_command", [True, False])
def test_a_server_that_floods_its_stderr_is_shown_in_part(tmp_path: Path, is_command: bool) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    command = ["--", sys.executable, "-m", "toolwire", "serve"] if is_command else []

    done = subprocess.run(
        [sys.executable, "-m", "toolwire", "list", *command, "noisy.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    lines = done.stderr.splitlines()
    assert "add" in done.stdout
    assert lines[:MAX_LINES] == [str(number) for number in range(MAX_LINES)]
    assert f"(more than {MAX_LINES} lines in a second: the next ones are left out)" in lines
    assert lines[-1].endswith("lines were left out)")
