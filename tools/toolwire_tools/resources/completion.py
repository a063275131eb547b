"""Completion: values that a client proposes while its user fills in an argument of a prompt or of a
URI template.

Strategy. A completion is a `Tool` too, so that a server runs it like one. Choices come from the
schema of the argument, all else from a function in its annotation.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace
from toolwire_schemas.json_schema.graph import SchemaGraph, SchemaNode

from ..errors import OutputError
from ..schema.annotations import (
    Unresolved,
    collect_names,
    get_annotations,
    is_async,
    unwrap_annotation,
    unwrap_function,
)
from ..signature.return_value import as_text
from ..tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..context.context import Caller
    from ..entry import Entry

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


class CompletionHandler(msgspec.Struct, frozen=True, eq=False):
    """Completes an argument by *values*: a list, or a function that returns them.

    A call takes the `text` typed so far and the other `arguments`, and returns the result of
    `completion/complete`.
    """

    values: Any
    is_async: bool
    is_generator: bool = False
    notices_cancellation: bool = False
    gate: None = None

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Return the result, of a synchronous function. Raises what the function raises, and
        `OutputError`.
        """
        return _make_result(self._find_values(**arguments))

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `call`, of an asynchronous function."""
        return _make_result(await self._find_values(**arguments))

    def with_name(self, name: str) -> CompletionHandler:
        """Return itself: no list shows a completion."""
        return self

    def _find_values(self, text: str, arguments: dict[str, str]) -> Any:
        if not callable(self.values):
            start = text.casefold()
            return [value for value in self.values if value.casefold().startswith(start)]
        from toolwire_schemas.signatures import read_signature

        count = len(read_signature(self.values).parameters)
        return self.values(*(text, arguments)[:count])


def make_completion(owner: Entry, values: Any) -> Tool:
    """Return what completes an argument of the prompt or resource *owner* by *values*, a list or a
    function.
    """
    waits = callable(values) and is_async(values)
    return Tool(replace(owner, kind="completions"), CompletionHandler(values, waits))


def find_completers(entry: Entry) -> dict[str, Any]:
    """Return the values of each argument of *entry* that can be completed, or the function that
    returns them.
    """
    properties = SchemaGraph(entry.input_schema).root.properties
    if entry.completer is not None:
        return {name: partial(entry.completer, name) for name in properties}
    if entry.function is None:  # another server knows
        return {}
    names = collect_names(entry.function)
    hints = get_annotations(unwrap_function(entry.function))
    found = {}
    for name, place in properties.items():
        values: Any = _list_choices(place)
        for item in _read_metadata(hints.get(name), names):
            if isinstance(item, Completer):
                values = item.values
        if values:
            found[name] = values
    return found


def _read_metadata(hint: Any, names: Any) -> tuple[Any, ...]:
    try:
        return unwrap_annotation(hint, names).metadata
    except Unresolved:  # the argument has its type from elsewhere
        return ()


def _list_choices(place: SchemaNode) -> list[str]:
    """Return the values that *place* lists, as texts."""
    texts = []
    for node in place.list_alternatives():
        values = list(node.values or ())
        if node.values is None and "boolean" in node.types:
            values = [True, False]
        texts += [as_text(value) for value in values if value is not None]
    return texts


def _make_result(values: Any) -> dict[str, Any]:
    if hasattr(values, "to_mcp"):  # FastMCP's `Completion`
        found = _make_result(values.values)["completion"]
        declared = {**values.to_mcp(), "values": found["values"]}
        if found["hasMore"]:
            declared["hasMore"] = True
        return {"completion": declared}
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise OutputError(
            [("result", f"is {type(values).__name__}; a completer returns a list of texts")]
        )
    taken = [str(value) for value in islice(values, MOST_VALUES + 1)]
    completion: dict[str, Any] = {"values": taken[:MOST_VALUES]}
    if hasattr(values, "__len__"):
        completion["total"] = len(values)
    completion["hasMore"] = len(taken) > MOST_VALUES
    return {"completion": completion}
