"""Arguments and results by schemas written by hand. Imported for the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import RegistrationError
from ..schema.shape import Schema, ValueRefused
from ..schema.validator import find_problem as problem_of
from .arguments import Arguments
from .return_value import Returns, wrap_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from .second_reading import Bound


class GivenArguments(Arguments):
    """Arguments by a schema written by hand: jsonschema checks them, and they are passed by
    keyword, as they came.
    """

    has_types = False

    def _make_reader(self) -> Callable[[Any], Bound]:
        accepts = self.get_validator().accepts

        def read(arguments: Any) -> Bound:
            if not accepts(arguments):
                raise ValueRefused("")
            return (), arguments

        return read


def make_arguments_by_schema(schema: Schema, tool: str) -> Arguments:
    """Return the arguments of *tool* by *schema*; raises a RegistrationError if it is invalid or
    not of an object.
    """
    _check(schema, tool, "the input schema")
    if schema.get("type") != "object":
        remedy = 'give it "type": "object"'
        raise RegistrationError(
            "its root is no object", tool=tool, parameter="the input schema", remedy=remedy
        )
    return GivenArguments(schema)


def returns_by_schema(schema: Schema, tool: str) -> Returns:
    """Return the result of *tool* by *schema*; raises a RegistrationError if it is invalid."""
    _check(schema, tool, "the output schema")
    if schema.get("type") == "object":
        return Returns("structured", schema)
    _check(wrap_schema(schema), tool, "the output schema, below the member result")
    return Returns("structured", wrap_schema(schema), wraps=True)


def _check(schema: Schema, tool: str, which: str) -> None:
    if problem := problem_of(schema):
        raise RegistrationError(problem, tool=tool, parameter=which, remedy="fix the schema")
