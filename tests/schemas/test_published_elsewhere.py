"""What goes other ways than the wire is as its schema says: descriptions, the exchange with models,
files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.json_mutations import mutants, written
from toolwire.cli import example_tools
from toolwire.cli.commands.list import translate_tools
from toolwire.hosts import hosts
from toolwire.loading.targets import load as load_tools
from toolwire_agent.react import (
    Action,
    ActionResult,
    Ask,
    Error,
    FinalAnswer,
    Question,
    UserResponse,
    to_json,
)
from toolwire_client.errors import BadConfiguration
from toolwire_client.host_config import read_config
from toolwire_compat.lagent import BaseAction, JsonParser, TupleParser, list_tools
from toolwire_compat.yaml import ConfigError, load_tool_configs
from toolwire_dialects import openai
from toolwire_schemas.published import load, load_validator
from toolwire_tools import tool_api

ROOT = Path(__file__).parents[2]
EVERYDAY = ROOT / "tests" / "interop" / "everyday.py"


def check(name: str, value: Any) -> None:
    problems = [
        f"{error.json_path}: {error.message}" for error in load_validator(name).iter_errors(value)
    ]
    assert not problems, f"{name} does not take {value}: {problems}"


# --- dialects ---

DIALECTS = {"lagent": "lagent-tool", "openai": "openai-function", "anthropic": "anthropic-tool"}


def test_whatever_a_tool_is_written_as_is_as_the_schemas_say() -> None:
    tools = [
        tool for file in (str(EVERYDAY), example_tools.__file__) for tool in load_tools([file])
    ]
    entries = [*(tool.describe() for tool in tools), *load("tool")["examples"]]
    entries = list({entry["name"]: entry for entry in entries}.values())
    for entry in entries:
        check("tool", entry)
        check("tool-2026-07-28", entry)
        check("openai-function", openai.from_entry({**entry, "name": "a"}, flat=True))
    for dialect, name in DIALECTS.items():
        for described in translate_tools(entries, dialect)[0]:
            check(name, described)
    for function in translate_tools(entries, "openai", strict=True)[0]:
        check("openai-function", function)


class Simple(BaseAction):
    @tool_api(returns_named_value=True)
    def run(self, query: str, limit: int = 5) -> dict:
        """Search.

        Args:
            query (str): what for

        Returns:
            list: the hits
        """
        return {}


class Kit(BaseAction):
    """Several things."""

    @tool_api(explode_param=False)
    def one(self, text: str) -> str:
        """Do one thing with the text."""
        return text

    @tool_api
    def two(self, numbers: list[int], loud: bool = False, by: float | None = None) -> str:
        """Do another."""
        return ""


@pytest.mark.parametrize("parser", [JsonParser, TupleParser])
def test_actions_describe_themselves_as_the_schemas_say(parser: Any) -> None:
    check("lagent-tool", Simple(parser=parser).description)
    check("lagent-toolkit", Kit(parser=parser).description)
    ours = [
        action
        for _, action in list_tools(with_class=True)
        if action.__module__.startswith("toolwire_bundled.")
    ]
    assert ours
    for action in ours:
        description = action(parser=parser).description
        check("lagent-toolkit" if "api_list" in description else "lagent-tool", description)


# --- the exchange with a model ---


@pytest.mark.parametrize("key", ["success", "ok", "both"])
def test_whatever_is_said_to_a_model_is_as_the_schemas_say(key: Any) -> None:
    said = [
        Question("What is 2 + 40?"),
        *(
            ActionResult(success=True, result=result)
            for result in (42, None, "text", [1], {"a": 1})
        ),
        ActionResult(success=False, result="no such tool", note="Try another."),
        UserResponse("Oslo"),
        Error("no JSON"),
    ]
    for message in said:
        check("react-message", json.loads(to_json(message, key)))


def test_whatever_a_model_may_reply_is_as_the_schemas_say() -> None:
    for reply in (
        Ask("t", "Where?"),
        Action("t", "add", {"a": 1}),
        FinalAnswer("t", ok=True, result="42"),
    ):
        check("react-reply", json.loads(to_json(reply)))


# --- files ---


def loader_takes(document: Any, folder: Path) -> bool:
    path = folder / "tool.yaml"
    path.write_text(json.dumps(document), "utf-8")  # which is YAML too
    try:
        load_tool_configs(path)
    except ConfigError:
        return False
    return True


def test_every_example_of_a_tool_in_yaml_can_be_loaded(tmp_path: Path) -> None:
    for example in load("tool-library")["examples"]:
        assert loader_takes(example, tmp_path), example


@pytest.mark.slow
def test_whatever_the_loader_of_a_tool_in_yaml_takes_the_schema_takes(tmp_path: Path) -> None:
    """The loader refuses more: a name that is used twice, a place that no argument goes to."""
    judge = load_validator("tool-library")
    taken = {
        written(mutant.path)
        for example in load("tool-library")["examples"]
        for mutant in mutants("tool-library", example)
        if not judge.is_valid(mutant.value) and loader_takes(mutant.value, tmp_path)
    }
    assert not taken


def test_the_yaml_in_our_pages_is_as_the_schema_says() -> None:
    pages = [ROOT / "README.md", ROOT / "MIGRATING.md", ROOT / "docs" / "yaml-tools.md"]
    blocks = [
        block.split("```")[0]
        for page in pages
        for block in page.read_text("utf-8").split("```yaml\n")[1:]
    ]
    documents = [document for block in blocks for document in yaml.safe_load_all(block)]
    assert len(documents) > 2
    for document in documents:
        check("tool-library", document)


def test_what_we_write_for_hosts_is_as_the_schema_says() -> None:
    server = hosts.HostServer(
        "library", "/path/to/python", ["-m", "toolwire", "serve", "library.py"], {"KEY": "abc"}
    )
    for host in hosts.HOSTS.values():
        if host.holds in ("mcpServers", "servers"):
            check("mcp-servers", json.loads(hosts.format_snippet(host, server)))


def test_our_client_reads_every_example_of_a_hosts_file(tmp_path: Path) -> None:
    for example in load("mcp-servers")["examples"]:
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps(example), "utf-8")
        (tmp_path / ".env").touch()
        read = read_config(file, {"key": "abc"})
        assert {name for name, server in read.items() if isinstance(server, BadConfiguration)} <= {
            "far"
        }
