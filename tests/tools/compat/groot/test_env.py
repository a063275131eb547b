"""Groot's environment: whatever an agent may use, behind one call."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from support.recording_caller import RecordingCaller
from toolwire_client import connect
from toolwire_compat.groot import Env
from toolwire_compat.lagent import (
    ActionExecutor,
    ActionReturn,
    ActionStatusCode,
    BaseAction,
    Hook,
    ParseError,
    TupleParser,
)
from toolwire_tools import ArgumentsError, RegistrationError, Tool, ToolError, find_tools, tool_api


class Double(BaseAction):
    def run(self, number: int) -> int:
        """Double a number.

        Args:
            number: any
        """
        return 2 * number


class Weather(BaseAction):
    @tool_api
    def today(self, city: str) -> ActionReturn:
        if city == "Atlantis":
            return ActionReturn(errmsg="it has sunk", state=ActionStatusCode.HTTP_ERROR)
        return ActionReturn(
            result=[{"type": "text", "content": "rain"}, {"type": "image", "content": "map.png"}]
        )


class Search:
    """A toolkit of Toolwire's own."""

    @tool_api
    def find(self, text: str) -> list[str]:
        return [text]


class Researcher:
    """Finds things out."""

    name = "researcher"

    def run(self, inputs: str | None = None) -> str:
        return f"I looked into {inputs}."


def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: the first
    """
    return a + b


async def later(text: str) -> str:
    return text


def entry(name: str, **more: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer", "description": "any"}},
        "required": ["a"],
    }
    return {"name": name, "description": "Adds one.", "inputSchema": schema, **more}


class Mapping:
    """A connection that speaks in dicts, as MCP does."""

    def list_tools(self) -> list[dict[str, Any]]:
        returned = {
            "type": "object",
            "properties": {"result": {"type": "integer"}},
            "required": ["result"],
        }
        return [entry("plus.one", outputSchema=returned), entry("tell")]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments["a"] < 0:
            return {"content": [{"type": "text", "text": "too small"}], "isError": True}
        text = {"type": "text", "text": str(arguments["a"] + 1)}
        data = {"structuredContent": {"result": arguments["a"] + 1}} if name == "plus.one" else {}
        return {"content": [text], **data}


class Struct:
    def __init__(self, **members: Any) -> None:
        vars(self).update(members)


class Attributes:
    """The same in objects, with other names."""

    def list_tools(self) -> Struct:
        return Struct(
            tools=[
                Struct(
                    name="plus.one", description="Adds one.", input_schema=entry("")["inputSchema"]
                )
            ]
        )

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Struct:
        picture = Struct(type="image", data="AAAA", mimeType="image/png")
        return Struct(
            content=[Struct(type="text", text="a"), picture],
            structured=None,
            is_error=arguments["a"] < 0,
        )


def everything() -> Env:
    return Env([add, Double(), Weather(), Search(), Researcher(), Mapping(), later])


NAMES = ["add", "Double", "Weather.today", "Search.find", "researcher", "plus.one", "tell", "later"]


def test_all_actions_are_listed_as_lagent_describes_them() -> None:
    described = everything().get_actions_info()
    assert [action["name"] for action in described] == NAMES
    assert described[0] == {
        "name": "add",
        "description": "Add two numbers.",
        "parameters": [
            {"name": "a", "type": "NUMBER", "description": "the first"},
            {"name": "b", "type": "NUMBER", "description": ""},
        ],
        "required": ["a"],
    }
    assert described[1]["parameter_description"].startswith("If you call this tool")
    assert described[4] == {
        "name": "researcher",
        "description": "Finds things out.",
        "parameters": [{"name": "inputs", "type": "STRING", "description": ""}],
        "required": [],
    }
    assert described[6] == {
        "name": "tell",
        "description": "Adds one.",
        "parameters": [{"name": "a", "type": "NUMBER", "description": "any"}],
        "required": ["a"],
    }


@pytest.mark.parametrize(
    ("name", "parameters", "result"),
    [
        ("add", {"a": 1}, 2),
        ("add.run", {"a": 1}, 2),
        ("add", '{"a": 1, "b": 2}', 3),
        ("Double", {"number": 2}, 4),
        ("Double.run", '{"number": 2}', 4),
        ("Weather.today", {"city": "Oslo"}, "rain\n[image](map.png)"),
        ("Weather.today", {"city": "Atlantis"}, "it has sunk"),
        ("Search.find", {"text": "a"}, ["a"]),
        ("Search_find", {"text": "a"}, ["a"]),
        ("Weather_today", {"city": "Oslo"}, "rain\n[image](map.png)"),
        ("researcher", {"inputs": "tools"}, "I looked into tools."),
        ("researcher", None, "I looked into None."),
        ("plus.one", {"a": 1}, 2),
        ("tell", {"a": 1}, "2"),
        ("later", {"text": "a"}, "a"),
    ],
)
def test_call_returns_the_value_of_the_action(name: str, parameters: Any, result: Any) -> None:
    assert everything()(name, parameters) == result
    assert everything()(name=name, parameters=parameters) == result


def test_unknown_action_is_reported_as_text() -> None:
    assert everything()("Dubble", {"number": 1}) == (
        f"There is no action 'Dubble', did you mean 'Double'? Known: {', '.join(NAMES)}"
    )
    assert everything()("Search", {}) == "'Search' is a toolkit; call one of Search.find"
    assert everything()("", {}).startswith("There is no action ''")
    assert everything()(5, {}).startswith("There is no action 5")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "parameters", "error", "words"),
    [
        ("add", {}, ArgumentsError, "arguments.a: is missing"),
        ("add", [1], ArgumentsError, "parameters: pass an object, not list"),
        ("add", '{"a": ', ArgumentsError, "parameters: no JSON: "),
        ("Double", {"number": "two"}, ParseError, 'arguments.number: "two" is not an integer'),
        ("tell", {"a": -1}, ToolError, "too small"),
    ],
)
def test_failing_action_raises(
    name: str, parameters: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        everything()(name, parameters)
    assert str(caught.value).startswith(words)


def test_action_is_described_and_called_by_its_own_parser() -> None:
    env = Env([Double(parser=TupleParser)])
    assert "tuple" in env.get_actions_info()[0]["parameter_description"]
    assert env("Double", "(2,)") == 4


def test_asynchronous_action_is_awaited_inside_an_event_loop() -> None:
    class Later(BaseAction):
        async def run(self, text: str) -> str:
            await asyncio.sleep(0)
            return text

    async def notebook() -> Any:
        return Env([Later()])("Later", {"text": "a"})

    assert Env([Later()])("Later", {"text": "a"}) == asyncio.run(notebook()) == "a"


def test_classes_and_settings_become_actions_without_a_list() -> None:
    assert Env(Double)("Double", {"number": 2}) == 4
    assert Env({"type": "Double"})("Double", {"number": 2}) == 4
    assert Env([Search])("Search.find", {"text": "a"}) == ["a"]


def test_disabled_and_uncallable_actions_are_omitted() -> None:
    env = Env([Double(enable=False), BaseAction({"name": "described", "parameters": []})])
    assert env.get_actions_info() == []
    assert find_tools([env, add])[0].name == "add"


def test_environment_may_contain_executors_and_environments() -> None:
    class Changing(Hook):
        def before_action(self, executor: Any, message: Any, session_id: int = 0) -> None:
            message.content["parameters"] = {"number": 10}

    assert Env(ActionExecutor([Double()]))("Double", {"number": 2}) == 4
    assert Env(ActionExecutor([Double()], hooks=[Changing()]))("Double", {"number": 2}) == "20"
    assert Env([Env([add]), Double()])("add", {"a": 1}) == 2


@pytest.mark.parametrize(
    ("things", "words"),
    [
        ([add, add], "two actions have this name"),
        ([5], "int"),
        ([Researcher], "Researcher"),
    ],
)
def test_unsupported_objects_are_refused(things: list[Any], words: str) -> None:
    with pytest.raises(RegistrationError, match=words):
        Env(things)


def test_asynchronous_client_is_refused() -> None:
    class Awaited(Mapping):
        async def call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:  # type: ignore[override]
            return {}

    with pytest.raises(RegistrationError, match="asynchronous"):
        Env([Awaited()])


def test_client_may_return_objects() -> None:
    env = Env([Attributes()])
    assert env("plus.one", {"a": 1}) == [
        {"type": "text", "text": "a"},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ]
    with pytest.raises(ToolError, match="a"):
        env("plus.one", {"a": -1})


@pytest.mark.process
def test_the_tools_of_a_real_server_are_actions(tmp_path: Path) -> None:
    file = tmp_path / "sums.py"
    file.write_text(
        "def add(a: int, b: int) -> int:\n    '''Add.'''\n    return a + b\n", encoding="utf-8"
    )
    with connect([sys.executable, "-m", "toolwire", "serve", str(file)]) as server:
        env = Env([server, Double()])
        assert [described["name"] for described in env.get_actions_info()] == ["add", "Double"]
        assert env("add", {"a": 1, "b": 2}) == 3
        with pytest.raises(ToolError, match=r"arguments.b: is missing"):
            env("add", {"a": 1})


# --- served ---------------------------------------------------------------------------------------


def call(tool: Tool, **arguments: Any) -> dict[str, Any]:
    return tool.call(arguments, RecordingCaller())


def test_the_tools_of_an_environment_are_those_of_its_parts() -> None:
    tools = {tool.name: tool for tool in find_tools(everything())}
    assert list(tools) == [NAMES[0], NAMES[1], "Weather_today", "Search_find", *NAMES[4:]]
    assert tools["add"].entry.function is add
    assert tools["later"].is_async
    assert tools["plus.one"].describe() == {
        "name": "plus.one",
        "description": "Adds one.",
        "inputSchema": entry("")["inputSchema"],
        "outputSchema": Mapping().list_tools()[0]["outputSchema"],
    }


def test_tool_of_a_connected_server_returns_its_result() -> None:
    plus_one, tell = find_tools(Env([Mapping()]))
    assert call(plus_one, a=1) == {
        "content": [{"type": "text", "text": '{"result":2}'}],
        "structuredContent": {"result": 2},
        "isError": False,
    }
    assert call(tell, a=1) == {"content": [{"type": "text", "text": "2"}], "isError": False}
    for tool in (plus_one, tell):
        with pytest.raises(ToolError, match="too small"):
            call(tool, a=-1)
        with pytest.raises(ArgumentsError):
            call(tool, a="one")
    (pictures,) = find_tools(Env([Attributes()]))
    assert [block["type"] for block in call(pictures, a=1)["content"]] == ["text", "image"]
