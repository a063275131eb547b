"""A Python callable as a tool: description, arguments, result.

Strategy. A tool's JSON Schema and its Lagent description both begin with `read_parameters`, so that
they are about the same parameters. It refuses nothing: what cannot be served may still be
described.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import msgspec
from msgspec.structs import replace

from ..errors import RegistrationError
from ..schema.annotations import (
    Names,
    Unresolved,
    collect_names,
    evaluate,
    get_annotations,
    is_async,
    iterate_layers,
    list_members,
    unwrap_annotation,
    unwrap_function,
)
from ..schema.shape import (
    MISSING,
    Schema,
    TypePlan,
    allow_null,
    is_field,
    make_object_schema,
    plan_basic,
)
from . import docstring as docstrings
from .arguments import Arguments, Parameter
from .return_value import Returns, from_hint

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema.types import Types
    from .docstring import Docstring

# As in `inspect`, which takes a tenth of a server's start-up time to import: most functions need
# nothing of it.
POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = range(5)
_CO_VARARGS, _CO_VARKEYWORDS, _CO_GENERATORS = 0x4, 0x8, 0x20 | 0x200

OPEN = (VAR_POSITIONAL, VAR_KEYWORD)
"""The kinds of `*args` and `**kwargs`."""


class EMPTY:
    """The absence of a default or an annotation."""


class Declared(msgspec.Struct, frozen=True):
    """A parameter as its function declares it."""

    name: str
    kind: int
    default: Any = EMPTY
    annotation: Any = EMPTY


def _declare(function: Callable[..., Any]) -> list[Declared]:
    """Return the parameters of *function*. Raises what `read_signature` raises."""
    if type(function) is not FunctionType or not _OTHER_SIGNATURES.isdisjoint(vars(function)):
        return _declare_by_signature(function)
    code, names = function.__code__, function.__code__.co_varnames
    count, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    kinds = dict.fromkeys(names[:count], POSITIONAL_OR_KEYWORD)
    kinds |= dict.fromkeys(names[: code.co_posonlyargcount], POSITIONAL_ONLY)
    if has_open := code.co_flags & _CO_VARARGS:
        kinds[names[named]] = VAR_POSITIONAL
    kinds |= dict.fromkeys(names[count:named], KEYWORD_ONLY)
    if code.co_flags & _CO_VARKEYWORDS:
        kinds[names[named + 1 if has_open else named]] = VAR_KEYWORD
    usual = function.__defaults__ or ()
    defaults = dict(zip(names[count - len(usual) : count], usual, strict=True))
    defaults |= function.__kwdefaults__ or {}
    hints = get_annotations(function)
    declared = []
    for name, kind in kinds.items():
        declared.append(Declared(name, kind, defaults.get(name, EMPTY), hints.get(name, EMPTY)))
    return declared


def _declare_by_signature(function: Callable[..., Any]) -> list[Declared]:
    from toolwire_schemas.signatures import read_signature  # expensive

    declared = []
    for found in read_signature(function).parameters.values():
        default, hint = found.default, found.annotation
        if default is found.empty:
            default = EMPTY
        if hint is found.empty:
            hint = EMPTY
        declared.append(Declared(found.name, found.kind.value, default, hint))
    return declared


_OTHER_SIGNATURES = frozenset(
    ("__wrapped__", "__signature__", "__partialmethod__", "_partialmethod")
)
"""Attributes by which a function has another signature than that of its code."""


class Parameters(msgspec.Struct, frozen=True):
    """The parameters of one function, in their order."""

    names: Names
    doc: Docstring
    every: list[Declared]
    """All but those for the context. One without a hint has the one that its docstring tells, if it
    tells one.
    """
    hidden: frozenset[str]
    """The names of those that the author keeps from callers."""
    contexts: list[Declared]
    """Those for a `Context`; more than one is a mistake."""

    @property
    def shown(self) -> list[Declared]:
        """Those that callers give."""
        return [parameter for parameter in self.every if parameter.name not in self.hidden]

    def get_text(self, parameter: str) -> str | None:
        """Return the text of a parameter in the docstring."""
        written = self.doc.parameters.get(parameter)
        if not written:
            return None
        return written.text


def read_parameters(
    function: Callable[..., Any],
    include: frozenset[str] | None = None,
    exclude: frozenset[str] = frozenset(),
) -> Parameters:
    """Read what *function* says of its parameters. If *include* is given, it alone chooses.

    Raises:
        ValueError: if it says nothing, as some functions written in C.
        TypeError: likewise.
    """
    names = collect_names(function)
    doc = docstrings.read_docstring(function)
    every: list[Declared] = []
    contexts: list[Declared] = []
    for parameter in _declare(function):
        if find_contexts(parameter.annotation, names):
            contexts.append(parameter)
        else:
            every.append(_complete(parameter, doc))
    if every and hasattr(function, "dispatch") and hasattr(function, "registry"):
        # functools.singledispatch looks at the first argument by its place.
        every[0] = replace(every[0], kind=POSITIONAL_ONLY)
    hidden = (
        exclude if include is None else frozenset(parameter.name for parameter in every) - include
    )
    return Parameters(names, doc, every, hidden, contexts)


def _complete(parameter: Declared, doc: Docstring) -> Declared:
    """The parameter with what else is said of its type: in the docstring, or by a default that is
    pydantic's `Field`.

    What docstrings say of `**kwargs` is about the whole dict as often as about its members.
    """
    if parameter.annotation is EMPTY and parameter.kind not in OPEN:
        written = doc.parameters.get(parameter.name)
        if written and written.type:
            from .docstring_types import hint_of  # here, since most functions have hints

            hint = hint_of(written.type)
            parameter = parameter if hint is None else replace(parameter, annotation=hint)
    if is_field(parameter.default):
        hint = Any if parameter.annotation is EMPTY else parameter.annotation
        parameter = replace(parameter, annotation=Annotated[hint, parameter.default])
    return parameter


def is_required(parameter: Declared) -> bool:
    """True if a call without the parameter fails."""
    if is_field(parameter.default):
        return bool(parameter.default.is_required())
    return parameter.default is EMPTY and parameter.kind not in OPEN


CONTEXTS = frozenset(("BaseContext", "Context", "AsyncContext"))
"""The classes of `context/context.py`, which is imported with the first tool that has one, and is
in a room above.
"""


def find_contexts(annotation: Any, names: Names) -> frozenset[str]:
    """Return which of `CONTEXTS` the hint of a parameter is or derives from; none for an ordinary
    parameter.
    """
    if annotation is EMPTY or (type(annotation) is type and annotation.__module__ == "builtins"):
        return frozenset()
    try:
        plain = unwrap_annotation(annotation, names).hint
        options = list_members(plain, names) or (plain,)
    except Unresolved as error:
        from .context_kind import name_in

        return CONTEXTS.intersection([name_in(error.annotation)])
    found = set()
    for option in options:
        if not isinstance(option, type):
            continue
        for base in option.__mro__:
            if base.__module__ == "toolwire_tools.context.context":
                found.add(base.__name__)
    return CONTEXTS & found


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
    is_basic: bool
    """Every argument and the result are single values, and no schema was written by hand."""


def read_signature(
    function: Callable[..., Any],
    *,
    tool: str,
    input_schema: Schema | None = None,
    output_schema: Schema | None = None,
    include: frozenset[str] | None = None,
    exclude: frozenset[str] = frozenset(),
    returns: Returns | None = None,
    lenient: bool = False,
) -> Signature:
    """Read *function* as the tool named *tool*. Schemas given by hand, and *returns*, take the
    place of the hints.

    Parameters that are excluded, or not among the included ones, keep their defaults. Unless
    *lenient*, as for a function of another framework, a `def` takes a `Context`, an `async def` an
    `AsyncContext`, and defaults fit their types.

    Raises:
        RegistrationError: if a parameter or the result cannot be described in JSON, or a given
            schema is no good.
    """
    try:
        found = read_parameters(function, include, exclude)
    except (ValueError, TypeError):
        raise RegistrationError(
            "its parameters cannot be read",
            tool=tool,
            remedy="wrap it in a function of your own, with type hints",
        ) from None
    reading = _Reading(function, tool, found, lenient)
    if found.contexts:
        from .context_kind import check_context

        first = found.contexts[0]
        is_named = first.kind not in (POSITIONAL_ONLY, *OPEN)
        kinds = find_contexts(first.annotation, found.names)
        names = [one.name for one in found.contexts]
        check_context(tool, names, is_named, kinds, None if lenient else reading.is_async)
    return reading.read(input_schema, output_schema, returns)


class _Reading:
    def __init__(
        self, function: Callable[..., Any], tool: str, found: Parameters, lenient: bool
    ) -> None:
        self.tool = tool
        self.lenient = lenient
        self.function = function
        self.inner = unwrap_function(function)
        code_flags: int = getattr(getattr(self.inner, "__code__", None), "co_flags", 0)
        self.is_generator = bool(code_flags & _CO_GENERATORS)
        self.is_async = any(map(is_async, iterate_layers(function)))
        self.found = found
        self.types: Types | None = None
        """Imported for the first hint that is not basic."""

    def read(
        self, input_schema: Schema | None, output_schema: Schema | None, returns: Returns | None
    ) -> Signature:
        if input_schema is None:
            arguments = self._make_arguments()
        else:
            from .given_schemas import (
                make_arguments_by_schema,  # only schemas written by hand need it
            )

            arguments = make_arguments_by_schema(input_schema, self.tool)
        if output_schema is not None:
            from .given_schemas import returns_by_schema

            returns = returns_by_schema(output_schema, self.tool)
        returns = returns or self._returns()
        return Signature(
            description=self.found.doc.description,
            context=self.found.contexts[0].name if self.found.contexts else None,
            arguments=arguments,
            returns=returns,
            is_async=self.is_async,
            is_generator=self.is_generator,
            is_basic=self.types is None and input_schema is None and returns.is_basic,
        )

    def _fail(self, where: str, problem: str, remedy: str) -> NoReturn:
        raise RegistrationError(problem, tool=self.tool, parameter=where, remedy=remedy)

    def _refuse(self, where: str, error: Exception) -> NoReturn:
        if isinstance(error, RecursionError):
            self._fail(
                where,
                "the type contains ever new forms of itself",
                "let it contain itself as it is",
            )
        self._fail(where, str(error), getattr(error, "remedy", "see the documentation of types"))

    # Parameters

    def _make_arguments(self) -> Arguments:
        made: list[Parameter] = []
        others: TypePlan | None = None
        for parameter in self.found.every:
            if parameter.name in self.found.hidden:
                made += self._read_hidden(parameter)
            elif parameter.kind == VAR_POSITIONAL:
                remedy = f"take a list: {parameter.name}: list[…]"
                self._fail(
                    _format_place(f"*{parameter.name}"), "callers pass arguments by name", remedy
                )
            elif parameter.kind == VAR_KEYWORD:
                others = self._plan_others(parameter)
            else:
                made.append(self._read_parameter(parameter))
        shown = [parameter for parameter in made if parameter.shown]
        schema = make_object_schema(shown, False if others is None else others.schema)
        if self.types is not None and self.types.defs:
            schema["$defs"] = self.types.defs
        return Arguments(schema, made, others, self.types)

    def _read_hidden(self, parameter: Declared) -> list[Parameter]:
        """The parameter, if something is to be done about it although no caller gives it."""
        if is_required(parameter):
            remedy = "give it a default, or let callers give it"
            self._fail(_format_place(parameter.name), "it is hidden and has no default", remedy)
        if parameter.kind == POSITIONAL_ONLY or is_field(parameter.default):
            made = self._read_parameter(replace(parameter, annotation=Any))
            return [replace(made, shown=False)]
        return []

    def _plan_others(self, parameter: Declared) -> TypePlan:
        """Return the plan of the members of `**kwargs`, through which callers could reach a hidden
        parameter.
        """
        if hidden := [other.name for other in self.found.every if other.name in self.found.hidden]:
            names = ", ".join(map(repr, [*hidden, parameter.name]))
            self._fail(
                _format_place(f"**{parameter.name}"),
                f"through it callers could give {', '.join(hidden)}, which is hidden from them",
                f"hide it as well: exclude_arguments=[{names}]",
            )
        return self._plan_parameter(parameter)

    def _read_parameter(self, parameter: Declared) -> Parameter:
        plan, default, fill = self._plan_parameter(parameter), parameter.default, None
        required = is_required(parameter)
        if required:
            default = MISSING
        elif is_field(default):  # which Python must not pass on
            fill = partial(default.get_default, call_default_factory=True)
            default = MISSING if default.default_factory is not None else default.default
        if default is None:
            plan = allow_null(plan)
        elif type(default) is not plan.msgspec_type and default is not MISSING and not self.lenient:
            from .defaults import check_default

            check_default(self.tool, parameter, plan, default, self.types)
        is_positional = parameter.kind == POSITIONAL_ONLY
        text = self.found.get_text(parameter.name)
        return Parameter(
            parameter.name, parameter.name, plan, required, text, default, is_positional, fill
        )

    def _plan_parameter(self, parameter: Declared) -> TypePlan:
        hint = Any if parameter.annotation is EMPTY else parameter.annotation
        try:
            plain = evaluate(hint, self.found.names) if type(hint) is str else hint
            if (plan := plan_basic(plain, "input")) is not None:
                return plan
            if self.types is None:
                from ..schema.types import Types

                self.types = Types("input", self.found.names)
            return self.types.plan_type(hint)
        except _NO_TYPE as error:
            self._refuse(_format_place(parameter.name), error)

    # Results

    def _returns(self) -> Returns:
        is_class = isinstance(self.inner, type)
        hint = self.inner if is_class else get_annotations(self.inner).get("return", EMPTY)
        if hint is EMPTY:
            return Returns("undeclared")
        try:
            return from_hint(hint, self.found.names, is_generator=self.is_generator)
        except _NO_TYPE as error:
            self._refuse("the result", error)


_NO_TYPE = (Unresolved, TypeError, RecursionError)
"""Errors of annotations that are not types, or have no form in JSON."""


def _format_place(parameter: str) -> str:
    return f"parameter {parameter!r}"
