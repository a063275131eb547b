"""Actions and executors as tools."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
import types
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, TypedDict

import pytest
from anyio import to_thread
from support.recording_caller import RecordingCaller
from toolwire_compat.lagent import (
    ActionExecutor,
    ActionReturn,
    ActionStatusCode,
    AsyncActionExecutor,
    AsyncActionMixin,
    BaseAction,
    Hook,
)
from toolwire_tools import (
    ArgumentsError,
    AsyncContext,
    Context,
    NotOffered,
    Offer,
    OutputError,
    Tool,
    ToolError,
    find_offer,
    find_tools,
    tool_api,
)


class Bold(BaseAction):
    """Styles text."""

    def run(self, text: str, stars: int = 2) -> str:
        """Make it bold.

        Args:
            text: what to style
        """
        return "*" * stars + text + "*" * stars


class Place(TypedDict):
    x: int
    y: int


class Maps(BaseAction):
    """Knows places."""

    @tool_api(explode_return=True, read_only=True)
    def describe(self, city: str) -> dict:  # type: ignore[type-arg]
        """Describe a city.

        Args:
            city: its name

        Returns:
            dict: what is known
                - size (str): in square kilometres
                - river: that it lies at
        """
        answers: dict[str, Any] = {
            "Oslo": {"size": 454.0, "river": None},  # not what the docstring promises
            "Rome": {"age": 2779},
            "Atlantis": ActionReturn(errmsg="it has sunk", state=ActionStatusCode.HTTP_ERROR),
            "Bonn": ActionReturn(result=[{"type": "text", "content": "a village"}]),
            "Ulm": ActionReturn(result=[{"type": "json", "content": {"size": 118}}]),
            "Nowhere": "there is no such place",
        }
        return answers[city]  # type: ignore[no-any-return]

    @tool_api(name="at")
    def locate(self, city: str) -> Place:
        if city == "Atlantis":
            return ActionReturn(errmsg="it has sunk")  # type: ignore[return-value]
        return {"x": 1, "y": len(city)}

    @tool_api
    async def later(self, context: AsyncContext, city: str) -> int:
        context.progress(1)
        return len(city)

    @tool_api
    def stream(self) -> Any:
        yield from "abc"


def by_name(thing: Any) -> dict[str, Tool]:
    return {tool.name: tool for tool in find_tools(thing)}


def call(tool: Tool, **arguments: Any) -> dict[str, Any]:
    if tool.is_async:
        return asyncio.run(tool.call_async(arguments, RecordingCaller()))
    return tool.call(arguments, RecordingCaller())


@pytest.mark.parametrize("thing", [Bold, Bold(), [Bold()], ActionExecutor([Bold()])])
def test_an_action_is_a_tool_with_the_schema_of_its_signature(thing: Any) -> None:
    (tool,) = find_tools(thing)
    assert tool.describe() == {
        "name": "Bold",
        "description": "Make it bold.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "what to style"},
                "stars": {"type": "integer", "default": 2},
            },
            "required": ["text"],
            "additionalProperties": False,
        },
    }
    assert call(tool, text="a") == {
        "content": [{"type": "text", "text": "**a**"}],
        "isError": False,
    }
    with pytest.raises(ArgumentsError, match=r"arguments.text: 5 is not a string"):
        call(tool, text=5)


def test_the_apis_of_a_toolkit_are_tools_with_the_options_of_their_methods() -> None:
    tools = by_name(Maps())
    assert list(tools) == ["Maps_describe", "Maps_at", "Maps_later", "Maps_stream"]
    assert tools["Maps_describe"].describe()["annotations"] == {"readOnlyHint": True}
    assert call(tools["Maps_at"], city="Rome")["structuredContent"] == {"x": 1, "y": 4}
    assert call(tools["Maps_later"], city="Rome")["structuredContent"] == {"result": 4}
    assert call(tools["Maps_stream"])["content"] == [{"type": "text", "text": "abc"}]


def test_class_docstring_describes_an_undocumented_run_of_a_tool() -> None:
    class Quiet(BaseAction):
        """Says nothing."""

        def run(self) -> None: ...

    assert find_tools(Quiet)[0].describe()["description"] == "Says nothing."


def test_undocumented_api_has_no_description() -> None:
    class Pages(BaseAction):
        @tool_api
        def open_url(self, url: str) -> dict:  # type: ignore[type-arg]
            return {"url": url}

    assert "description" not in find_tools(Pages())[0].describe()


def test_members_of_a_returned_dict_are_in_the_output_schema() -> None:
    described = by_name(Maps())["Maps_describe"].describe()
    assert described["outputSchema"] == {
        "type": "object",
        "properties": {
            "size": {"description": "in square kilometres"},
            "river": {"description": "that it lies at"},
        },
    }


@pytest.mark.parametrize(
    ("city", "data"),
    [
        ("Oslo", {"size": 454.0, "river": None}),
        ("Rome", {"age": 2779}),
        ("Bonn", {"result": "a village"}),
        ("Ulm", {"size": 118}),
        ("Nowhere", {"result": "there is no such place"}),
    ],
)
def test_every_result_fits_the_output_schema(city: str, data: dict[str, Any]) -> None:
    assert call(by_name(Maps())["Maps_describe"], city=city)["structuredContent"] == data


@pytest.mark.process
def test_dict_with_described_members_needs_no_schema_validator() -> None:
    """As most of Lagent's own actions are; jsonschema would take longer to import than all else."""
    script = """if True:
        import sys
        from toolwire_compat.lagent import BaseAction
        from toolwire_tools import tool_api, find_tools
        from toolwire_tools.context.context import NULL_CALLER

        class Map(BaseAction):
            @tool_api(explode_return=True)
            def distance(self, end: str) -> dict:
                '''Tell how far it is.

                Returns:
                    dict: distance
                        - distance (str): in km
                '''
                return {"distance": 3.2, 7: end} if end else None

        (tool,) = find_tools(Map())
        told = tool.describe()["outputSchema"]
        assert told == {"type": "object", "properties": {"distance": {"description": "in km"}}}, told
        answer = tool.call({"end": "Rome"}, NULL_CALLER)
        assert answer["structuredContent"] == {"distance": 3.2, "7": "Rome"}, answer
        assert tool.call({"end": ""}, NULL_CALLER)["structuredContent"] == {"result": None}
        assert "jsonschema" not in sys.modules
    """  # noqa: E501
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("name", ["Maps_describe", "Maps_at"])
def test_error_message_is_an_error_despite_an_output_schema(name: str) -> None:
    with pytest.raises(ToolError, match=r"^it has sunk$"):
        call(by_name(Maps())[name], city="Atlantis")


def test_result_that_breaks_the_hinted_schema_is_refused() -> None:
    @dataclass
    class Point:
        x: int

    class Points(BaseAction):
        def run(self, right: bool) -> Point:
            return Point(1) if right else ActionReturn(result=[])  # type: ignore[return-value]

    (tool,) = find_tools(Points)
    assert call(tool, right=True)["structuredContent"] == {"x": 1}
    with pytest.raises(OutputError):
        call(tool, right=False)


def test_exception_reaches_the_server_unchanged() -> None:
    class Failing(BaseAction):
        def run(self) -> str:
            raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        call(find_tools(Failing)[0])


def test_handwritten_description_is_served() -> None:
    class Anything(BaseAction):
        def run(self, **arguments: Any) -> Any:
            return arguments

    described = {
        "name": "anything",
        "description": "Takes it.",
        "parameters": [{"name": "a", "type": "NUMBER", "description": "any"}],
        "required": ["a"],
    }
    (tool,) = find_tools(Anything(described))
    assert tool.describe() == {
        "name": "anything",
        "description": "Takes it.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "number", "description": "any"}},
            "required": ["a"],
            "additionalProperties": False,
        },
    }
    assert call(tool, a=1.5)["structuredContent"] == {"a": 1.5}
    with pytest.raises(ArgumentsError):
        call(tool, a=1, b=2)


def _abstract() -> type[BaseAction]:
    class Abstract(BaseAction):
        @abstractmethod
        def run(self) -> str: ...

    return Abstract


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (Bold(enable=False), "not enabled"),
        (BaseAction({"name": "described", "parameters": []}), "nothing runs it"),
        (BaseAction, "nothing runs it"),
        (_abstract(), "abstract"),
    ],
)
def test_action_that_is_not_served_is_reported_with_the_reason(thing: Any, words: str) -> None:
    with pytest.raises(NotOffered, match=words):
        find_tools(thing)


def test_class_that_needs_arguments_is_refused_with_the_remedy() -> None:
    class Keyed(Bold):
        def __init__(self, key: str) -> None:
            super().__init__()

    with pytest.raises(
        NotOffered, match=r"cannot be created without key; .*__tools__ = \[Keyed\(key=...\)\]"
    ):
        find_tools(Keyed)


def test_an_action_that_cannot_be_made_is_left_out_and_the_others_are_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = "from toolwire_compat.lagent import BaseAction\n"
    source += "class Loud(BaseAction):\n    def run(self) -> int: return 1\n"
    source += "class Atlas(Loud):\n    def __init__(self): raise ValueError('set ATLAS_KEY')\n"
    source += "class Keyed(Loud):\n    def __init__(self, key): super().__init__()\n"
    found = offer(source, monkeypatch)

    assert [tool.name for tool in found.tools] == ["Loud"]
    assert [(skipped.name, skipped.reason.partition(";")[0]) for skipped in found.skipped] == [
        ("Atlas", "it cannot be created: ValueError: set ATLAS_KEY"),
        ("Keyed", "it cannot be created without key"),
    ]


def test_an_action_with_a_call_of_its_own_sees_the_calls_of_its_tools() -> None:
    class Guarded(Maps):
        def __call__(self, inputs: Any = None, name: str = "run") -> Any:
            if inputs["city"] == "Atlantis":
                return ActionReturn(errmsg="nobody goes there")
            return super().__call__(inputs, name)

    class Awaited(Bold):
        async def __call__(self, inputs: Any = None, name: str = "run") -> Any:
            return super().__call__({**inputs, "stars": 1}, name)

    guarded, (awaited,) = by_name(Guarded())["Guarded_at"], find_tools(Awaited())
    assert guarded.describe()["inputSchema"] == by_name(Maps())["Maps_at"].describe()["inputSchema"]
    with pytest.raises(ToolError, match="nobody goes there"):
        call(guarded, city="Atlantis")
    assert call(guarded, city="Rome")["content"] == [{"type": "text", "text": '{"x": 1, "y": 4}'}]
    assert call(awaited, text="a")["content"] == [{"type": "text", "text": "*a*"}]


class Found(BaseAction):
    @tool_api(explode_return=True)
    def both(self, text: str) -> tuple:  # type: ignore[type-arg]
        """Find it.

        Returns:
            tuple: what was found
                - count (int): how many
                - first (str): the first one
        """
        return 1, text

    @tool_api(explode_return=True)
    def typed(self, text: str) -> tuple[int, str]:
        """Find it.

        Returns:
            tuple: what was found
                - count: how many
                - first
        """
        return 1, text

    @tool_api(explode_return=True)
    def listed(self, text: str) -> list:  # type: ignore[type-arg]
        """Find it.

        Returns:
            list: records
                - count (int): how many
        """
        return [text]


def test_the_members_of_a_tuple_are_reported_in_its_schema() -> None:
    tools = by_name(Found())
    schemas = {
        name: tool.describe()["outputSchema"]["properties"]["result"]
        for name, tool in tools.items()
    }
    assert schemas == {
        "Found_both": {
            "type": "array",
            "items": {},
            "prefixItems": [
                {"title": "count", "description": "how many"},
                {"title": "first", "description": "the first one"},
            ],
        },
        "Found_typed": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "prefixItems": [
                {"type": "integer", "title": "count", "description": "how many"},
                {"type": "string", "title": "first"},
            ],
        },
        "Found_listed": {"type": "array", "items": {}},
    }
    for name in ("Found_both", "Found_typed"):
        assert call(tools[name], text="a")["structuredContent"] == {"result": [1, "a"]}


def test_a_description_by_hand_keeps_the_types_of_parameters_without_a_hint() -> None:
    class Finder(BaseAction):
        def run(self, query, limit=10, kinds=None, days: int = 5):  # type: ignore[no-untyped-def]
            return f"{query} {limit} {kinds} {days}"

    parameters = [
        {"name": "query", "type": "STRING", "description": "what"},
        {"name": "limit", "type": "NUMBER", "description": "how many"},
        {"name": "kinds", "type": "Array"},
        {"name": "days", "type": "STRING"},
    ]
    (tool,) = find_tools(
        Finder({"name": "Finder", "parameters": parameters, "required": ["query"]})
    )
    assert tool.describe()["inputSchema"]["properties"] == {
        "query": {"type": "string", "description": "what"},
        "limit": {"type": "number", "description": "how many", "default": 10},
        "kinds": {"anyOf": [{"type": "array", "items": {}}, {"type": "null"}], "default": None},
        "days": {"type": "integer", "default": 5},
    }
    with pytest.raises(ArgumentsError, match=r"arguments\.limit"):
        call(tool, query="x", limit="many")
    assert call(tool, query="x", kinds=None)["content"][0]["text"] == "x 10 None 5"


def asyncify(function: Any) -> Any:
    """As asyncer's, which Lagent's actions use."""

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return await to_thread.run_sync(functools.partial(function, *args, **kwargs))

    return wrapper


class AsyncMaps(AsyncActionMixin, Maps):
    """Written as Lagent 0.5 writes its own: AsyncPPT, AsyncArxivSearch, AsyncGoogleScholar."""

    @tool_api(explode_return=True)
    @asyncify
    def describe(self, city: str) -> dict:  # type: ignore[type-arg]
        """Describe a city."""
        return super().describe(city)

    @tool_api
    def soon(self, city: str):  # type: ignore[no-untyped-def]
        """Return an awaitable, which Lagent awaits."""
        return self._soon(city)

    async def _soon(self, city: str) -> dict[str, int]:
        return {"letters": len(city)}


@pytest.mark.parametrize("thing", [AsyncMaps(), AsyncActionExecutor([AsyncMaps()])])
def test_an_action_of_lagent_that_runs_in_threads_is_served(thing: Any) -> None:
    tools = by_name(thing)
    assert [name for name, tool in tools.items() if tool.is_async] == [
        "AsyncMaps_describe", "AsyncMaps_at", "AsyncMaps_later", "AsyncMaps_soon",
    ]  # fmt: skip
    assert call(tools["AsyncMaps_describe"], city="Oslo")["structuredContent"] == {
        "size": 454.0,
        "river": None,
    }
    with pytest.raises(ToolError, match="it has sunk"):
        call(tools["AsyncMaps_describe"], city="Atlantis")
    assert call(tools["AsyncMaps_at"], city="Rome")["structuredContent"] == {"x": 1, "y": 4}
    assert call(tools["AsyncMaps_soon"], city="Rome")["structuredContent"] == {"letters": 4}
    assert call(tools["AsyncMaps_stream"])["content"] == [{"type": "text", "text": "abc"}]


def test_awaitable_result_of_an_awaited_action_is_awaited() -> None:
    executor = AsyncActionExecutor([AsyncMaps()])
    returned = asyncio.run(executor("AsyncMaps.soon", {"city": "Rome"}))
    assert returned.result == [{"type": "text", "content": '{"letters": 4}'}]


# --- executors ------------------------------------------------------------------------------------


def test_an_executor_serves_its_enabled_actions() -> None:
    executor = AsyncActionExecutor(
        [Bold(), Maps(), Bold({"name": "Off", "parameters": []}, enable=False)]
    )
    assert list(by_name(executor)) == [
        "Bold",
        "Maps_describe",
        "Maps_at",
        "Maps_later",
        "Maps_stream",
    ]


class Censoring(Hook):
    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> None:
        message.content = {
            **message.content,
            "parameters": {**message.content["parameters"], "text": "..."},
        }


@pytest.mark.parametrize("kind", [ActionExecutor, AsyncActionExecutor])
def test_the_hooks_of_an_executor_see_the_calls_of_its_tools(kind: Any) -> None:
    executor = kind([Bold()], hooks=[Censoring()])
    (tool,) = find_tools(executor)
    assert tool.describe() == find_tools(Bold)[0].describe()
    assert call(tool, text="damn")["content"] == [{"type": "text", "text": "**...**"}]
    with pytest.raises(ArgumentsError):
        call(tool, text=5)


# --- modules --------------------------------------------------------------------------------------

MODULE = '''
from abc import abstractmethod
from toolwire_compat.lagent import ActionExecutor, BaseAction, FinishAction, InvalidAction
from toolwire_compat.groot import Env
from toolwire_tools import tool_api

class Loud(BaseAction):
    """Loud."""
    def run(self, text: str) -> str: return text

class Kit(BaseAction):
    @tool_api
    def one(self) -> int: return 1

class Held(BaseAction):
    def run(self) -> str: return "held"

class Base(BaseAction):
    @abstractmethod
    def run(self) -> str: ...

@tool_api
def decorated(a: int) -> int: return a

def helper(a: int) -> int: return a

off = Loud({"name": "Off", "parameters": []}, enable=False)
described = BaseAction({"name": "described", "parameters": []})
kit = Kit()
executor = ActionExecutor([Held(), kit])
env = Env([decorated, helper])
'''


def offer(source: str, monkeypatch: pytest.MonkeyPatch) -> Offer:
    module = types.ModuleType("offering")
    monkeypatch.setitem(sys.modules, "offering", module)
    exec(source, vars(module))
    return find_offer(module)


def test_a_module_offers_actions_next_to_functions_and_says_what_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = offer(MODULE, monkeypatch)

    assert sorted(tool.name for tool in found.tools) == ["Held", "Kit_one", "decorated", "helper"]
    assert {skipped.name: skipped.reason.partition(";")[0] for skipped in found.skipped} == {
        "off": "it is not enabled",
        "described": "nothing runs it",
        "Base": "the class is abstract",
    }


def test_a_class_whose_object_is_served_is_not_served_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = "from toolwire_compat.lagent import ActionExecutor, BaseAction\n"
    source += "class Loud(BaseAction):\n    def run(self) -> int: return 1\n"
    for more in (
        "",
        "loud = Loud()\n",
        "executor = ActionExecutor([Loud()])\n",
        "b = Loud()\ne = ActionExecutor([b])\n",
    ):
        assert [tool.name for tool in offer(source + more, monkeypatch).tools] == ["Loud"]


def test_an_imported_class_whose_object_is_served_is_not_reported_as_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = "from toolwire_compat.lagent import ActionExecutor, FinishAction\n"
    source += f"from {__name__} import Bold, Maps\n"
    found = offer(source + "executor = ActionExecutor([Bold(), FinishAction()])\n", monkeypatch)
    assert [tool.name for tool in found.tools] == ["Bold", "FinishAction"]
    assert [skipped.name for skipped in found.skipped] == ["Maps"]


def test_listed_actions_are_served_without_the_unsuitable_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = MODULE + "\n__tools__ = [off, 'Loud', kit]\n"
    found = offer(source, monkeypatch)
    assert [tool.name for tool in found.tools] == ["Loud", "Kit_one"]
    assert [(skipped.name, skipped.reason.partition(";")[0]) for skipped in found.skipped] == [
        ("__tools__[0]", "it is not enabled")
    ]


class Confirmed(BaseAction):
    """Delete files."""

    @tool_api
    async def run(self, path: str, context: Context) -> str:
        """Delete a file."""
        return path


def test_an_async_api_with_the_context_of_others_fails_with_the_one_to_write() -> None:
    done = asyncio.run(Confirmed()({"path": "x"}))

    assert done.state == ActionStatusCode.API_ERROR
    assert "the hint says Context; write AsyncContext" in done.errmsg
