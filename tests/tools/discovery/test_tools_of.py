"""Which tools things and modules offer."""

from __future__ import annotations

import sys
import textwrap
import types
from functools import partial
from typing import Any

import pytest
from support.recording_caller import RecordingCaller
from toolwire_tools import RegistrationError, find_offer, find_tools, make_tool, tool_api


def module(source: str, name: str = "sample") -> types.ModuleType:
    """A module of that source."""
    made = types.ModuleType(name)
    exec(textwrap.dedent(source), vars(made))
    return made


def names(source: str) -> list[str]:
    return [tool.name for tool in find_offer(module(source)).tools]


def add(a: int, b: int) -> int:
    return a + b


# Things


def test_things_of_every_kind_become_tools() -> None:
    class Kit:
        @tool_api
        def dig(self) -> str:
            return "dug"

    tool = make_tool(add, name="plus")
    offered = find_tools(
        [add, tool, Kit, (partial(tool_api(name="inc")(partial(add, b=1))),), [Kit().dig]]
    )
    assert [one.name for one in offered] == ["add", "plus", "Kit_dig", "inc", "dig"]
    assert find_tools(tool) == [tool]
    assert find_tools([]) == []


@pytest.mark.parametrize(
    "thing", [3, "add", None, int, type("Empty", (), {}), {"add": add}, [add, 3]]
)
def test_what_is_no_tool_is_refused_with_the_remedy(thing: Any) -> None:
    with pytest.raises(RegistrationError) as caught:
        find_tools(thing)
    assert caught.value.remedy


def test_the_same_thing_twice_is_one_tool() -> None:
    class Kit:
        @tool_api
        def dig(self) -> str:
            return "dug"

    kit = Kit()
    assert len(find_tools([add, add, kit, kit, make_tool(add)])) == 2
    assert len(find_tools([Kit, Kit])) == 1


def test_two_tools_of_one_name_are_refused_and_both_are_named() -> None:
    first, second = module("def add(a: int) -> int: return a", "one").add, add
    with pytest.raises(RegistrationError, match=r"one\.add") as caught:
        find_tools([first, second])
    assert f"{__name__}.add" in str(caught.value)


# Modules


def test_a_module_offers_its_decorated_tools_in_order_and_nothing_else() -> None:
    source = """
        from toolwire_tools import tool_api
        def helper(a): ...
        @tool_api
        def second() -> str: ...
        @tool_api(name="renamed")
        def first() -> str: ...
        class Kit:
            @tool_api
            def dig(self) -> str: ...
        class Plain:
            def dig(self) -> str: ...
    """
    assert names(source) == ["second", "renamed", "Kit_dig"]
    assert find_offer(module(source)).skipped == []


def test_a_module_that_decorates_nothing_offers_the_public_functions_defined_in_it() -> None:
    offer = find_offer(
        module("""
        from functools import cache, partial
        from os.path import join
        from json import dumps as imported
        def add(a: int) -> int: return a
        alias = add
        async def wait() -> None: ...
        def stream() -> str: yield ""
        @cache
        def slow(a: int) -> int: return a
        def _private(): ...
        def star(*args): ...
        unnamed = lambda a: a
        half = partial(add, 1)
        class Plain:
            def method(self): ...
        number = 3
    """)
    )
    assert [tool.name for tool in offer.tools] == ["add", "wait", "stream", "slow"]
    assert [skipped.name for skipped in offer.skipped] == ["star", "unnamed"]
    assert all(skipped.reason for skipped in offer.skipped)


def test_dunder_all_says_what_is_public() -> None:
    assert names("__all__ = ['_b', 'missing']\ndef a(): ...\ndef _b(): ...") == ["_b"]


def test_dunder_tools_says_it_exactly() -> None:
    source = """
        from toolwire_tools import Tool, tool_api, make_tool
        def plain() -> str: ...
        def other() -> str: ...
        @tool_api
        def decorated() -> str: ...
        class Kit:
            def __init__(self, key: str): self.key = key
            @tool_api
            def dig(self) -> str: return self.key
        __tools__ = [Kit("k"), other, "plain"]
    """
    assert names(source) == ["Kit_dig", "other", "plain"]
    assert names("__tools__ = []\ndef a(): ...") == []


@pytest.mark.parametrize("listed", ["'add'", "{}", "[3]", "['ad']", "add"])
def test_dunder_tools_that_lists_no_tools_is_refused_with_the_remedy(listed: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        find_offer(module(f"def add(): ...\n__tools__ = {listed}"))
    assert caught.value.remedy


def test_a_misspelt_name_in_dunder_tools_is_answered_with_the_closest_one() -> None:
    with pytest.raises(RegistrationError, match="did you mean 'search'"):
        find_offer(module("def search(): ...\n__tools__ = ['serach']"))


def test_a_decorated_tool_that_cannot_be_one_is_an_error() -> None:
    with pytest.raises(RegistrationError):
        find_offer(module("from toolwire_tools import tool_api\n@tool_api\ndef star(*args): ..."))


def test_one_function_under_two_names_is_one_tool() -> None:
    assert names(
        "from toolwire_tools import tool_api\n@tool_api\ndef a() -> str: ...\nb = _c = a"
    ) == ["a"]


def test_a_decorated_function_with_a_private_name_is_left_out_and_named() -> None:
    offer = find_offer(
        module("""
        from toolwire_tools import tool_api
        @tool_api
        def _hidden() -> str: ...
        @tool_api(name="shown")
        def _shown() -> str: ...
    """)
    )
    assert [tool.name for tool in offer.tools] == ["shown"]
    assert [skipped.name for skipped in offer.skipped] == ["_hidden"]


def test_imported_tools_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    other = module(
        "from toolwire_tools import tool_api\n@tool_api\ndef far() -> str: ...\ndef helper(): ...",
        "other",
    )
    monkeypatch.setitem(sys.modules, "other", other)
    offer = find_offer(module("from other import far, helper\ndef near() -> str: ..."))
    assert [tool.name for tool in offer.tools] == ["near"]
    assert [(skipped.name, "other" in skipped.reason) for skipped in offer.skipped] == [
        ("far", True)
    ]
    assert names("from other import far\n__all__ = ['far']") == ["far"]


def test_a_package_offers_what_it_gathers_from_its_own_modules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    part = module(
        "from toolwire_tools import tool_api\n@tool_api\ndef inner() -> str: ...", "sample.part"
    )
    monkeypatch.setitem(sys.modules, "sample", types.ModuleType("sample"))
    monkeypatch.setitem(sys.modules, "sample.part", part)
    assert names("from sample.part import inner") == ["inner"]


def test_an_object_of_a_toolkit_represents_its_class() -> None:
    source = """
        from toolwire_tools import Tool, tool_api, make_tool
        class Kit:
            def __init__(self, key: str): self.key = key
            @tool_api
            def dig(self) -> str: return self.key
        kit = Kit("k")
        def plain() -> str: ...
        extra = make_tool(plain)
    """
    offer = find_offer(module(source))
    assert [tool.name for tool in offer.tools] == ["Kit_dig", "plain"]
    assert offer.tools[0].call({}, RecordingCaller())["content"][0]["text"] == "k"


def test_two_objects_of_one_toolkit_are_refused() -> None:
    with pytest.raises(RegistrationError, match=r"Kit\.dig"):
        find_offer(
            module("""
            from toolwire_tools import tool_api
            class Kit:
                @tool_api
                def dig(self) -> str: ...
            a, b = Kit(), Kit()
        """)
        )


def test_a_private_base_of_toolkits_is_not_offered() -> None:
    source = """
        from toolwire_tools import tool_api
        class _Base:
            def __init__(self, key): ...
            @tool_api
            def dig(self) -> str: ...
        class Kit(_Base):
            def __init__(self): ...
    """
    assert names(source) == ["Kit_dig"]


def test_objects_that_dislike_questions_are_not_asked_any() -> None:
    source = """
        from unittest.mock import Mock, MagicMock
        class Proxy:
            def __getattribute__(self, name): raise RuntimeError("working outside of context")
        class Meta(type):
            def __getattr__(cls, name): raise RuntimeError("asked the class")
        class Strange(metaclass=Meta): ...
        proxy, mock, magic, strange = Proxy(), Mock(), MagicMock(), Strange()
        def add(a: int) -> int: return a
    """
    offer = find_offer(module(source))
    assert [tool.name for tool in offer.tools] == ["add"]
    assert offer.skipped == []
