"""Completion: values that a client proposes while its user fills in an argument of a prompt or of a
URI template.

Strategy. A `Completion` is a `Tool` too, so that a server runs it like one. Choices come from the
schema of the argument, all else from a function in its annotation.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import OutputError
from ..schema.annotations import (
    Unresolved,
    annotations_of,
    is_async,
    names_of,
    unwrap_annotation,
    unwrap_function,
)
from ..signature.return_value import as_text
from ..tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..context.context import Caller

MOST_VALUES = 100
"""The most values of one response (MCP, completion)."""


class Completer(msgspec.Struct, frozen=True):
    """The values of an argument: a list, or a function that returns them."""

    values: Any


def complete(values: Iterable[str] | Callable[..., Any]) -> Completer:
    """Mark an argument of a prompt or of a URI template with its values:
    `Annotated[str, complete(find_city)]`.

    *values* is a list, of which clients get those that begin with the text typed so far, or a
    function of that text. A function with two parameters also gets a dict of the arguments that are
    filled in already. It may be `async`, and returns the values, the best first.

    Choices (`Literal`, `Enum`, `bool`) need no mark.

    Raises:
        TypeError: if *values* is one text.
    """
    if isinstance(values, str):
        raise TypeError(f"complete: write a list, such as [{values!r}], or a function")
    return Completer(values if callable(values) else [str(value) for value in values])


class Completion(Tool):
    """Completes *argument* of the prompt or resource *owner*.

    `call` takes the `text` typed so far and the other `arguments`, and returns the result of
    `completion/complete`.
    """

    def __init__(self, owner: Tool, argument: str) -> None:
        self._become(owner)
        self.kind = "completions"
        self._values = completers(owner).get(argument, ())
        self.has_function = callable(self._values)
        """False for a list."""
        self.is_async = self.has_function and is_async(self._values)
        self.is_generator, self.gate = False, None

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Return the result, of a synchronous function. Raises what the function raises, and
        `OutputError`.
        """
        return _result(self._found(**arguments))

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `call`, of an asynchronous function."""
        return _result(await self._found(**arguments))

    def _found(self, text: str, arguments: dict[str, str]) -> Any:
        if not self.has_function:
            return [value for value in self._values if value.casefold().startswith(text.casefold())]
        from toolwire_schemas.signatures import signature_of

        given = (text, arguments)[: len(signature_of(self._values).parameters)]
        return self._values(*given)


def completers(tool: Tool) -> dict[str, Any]:
    """Return the values of each argument of *tool* that can be completed, or the function that
    returns them.
    """
    schema = tool._signature.arguments.input_schema
    if (
        completer := vars(tool).get("completer")
    ) is not None:  # one for all arguments, as FastMCP has it
        return {name: partial(completer, name) for name in schema.get("properties", {})}
    names = names_of(tool.function)
    hints = annotations_of(unwrap_function(tool.function))
    found = {}
    for name, property_ in schema.get("properties", {}).items():
        marks = [
            item.values for item in _metadata(hints.get(name), names) if isinstance(item, Completer)
        ]
        if values := marks[-1] if marks else _choices(property_):
            found[name] = values
    return found


def _metadata(hint: Any, names: Any) -> tuple[Any, ...]:
    try:
        return unwrap_annotation(hint, names).metadata
    except Unresolved:  # the argument has its type from elsewhere
        return ()


def _choices(schema: dict[str, Any]) -> list[str]:
    branches = [schema, *schema.get("anyOf", ())]
    values = [
        value
        for each in branches
        for value in each.get("enum", [each["const"]] if "const" in each else [])
    ]
    if any(each.get("type") == "boolean" for each in branches):
        values += [True, False]
    return [as_text(value) for value in values if value is not None]


def _result(values: Any) -> dict[str, Any]:
    if hasattr(values, "to_mcp"):  # FastMCP's `Completion`
        found = _result(values.values)["completion"]
        more = {"hasMore": True} if found["hasMore"] else {}
        return {"completion": {**values.to_mcp(), "values": found["values"], **more}}
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise OutputError(
            [("result", f"is {type(values).__name__}; a completer returns a list of texts")]
        )
    total = {"total": len(values)} if hasattr(values, "__len__") else {}
    taken = [str(value) for value in islice(values, MOST_VALUES + 1)]
    shown = taken[:MOST_VALUES]
    return {"completion": {"values": shown, **total, "hasMore": len(taken) > len(shown)}}
