"""The arguments of one tool: their schema, and how a call's JSON becomes Python's arguments.

Strategy. One `msgspec.convert` says yes to nearly every call. On a no the published schema is the
judge: what it accepts is converted once more, with 3.0 as 3 for an integer. In what it refuses,
JSON in strings is decoded, and null left out; what fits then is converted, the rest is explained.
So whatever the schema promises is kept, and the price of good explanations is paid only by bad
calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schema.shape import (
    NOT_CONVERTED,
    DecodeHook,
    RecordMember,
    Schema,
    TypePlan,
    ValueRefused,
    make_converter,
    make_struct,
    make_values_reader,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..schema.shape import Build
    from ..schema.types import Types
    from ..schema.validator import ToolSchemaValidator
    from .second_reading import Bound, Log


class Parameter(RecordMember, frozen=True):
    """One parameter that a call has to care about."""

    positional: bool = False
    fill: Callable[[], Any] | None = None
    """Makes the value when a caller gives none and Python's own default must not be used."""
    shown: bool = True
    """False if callers neither see nor give it."""


class Arguments:
    """What one tool takes: *parameters*, and *others* for its `**kwargs`, if it has them."""

    has_types = True
    """False if values are passed as they came, 3.0 for an integer included."""

    def __init__(
        self,
        schema: Schema,
        parameters: Sequence[Parameter] = (),
        others: TypePlan | None = None,
        types: Types | None = None,
    ) -> None:
        self.input_schema = schema
        self.types = types
        """Made the schemas; knows the enumerations among the types. None if all are basic, or the
        schema was given.
        """
        self._parameters = parameters
        self._others = others
        self.read: Callable[[Any], Bound] | None = None
        """Converts JSON data, or raises one of `NOT_CONVERTED` or `ValueRefused`; made for the
        first call.
        """
        self._judge: ToolSchemaValidator | None = None

    def bind(
        self, arguments: dict[str, Any], strict: bool = False, log: Log | None = None
    ) -> Bound:
        """Return the positional and keyword arguments for a call. Defaults are left to Python.

        Unless *strict*, JSON in strings is decoded, and null is left out, where the schema takes
        neither; *log* gets a line about it.

        Raises:
            ArgumentsError: naming every fault and its place.
        """
        if self.read is None:
            self.read = self._make_reader()
        try:
            return self.read(arguments)
        except (*NOT_CONVERTED, ValueRefused, RecursionError):
            from .second_reading import read_again

            return read_again(self, arguments, strict, log)

    def _make_reader(self) -> Callable[[Any], Bound]:
        if self._others is None:
            return _make_reader(self._parameters)
        return _open_reader(self._parameters, self._others)

    def get_validator(self) -> ToolSchemaValidator:
        """Return the judge of what the published schema accepts."""
        if self._judge is None:
            from ..schema.validator import ToolSchemaValidator

            self._judge = ToolSchemaValidator(self.input_schema)
        return self._judge


def _make_reader(parameters: Sequence[Parameter]) -> Callable[[Any], Bound]:
    """Return a function that reads the JSON object of a call."""
    shown = [p for p in parameters if p.shown]
    positional = {p.name: p.default for p in parameters if p.positional}
    fills = [(p.name, p.fill) for p in parameters if p.fill is not None]
    if not positional and not fills and all(member.plan.is_identity for member in shown):
        struct = make_struct("arguments", shown)
        convert = make_converter(struct)

        def keep_arguments(arguments: Any) -> Bound:
            convert(arguments, struct)
            return (), arguments

        return keep_arguments
    values_in = _make_values_reader(shown)

    def read(arguments: Any) -> Bound:
        values = values_in(arguments)
        for name, fill in fills:
            if name not in values:
                values[name] = fill()
        if not positional:
            return (), values
        # A parameter that only takes its place needs a value as soon as a later one has been given.
        last = max((place for place, name in enumerate(positional, 1) if name in values), default=0)
        return tuple(
            [values.pop(name, default) for name, default in [*positional.items()][:last]]
        ), values

    return read


def _make_values_reader(shown: Sequence[Parameter]) -> Callable[[Any], dict[str, Any]]:
    """Return a function that converts the JSON object of a call to values by parameter."""
    # A hook that msgspec calls for an argument takes a microsecond more than one called from here,
    # so the struct has the type that the hook starts from.
    types: list[Any] = []
    finishes: list[tuple[Parameter, Build]] = []
    for parameter in shown:
        hook = parameter.plan.msgspec_type
        if isinstance(hook, DecodeHook):
            types.append(hook.native)
            finishes.append((parameter, hook.finish))
        else:
            types.append(hook)
    struct = make_struct("arguments", shown, types)
    convert = make_converter(struct)
    values_in = make_values_reader(shown)

    def read_values(arguments: Any) -> dict[str, Any]:
        values = values_in(convert(arguments, struct))
        for parameter, finish in finishes:
            name = parameter.name
            if name not in values:
                continue
            try:
                values[name] = finish(values[name])
            except ValueRefused as refused:
                raise refused.move_inside(parameter.key) from refused.__cause__
        return values

    return read_values


def _open_reader(parameters: Sequence[Parameter], extra: TypePlan) -> Callable[[Any], Bound]:
    known = frozenset(p.name for p in parameters)
    closed = _make_reader(parameters)
    others = _DICT[str, extra.msgspec_type]
    convert = make_converter(others)

    def read(arguments: Any) -> Bound:
        if not isinstance(arguments, dict):
            raise ValueRefused("")  # and jsonschema says why
        positional, keywords = closed(
            {name: value for name, value in arguments.items() if name in known}
        )
        further = {name: value for name, value in arguments.items() if name not in known}
        return positional, {**keywords, **convert(further, others)}

    return read


_DICT: Any = dict
