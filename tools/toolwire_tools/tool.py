"""One tool: how it is described, and how it is called.

Strategy. Everything that can be known of the function is settled when the tool is made: how
arguments are bound, whether a context is wanted, how results are presented. A call is then four
plain steps.
"""

from __future__ import annotations

from functools import partial
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import TYPE_CHECKING, Any

import msgspec

from .errors import OutputError, RegistrationError
from .options import Options, name_of, options_for
from .schema.annotations import is_async
from .signature import Signature, read_signature
from .signature.return_value import Returns

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from toolwire_schemas.portability import Finding

    from .confirmation import Confirmation
    from .context.context import Caller

SEPARATOR = "_"
"""Stands between toolkit and method in the name of a tool. Several hosts and most models' APIs
refuse a dot.
"""

# Types of values that a function can return before its result.
_UNFINISHED = frozenset((GeneratorType, AsyncGeneratorType, CoroutineType))

HINTS = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}
"""The options by the members of MCP's `ToolAnnotations`."""


class Tool:
    """A callable that programs can find out about and call: what a server serves.

    *function* may be any function, bound method, partial or callable object, decorated or not.
    *name* and *options* win over what the decorator said, and *return_data*, in Lagent's form, over
    what the docstring says of the result's members. A method of a *toolkit*, which has a name, is
    called `Toolkit_method`. *returns* wins over the hint of the result.

    Raises:
        RegistrationError: if it cannot be described to callers; says what to change.
    """

    kind = "tools"
    """The list of MCP in which it is: `tools`, `resources`, `resourceTemplates` or `prompts`."""
    _describes_result = True
    _is_adopted = False
    """True if its function is of another framework: its context is the same in `def` and
    `async def`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        options: Options | None = None,
        return_data: list[dict[str, Any]] | None = None,
        toolkit: str | None = None,
        returns: Returns | None = None,
    ) -> None:
        if not callable(function) or isinstance(function, type):
            kind = (
                "a class"
                if isinstance(function, type)
                else f"an object of type {type(function).__name__}"
            )
            named = getattr(function, "__name__", repr(function))
            remedy = "give a function, or a toolkit: an object whose methods are decorated"
            raise RegistrationError(f"{kind} is not a tool", tool=named, remedy=remedy)
        self.function = function
        """The callable that the tool was made of."""
        self.options = options = options or options_for(function)
        """What its author says of it."""
        self._parts = (*([toolkit] if toolkit else []), name or options.name or _name(function))
        self.name: str = SEPARATOR.join(self._parts)
        """What callers call it."""
        self.tags = options.tags
        """Words to choose tools by."""
        self.runs_in: Any = options.runs_in
        """`"process"`, the name of an engine of the server, or an executor; None: in the server."""
        self.memory_limit = options.memory_limit
        """What that process may use beyond what loading the tools takes, in bytes; None leaves it
        to the server.
        """
        self.timeout_seconds = options.timeout_seconds
        """How long a call may take; None leaves it to the server."""
        self.module: ModuleType | None = None
        """The module that offers it, if a server has loaded one."""
        self.lifespan: Callable[..., Any] | None = None
        """Returns the context manager whose value is `context.state`; a server enters it before the
        first call.

        It takes nothing, or the `Server`. Tools with the same one share the value.
        """
        self.max_result_bytes = options.max_result_bytes
        """How large a result may be as JSON; None leaves it to the server."""
        self.gate: Any = None
        """Limits how many of its calls a server runs at once: has `enter(call)`, `leave()`,
        `retire()`; none waits.
        """
        self._signature = read_signature(
            function,
            tool=self.name,
            input_schema=options.input_schema,
            output_schema=options.output_schema,
            include=options.include_arguments,
            exclude=options.exclude_arguments,
            returns=returns if self._describes_result else Returns("undeclared"),
            lenient=self._is_adopted,
        )
        self.findings = _lint(self.name, self._signature) if self._describes_result else []
        """Problems of the tool in some hosts; other hosts can use it."""
        self.is_async: bool = self._signature.is_async
        """True if it is called by `call_async`: a coroutine function, an async generator, or a
        wrapper of one.
        """
        # A plain wrapper of a coroutine function may return the coroutine, but may also run it to
        # its end itself, which no event loop allows in its own thread.
        self._in_thread = self.is_async and not is_async(function)
        self._context = self._signature.context or ""
        self._new_context = _context_type(self.is_async) if self._context else None
        self.is_generator = self._signature.is_generator
        """True if it is a generator function, async or not."""
        awaits = self.is_async and not self._in_thread
        self.notices_cancellation = awaits or self.is_generator or self._new_context is not None
        """True if a cancelled call of it can end by itself: it awaits, yields, or has a context to
        ask.
        """
        self._return_data = return_data
        self._bind: Callable[..., Any] = self._signature.arguments.bind
        self._confirmation: Confirmation | None = None
        if options.confirm is not None:
            from .confirmation import Confirmation  # only tools that ask first need it

            self._confirmation = Confirmation(options.confirm, self.name, function, self._signature)
        self._present = _presenter(self._signature.returns)
        if not options.structured:
            self._present = partial(_content_only, self._present)
        # A generator annotated as one of items promises a list, also when the items happen to be
        # strings.
        self._joins = not self._signature.returns.wraps
        self._description: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"

    @property
    def noun(self) -> str:
        """The word for it in messages: tool, resource or prompt."""
        return {"tools": "tool", "prompts": "prompt"}.get(self.kind, "resource")

    @property
    def origin(self) -> str:
        """Where the tool comes from, for messages: `module.function`."""
        named = self.function.func if isinstance(self.function, partial) else self.function
        where = named if hasattr(named, "__qualname__") else type(named)
        return f"{where.__module__}.{where.__qualname__}"

    def name_with(self, separator: str) -> str:
        """Return its name with *separator* between toolkit and method."""
        return separator.join(self._parts)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The names that calls may use: `name` and, of a toolkit's method, the one with a dot."""
        return tuple(dict.fromkeys((self.name, self.name_with(SEPARATOR), self.name_with("."))))

    def with_separator(self, separator: str) -> Tool:
        """The same tool with *separator* between toolkit and method in its name."""
        name = self.name_with(separator)
        return self if name == self.name else self._twin(name)

    def renamed(self, name: str) -> Tool:
        """The same tool under another name."""
        twin = self._twin(name)
        twin._parts = (name,)
        return twin

    def with_lifespan(
        self, lifespan: Callable[..., Any] | None, module: ModuleType | None = None
    ) -> Tool:
        """The same tool with this *lifespan*, unless it has one, offered by *module*."""
        twin = self._twin(self.name)
        twin.lifespan, twin.module = self.lifespan or lifespan, self.module or module
        return twin

    def _twin(self, name: str) -> Tool:
        twin = object.__new__(type(self))
        twin._become(self)
        if name != self.name:  # a resource is found by its URI, but described by another name
            twin.name = name
            twin._description = (
                None if self._description is None else {**self._description, "name": name}
            )
        return twin

    def _become(self, tool: Tool) -> None:
        """Copy all attributes of *tool*; one by one, since CPython finds them slowly once
        `vars(self)` was used.
        """
        for name, value in vars(tool).items():
            setattr(self, name, value)

    def without_structured(self) -> Tool:
        """The same tool without an output schema in its description and structured content in its
        results.
        """
        twin = self._twin(self.name)
        twin._description = {
            member: value for member, value in self.describe().items() if member != "outputSchema"
        }
        twin._present = partial(_content_only, self._present)
        return twin

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """What results are checked against; None if nothing is promised."""
        return self._signature.returns.output_schema

    def describe(self) -> dict[str, Any]:
        """The tool as an entry of MCP's `tools/list`. Members that say nothing are absent.

        The same dict at every call: do not change it.
        """
        if self._description is None:
            self._description = _described(
                self.name, self.options, self._signature, self._output_schema()
            )
        return self._description

    def _output_schema(self) -> dict[str, Any] | None:
        """Return the output schema as it is shown: with what the author says of the result's
        members.
        """
        options, returns = self.options, self._signature.returns
        if not options.structured or returns.output_schema is None:
            return None
        if self._return_data is None and not (
            options.explode_return or options.returns_named_value
        ):
            return returns.output_schema
        from .api_description import return_data, with_members

        members = (
            return_data(self.function, options) if self._return_data is None else self._return_data
        )
        return with_members(returns.output_schema, members, is_tuple=returns.is_tuple)

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Run a synchronous tool and return the MCP result.

        Unless *strict_arguments*, JSON in strings is decoded, and null is left out, where the
        schema takes neither.

        Raises:
            ArgumentsError: naming every fault of the arguments; the tool has not run.
            NotAnswered: if the tool has a question (`confirm`), and the user did not agree; it has
                not run.
            OutputError: if the tool returned something that cannot be sent or breaks its output
                schema.
            Cancelled: if the tool noticed that the call was cancelled.
            Exception: whatever the tool raised.
        """
        # Spelled here as in `run`: one step less for every call.
        positional, keywords = self._bind(arguments, strict_arguments, caller)
        if self._confirmation is not None:
            self._confirmation.ask((positional, keywords), caller, self.name)
        if self._new_context is not None:
            value = self._with_context(positional, keywords, caller)
        else:
            value = self.function(*positional, **keywords)
        if type(value) in _UNFINISHED:
            value = self._finished(value, caller)
        try:
            return self._present(value)
        except OutputError:
            return self._presented_late(value, caller)

    def check(self, arguments: dict[str, Any]) -> None:
        """Do nothing if the tool takes *arguments*. Raises `ArgumentsError` if not."""
        self._bind(arguments)

    def run(self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False) -> Any:
        """Run a synchronous tool and return its value in Python's terms; of a generator, its
        answer.

        Raises:
            ArgumentsError, Cancelled, Exception: as `call` does.
        """
        positional, keywords = self._bind(arguments, strict_arguments, caller)
        if self._confirmation is not None:
            self._confirmation.ask((positional, keywords), caller, self.name)
        if self._new_context is not None:
            value = self._with_context(positional, keywords, caller)
        else:
            value = self.function(*positional, **keywords)
        return self._finished(value, caller) if type(value) in _UNFINISHED else value

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Run an asynchronous tool and return the MCP result, on any event loop. Raises what `call`
        raises.
        """
        value = await self.run_async(arguments, caller, strict_arguments)
        try:
            return self._present(value)
        except OutputError:
            return self._presented_late(value, caller)

    async def run_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> Any:
        """Run an asynchronous tool, on any event loop, and return its value. Raises what `run`
        raises.
        """
        positional, keywords = self._bind(arguments, strict_arguments, caller)
        if self._confirmation is not None:
            await self._confirmation.ask_async((positional, keywords), caller, self.name)
        if self._new_context is None:
            return await self._awaited(positional, keywords, caller)
        context = self._new_context(caller, self.name)
        value = await self._awaited(positional, {**keywords, self._context: context}, caller)
        context.check_awaited()
        return value

    async def _awaited(self, positional: Any, keywords: dict[str, Any], caller: Caller) -> Any:
        if self._in_thread:
            from anyio import to_thread

            value = await to_thread.run_sync(partial(self.function, *positional, **keywords))
        else:
            value = self.function(*positional, **keywords)
        while hasattr(type(value), "__await__"):
            value = await value
        if hasattr(type(value), "__anext__"):
            from .results import consume_async_generator

            return await consume_async_generator(value, caller, joins=self._joins)
        return self._consumed(value, caller) if type(value) is GeneratorType else value

    def _with_context(self, positional: Any, keywords: dict[str, Any], caller: Caller) -> Any:
        assert self._new_context is not None
        context = self._new_context(caller, self.name)
        value = self.function(*positional, **{**keywords, self._context: context})
        context.check_awaited()  # those of other frameworks are awaited in any function
        return value

    def _consumed(self, items: Any, caller: Caller) -> Any:
        from .results import consume_generator  # only tools that yield need it

        return consume_generator(items, caller, joins=self._joins)

    def _finished(self, value: Any, caller: Caller) -> Any:
        if type(value) is GeneratorType:
            return self._consumed(value, caller)
        if type(value) is CoroutineType:
            value.close()  # it will never be awaited, and Python need not warn of it
        _refuse_unfinished(value)
        return value

    def _presented_late(self, value: Any, caller: Caller) -> dict[str, Any]:
        """The result of what turned out to be no data: map, zip and other iterators are generators
        in all but type.
        """
        if hasattr(type(value), "__next__"):
            value = self._consumed(value, caller)
        _refuse_unfinished(value)
        return self._present(value)


def _context_type(is_async: bool) -> Any:
    from .context.context import AsyncContext, Context  # only tools that take one need it

    return AsyncContext if is_async else Context


def _presenter(returns: Returns) -> Callable[[Any], dict[str, Any]]:
    if returns.output_schema is not None:
        return returns.presenter()
    from .results import by_looks

    builtins = returns.builtins
    return lambda value: by_looks(value, builtins)


def _content_only(present: Callable[[Any], dict[str, Any]], value: Any) -> dict[str, Any]:
    result = present(value)
    result.pop("structuredContent", None)
    return result


def _refuse_unfinished(value: Any) -> None:
    kind = type(value)  # which is asked, since proxies and mocks have whatever they are asked for
    if hasattr(kind, "__await__") or hasattr(kind, "__anext__"):
        problem = (
            f"is of type {kind.__name__} and never awaited; write the tool itself with `async def`"
        )
        raise OutputError([("result", problem)])


def _lint(name: str, read: Signature) -> list[Finding]:
    if read.is_basic and name.isascii() and name.isidentifier() and len(name) <= 64:
        return []  # as `lint` would say
    from toolwire_schemas.portability import lint

    findings = lint(name, read.arguments.input_schema, read.returns.output_schema)
    for finding in findings:
        if finding.severity == "error":
            raise RegistrationError(
                finding.problem, tool=name, parameter=finding.where, remedy=finding.remedy
            )
    return findings


def _described(
    name: str, options: Options, read: Signature, output_schema: dict[str, Any] | None
) -> dict[str, Any]:
    hints = {hint: getattr(options, option) for hint, option in HINTS.items()}
    annotations = {hint: value for hint, value in hints.items() if value is not None}
    if options.title:
        # Clients before 2025-06-18 look for the title here.
        annotations = {"title": options.title, **annotations}
    schemas = {"inputSchema": read.arguments.input_schema, "outputSchema": output_schema}
    return entry({"name": name}, options, read, {**schemas, "annotations": annotations})


def entry(
    names: dict[str, str], options: Options, read: Signature, own: dict[str, Any]
) -> dict[str, Any]:
    """Return an entry of one of MCP's lists, with its *own* members after those that all have;
    without empty ones.
    """
    members = {
        **names,
        "title": options.title,
        "description": options.description if options.description is not None else read.description,
        **own,
        "icons": [msgspec.to_builtins(icon) for icon in options.icons],
        "_meta": options.shown_meta(),
    }
    return {member: value for member, value in members.items() if value}


def _name(function: Any) -> str:
    name = name_of(function)
    if name == "<lambda>":
        remedy = 'write it with def, or give it one: tool_api(name="...")'
        raise RegistrationError("a lambda has no name", tool=name, remedy=remedy)
    return name
