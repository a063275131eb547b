"""The arguments of one tool: their schema, and how a call's JSON becomes Python's arguments.

Strategy. One `msgspec.convert` says yes to nearly every call. On a no the published schema is the judge: what it
refuses is explained, what it accepts is read once more, leniently (3.0 for an integer). So whatever the schema
promises is kept, and the price of good explanations is paid only by bad calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import ArgumentsError
from ..schema.shape import (
    MISSING,
    NOT_CONVERTED,
    Member,
    Refused,
    Schema,
    TypePlan,
    refusal,
    struct_of,
    values_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema.validator import SchemaValidator

Bound = tuple[tuple[Any, ...], dict[str, Any]]


class Parameter(msgspec.Struct, frozen=True):
    """One parameter that a call has to care about."""

    name: str
    shape: TypePlan
    required: bool
    positional: bool = False
    default: Any = MISSING
    fill: Callable[[], Any] | None = None
    """Makes the value when a caller gives none and Python's own default must not be used."""
    shown: bool = True
    """False if callers neither see nor give it."""


class Plan(msgspec.Struct, frozen=True):
    """Parameters as they are read; *extra* is the shape of what `**kwargs` takes, None without it."""

    parameters: tuple[Parameter, ...]
    extra: TypePlan | None = None


class Arguments:
    """What one tool takes."""

    def __init__(self, schema: Schema, plan: Plan, lenient: Callable[[], Plan], *, careful: bool = False) -> None:
        self.input_schema = schema
        self._plan = plan
        self._lenient = lenient
        self._careful = careful
        self._read: Callable[[Any], Bound] | None = None
        self._read_leniently: Callable[[Any], Bound] | None = None
        self._judge: SchemaValidator | None = None

    def bind(self, arguments: dict[str, Any], coerce: bool = False) -> Bound:
        """Return the positional and keyword arguments for a call. Defaults are left to Python.

        With *coerce*, JSON text is decoded where the schema wants no text.

        Raises:
            ArgumentsError: naming every fault and its place.
        """
        read = self._read or self._prepared()
        try:
            return read(arguments)
        except (*NOT_CONVERTED, Refused, RecursionError):
            return self._second_reading(arguments, coerce)

    def _prepared(self) -> Callable[[Any], Bound]:
        self._read = self._judged(_reader(self._plan)) if self._careful else _reader(self._plan)
        return self._read

    def _judged(self, read: Callable[[Any], Bound]) -> Callable[[Any], Bound]:
        """Return *read* after a check by jsonschema."""
        judge = self._validator()

        def judged(arguments: Any) -> Bound:
            if not judge.accepts(arguments):
                raise Refused("")
            return read(arguments)

        return judged

    def _validator(self) -> SchemaValidator:
        if self._judge is None:
            from ..schema.validator import SchemaValidator

            self._judge = SchemaValidator(self.input_schema)
        return self._judge

    def _second_reading(self, arguments: Any, coerce: bool) -> Bound:
        if coerce:
            from .coercion import coerced

            changed = coerced(arguments, self.input_schema)
            if changed != arguments:
                return self.bind(changed)
        from toolwire_schemas.json_schema.error_text import place
        from toolwire_schemas.language import say

        if faults := self._validator().faults(arguments, "arguments"):
            raise ArgumentsError(faults)
        try:
            if self._read_leniently is None:
                self._read_leniently = _reader(self._lenient())
            return self._read_leniently(arguments)
        except (*NOT_CONVERTED, Refused) as error:
            refused = error if isinstance(error, Refused) else refusal(error)
            fault = place("arguments", refused.path), refused.sentence
            raise ArgumentsError([fault], private=refused.private) from refused.__cause__
        except RecursionError:
            raise ArgumentsError([("arguments", say("is nested too deeply"))]) from None


class GivenArguments(Arguments):
    """Arguments by a schema written by hand: jsonschema checks them, and they are passed by keyword, as they came."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema, Plan(()), lambda: Plan(()))

    def _prepared(self) -> Callable[[Any], Bound]:
        self._read = self._judged(lambda arguments: ((), arguments))
        return self._read


def _reader(plan: Plan) -> Callable[[Any], Bound]:
    """Return a function that reads the JSON object of a call by *plan*."""
    if plan.extra is not None:
        return _open_reader(plan, plan.extra)
    shown = [Member(p.name, p.name, p.shape, p.required) for p in plan.parameters if p.shown]
    struct = struct_of("arguments", shown)
    convert = msgspec.convert
    positional = {p.name: p.default for p in plan.parameters if p.positional}
    fills = [(p.name, p.fill) for p in plan.parameters if p.fill is not None]
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


def _open_reader(plan: Plan, extra: TypePlan) -> Callable[[Any], Bound]:
    known = frozenset(p.name for p in plan.parameters)
    closed = _reader(Plan(plan.parameters))

    def read(arguments: Any) -> Bound:
        if not isinstance(arguments, dict):
            raise Refused("")  # and jsonschema says why
        positional, keywords = closed({name: value for name, value in arguments.items() if name in known})
        others = {}
        for name, value in arguments.items():
            if name not in known:
                try:
                    others[name] = extra.load(value)
                except Refused as refused:
                    raise refused.below(name) from refused.__cause__
        return positional, {**keywords, **others}

    return read
