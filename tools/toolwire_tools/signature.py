"""What a Python callable says about itself as a tool: description, arguments, result."""

from __future__ import annotations

import collections.abc
import inspect
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from . import parameters
from .arguments import Arguments, Parameter, Plan, from_schema
from .errors import RegistrationError
from .fields import MISSING
from .hints import Names, Unresolved, bare, innermost, members, mentions
from .notes import is_field
from .parameters import OPEN, is_required
from .returns import Returns
from .shapes import JUDGE, Schema, Shape, optional
from .types import Types, Unsupported, described, must_be_judged

if TYPE_CHECKING:
    from collections.abc import Callable

    from .parameters import Parameters
    from .scalars import Direction


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
        self.inner = innermost(function)
        self.code_flags: int = getattr(getattr(self.inner, "__code__", None), "co_flags", 0)
        self.is_generator = bool(self.code_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR))
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
            is_async=bool(self.code_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)),
            is_generator=self.is_generator,
        )

    def fail(self, problem: str, remedy: str, parameter: str | None = None) -> NoReturn:
        raise RegistrationError(
            problem, tool=self.tool, parameter=parameter and f"parameter {parameter!r}", remedy=remedy
        )

    # Parameters

    def _context(self) -> str | None:
        contexts = self.found.contexts
        if len(contexts) > 1:
            self.fail("it has two parameters for the context", "keep one of them", contexts[1].name)
        if contexts and contexts[0].kind in (inspect.Parameter.POSITIONAL_ONLY, *OPEN):
            self.fail("the context is passed by keyword", "make it an ordinary parameter", contexts[0].name)
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
        careful = must_be_judged() and any(parameter.shape.care == JUDGE for parameter in shown)
        return Arguments(schema, plan, lambda: self._plan(Types("lenient", self.names)), careful=careful)

    def _plan(self, types: Types) -> Plan:
        made = []
        extra = None
        for parameter in self.found.every:
            if parameter.name in self.found.hidden:
                made += self._hidden(parameter)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                self.fail(
                    "callers pass arguments by name", f"take a list: {parameter.name}: list[…]", f"*{parameter.name}"
                )
            elif parameter.kind is parameter.VAR_KEYWORD:
                extra = self._extra(types, parameter)
            else:
                made.append(self._parameter(types, parameter))
        return Plan(tuple(made), extra)

    def _hidden(self, parameter: inspect.Parameter) -> list[Parameter]:
        """The parameter, if something is to be done about it although no caller gives it."""
        if is_required(parameter):
            self.fail("it is hidden and has no default", "give it a default, or let callers give it", parameter.name)
        if parameter.kind is parameter.POSITIONAL_ONLY or is_field(parameter.default):
            made = self._parameter(Types("input", self.names), parameter.replace(annotation=Any))
            return [msgspec.structs.replace(made, shown=False)]
        return []

    def _extra(self, types: Types, parameter: inspect.Parameter) -> Shape:
        """What the members of `**kwargs` may be. Through it callers could reach a parameter that is hidden."""
        if hidden := [other.name for other in self.found.every if other.name in self.found.hidden]:
            names = ", ".join(map(repr, [*hidden, parameter.name]))
            self.fail(
                f"through it callers could give {', '.join(hidden)}, which is hidden from them",
                f"hide it as well: exclude_arguments=[{names}]",
                f"**{parameter.name}",
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

    def _with_field(self, shape: Shape, parameter: inspect.Parameter, positional: bool) -> Parameter:
        """A parameter whose default is pydantic's `Field(...)`, which Python must not pass on."""
        field: Any = parameter.default
        default = MISSING
        if field.default_factory is None:
            default = field.default
            if default is None:
                shape = optional(shape)
            shape = shape.with_schema(default=described(shape, None, default).get("default"))
        return Parameter(
            parameter.name, shape, False, positional, default, lambda: field.get_default(call_default_factory=True)
        )

    def _shape(self, types: Types, parameter: inspect.Parameter) -> Shape:
        hint = Any if parameter.annotation is parameter.empty else parameter.annotation
        try:
            return types.of(hint)
        except Unresolved as error:
            self.fail(str(error), error.remedy, parameter.name)
        except Unsupported as error:
            self.fail(str(error), error.remedy, parameter.name)
        except TypeError as error:
            self.fail(str(error), "see the documentation of types", parameter.name)

    # Results

    def _returns(self) -> Returns:
        hint = self._return_hint()
        if hint is inspect.Parameter.empty:
            return Returns("undeclared")
        try:
            plain = bare(hint, self.names).hint
            # Also where the function is none itself: it may return the generator of another one.
            is_generator = self.is_generator or getattr(plain, "__origin__", plain) in _GENERATORS
            return returned(_of_generator(plain, self.names) if is_generator else hint, self.names)
        except Unresolved as error:
            self._fail_on_result(str(error), error.remedy)
        except Unsupported as error:
            self._fail_on_result(str(error), error.remedy)
        except TypeError as error:
            self._fail_on_result(str(error), "see the documentation of types")

    def _fail_on_result(self, problem: str, remedy: str) -> NoReturn:
        raise RegistrationError(problem, tool=self.tool, parameter="the result", remedy=remedy)

    def _return_hint(self) -> Any:
        annotations = getattr(self.inner, "__annotations__", {})
        return annotations.get("return", inspect.Parameter.empty) if not isinstance(self.inner, type) else self.inner

    # Schemas given by hand

    def _given_arguments(self, schema: Schema) -> Arguments:
        self._check(schema, "the input schema")
        if schema.get("type") != "object":
            self._fail_on("the input schema", "its root is no object", 'give it "type": "object"')
        return from_schema(schema)

    def _given_returns(self, schema: Schema) -> Returns:
        if _only_names_members(schema):
            return Returns("structured", schema, shape=Types("output", self.names).of(dict))
        self._check(schema, "the output schema")
        if schema.get("type") == "object":
            return Returns("structured", schema)
        self._check(_wrapped(schema), "the output schema, below the member result")
        return Returns("structured", _wrapped(schema), wraps=True)

    def _check(self, schema: Schema, which: str) -> None:
        from .judge import problem as problem_of

        if problem := problem_of(schema):
            self._fail_on(which, problem, "mend the schema")

    def _fail_on(self, which: str, problem: str, remedy: str) -> NoReturn:
        raise RegistrationError(problem, tool=self.tool, parameter=which, remedy=remedy)


def _only_names_members(schema: Schema) -> bool:
    """True for an object of which nothing is said but what its members mean: any dict is one, without jsonschema."""
    members = schema.get("properties")
    return schema == {"type": "object", "properties": members} and all(
        isinstance(member, dict) and set(member) == {"description"} and isinstance(member["description"], str)
        for member in (members.values() if isinstance(members, dict) else [None])
    )


def returned(hint: Any, names: Names) -> Returns:
    """Return how results of the type *hint* travel.

    Raises:
        Unsupported: if the type has no form in JSON.
        Unresolved: if it names something unknown.
    """
    from typing import Never, NoReturn

    plain = bare(hint, names).hint
    if plain in (Any, object, Never, NoReturn):
        return Returns("undeclared")
    if plain is str:
        return Returns("text")
    if plain in (bytes, bytearray, memoryview) or mentions(hint, is_content, names):
        return Returns("blocks")
    direction: Direction = "output"
    types = Types(direction, names)
    shape = types.of(hint)
    schema = shape.schema
    if not schema:
        return Returns("undeclared")
    if set(schema) == {"$ref"}:
        schema = types.defs[schema["$ref"].rpartition("/")[2]]
    definitions = {"$defs": types.defs} if types.defs else {}
    if schema.get("type") == "object":
        return Returns("structured", {**schema, **definitions}, shape=shape)
    return Returns("structured", {**_wrapped(schema), **definitions}, wraps=True, shape=shape)


def _wrapped(schema: Schema) -> Schema:
    definitions: Schema = {word: schema[word] for word in ("$defs", "definitions", "$schema") if word in schema}
    inner = {word: value for word, value in schema.items() if word not in definitions}
    return {
        "type": "object",
        "properties": {"result": inner},
        "required": ["result"],
        "additionalProperties": False,
        **definitions,
    }


def is_content(hint: Any) -> bool:
    """True for what becomes content blocks: our own helpers, whatever has `to_content`, pictures and figures."""
    from .content import Content

    if not isinstance(hint, type):
        return False
    if issubclass(hint, Content) or callable(getattr(hint, "to_content", None)):
        return True
    return hint.__module__.startswith(("PIL.", "matplotlib.figure"))


_GENERATORS = (
    collections.abc.Iterator,
    collections.abc.Generator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncGenerator,
)


def _of_generator(hint: Any, names: Names) -> Any:
    """What a generator annotated *hint* answers with: its text, the list of its yields, or its return value."""
    arguments = getattr(hint, "__args__", ())
    if not arguments:
        return Any
    if getattr(hint, "__origin__", None) is collections.abc.Generator and len(arguments) == 3:
        final = bare(arguments[2], names).hint
        if final not in (None, type(None)):
            options = members(final, names) or (final,)
            # None means "no return value", and then the yields count: nothing can be promised.
            return Any if type(None) in options or final is Any else arguments[2]
    item = arguments[0]
    plain = bare(item, names).hint
    return str if plain is str else Any if plain is Any else _LIST[item]


_LIST: Any = list
