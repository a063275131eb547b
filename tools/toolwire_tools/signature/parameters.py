"""The parameters of a function as its callers see them.

Strategy. A tool's JSON Schema and its Lagent description both begin here, so that they are about the same parameters.
Nothing is refused here: what cannot be served may still be described.
"""

from __future__ import annotations

import inspect
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from ..schema.annotations import Names, Unresolved, is_field, members, names_of, unwrap_annotation
from . import docstring as docstrings

if TYPE_CHECKING:
    from collections.abc import Callable

    from .docstring import Docstring

OPEN = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
"""The kinds of `*args` and `**kwargs`."""


class Parameters(msgspec.Struct, frozen=True):
    """The parameters of one function, in their order."""

    names: Names
    doc: Docstring
    every: list[Parameter]
    """All but those for the context. One without a hint has the one that its docstring tells, if it tells one."""
    hidden: frozenset[str]
    """The names of those that the author keeps from callers."""
    contexts: list[Parameter]
    """Those for a `Context`; more than one is a mistake."""

    @property
    def shown(self) -> list[Parameter]:
        """Those that callers give."""
        return [parameter for parameter in self.every if parameter.name not in self.hidden]

    def text(self, parameter: str) -> str | None:
        """Return the text of a parameter in the docstring."""
        written = self.doc.parameters.get(parameter)
        return written.description if written else None


def read(
    function: Callable[..., Any],
    *,
    context_type: type | None = None,
    include: frozenset[str] | None = None,
    exclude: frozenset[str] = frozenset(),
    skip_first: bool = False,
) -> Parameters:
    """Read what *function* says of its parameters. If *include* is given, it alone chooses.

    Raises:
        ValueError: if it says nothing, as some functions written in C.
        TypeError: likewise.
    """
    names = names_of(function)
    doc = docstrings.of(function)
    every: list[Parameter] = []
    contexts: list[Parameter] = []
    for parameter in list(inspect.signature(function).parameters.values())[1 if skip_first else 0 :]:
        if is_context(parameter.annotation, context_type, names):
            contexts.append(parameter)
        else:
            every.append(_completed(parameter, doc))
    if every and hasattr(function, "dispatch") and hasattr(function, "registry"):
        # functools.singledispatch looks at the first argument by its place.
        every[0] = every[0].replace(kind=Parameter.POSITIONAL_ONLY)
    hidden = exclude if include is None else frozenset(parameter.name for parameter in every) - include
    return Parameters(names, doc, every, hidden, contexts)


def _completed(parameter: Parameter, doc: Docstring) -> Parameter:
    """The parameter with what else is said of its type: in the docstring, or by a default that is pydantic's `Field`.

    What docstrings say of `**kwargs` is about the whole dict as often as about its members.
    """
    if parameter.annotation is Parameter.empty and parameter.kind not in OPEN:
        written = doc.parameters.get(parameter.name)
        if written and written.type:
            from .docstring_types import hint_of  # here, since most functions have hints

            hint = hint_of(written.type)
            parameter = parameter if hint is None else parameter.replace(annotation=hint)
    if is_field(parameter.default):
        hint = Any if parameter.annotation is Parameter.empty else parameter.annotation
        parameter = parameter.replace(annotation=Annotated[hint, parameter.default])
    return parameter


def is_required(parameter: Parameter) -> bool:
    """True if a call without the parameter fails."""
    if is_field(parameter.default):
        return bool(parameter.default.is_required())
    return parameter.default is Parameter.empty and parameter.kind not in OPEN


def is_context(annotation: Any, wanted: type | None, names: Names) -> bool:
    """True for the hint of a parameter that receives a *wanted*."""
    if wanted is None or annotation is Parameter.empty:
        return False
    if type(annotation) is type:  # the most frequent case, and the cheapest
        return issubclass(annotation, wanted)
    try:
        plain = unwrap_annotation(annotation, names).hint
        options = members(plain, names) or (plain,)
    except Unresolved as error:
        # Imported for the type checker only: the name alone says enough.
        written = error.annotation.replace("Optional[", "").replace("]", "").split("|")[0].strip()
        return written.rpartition(".")[2] == wanted.__name__
    return any(isinstance(option, type) and issubclass(option, wanted) for option in options)
