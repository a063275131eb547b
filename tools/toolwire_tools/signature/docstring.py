"""The parts of a docstring: a description, a text for each parameter, and the result."""

from __future__ import annotations

import functools
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

import msgspec

from ..schema.annotations import unwrap_function

if TYPE_CHECKING:
    from .docstring_entries import DocEntry


class Docstring(msgspec.Struct, frozen=True):
    """A docstring taken apart. *description* has neither parameters nor returns nor exceptions in
    it.
    """

    description: str = ""
    parameters: dict[str, DocEntry] = {}
    returns: tuple[DocEntry, ...] = ()


def read_docstring(function: Any) -> Docstring:
    """Return the docstring of a callable: of the function below partials and wrappers, or of an
    object's class.
    """
    return read(_find_text(function))


def read_text(function: Any) -> str:
    """The whole docstring of a callable, without its margin."""
    from .docstring_sections import dedent

    return dedent(_find_text(function) or "")


def _find_text(function: Any) -> str | None:
    for candidate in (function, getattr(function, "func", None), unwrap_function(function)):
        text = None
        if candidate is not None:
            text = getattr(candidate, "__doc__", None)
        if isinstance(text, str) and text != getattr(type(candidate), "__doc__", None):
            return text
    # What stands in the place of something else says nothing by its own class.
    is_stand_in = isinstance(function, _ROUTINES) or any(
        hasattr(function, link) for link in ("func", "__wrapped__")
    )
    if is_stand_in:
        return None
    return type(function).__doc__


_ROUTINES = (
    FunctionType,
    MethodType,
    BuiltinFunctionType,
    MethodDescriptorType,
    WrapperDescriptorType,
)


@functools.lru_cache(maxsize=4096)
def read(text: str | None) -> Docstring:
    """Return what *text* says; text in no known style is all description."""
    if not text:
        return Docstring()
    if text.isascii() and not {"\n", ":", "`"} & {*text}:  # a sentence
        return Docstring(text.strip())
    from .docstring_sections import split_sections

    found = split_sections(text)
    parameters = {str(parameter.name): parameter for parameter in found.parameters}
    return Docstring(found.description.strip(), parameters, tuple(found.returns))
