"""How a call runs.

Theory of operation. A `Handler` runs the calls of one entry. There are three ways: a
`FunctionHandler` runs a Python function, in the thread that calls `call` or on the event loop that
awaits `call_async`; a server's `ConnectionHandler` sends the call to another process. Resources,
prompts and completions wrap a `FunctionHandler`, since only their arguments and results differ.

Everything that can be known of the function is settled when its handler is made: how arguments are
bound, whether a context is wanted, how results are presented. A call is then four plain steps: bind
the arguments, ask the user if the author wants that, run the function, present its value.
"""

from __future__ import annotations

from functools import partial
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from .errors import OutputError
from .schema.annotations import is_async

if TYPE_CHECKING:
    from collections.abc import Callable

    from .confirmation import Confirmation
    from .context.context import Caller
    from .options import Options
    from .signature import Signature
    from .signature.return_value import Returns
    from .signature.second_reading import Bound

    Result = dict[str, Any]

# Types of values that a function can return before its result.
_UNFINISHED = frozenset((GeneratorType, AsyncGeneratorType, CoroutineType))


Queued = TypeVar("Queued")
"""A call, as the server that queues it knows it."""


class Gate(Protocol[Queued]):
    """Limits how many calls run at once. No method but `wait` blocks."""

    def enter(self, call: Queued) -> bool:
        """Return whether *call* may run now; if not, it is queued until another one leaves."""

    def leave(self, call: Queued) -> Queued | None:
        """Return the queued call that may run now, if any: *call* has ended."""

    def retire(self) -> None:
        """Serve no calls after the running ones: the entries of this gate are not served any
        more.
        """

    def wait(self, deadline: float) -> None:
        """Return when everything that was idle at `retire` has ended, or at *deadline* (monotonic
        time).
        """


class Handler(Protocol):
    """Runs the calls of one entry."""

    @property
    def is_async(self) -> bool:
        """Whether `call_async` runs a call, on an event loop; else `call` does, in a thread."""

    @property
    def is_generator(self) -> bool:
        """Whether it runs a generator function, which reports its items itself."""

    @property
    def notices_cancellation(self) -> bool:
        """Whether a cancelled call can end by itself: it awaits, yields, or has a context to
        ask.
        """

    @property
    def gate(self) -> Gate[Any] | None:
        """What limits how many of its calls run at once; None for a handler of this process, whose
        calls never wait.
        """

    def call(self, arguments: Any, caller: Caller, strict_arguments: bool = False) -> Result:
        """Run a call and return the MCP result.

        Unless *strict_arguments*, JSON in strings is decoded, and null is left out, where the
        schema takes neither.

        Raises:
            ArgumentsError: naming every fault of the arguments; the function has not run.
            NotAnswered: if the user is asked first (`confirm`), and did not agree; it has not run.
            OutputError: if it returned something that cannot be sent or breaks its output schema.
            Cancelled: if it noticed that the call was cancelled.
            Exception: whatever it raised.
        """

    async def call_async(
        self, arguments: Any, caller: Caller, strict_arguments: bool = False
    ) -> Result:
        """As `call`, for an asynchronous function, on any event loop."""

    def with_name(self, name: str) -> Handler:
        """Return the same handler for the entry called *name*."""


class ToolHandler(Handler, Protocol):
    """Runs the calls of a tool; not of a resource, prompt or completion."""

    def with_arguments(self, change: Callable[[Any], Any]) -> ToolHandler:
        """Return the same handler, which gets what *change* returns for the arguments of a call."""

    def with_results(self, change: Callable[[Result], Result]) -> ToolHandler:
        """Return the same handler, whose results are what *change* returns for them."""


class FunctionHandler(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Runs the calls of a Python function."""

    name: str
    """The name of the tool in its context."""
    function: Any
    bind: Callable[..., Bound]
    """Returns the positional and keyword arguments of the function for the arguments of a call."""
    present: Callable[[Any], Result]
    """Returns the MCP result for the value of the function."""
    is_async: bool
    runs_in_thread: bool = False
    """Whether an async one is first called in a thread: a plain wrapper of a coroutine function may
    return the coroutine, but may also run it to its end itself, which no event loop allows in its
    own thread.
    """
    is_generator: bool = False
    joins: bool = True
    """Whether the items of a generator, if all are strings, become one string. One annotated as a
    list of items promises a list, also when the items happen to be strings.
    """
    notices_cancellation: bool = False
    context_parameter: str = ""
    """The parameter that receives the context; empty without one."""
    new_context: Callable[[Caller, str], Any] | None = None
    confirmation: Confirmation | None = None
    gate: None = None
    """None: calls of a function never wait."""

    def with_name(self, name: str) -> FunctionHandler:
        """Return the same handler for the entry called *name*."""
        return replace(self, name=name)

    def with_arguments(self, change: Callable[[Any], Any]) -> FunctionHandler:
        """Return the same handler, which gets what *change* returns for the arguments of a call."""
        bind = self.bind
        return replace(self, bind=lambda arguments, *rest: bind(change(arguments), *rest))

    def with_results(self, change: Callable[[Result], Result]) -> FunctionHandler:
        """Return the same handler, whose results are what *change* returns for them."""
        present = self.present
        return replace(self, present=lambda value: change(present(value)))

    def check(self, arguments: dict[str, Any]) -> None:
        """Do nothing if the function takes *arguments*. Raises `ArgumentsError` if not."""
        self.bind(arguments)

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> Result:
        """As `Handler.call`."""
        # Spelled here as in `run`: one step less for every call.
        positional, keywords = self.bind(arguments, strict_arguments, caller)
        if self.confirmation is not None:
            self.confirmation.ask((positional, keywords), caller, self.name)
        if self.new_context is not None:
            value = self._run_with_context(positional, keywords, caller)
        else:
            value = self.function(*positional, **keywords)
        if type(value) in _UNFINISHED:
            value = self._finish(value, caller)
        try:
            return self.present(value)
        except OutputError:
            return self._present_iterator(value, caller)

    def run(self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False) -> Any:
        """Run a synchronous function and return its value in Python's terms; of a generator, its
        answer.

        Raises:
            ArgumentsError, Cancelled, Exception: as `call` does.
        """
        positional, keywords = self.bind(arguments, strict_arguments, caller)
        if self.confirmation is not None:
            self.confirmation.ask((positional, keywords), caller, self.name)
        if self.new_context is not None:
            value = self._run_with_context(positional, keywords, caller)
        else:
            value = self.function(*positional, **keywords)
        if type(value) in _UNFINISHED:
            return self._finish(value, caller)
        return value

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> Result:
        """As `Handler.call_async`."""
        value = await self.run_async(arguments, caller, strict_arguments)
        try:
            return self.present(value)
        except OutputError:
            return self._present_iterator(value, caller)

    async def run_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> Any:
        """Run an asynchronous function, on any event loop, and return its value. Raises what `run`
        raises.
        """
        positional, keywords = self.bind(arguments, strict_arguments, caller)
        if self.confirmation is not None:
            await self.confirmation.ask_async((positional, keywords), caller, self.name)
        context = None
        if self.new_context is not None:
            context = self.new_context(caller, self.name)
            keywords = {**keywords, self.context_parameter: context}
        if self.runs_in_thread:
            from anyio import to_thread

            value = await to_thread.run_sync(partial(self.function, *positional, **keywords))
        else:
            value = self.function(*positional, **keywords)
        while hasattr(type(value), "__await__"):
            value = await value
        if hasattr(type(value), "__anext__"):
            from .results import consume_async_generator

            value = await consume_async_generator(value, caller, joins=self.joins)
        elif type(value) is GeneratorType:
            value = self._consume(value, caller)
        if context is not None:
            context.check_awaited()
        return value

    def _run_with_context(self, positional: Any, keywords: dict[str, Any], caller: Caller) -> Any:
        assert self.new_context is not None
        context = self.new_context(caller, self.name)
        value = self.function(*positional, **{**keywords, self.context_parameter: context})
        context.check_awaited()  # those of other frameworks are awaited in any function
        return value

    def _consume(self, items: Any, caller: Caller) -> Any:
        from .results import consume_generator  # only tools that yield need it

        return consume_generator(items, caller, joins=self.joins)

    def _finish(self, value: Any, caller: Caller) -> Any:
        if type(value) is GeneratorType:
            return self._consume(value, caller)
        if type(value) is CoroutineType:
            value.close()  # it will never be awaited, and Python need not warn of it
        _refuse_awaitable(value)
        return value

    def _present_iterator(self, value: Any, caller: Caller) -> Result:
        """Return the result for a value that was no data: map, zip and other iterators are
        generators in all but type.
        """
        if hasattr(type(value), "__next__"):
            value = self._consume(value, caller)
        _refuse_awaitable(value)
        return self.present(value)


def make_handler(
    function: Callable[..., Any], name: str, options: Options, signature: Signature
) -> FunctionHandler:
    """Return the handler of *function*, read in *signature*, for the entry called *name*."""
    is_read_async = signature.is_async
    runs_in_thread = is_read_async and not is_async(function)
    awaits = is_read_async and not runs_in_thread
    takes_context = signature.context is not None
    handler = FunctionHandler(
        name=name,
        function=function,
        bind=signature.arguments.bind,
        present=_make_presenter(signature.returns),
        is_async=is_read_async,
        runs_in_thread=runs_in_thread,
        is_generator=signature.is_generator,
        joins=not signature.returns.wraps,
        notices_cancellation=awaits or signature.is_generator or takes_context,
        context_parameter=signature.context or "",
        new_context=_choose_context_type(is_read_async) if takes_context else None,
        confirmation=_make_confirmation(function, name, options, signature),
    )
    if options.structured:
        return handler
    return handler.with_results(drop_structured)


def drop_structured(result: Result) -> Result:
    """Return *result* without structured content."""
    result.pop("structuredContent", None)
    return result


def _choose_context_type(is_async: bool) -> Any:
    from .context.context import AsyncContext, Context  # only tools that take one need it

    if is_async:
        return AsyncContext
    return Context


def _make_confirmation(
    function: Callable[..., Any], name: str, options: Options, signature: Signature
) -> Confirmation | None:
    if options.confirm is None:
        return None
    from .confirmation import Confirmation  # only tools that ask first need it

    return Confirmation(options.confirm, name, function, signature)


def _make_presenter(returns: Returns) -> Callable[[Any], Result]:
    if returns.output_schema is not None:
        return returns.get_presenter()
    from .results import make_result_by_looks

    builtins = returns.builtins
    return lambda value: make_result_by_looks(value, builtins)


def _refuse_awaitable(value: Any) -> None:
    kind = type(value)  # which is asked, since proxies and mocks have whatever they are asked for
    if hasattr(kind, "__await__") or hasattr(kind, "__anext__"):
        problem = (
            f"is of type {kind.__name__} and never awaited; write the tool itself with `async def`"
        )
        raise OutputError([("result", problem)])
