"""Annotations as each version of Python has them. Modules here are text, since this one has
`from __future__`.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable
from typing import Any, Optional, Union

import pytest
from toolwire_tools import make_tool
from toolwire_tools.errors import RegistrationError
from toolwire_tools.schema.annotations import get_annotations, get_arguments, get_origin

evaluates_late = pytest.mark.skipif(
    sys.version_info < (3, 14), reason="since Python 3.14 annotations are read late"
)


def function_of(source: str, name: str = "tool") -> Callable[..., Any]:
    """Return the function *name* of a module with this *source*, whose annotations are no text."""
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, "module.py", "exec", dont_inherit=True), namespace)
    found: Callable[..., Any] = namespace[name]
    return found


@pytest.mark.parametrize(
    ("hint", "origin", "arguments"),
    [
        (Union, None, ()),  # since Python 3.14 a class, whose attributes are descriptors
        (Union[int, str], Union, (int, str)),  # noqa: UP007 (`|` is another type before Python 3.14)
        (Optional[int], Union, (int, type(None))),  # noqa: UP045
        (list[int], list, (int,)),
        (dict[str, int], dict, (str, int)),
        (tuple[()], tuple, ()),
        (typing.Literal["a"], typing.Literal, ("a",)),
        (list, None, ()),
        (Any, None, ()),
        (None, None, ()),
        ("int", None, ()),
    ],
)
def test_origin_and_arguments_of_a_hint(hint: Any, origin: Any, arguments: tuple[Any, ...]) -> None:
    assert get_origin(hint) is origin
    assert get_arguments(hint) == arguments


@pytest.mark.parametrize(
    "hint", ["int | None", "dict[str, int]", "Optional[int]", "list[int | str]", "None | str"]
)
def test_a_union_in_a_signature_is_served(hint: str) -> None:
    source = f"from typing import Optional\ndef tool(x: {hint}) -> {hint}: return x"
    described = make_tool(function_of(source)).describe()
    assert described["inputSchema"]["properties"]["x"]
    assert described["outputSchema"]


@evaluates_late
def test_a_name_for_the_type_checker_only_is_refused_with_the_remedy() -> None:
    with pytest.raises(RegistrationError) as caught:
        make_tool(function_of("def tool(a: int, b: list[Unknown]) -> str: ..."))
    assert caught.value.parameter == "parameter 'b'"
    assert "'list[Unknown]'" in caught.value.problem
    assert "TYPE_CHECKING" in caught.value.remedy


@evaluates_late
def test_a_context_may_be_imported_for_the_type_checker_only() -> None:
    tool = make_tool(function_of("def tool(ctx: Context, a: int) -> str: ..."))
    assert list(tool.describe()["inputSchema"]["properties"]) == ["a"]


@evaluates_late
def test_a_class_defined_after_the_function_is_found() -> None:
    source = """
from dataclasses import dataclass
def tool(a: Point) -> Point: ...
@dataclass
class Point:
    x: int
"""
    [schema] = make_tool(function_of(source)).describe()["inputSchema"]["properties"].values()
    assert schema["properties"] == {"x": {"type": "integer"}}


@evaluates_late
@pytest.mark.parametrize("annotation", ["Unknown", "module.Missing", "list[Unknown]", "int['x']"])
def test_annotations_that_cannot_be_evaluated_are_text(annotation: str) -> None:
    tool = function_of(f"import typing as module\ndef tool(a: {annotation}, b: int): ...")
    assert get_annotations(tool) == {"a": annotation, "b": "int"}


@evaluates_late
def test_a_wrapped_function_is_refused_like_the_function_itself() -> None:
    source = """
import functools
def inner(a: int, b: Unknown) -> str: ...
@functools.wraps(inner)
def tool(*args, **kwargs): ...
"""
    with pytest.raises(RegistrationError) as caught:
        make_tool(function_of(source))
    assert caught.value.parameter == "parameter 'b'"
    assert "'Unknown'" in caught.value.problem


def test_what_has_no_annotations_has_an_empty_dictionary_of_them() -> None:
    for thing in (len, int, 5, None, object()):
        assert get_annotations(thing) == {}
