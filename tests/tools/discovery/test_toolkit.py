"""A class whose methods are decorated is a toolkit."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import pytest
from support.recording_caller import RecordingCaller
from toolwire_tools import RegistrationError, Tool, find_tools, tool_api


class Search:
    """Looks things up."""

    def __init__(self, limit: int = 2) -> None:
        self.limit = limit

    @tool_api(read_only=True, title="Find")
    def find(self, word: str) -> str:
        """Find a word."""
        return word * self.limit

    def helper(self) -> str:
        return ""

    @tool_api
    async def later(self, word: str) -> str:
        return word

    @tool_api
    def stream(self) -> Iterator[str]:
        yield from ("a", "b")

    @staticmethod
    @tool_api(name="static")
    def static_find(word: str) -> str:
        return word

    @tool_api
    @classmethod
    def kind(cls) -> str:
        return cls.__name__


def by_name(toolkit: Any) -> dict[str, Tool]:
    return {tool.name: tool for tool in find_tools(toolkit)}


def text(tool: Tool, arguments: dict[str, Any]) -> str:
    words: str = tool.call(arguments, RecordingCaller())["content"][0]["text"]
    return words


def test_decorated_methods_are_tools_of_the_toolkit_in_order() -> None:
    assert list(by_name(Search)) == [
        "Search_find",
        "Search_later",
        "Search_stream",
        "Search_static",
        "Search_kind",
    ]


def test_the_methods_of_a_toolkit_share_an_object() -> None:
    assert text(by_name(Search)["Search_find"], {"word": "a"}) == "aa"
    assert text(by_name(Search(3))["Search_find"], {"word": "a"}) == "aaa"
    made = []

    class Counter:
        def __init__(self) -> None:
            made.append(self)
            self.count = 0

        @tool_api
        def up(self) -> int:
            self.count += 1
            return self.count

        @tool_api
        def read(self) -> int:
            return self.count

    tools = by_name(Counter)
    assert [text(tools["Counter_up"], {}), text(tools["Counter_read"], {})] == ["1", "1"]
    assert len(made) == 1


def test_each_kind_of_method_runs() -> None:
    tools = by_name(Search)
    assert text(tools["Search_stream"], {}) == "ab"
    assert text(tools["Search_static"], {"word": "a"}) == "a"
    assert text(tools["Search_kind"], {}) == "Search"
    assert tools["Search_later"].is_async
    result = asyncio.run(tools["Search_later"].call_async({"word": "a"}, RecordingCaller()))
    assert result["content"][0]["text"] == "a"


def test_a_method_is_described_as_a_function_without_self() -> None:
    described = by_name(Search)["Search_find"].describe()
    assert list(described["inputSchema"]["properties"]) == ["word"]
    assert described["description"] == "Find a word."
    assert described["annotations"] == {"title": "Find", "readOnlyHint": True}


def test_a_subclass_inherits_tools_and_an_override_keeps_their_options() -> None:
    class Deep(Search):
        @tool_api
        def extra(self) -> str:
            return ""

        def find(self, word: str, depth: int = 1) -> str:
            return word[::-1]

        @tool_api(name="instantly")
        async def later(self, word: str) -> str:
            return word

    tools = by_name(Deep)
    assert list(tools) == [
        "Deep_find",
        "Deep_instantly",
        "Deep_stream",
        "Deep_static",
        "Deep_kind",
        "Deep_extra",
    ]
    found = tools["Deep_find"].describe()
    assert found["annotations"] == {"title": "Find", "readOnlyHint": True}
    assert found["description"] == "Find a word."
    assert list(found["inputSchema"]["properties"]) == ["word", "depth"]
    assert text(tools["Deep_find"], {"word": "ab"}) == "ba"
    assert text(tools["Deep_kind"], {}) == "Deep"


def test_a_subclass_can_withdraw_a_tool() -> None:
    class Narrow(Search):
        find = None  # type: ignore[assignment]

    assert "Narrow_find" not in by_name(Narrow)


def test_a_toolkit_that_needs_arguments_is_refused_with_the_remedy() -> None:
    class Keyed:
        def __init__(self, key: str, *, region: str, retries: int = 3) -> None:
            self.key = key

        @tool_api
        def ask(self) -> str:
            return self.key

    with pytest.raises(RegistrationError, match="key, region") as caught:
        find_tools(Keyed)
    assert "__tools__ = [Keyed(key=..., region=...)]" in caught.value.remedy
    assert text(by_name(Keyed("k", region="r"))["Keyed_ask"], {}) == "k"


def test_a_toolkit_of_static_and_class_methods_needs_no_object() -> None:
    class Pure:
        def __init__(self, key: str) -> None:
            raise NotImplementedError

        @staticmethod
        @tool_api
        def one() -> str:
            return "1"

        @classmethod
        @tool_api
        def two(cls) -> str:
            return "2"

    assert [text(tool, {}) for tool in find_tools(Pure)] == ["1", "2"]


def test_an_abstract_toolkit_is_refused_with_the_remedy() -> None:
    class Base(ABC):
        @tool_api
        @abstractmethod
        def dig(self) -> str: ...

    class Spade(Base):
        def dig(self) -> str:
            return "dug"

    with pytest.raises(RegistrationError, match="abstract") as caught:
        find_tools(Base)
    assert caught.value.remedy
    assert [text(tool, {}) for tool in find_tools(Spade)] == ["dug"]


def test_private_methods_are_tools_only_under_a_name_of_their_own() -> None:
    class Kit:
        @tool_api
        def _hidden(self) -> str:
            return ""

        @tool_api(name="shown")
        def _shown(self) -> str:
            return ""

        @tool_api
        def open(self) -> str:
            return ""

    assert list(by_name(Kit)) == ["Kit_shown", "Kit_open"]


def test_an_object_whose_call_is_decorated_is_a_tool_of_its_own() -> None:
    class Shout:
        """Says it loudly."""

        @tool_api(read_only=True)
        def __call__(self, word: str) -> str:
            return word.upper()

    for thing in (Shout, Shout()):
        (tool,) = find_tools(thing)
        assert tool.describe()["name"] == "Shout"
        assert tool.describe()["annotations"] == {"readOnlyHint": True}
        assert text(tool, {"word": "a"}) == "A"


def test_an_error_of_the_constructor_is_the_authors_own() -> None:
    class Broken:
        def __init__(self) -> None:
            raise ConnectionError("no database")

        @tool_api
        def ask(self) -> str:
            return ""

    with pytest.raises(ConnectionError):
        find_tools(Broken)


def test_two_methods_of_one_name_are_refused() -> None:
    class Kit:
        @tool_api(name="same")
        def one(self) -> str:
            return ""

        @tool_api(name="same")
        def two(self) -> str:
            return ""

    with pytest.raises(RegistrationError, match=r"Kit_same"):
        find_tools(Kit)
