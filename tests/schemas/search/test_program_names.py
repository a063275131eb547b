"""What a program calls tools, and how its arguments are read."""

from __future__ import annotations

import builtins
import keyword
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_dialects.search.found_tools import write_program_stubs
from toolwire_dialects.search.program_names import (
    Misfit,
    NamedTool,
    name_functions,
    read_arguments,
)


def named(name: str, group: str = "", own_name: str = "") -> NamedTool:
    return NamedTool({"name": name}, group, own_name)


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (named("add"), "add"),
        (named("create-issue"), "create_issue"),
        (named("print"), "print_"),
        (named("class"), "class_"),
        (named("ToolFailed"), "ToolFailed_"),
        (named("1st"), "_1st"),
        (named("github_create_issue", "github", "create_issue"), "github.create_issue"),
        (named("my-server_x", "my-server", "x"), "my_server.x"),
        (named("a_from", "a", "from"), "a.from_"),
        (named("a___init__", "a", "__init__"), "a.__init___"),
        (named("list_print", "list", "print"), "list_.print"),
    ],
)
def test_function_has_the_nearest_name_that_python_allows(tool: NamedTool, expected: str) -> None:
    assert str(name_functions([tool])[tool.name]) == expected


def test_names_that_clash_stay_apart() -> None:
    tools = [
        named("github"),
        named("github_get-it", "github", "get-it"),
        named("github_get_it", "github", "get_it"),
        named("get-it"),
        named("get.it"),
    ]

    names = name_functions(tools)

    assert str(names["github"]) == "github"
    assert str(names["github_get_it"]) == "github_2.get_it"
    assert len(set(map(str, names.values()))) == len(tools)


@given(st.lists(st.tuples(st.text(), st.text()), unique_by=lambda pair: "/".join(pair)))
def test_any_names_become_different_names_of_python(pairs: list[tuple[str, str]]) -> None:
    tools = [named("/".join(pair), *pair) for pair in pairs]

    names = name_functions(tools)

    assert names.keys() == {tool.name for tool in tools}
    assert len(set(map(str, names.values()))) == len(tools)
    for name in names.values():
        assert name.function.isidentifier()
        assert not keyword.iskeyword(name.function)
        outer = name.group or name.function
        assert outer.isidentifier()
        assert not hasattr(builtins, outer)


CREATE: dict[str, Any] = {
    "name": "create",
    "description": "Open an issue.\n\nMore.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "labels": {"type": "array", "items": {"type": "string"}},
            "title": {"type": "string"},
            "user-id": {"type": "integer"},
        },
        "required": ["title"],
    },
    "outputSchema": {
        "type": "object",
        "properties": {"number": {"type": "integer", "description": "Its number.\nNot more."}},
        "required": ["number"],
    },
}


@pytest.mark.parametrize(
    ("positional", "by_name", "expected"),
    [
        ([], {}, {}),
        (["x"], {}, {"title": "x"}),
        (["x", ["a"]], {"user_id": 3}, {"title": "x", "labels": ["a"], "user-id": 3}),
        ([], {"user-id": 3, "other": 1}, {"user-id": 3, "other": 1}),
    ],
)
def test_arguments_are_read_as_the_stub_shows_them(
    positional: list[Any], by_name: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert read_arguments(CREATE, positional, by_name) == expected


@pytest.mark.parametrize(
    ("positional", "by_name", "problem"),
    [
        ([1, 2, 3, 4], {}, "takes at most 3 positional arguments, not 4"),
        (["x"], {"title": "y"}, "has two values for title"),
        ([], {"user_id": 1, "user-id": 2}, "has two values for user-id"),
    ],
)
def test_arguments_that_fit_no_parameter_are_refused(
    positional: list[Any], by_name: dict[str, Any], problem: str
) -> None:
    with pytest.raises(Misfit, match=problem):
        read_arguments(CREATE, positional, by_name)


def test_stubs_of_a_server_are_in_a_class_and_have_types_of_results() -> None:
    entry = {**CREATE, "name": "github_create"}
    names = name_functions([NamedTool(entry, "github", "create")])

    assert write_program_stubs([entry], names) == (
        "class github:\n"
        "    class CreateResult(TypedDict):\n"
        "        number: int  # Its number.\n"
        "\n"
        "    def create(title: str, labels: list[str] = ..., user_id: int = ...)"
        " -> CreateResult:\n"
        '        """Open an issue.\n'
        "\n"
        "        Args:\n"
        '            user_id: (called "user-id")\n'
        '        """'
    )
