"""Parameters that version 2 of the SDK fills by functions: `Annotated[T, Resolve(function)]`.

Strategy. A tool with such parameters becomes a function without them, which runs the resolvers
before the tool. Their requests to the user and the host go through the context, which knows the
form that the client understands.
"""

from __future__ import annotations

from functools import partial, wraps
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.signatures import read_signature
from toolwire_tools.errors import RegistrationError
from toolwire_tools.schema.annotations import (
    Unresolved,
    collect_names,
    is_async,
    list_members,
    unwrap_annotation,
)
from toolwire_tools.schema.shape import is_field
from toolwire_tools.signature import find_contexts

from .context import AcceptedElicitation, CancelledElicitation, Context, DeclinedElicitation
from .host_requests import read_sample, request
from .mcp_types import ToolError, make_plain

if TYPE_CHECKING:
    from collections.abc import Callable

_ADDED_CONTEXT = "context_of_resolvers"
"""The parameter for the context of a tool that takes none itself."""

_OUTCOMES = (AcceptedElicitation, DeclinedElicitation, CancelledElicitation)


class Resolve:
    """In `Annotated`: the function whose value a parameter gets."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn


class Elicit:
    """Returned by a resolver to ask the user."""

    def __init__(self, message: str, schema: Any) -> None:
        self.message, self.schema = message, schema

    def __class_getitem__(cls, _: Any) -> type[Elicit]:
        return cls


class Sample:
    """Returned by a resolver to ask the model of the host."""

    def __init__(self, params: Any) -> None:
        self.params = params


class ListRoots:
    """Returned by a resolver to get the folders of the host."""


class _Need(msgspec.Struct, frozen=True):
    """A parameter that a resolver fills."""

    fn: Any
    wants_outcome: bool
    """Whether it takes the whole outcome; else a user who declines fails the call."""


class _Plan(msgspec.Struct, frozen=True):
    """The parameters of a tool or a resolver, by their source."""

    needs: dict[str, _Need]
    contexts: list[str]
    others: dict[str, Parameter]
    """Arguments of the call."""


def fill_resolved(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return *function* without the parameters that resolvers fill, or itself if it has none.

    Raises:
        RegistrationError: if a resolver needs its own value.
    """
    try:
        plan = _read_plan(function)
    except (Unresolved, TypeError, ValueError):  # which the reading of the tool explains
        return function
    if not plan.needs:
        return function
    _check_order(function, ())
    context = plan.contexts[0] if plan.contexts else _ADDED_CONTEXT

    @wraps(function)
    async def run(**values: Any) -> Any:
        resolution = _Resolution(values[context], values)
        given = dict(values)
        if not plan.contexts:
            del given[context]
        for name, need in plan.needs.items():
            given[name] = await resolution.find_value(name, need)
        return await _call(function, given)

    run.__signature__ = _sign(function, plan)  # type: ignore[attr-defined]
    return run


def _sign(function: Callable[..., Any], plan: _Plan) -> Signature:
    """Return the signature of *function* for callers: all by name."""
    signature = read_signature(function)
    kept = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
        if name not in plan.needs
    ]
    if not plan.contexts:
        kept.append(Parameter(_ADDED_CONTEXT, Parameter.KEYWORD_ONLY, annotation=Context))
    return signature.replace(parameters=kept)


def _read_plan(function: Callable[..., Any]) -> _Plan:
    names = collect_names(function)
    plan = _Plan({}, [], {})
    for name, parameter in read_signature(function).parameters.items():
        if parameter.annotation is parameter.empty:
            plan.others[name] = parameter
            continue
        if find_contexts(parameter.annotation, names):
            plan.contexts.append(name)
            continue
        bare = unwrap_annotation(parameter.annotation, names)
        resolvers = [item for item in bare.metadata if isinstance(item, Resolve)]
        if not resolvers:
            plan.others[name] = parameter
            continue
        members = list_members(bare.hint, names) or (bare.hint,)
        plan.needs[name] = _Need(resolvers[0].fn, any(one in _OUTCOMES for one in members))
    return plan


def _check_order(function: Callable[..., Any], outer: tuple[Any, ...]) -> None:
    if function in outer:
        problem = "a resolver of its parameters needs its own value"
        remedy = "let it take another parameter"
        raise RegistrationError(problem, tool=outer[0].__name__, remedy=remedy)
    for need in _read_plan(function).needs.values():
        _check_order(need.fn, (*outer, function))


class _Resolution:
    """The outcomes of the resolvers of one call, each of which runs once."""

    def __init__(self, context: Context, arguments: dict[str, Any]) -> None:
        self._context = context
        self._arguments = arguments
        self._outcomes: dict[Any, Any] = {}

    async def find_value(self, name: str, need: _Need) -> Any:
        """Return what the parameter *name* gets.

        Raises:
            ToolError: if the user has declined, and it does not take that.
        """
        outcome = await self._find_outcome(need.fn)
        if need.wants_outcome:
            return outcome
        if isinstance(outcome, AcceptedElicitation):
            return outcome.data
        reason = f"elicitation was {outcome.action}"
        raise ToolError(f"Resolver for parameter {name!r} could not resolve: {reason}")

    async def _find_outcome(self, fn: Any) -> Any:
        if fn in self._outcomes:
            return self._outcomes[fn]
        plan = _read_plan(fn)
        given: dict[str, Any] = dict.fromkeys(plan.contexts, self._context)
        for name, parameter in plan.others.items():
            given[name] = self._find_argument(name, parameter)
        for name, need in plan.needs.items():
            given[name] = await self.find_value(name, need)
        outcome = await self._ask(await _call(fn, given))
        self._outcomes[fn] = outcome
        return outcome

    def _find_argument(self, name: str, parameter: Parameter) -> Any:
        if name in self._arguments:
            return self._arguments[name]
        default = parameter.default
        if is_field(default):
            return default.get_default(call_default_factory=True)
        if default is parameter.empty:
            raise ToolError(f"a resolver needs the argument {name!r}, which the call has not")
        return default

    async def _ask(self, value: Any) -> Any:
        """Return the outcome of a resolver that has returned *value*."""
        if isinstance(value, Elicit):
            return await self._context.elicit(value.message, value.schema)
        if isinstance(value, ListRoots):
            return AcceptedElicitation(data=await self._context.list_roots())
        if isinstance(value, Sample):
            caller = self._context._caller
            answer = await request(caller, "sampling/createMessage", make_plain(value.params))
            return AcceptedElicitation(data=read_sample(answer))
        return AcceptedElicitation(data=value)


async def _call(function: Callable[..., Any], values: dict[str, Any]) -> Any:
    if is_async(function):
        return await function(**values)
    from anyio import to_thread

    return await to_thread.run_sync(partial(function, **values))
