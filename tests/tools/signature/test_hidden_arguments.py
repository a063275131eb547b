"""Arguments that an author keeps from callers: neither described nor served nor taken."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest
from support.recording_caller import RecordingCaller
from toolwire_tools import ArgumentsError, Context, RegistrationError, Tool, make_tool, tool_api


def call(tool: Tool, arguments: dict[str, Any]) -> Any:
    return tool.call(arguments, RecordingCaller())["structuredContent"]["result"]


@pytest.mark.parametrize(
    "options", [{"exclude_arguments": "session"}, {"include_arguments": ["query"]}]
)
def test_a_hidden_argument_keeps_its_default(options: dict[str, Any]) -> None:
    @tool_api(**options)
    def search(query: str, session: str = "own", *, context: Context) -> list[str]:
        """Search.

        Args:
            query: what for
            session: whose
        """
        return [query, session]

    tool = make_tool(search)
    assert tool.describe()["inputSchema"] == {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "what for"}},
        "required": ["query"],
        "additionalProperties": False,
    }
    assert call(tool, {"query": "a"}) == ["a", "own"]
    with pytest.raises(ArgumentsError):
        call(tool, {"query": "a", "session": "other"})
    assert search("a", "other", context=None) == ["a", "other"]  # type: ignore[arg-type]


def test_hidden_arguments_need_no_form_in_json() -> None:
    @tool_api(exclude_arguments=["client", "places", "others"])
    def tool(a: int, client: type[Any] = int, *places: bytes, **others: object) -> list[object]:
        return [a, client is int, places == (), others == {}]

    assert call(make_tool(tool), {"a": 1}) == [1, True, True, True]


def test_hidden_arguments_keep_their_place() -> None:
    @tool_api(exclude_arguments=["b", "d"])
    def tool(a: int, b: int = 2, c: int = 3, d: complex = 4j, /, e: int = 5) -> list[Any]:
        return [a, b, c, d == 4j, e]

    assert call(make_tool(tool), {"a": 10}) == [10, 2, 3, True, 5]
    assert call(make_tool(tool), {"a": 10, "c": 30, "e": 50}) == [10, 2, 30, True, 50]


def test_hidden_fields_get_their_values() -> None:
    @tool_api(include_arguments=["a"])
    def tool(
        a: int,
        b: int = pydantic.Field(2),
        c: list[int] = pydantic.Field(default_factory=list),  # noqa: B008
    ) -> list[Any]:
        return [a, b, c]

    assert call(make_tool(tool), {"a": 1}) == [1, 2, []]


def test_a_required_argument_cannot_be_hidden() -> None:
    @tool_api(exclude_arguments="session")
    def tool(query: str, session: str) -> None: ...

    with pytest.raises(RegistrationError) as caught:
        make_tool(tool)
    assert (caught.value.parameter, "default" in caught.value.remedy) == (
        "parameter 'session'",
        True,
    )


def test_an_argument_cannot_hide_behind_an_open_end() -> None:
    @tool_api(exclude_arguments="session")
    def tool(query: str, session: str = "own", **others: str) -> None: ...

    with pytest.raises(RegistrationError) as caught:
        make_tool(tool)
    assert caught.value.parameter == "parameter '**others'"
    assert "exclude_arguments=['session', 'others']" in caught.value.remedy


def test_a_method_of_a_toolkit_hides_its_own() -> None:
    class Kit:
        @tool_api(exclude_arguments=["self", "session"])
        def find(self, query: str, session: str = "own") -> list[str]:
            return [query, session]

    assert call(make_tool(Kit().find), {"query": "a"}) == ["a", "own"]
