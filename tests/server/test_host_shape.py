"""Own tools as a host takes them: `serve --for HOST`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from toolwire import Server, tool_api
from toolwire.wrapping import DIALECTS_OF
from toolwire.wrapping.host_results import OF_HOSTS, is_repeated
from toolwire.wrapping.host_rules import shape_own
from toolwire_client import connect


class Notes:
    """Notes."""

    @tool_api
    def read(self, größe: int | None = None) -> str:
        """Read a note."""
        return f"size {größe}"

    @tool_api
    async def write(self, größe: int) -> str:
        """Write a note."""
        await asyncio.sleep(0)
        return f"wrote {größe}"


def shape_for(host: str | None) -> Any:
    return None if host is None else partial(shape_own, host=host)


def entries(server: Server) -> dict[str, Any]:
    return {entry["name"]: entry for entry in server.request("tools/list")["tools"]}


@pytest.mark.parametrize("host", sorted(DIALECTS_OF))
def test_names_and_parameters_are_what_every_host_takes_and_calls_find_back(host: str) -> None:
    with Server([Notes()], separator=".", shape=shape_for(host)) as server:
        listed = entries(server)
        assert list(listed) == ["Notes_read", "Notes_write"]
        (parameter,) = listed["Notes_read"]["inputSchema"]["properties"]
        assert parameter.isascii()

        assert server.call("Notes_read", {parameter: 3})["content"][0]["text"] == "size 3"
        assert server.call("Notes_write", {parameter: 4})["content"][0]["text"] == "wrote 4"


@pytest.mark.parametrize("host", ["gemini", None])
def test_without_a_host_the_entries_stay_as_they_are(host: str | None) -> None:
    with Server([Notes()], separator=".", shape=shape_for(host)) as server:
        names = list(entries(server))

    assert (names == ["Notes.read", "Notes.write"]) == (host is None)


TEXT = {"type": "string"}
NOT_EMPTY = {**TEXT, "minLength": 1}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
LINK = {"$ref": "#/$defs/Node"}


def nested(depth: int) -> dict[str, Any]:
    inner = nested(depth - 1) if depth else {}
    return {"type": "object", "properties": {"next": inner}}


@pytest.mark.parametrize(
    ("host", "schema", "expected"),
    [
        ("vscode", LINK, LINK),
        ("gemini", {"$ref": "#/$defs/Text", "description": "a"}, {**TEXT, "description": "a"}),
        ("gemini", {"$ref": "#/$defs/Text", "maxLength": 3}, {**TEXT, "maxLength": 3}),
        ("gemini", {"allOf": [{"$ref": "#/$defs/Text"}, NOT_EMPTY]}, NOT_EMPTY),
        ("gemini", LINK, nested(4)),
    ],
)
def test_references_stay_or_are_written_out(host: str, schema: Any, expected: Any) -> None:
    definitions = {"Node": NODE, "Text": TEXT}
    whole = {"type": "object", "properties": {"a": schema}, "$defs": definitions}

    @tool_api(input_schema=whole)
    def read(a: Any) -> str:
        return str(a)

    with Server([read], shape=shape_for(host)) as server:
        shown = entries(server)["read"]["inputSchema"]["properties"]["a"]
    assert shown == expected


@pytest.mark.parametrize(
    ("host", "limit", "expected"),
    [
        ("claude-code", "200 KiB", {"anthropic/maxResultSizeChars": 204_800}),
        ("claude-code", "4 MiB", {"anthropic/maxResultSizeChars": 500_000}),
        ("claude-code", None, None),
        ("vscode", "200 KiB", None),
    ],
)
def test_claude_code_is_given_the_limit_that_a_tool_has_of_its_own(
    host: str, limit: str | None, expected: dict[str, int] | None
) -> None:
    @tool_api(max_result_bytes=limit)
    def report() -> str:
        return "all"

    with Server([report], shape=shape_for(host)) as server:
        assert entries(server)["report"].get("_meta") == expected


def test_the_limit_that_an_author_has_declared_stays() -> None:
    @tool_api(max_result_bytes=300_000, meta={"anthropic/maxResultSizeChars": 7})
    def report() -> str:
        return "all"

    with Server([report], shape=shape_for("claude-code")) as server:
        assert entries(server)["report"]["_meta"] == {"anthropic/maxResultSizeChars": 7}


def two_forms() -> dict[str, int]:
    return {"lines": 2}


@pytest.mark.parametrize("host", sorted({*OF_HOSTS, "gemini"}))
def test_only_a_host_whose_model_gets_both_forms_gets_one(host: str) -> None:
    with Server([two_forms], shape=shape_for(host)) as server:
        entry = entries(server)["two_forms"]
        result = server.call("two_forms", {})

    has_one = host == "copilot-cli"
    assert ("outputSchema" not in entry, "structuredContent" not in result) == (has_one, has_one)
    assert result["content"] == [{"type": "text", "text": '{"lines":2}'}]


@pytest.mark.parametrize(
    ("content", "structured", "expected"),
    [
        ([{"type": "text", "text": '{"a": 1}'}], {"a": 1}, True),
        ([{"type": "text", "text": "[1,2]"}], {"result": [1, 2]}, True),
        ([{"type": "text", "text": "2 files"}], {"files": ["a", "b"]}, False),
        ([{"type": "text", "text": '{"a": 1}'}], {"a": 2}, False),
        ([{"type": "text", "text": "{}"}, {"type": "text", "text": "{}"}], {}, False),
        ([], {"a": 1}, False),
        ([{"type": "image", "data": "", "mimeType": "image/png"}], {"a": 1}, False),
        ([{"type": "text", "text": "\ud800"}], {"a": 1}, False),
    ],
)
def test_a_text_repeats_structured_content_if_it_is_the_same_json(
    content: Any, structured: Any, expected: bool
) -> None:
    assert is_repeated({"content": content, "structuredContent": structured}) is expected


@pytest.mark.parametrize("host", sorted(OF_HOSTS))
def test_each_host_with_a_rule_about_results_has_one_about_names_and_a_source(host: str) -> None:
    assert host in DIALECTS_OF
    assert OF_HOSTS[host].source.count("/") >= 2


@pytest.mark.process
@pytest.mark.parametrize("options", [[], ["--isolate"]])
def test_the_option_shapes_tools_also_in_processes_of_their_own(
    tmp_path: Path, options: list[str]
) -> None:
    source = "def add(größe: int) -> int:\n    return größe + 1\n"
    (tmp_path / "tools.py").write_text(source, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "toolwire",
        "serve",
        str(tmp_path / "tools.py"),
        "--for",
        "vscode",
        *options,
    ]
    with connect(command) as client:
        (entry,) = client.list_entries()
        (parameter,) = entry["inputSchema"]["properties"]

        assert parameter == "gr__e"
        params = {"name": "add", "arguments": {parameter: 3}}
        assert client.request("tools/call", params)["structuredContent"] == {"result": 4}


@pytest.mark.process
def test_a_host_that_is_not_known_is_refused_with_those_that_are() -> None:
    command = [sys.executable, "-m", "toolwire", "serve", "tools.py", "--for", "telex"]

    done = subprocess.run(
        command, input="", capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 2
    assert "--for takes one of any, gemini, " in done.stderr
