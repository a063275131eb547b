"""What a Python callable says about itself as a tool: description, arguments, result."""

from __future__ import annotations

import collections.abc
import inspect
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from . import docstrings
from .arguments import Arguments, Parameter, Plan, from_schema
from .errors import RegistrationError
from .fields import MISSING
from .hints import Names, Unresolved, bare, innermost, members, mentions, names_of
from .notes import is_field
from .returns import Returns
from .shapes import JUDGE, Schema, optional
from .types import Types, Unsupported, described, must_be_judged

if TYPE_CHECKING:
    from collections.abc import Callable

    from .docstrings import DocParameter
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
    documented: dict[str, DocParameter] = {}
    """What the docstring tells about parameters, types included."""


def read(
    function: Callable[..., Any],
    *,
    tool: str,
    context_type: type | None = None,
    input_schema: Schema | None = None,
    output_schema: Schema | None = None,
    skip_first: bool = False,
) -> Signature:
    """Read *function* as the tool named *tool*. Schemas given by hand take the place of the hints.

    Raises:
        RegistrationError: if a parameter or the result cannot be described in JSON, or a given schema is no good.
    """
    return _Reading(function, tool, context_type, skip_first).read(input_schema, output_schema)


class _Reading:
    def __init__(self, function: Callable[..., Any], tool: str, context_type: type | None, skip_first: bool) -> None:
        self.function = function
        self.tool = tool
        self.context_type = context_type
        self.names = names_of(function)
        self.inner = innermost(function)
        self.doc = docstrings.read(_docstring(function))
        self.parameters = self._parameters(skip_first)
        self.context = self._context()

    def read(self, input_schema: Schema | None, output_schema: Schema | None) -> Signature:
        arguments = self._arguments() if input_schema is None else self._given_arguments(input_schema)
        code_flags = getattr(getattr(self.inner, "__code__", None), "co_flags", 0)
        is_generator = bool(code_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR))
        returns = self._returns(is_generator) if output_schema is None else self._given_returns(output_schema)
        return Signature(
            description=self.doc.description,
            context=self.context,
            arguments=arguments,
            returns=returns,
            is_async=bool(code_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)),
            is_generator=is_generator,
            documented=self.doc.parameters,
        )

    def fail(self, problem: str, remedy: str, parameter: str | None = None) -> NoReturn:
        raise RegistrationError(
            problem, tool=self.tool, parameter=parameter and f"parameter {parameter!r}", remedy=remedy
        )

    # Parameters

    def _parameters(self, skip_first: bool) -> list[inspect.Parameter]:
        try:
            found = inspect.signature(self.function)
        except (ValueError, TypeError):
            self.fail("its parameters cannot be read", "wrap it in a function of your own, with type hints")
        return list(found.parameters.values())[1 if skip_first else 0 :]

    def _context(self) -> str | None:
        named = [p.name for p in self.parameters if self._is_context(p.annotation)]
        if len(named) > 1:
            self.fail("it has two parameters for the context", "keep one of them", named[1])
        for parameter in self.parameters:
            if parameter.name in named and parameter.kind in (
                parameter.POSITIONAL_ONLY,
                parameter.VAR_POSITIONAL,
                parameter.VAR_KEYWORD,
            ):
                self.fail("the context is passed by keyword", "make it an ordinary parameter", parameter.name)
        return named[0] if named else None

    def _is_context(self, annotation: Any) -> bool:
        wanted = self.context_type
        if wanted is None or annotation is inspect.Parameter.empty:
            return False
        if type(annotation) is type:  # the most frequent case, and the cheapest
            return issubclass(annotation, wanted)
        try:
            plain = bare(annotation, self.names).hint
            options = members(plain, self.names) or (plain,)
        except Unresolved as error:
            # Imported for the type checker only: the name alone says enough.
            written = error.annotation.replace("Optional[", "").replace("]", "").split("|")[0].strip()
            return written.rpartition(".")[2] == wanted.__name__
        return any(isinstance(option, type) and issubclass(option, wanted) for option in options)

    def _arguments(self) -> Arguments:
        types = Types("input", self.names)
        plan = self._plan(types)
        properties: Schema = {}
        for parameter in plan.parameters:
            written = self.doc.parameters.get(parameter.name)
            default = MISSING if parameter.fill else parameter.default
            properties[parameter.name] = described(parameter.shape, written.description if written else None, default)
        schema: Schema = {"type": "object", "properties": properties}
        if required := [p.name for p in plan.parameters if p.required]:
            schema["required"] = required
        if plan.extra is None:
            schema["additionalProperties"] = False
        elif plan.extra.schema:
            schema["additionalProperties"] = plan.extra.schema
        if types.defs:
            schema["$defs"] = types.defs
        careful = must_be_judged() and any(p.shape.care == JUDGE for p in plan.parameters)
        return Arguments(schema, plan, lambda: self._plan(Types("lenient", self.names)), careful=careful)

    def _plan(self, types: Types) -> Plan:
        parameters = []
        extra = None
        for parameter in self.parameters:
            if parameter.name == self.context:
                continue
            if parameter.kind is parameter.VAR_POSITIONAL:
                self.fail(
                    "callers pass arguments by name", f"take a list: {parameter.name}: list[…]", f"*{parameter.name}"
                )
            if parameter.kind is parameter.VAR_KEYWORD:
                extra = self._shape(types, parameter)
                continue
            parameters.append(self._parameter(types, parameter))
        return Plan(tuple(parameters), extra)

    def _parameter(self, types: Types, parameter: inspect.Parameter) -> Parameter:
        positional = parameter.kind is parameter.POSITIONAL_ONLY
        if is_field(parameter.default):
            return self._with_field(types, parameter, positional)
        shape = self._shape(types, parameter)
        if parameter.default is parameter.empty:
            return Parameter(parameter.name, shape, True, positional)
        if parameter.default is None:
            shape = optional(shape)
        return Parameter(parameter.name, shape, False, positional, parameter.default)

    def _with_field(self, types: Types, parameter: inspect.Parameter, positional: bool) -> Parameter:
        """A parameter whose default is pydantic's `Field(...)`, which Python must not pass on."""
        from typing import Annotated

        field: Any = parameter.default
        hint = Any if parameter.annotation is parameter.empty else parameter.annotation
        shape = self._shape(types, parameter.replace(annotation=Annotated[hint, field]))
        if field.is_required():
            return Parameter(parameter.name, shape, True, positional)
        if field.default_factory is None:
            if field.default is None:
                shape = optional(shape)
            shown = shape.with_schema(default=described(shape, None, field.default).get("default"))
            return Parameter(
                parameter.name,
                shown,
                False,
                positional,
                field.default,
                lambda: field.get_default(call_default_factory=True),
            )
        return Parameter(
            parameter.name, shape, False, positional, MISSING, lambda: field.get_default(call_default_factory=True)
        )

    def _shape(self, types: Types, parameter: inspect.Parameter) -> Any:
        hint = Any if parameter.annotation is parameter.empty else parameter.annotation
        try:
            return types.of(hint)
        except Unresolved as error:
            self.fail(str(error), _IMPORT_IT, parameter.name)
        except Unsupported as error:
            self.fail(str(error), error.remedy, parameter.name)
        except TypeError as error:
            self.fail(str(error), "see the documentation of types", parameter.name)

    # Results

    def _returns(self, is_generator: bool) -> Returns:
        hint = self._return_hint()
        if hint is inspect.Parameter.empty:
            return Returns("undeclared")
        try:
            if is_generator:
                hint = _of_generator(bare(hint, self.names).hint, self.names)
            return returned(hint, self.names)
        except Unresolved as error:
            self._fail_on_result(str(error), _IMPORT_IT)
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


_IMPORT_IT = (
    "define or import the name at the top of the module, so that it is there at run time "
    "(not only under TYPE_CHECKING, and not inside a function)"
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


def _docstring(function: Any) -> str | None:
    for candidate in (function, getattr(function, "func", None), innermost(function)):
        text = getattr(candidate, "__doc__", None) if candidate is not None else None
        if isinstance(text, str) and text != getattr(type(candidate), "__doc__", None):
            return text
    return type(function).__doc__ if not inspect.isroutine(function) and not hasattr(function, "func") else None
