"""The arguments of one tool: their schema, and how a call's JSON becomes Python's arguments.

Strategy. One `msgspec.convert` says yes to nearly every call. On a no the published schema is the judge: what it
refuses is explained, what it accepts is read once more, leniently (3.0 for an integer). So whatever the schema
promises is kept, and the price of good explanations is paid only by bad calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.language import say

from ..errors import ArgumentsError
from ..schema.record_fields import MISSING
from ..schema.shape import NOT_CONVERTED, Build, Refused, Schema, TypePlan, refusal

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
        read = reader(self._plan)
        if self._careful:
            judge, quick = self._judge_of(), read

            def read(arguments: Any) -> Bound:
                if not judge.accepts(arguments):
                    raise Refused("")
                return quick(arguments)

        self._read = read
        return read

    def _judge_of(self) -> SchemaValidator:
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

        if faults := self._judge_of().faults(arguments, "arguments"):
            raise ArgumentsError(faults)
        try:
            if self._read_leniently is None:
                self._read_leniently = reader(self._lenient())
            return self._read_leniently(arguments)
        except (*NOT_CONVERTED, Refused) as error:
            refused = error if isinstance(error, Refused) else refusal(error)
            fault = place("arguments", refused.path), refused.sentence
            raise ArgumentsError([fault], private=refused.private) from refused.__cause__
        except RecursionError:
            raise ArgumentsError([("arguments", say("is nested too deeply"))]) from None


def from_schema(schema: Schema) -> Arguments:
    """Return arguments that jsonschema checks at each call and that are passed by keyword, as they came."""
    arguments = Arguments(schema, Plan(()), lambda: Plan(()))
    judge: list[SchemaValidator] = []

    def read(values: Any) -> Bound:
        if not judge:
            judge.append(arguments._judge_of())
        if not judge[0].accepts(values):
            raise Refused("")
        return (), values

    arguments._read = read
    return arguments


def reader(plan: Plan) -> Callable[[Any], Bound]:
    """Return a function that reads the JSON object of a call by *plan*."""
    if plan.extra is not None:
        return _open_reader(plan, plan.extra)
    shown = tuple(p for p in plan.parameters if p.shown)
    struct = _struct(shown)
    convert = msgspec.convert
    by_keyword = not any(p.positional or p.fill for p in plan.parameters)
    if by_keyword and all(p.shape.is_identity for p in shown):

        def unchanged(arguments: Any) -> Bound:
            convert(arguments, struct)
            return (), arguments

        return unchanged
    finish = _finisher(shown, plan.parameters)
    return lambda arguments: finish(arguments, convert(arguments, struct))


def _open_reader(plan: Plan, extra: TypePlan) -> Callable[[Any], Bound]:
    known = frozenset(p.name for p in plan.parameters)
    closed = reader(Plan(plan.parameters))

    def read(arguments: Any) -> Bound:
        if not isinstance(arguments, dict):
            raise Refused(say("is not an object"))
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


def _struct(parameters: tuple[Parameter, ...]) -> Any:
    # Fields have names of their own: a parameter may be called anything, a Struct's field may not.
    specification: list[Any] = []
    rename = {}
    for index, parameter in enumerate(parameters):
        rename[f"f{index}"] = parameter.name
        absent = () if parameter.required else (msgspec.UNSET,)
        specification.append((f"f{index}", parameter.shape.msgspec_type, *absent))
    return msgspec.defstruct("arguments", specification, rename=rename, forbid_unknown_fields=True, kw_only=True)


_Step = tuple[str, str, bool, Build | None]


def _finisher(shown: tuple[Parameter, ...], parameters: tuple[Parameter, ...]) -> Callable[[Any, Any], Bound]:
    steps: list[_Step] = [(f"f{i}", p.name, p.shape.is_identity, p.shape.convert) for i, p in enumerate(shown)]
    # A parameter that only takes its place needs a value as soon as a later one has been given.
    places = {p.name: p for p in parameters if p.positional}
    fills = [(p.name, p.fill) for p in parameters if p.fill is not None]

    def keywords(arguments: Any, checked: Any) -> dict[str, Any]:
        values = {}
        for slot, name, same, make in steps:
            value = getattr(checked, slot)
            if value is msgspec.UNSET:
                continue
            if same:
                value = arguments[name]
            elif make is not None:
                try:
                    value = make(value)
                except Refused as refused:
                    raise refused.below(name) from refused.__cause__
            values[name] = value
        for name, fill in fills:
            if name not in values:
                values[name] = fill()
        return values

    if not places:
        return lambda arguments, checked: ((), keywords(arguments, checked))

    def with_places(arguments: Any, checked: Any) -> Bound:
        values = keywords(arguments, checked)
        positional = []
        last = max((i for i, name in enumerate(places) if name in values), default=-1)
        for name, parameter in list(places.items())[: last + 1]:
            positional.append(values.pop(name, parameter.default))
        return tuple(positional), values

    return with_places
