"""What a script is told that gives `Server` or `serve` something else than they take."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire import Server


def add(a: int, b: int) -> int:
    return a + b


@pytest.mark.parametrize("tools", [add, "tools.py", pytest, 5])
def test_tools_that_are_no_list_are_refused_with_what_would_be_right(tools: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^tools must be a list such as \[add, Library\(\)\], not "
    ):
        Server(tools)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"nme": "sums"}, "no option 'nme', did you mean 'name'?"),
        ({"timeout": 3}, "no option 'timeout', did you mean 'timeout_seconds'?"),
        ({"timeout_seconds": "3"}, "timeout_seconds takes float | None, not '3'"),
        ({"max_workers": None}, "max_workers takes int, not None"),
        ({"separator": 5}, "separator takes str, not 5"),
    ],
)
def test_an_option_that_does_not_exist_or_fit_is_named(options: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError) as caught:
        Server([add], **options)
    assert str(caught.value).startswith(told)


def test_removing_a_tool_that_is_not_there_proposes_the_closest() -> None:
    with pytest.raises(KeyError, match="no tool 'ad', did you mean 'add'"):
        Server([add]).remove("ad")
