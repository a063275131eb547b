"""Arguments that are refused at first: read again as JSON Schema and models mean them, or
explained.

JSON Schema counts 3.0 as an integer, and models send JSON in strings, names of an Enum's members,
and null for what is absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.bounded_validator import CannotJudge
from toolwire_schemas.json_schema.error_text import format_place, write_faults
from toolwire_schemas.json_schema.graph import SchemaGraph, SchemaNode
from toolwire_schemas.json_schema.lossless import generate_readings, list_unread

from ..errors import ArgumentsError
from ..schema.shape import NOT_CONVERTED, ValueRefused, make_refusal
from ..schema.to_json import map_enum_values
from ..schema.validator import explain_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from enum import Enum
    from typing import Protocol

    from ..schema.shape import Schema
    from ..schema.types import Types
    from ..schema.validator import ToolSchemaValidator

    Bound = tuple[tuple[Any, ...], dict[str, Any]]

    class ReadableArguments(Protocol):
        """The part of `arguments.Arguments` that is used here."""

        input_schema: Schema
        has_types: bool
        read: Callable[[Any], Bound] | None
        types: Types | None

        def get_validator(self) -> ToolSchemaValidator: ...

    class Log(Protocol):
        """The part of the `Caller` of a tool that is used here."""

        def log(
            self, level: str, message: str, fields: dict[str, Any], logger: str | None
        ) -> None: ...


def read_again(arguments: ReadableArguments, value: Any, strict: bool, log: Log | None) -> Bound:
    """Return the arguments of a call with *value*, which was refused; *strict* and *log* are those
    of `bind`.

    Raises:
        ArgumentsError: if neither the value nor a reading of it fits; it is about the value, but
            silent about what was read without loss.
    """
    errors: list[Any] = []
    try:
        if not (errors := arguments.get_validator().find_errors(value)):
            return _convert(arguments, value)
        if not strict and (bound := _without_loss(arguments, value, errors, log)):
            return bound
    except (*NOT_CONVERTED, ValueRefused) as error:
        refused = error if isinstance(error, ValueRefused) else make_refusal(error)
        fault = format_place("arguments", refused.path), refused.sentence
        raise ArgumentsError([fault], private=refused.private) from refused.__cause__
    except (CannotJudge, RecursionError) as error:
        if not errors:
            raise ArgumentsError([("arguments", explain_failure(error))]) from None
    raise ArgumentsError(write_faults(errors, "arguments"))


def _without_loss(
    arguments: ReadableArguments, value: Any, errors: list[Any], log: Log | None
) -> Bound | None:
    refused: Exception | None = None
    choices = [] if arguments.types is None else [_map_values(cls) for cls in arguments.types.enums]
    for reading in generate_readings(value, errors, arguments.get_validator().find_errors, choices):
        try:
            bound = _convert(arguments, reading.value)
        except (*NOT_CONVERTED, ValueRefused) as error:
            refused = error
            continue
        if log is not None:
            log.log("debug", reading.describe("arguments"), {}, None)
        return bound
    if refused is None:
        return None
    if left := arguments.get_validator().find_errors(reading.value):
        raise ArgumentsError(write_faults(list_unread(errors, left, reading.changes), "arguments"))
    raise refused


def _map_values(cls: type[Enum]) -> dict[str, Any]:
    """Return the JSON values of the members of *cls* by their names, and by aliases of these."""
    values = map_enum_values(cls)
    return {name: values[member] for name, member in cls.__members__.items()}


def _convert(arguments: ReadableArguments, value: Any) -> Bound:
    assert arguments.read is not None
    if not arguments.has_types:
        return arguments.read(value)
    root = SchemaGraph(arguments.input_schema).root
    return arguments.read(_with_whole_numbers(value, [root]))


def _with_whole_numbers(value: Any, places: list[SchemaNode]) -> Any:
    """Return *value* with 3.0 as 3 where *places* want integers, within the range in which floats
    are exact.
    """
    if not isinstance(value, dict | list | float):
        return value
    nodes: dict[SchemaNode, None] = {}
    for wanted in places:
        nodes |= dict.fromkeys(node for node in wanted.list_alternatives() if not node.choices)
    if isinstance(value, float):
        if _is_whole(value) and _wants_integer(nodes):
            return int(value)
        return value
    if isinstance(value, list):
        return [_with_whole_numbers(item, _find_items(nodes, at)) for at, item in enumerate(value)]
    members = {}
    for name, member in value.items():
        members[name] = _with_whole_numbers(member, _find_members(nodes, name))
    return members


def _is_whole(value: float) -> bool:
    return value.is_integer() and abs(value) <= 2**53


def _wants_integer(nodes: Iterable[SchemaNode]) -> bool:
    """Return whether some of *nodes* want an integer, and no other takes fractions."""
    wants = False
    for node in nodes:
        if node.values is None and (not node.types or "number" in node.types):
            return False
        wants = wants or "integer" in node.types
    return wants


def _find_members(nodes: Iterable[SchemaNode], name: str) -> list[SchemaNode]:
    places = [node.properties.get(name, node.additional) for node in nodes]
    return [place for place in places if place is not None]


def _find_items(nodes: Iterable[SchemaNode], index: int) -> list[SchemaNode]:
    places = []
    for node in nodes:
        is_first = index < len(node.prefix_items)
        places.append(node.prefix_items[index] if is_first else node.items)
    return [place for place in places if place is not None]
