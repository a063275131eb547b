"""A Python callable as a tool: description, arguments, result."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from ..errors import RegistrationError
from ..schema.annotations import Unresolved, is_async, is_field, layers, unwrap_function
from ..schema.record_fields import MISSING
from ..schema.shape import JUDGE, Schema, TypePlan, optional
from ..schema.types import Types, described, must_be_judged
from . import parameters
from .arguments import Arguments, Parameter, Plan, from_schema
from .parameters import OPEN, is_required
from .return_value import Returns, from_hint, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from .parameters import Parameters


class Signature(msgspec.Struct, frozen=True):
    """A callable as a tool sees it.

    *context* names the parameter that receives the `Context`; callers never see it.
    """

    description: str
    context: str | None
    arguments: Arguments
    returns: Returns
    is_async: bool
    is_generator: bool


def read(
    function: Callable[..., Any],
    *,
    tool: str,
    context_type: type | None = None,
    input_schema: Schema | None = None,
    output_schema: Schema | None = None,
    include: frozenset[str] | None = None,
    exclude: frozenset[str] = frozenset(),
    skip_first: bool = False,
) -> Signature:
    """Read *function* as the tool named *tool*. Schemas given by hand take the place of the hints.

    Parameters that are excluded, or not among the included ones, keep their defaults.

    Raises:
        RegistrationError: if a parameter or the result cannot be described in JSON, or a given schema is no good.
    """
    try:
        found = parameters.read(
            function, context_type=context_type, include=include, exclude=exclude, skip_first=skip_first
        )
    except (ValueError, TypeError):
        raise RegistrationError(
            "its parameters cannot be read", tool=tool, remedy="wrap it in a function of your own, with type hints"
        ) from None
    return _Reading(function, tool, found).read(input_schema, output_schema)


class _Reading:
    def __init__(self, function: Callable[..., Any], tool: str, found: Parameters) -> None:
        self.tool = tool
        self.function = function
        self.inner = unwrap_function(function)
        code_flags: int = getattr(getattr(self.inner, "__code__", None), "co_flags", 0)
        self.is_generator = bool(code_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR))
        self.found = found
        self.names = found.names
        self.context = self._context()

    def read(self, input_schema: Schema | None, output_schema: Schema | None) -> Signature:
        arguments = self._arguments() if input_schema is None else self._given_arguments(input_schema)
        returns = self._returns() if output_schema is None else self._given_returns(output_schema)
        return Signature(
            description=self.found.doc.description,
            context=self.context,
            arguments=arguments,
            returns=returns,
            is_async=any(map(is_async, layers(self.function))),
            is_generator=self.is_generator,
        )

    def _fail(self, where: str, problem: str, remedy: str) -> NoReturn:
        raise RegistrationError(problem, tool=self.tool, parameter=where, remedy=remedy)

    def _refuse(self, where: str, error: Exception) -> NoReturn:
        if isinstance(error, RecursionError):
            self._fail(where, "the type contains ever new forms of itself", "let it contain itself as it is")
        self._fail(where, str(error), getattr(error, "remedy", "see the documentation of types"))

    # Parameters

    def _context(self) -> str | None:
        contexts = self.found.contexts
        if len(contexts) > 1:
            self._fail(_place(contexts[1].name), "it has two parameters for the context", "keep one of them")
        if contexts and contexts[0].kind in (inspect.Parameter.POSITIONAL_ONLY, *OPEN):
            self._fail(_place(contexts[0].name), "the context is passed by keyword", "make it an ordinary parameter")
        return contexts[0].name if contexts else None

    def _arguments(self) -> Arguments:
        types = Types("input", self.names)
        plan = self._plan(types)
        shown = [parameter for parameter in plan.parameters if parameter.shown]
        properties: Schema = {}
        for parameter in shown:
            default = MISSING if parameter.fill else parameter.default
            properties[parameter.name] = described(parameter.shape, self.found.text(parameter.name), default)
        schema: Schema = {"type": "object", "properties": properties}
        if required := [parameter.name for parameter in shown if parameter.required]:
            schema["required"] = required
        if plan.extra is None:
            schema["additionalProperties"] = False
        elif plan.extra.schema:
            schema["additionalProperties"] = plan.extra.schema
        if types.defs:
            schema["$defs"] = types.defs
        careful = must_be_judged() and any(parameter.shape.check_level == JUDGE for parameter in shown)
        return Arguments(schema, plan, lambda: self._plan(Types("lenient", self.names)), careful=careful)

    def _plan(self, types: Types) -> Plan:
        made = []
        extra = None
        for parameter in self.found.every:
            if parameter.name in self.found.hidden:
                made += self._hidden(parameter)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                remedy = f"take a list: {parameter.name}: list[…]"
                self._fail(_place(f"*{parameter.name}"), "callers pass arguments by name", remedy)
            elif parameter.kind is parameter.VAR_KEYWORD:
                extra = self._extra(types, parameter)
            else:
                made.append(self._parameter(types, parameter))
        return Plan(tuple(made), extra)

    def _hidden(self, parameter: inspect.Parameter) -> list[Parameter]:
        """The parameter, if something is to be done about it although no caller gives it."""
        if is_required(parameter):
            remedy = "give it a default, or let callers give it"
            self._fail(_place(parameter.name), "it is hidden and has no default", remedy)
        if parameter.kind is parameter.POSITIONAL_ONLY or is_field(parameter.default):
            made = self._parameter(Types("input", self.names), parameter.replace(annotation=Any))
            return [msgspec.structs.replace(made, shown=False)]
        return []

    def _extra(self, types: Types, parameter: inspect.Parameter) -> TypePlan:
        """Return the plan of the members of `**kwargs`, through which callers could reach a hidden parameter."""
        if hidden := [other.name for other in self.found.every if other.name in self.found.hidden]:
            names = ", ".join(map(repr, [*hidden, parameter.name]))
            self._fail(
                _place(f"**{parameter.name}"),
                f"through it callers could give {', '.join(hidden)}, which is hidden from them",
                f"hide it as well: exclude_arguments=[{names}]",
            )
        return self._shape(types, parameter)

    def _parameter(self, types: Types, parameter: inspect.Parameter) -> Parameter:
        positional = parameter.kind is parameter.POSITIONAL_ONLY
        shape = self._shape(types, parameter)
        if is_required(parameter):
            return Parameter(parameter.name, shape, True, positional)
        if is_field(parameter.default):
            return self._with_field(shape, parameter, positional)
        if parameter.default is None:
            shape = optional(shape)
        return Parameter(parameter.name, shape, False, positional, parameter.default)

    def _with_field(self, shape: TypePlan, parameter: inspect.Parameter, positional: bool) -> Parameter:
        """A parameter whose default is pydantic's `Field(...)`, which Python must not pass on."""
        field: Any = parameter.default
        default = MISSING
        if field.default_factory is None:
            default = field.default
            if default is None:
                shape = optional(shape)
            shape = shape.with_schema(**_default(shape, default))
        return Parameter(
            parameter.name, shape, False, positional, default, lambda: field.get_default(call_default_factory=True)
        )

    def _shape(self, types: Types, parameter: inspect.Parameter) -> TypePlan:
        hint = Any if parameter.annotation is parameter.empty else parameter.annotation
        try:
            return types.of(hint)
        except _NO_TYPE as error:
            self._refuse(_place(parameter.name), error)

    # Results

    def _returns(self) -> Returns:
        hint = self._return_hint()
        if hint is inspect.Parameter.empty:
            return Returns("undeclared")
        try:
            return from_hint(hint, self.names, is_generator=self.is_generator)
        except _NO_TYPE as error:
            self._refuse("the result", error)

    def _return_hint(self) -> Any:
        annotations = getattr(self.inner, "__annotations__", {})
        return annotations.get("return", inspect.Parameter.empty) if not isinstance(self.inner, type) else self.inner

    # Schemas given by hand

    def _given_arguments(self, schema: Schema) -> Arguments:
        self._check(schema, "the input schema")
        if schema.get("type") != "object":
            self._fail("the input schema", "its root is no object", 'give it "type": "object"')
        return from_schema(schema)

    def _given_returns(self, schema: Schema) -> Returns:
        self._check(schema, "the output schema")
        if schema.get("type") == "object":
            return Returns("structured", schema)
        self._check(wrapped(schema), "the output schema, below the member result")
        return Returns("structured", wrapped(schema), wraps=True)

    def _check(self, schema: Schema, which: str) -> None:
        from ..schema.validator import problem as problem_of

        if problem := problem_of(schema):
            self._fail(which, problem, "fix the schema")


_NO_TYPE = (Unresolved, TypeError, RecursionError)
"""Errors of annotations that are not types, or have no form in JSON."""


def _default(shape: TypePlan, default: Any) -> Schema:
    return {word: value for word, value in described(shape, None, default).items() if word == "default"}


def _place(parameter: str) -> str:
    return f"parameter {parameter!r}"
