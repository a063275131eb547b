"""The arguments of one tool: their schema, and how a call's JSON becomes Python's arguments.

Strategy. One `msgspec.convert` says yes to nearly every call. On a no the published schema is the judge: what it
refuses is explained, what it accepts is read once more, with 3.0 as 3 for an integer. So whatever the schema
promises is kept, and the price of good explanations is paid only by bad calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ArgumentsError
from ..schema.shape import (
    NOT_CONVERTED,
    RecordMember,
    Schema,
    TypePlan,
    ValueRefused,
    converter,
    refusal,
    struct_of,
    values_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..schema.validator import ToolSchemaValidator

Bound = tuple[tuple[Any, ...], dict[str, Any]]


class Parameter(RecordMember, frozen=True):
    """One parameter that a call has to care about."""

    positional: bool = False
    fill: Callable[[], Any] | None = None
    """Makes the value when a caller gives none and Python's own default must not be used."""
    shown: bool = True
    """False if callers neither see nor give it."""


class Arguments:
    """What one tool takes: *parameters*, and *others* for its `**kwargs`, if it has them."""

    def __init__(self, schema: Schema, parameters: Sequence[Parameter] = (), others: TypePlan | None = None) -> None:
        self.input_schema = schema
        self._parameters = parameters
        self._others = others
        self._read: Callable[[Any], Bound] | None = None
        self._judge: ToolSchemaValidator | None = None

    def bind(self, arguments: dict[str, Any], coerce: bool = False) -> Bound:
        """Return the positional and keyword arguments for a call. Defaults are left to Python.

        With *coerce*, JSON text is decoded where the schema wants no text.

        Raises:
            ArgumentsError: naming every fault and its place.
        """
        if self._read is None:
            self._read = self._reader()
        try:
            return self._read(arguments)
        except (*NOT_CONVERTED, ValueRefused, RecursionError):
            return self._second_reading(arguments, coerce)

    def _reader(self) -> Callable[[Any], Bound]:
        return _reader(self._parameters) if self._others is None else _open_reader(self._parameters, self._others)

    def _validator(self) -> ToolSchemaValidator:
        if self._judge is None:
            from ..schema.validator import ToolSchemaValidator

            self._judge = ToolSchemaValidator(self.input_schema)
        return self._judge

    def _second_reading(self, arguments: Any, coerce: bool) -> Bound:
        from toolwire_schemas.json_schema.error_text import place
        from toolwire_schemas.language import say

        from .coercion import coerced, with_whole_numbers

        if coerce and (changed := coerced(arguments, self.input_schema)) != arguments:
            return self.bind(changed)
        if faults := self._validator().faults(arguments, "arguments"):
            raise ArgumentsError(faults)
        try:
            read = self._read or self._reader()
            return read(with_whole_numbers(arguments, self.input_schema))
        except (*NOT_CONVERTED, ValueRefused) as error:
            refused = error if isinstance(error, ValueRefused) else refusal(error)
            fault = place("arguments", refused.path), refused.sentence
            raise ArgumentsError([fault], private=refused.private) from refused.__cause__
        except RecursionError:
            raise ArgumentsError([("arguments", say("is nested too deeply"))]) from None


class GivenArguments(Arguments):
    """Arguments by a schema written by hand: jsonschema checks them, and they are passed by keyword, as they came."""

    def _reader(self) -> Callable[[Any], Bound]:
        accepts = self._validator().accepts

        def read(arguments: Any) -> Bound:
            if not accepts(arguments):
                raise ValueRefused("")
            return (), arguments

        return read


def _reader(parameters: Sequence[Parameter]) -> Callable[[Any], Bound]:
    """Return a function that reads the JSON object of a call."""
    shown = [p for p in parameters if p.shown]
    struct = struct_of("arguments", shown)
    positional = {p.name: p.default for p in parameters if p.positional}
    fills = [(p.name, p.fill) for p in parameters if p.fill is not None]
    convert = converter(struct)
    if not positional and not fills and all(member.plan.is_identity for member in shown):

        def unchanged(arguments: Any) -> Bound:
            convert(arguments, struct)
            return (), arguments

        return unchanged
    values_in = values_of(shown)

    def read(arguments: Any) -> Bound:
        values = values_in(convert(arguments, struct))
        for name, fill in fills:
            if name not in values:
                values[name] = fill()
        if not positional:
            return (), values
        # A parameter that only takes its place needs a value as soon as a later one has been given.
        last = max((place for place, name in enumerate(positional, 1) if name in values), default=0)
        return tuple([values.pop(name, default) for name, default in [*positional.items()][:last]]), values

    return read


def _open_reader(parameters: Sequence[Parameter], extra: TypePlan) -> Callable[[Any], Bound]:
    known = frozenset(p.name for p in parameters)
    closed = _reader(parameters)
    others = _DICT[str, extra.msgspec_type]
    convert = converter(others)

    def read(arguments: Any) -> Bound:
        if not isinstance(arguments, dict):
            raise ValueRefused("")  # and jsonschema says why
        positional, keywords = closed({name: value for name, value in arguments.items() if name in known})
        further = {name: value for name, value in arguments.items() if name not in known}
        return positional, {**keywords, **convert(further, others)}

    return read


_DICT: Any = dict
