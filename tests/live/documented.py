"""The tools of the tasks with docstrings of several sections, described to a model in two forms."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal

from toolwire import tool_api

if TYPE_CHECKING:
    from collections.abc import Callable

Form = Literal["parts", "whole"]
"""`parts`: what Toolwire makes of a docstring: parameters are described in the schema, and what is
returned and raised is left out. `whole`: the description is the docstring as it stands, as with
FastMCP and the SDKs.
"""

FORMS: tuple[Form, ...] = ("parts", "whole")

_NUMBERS = "a: the first number.\n    b: the second number."
_SECTIONS = {
    "add": (_NUMBERS, "The sum of both numbers.", ""),
    "subtract": (_NUMBERS, "The difference: the first number without the second one.", ""),
    "multiply": (_NUMBERS, "The product of both numbers.", ""),
    "divide": (_NUMBERS, "The quotient, whole if it is.", "if the second number is 0."),
    "get_price": ("item: the name of the item, such as honey.", "The price in euros.", "if it is not sold."),  # noqa: E501
    "get_phone": ("name: the first name of the person.", "The number as text.", "if the name is unknown."),  # noqa: E501
    "get_temperature": ("city: the name of the city.", "Whole degrees Celsius.", "if it is unknown."),  # noqa: E501
    "list_files": ("", "The names, in no order.", ""),
    "read_file": ("name: the name of the file, such as notes.txt.", "The whole text.", "if it does not exist."),  # noqa: E501
}  # fmt: skip


def document(function: Callable[..., Any], form: Form) -> Callable[..., Any]:
    """Return a copy of *function*, a tool of the tasks, with a docstring of several sections."""
    assert isinstance(function, FunctionType)
    copy = FunctionType(function.__code__, function.__globals__, function.__name__)
    copy.__annotations__ = function.__annotations__
    arguments, returned, raised = _SECTIONS[function.__name__]
    sections = [function.__doc__ or ""]
    if arguments:
        sections.append(f"Args:\n    {arguments}")
    sections.append(f"Returns:\n    {returned}")
    if raised:
        sections.append(f"Raises:\n    ValueError: {raised}")
    copy.__doc__ = "\n\n".join(sections)
    if form == "whole":
        return tool_api(description=inspect.cleandoc(copy.__doc__))(copy)
    return copy
