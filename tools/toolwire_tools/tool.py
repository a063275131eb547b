"""A tool: an entry and the handler that runs its calls. Makes one of a Python function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from .entry import SEPARATOR, Entry, show
from .errors import RegistrationError
from .handler import FunctionHandler, Handler, drop_structured, make_handler
from .options import Options, find_options, name_of
from .signature import Signature, read_signature

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from toolwire_schemas.portability import Finding

    from .context.context import Caller
    from .handler import ToolHandler
    from .signature.return_value import Returns

HINTS = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}
"""The options by the members of MCP's `ToolAnnotations`."""


class Tool(msgspec.Struct, frozen=True, eq=False):
    """Something that programs can find out about and call: a tool, resource or prompt.

    `make_tool`, `make_resource` and `make_prompt` make one of a function, `tools_of` all that an
    object offers.
    """

    entry: Entry
    handler: Handler

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"

    @property
    def name(self) -> str:
        """What callers call it: its name, URI or URI template."""
        return self.entry.name

    @property
    def kind(self) -> str:
        """The list of MCP in which it is: `tools`, `resources`, `resourceTemplates` or
        `prompts`.
        """
        return self.entry.kind

    @property
    def tool_handler(self) -> ToolHandler:
        """The handler, if this is no resource, prompt or completion."""
        return cast("ToolHandler", self.handler)

    @property
    def is_async(self) -> bool:
        """Whether it is called by `call_async`: a coroutine function, an async generator, or a
        wrapper of one.
        """
        return self.handler.is_async

    def describe(self) -> dict[str, Any]:
        """Return what MCP's list shows of it. The same dict at every call: do not change it."""
        return self.entry.shown

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Run a synchronous tool and return the MCP result; see `Handler.call`."""
        return self.handler.call(arguments, caller, strict_arguments)

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Run an asynchronous tool and return the MCP result; see `Handler.call`."""
        return await self.handler.call_async(arguments, caller, strict_arguments)

    def with_name(self, name: str) -> Tool:
        """Return the same tool or prompt under another *name*."""
        return Tool(self.entry.with_name(name), self.handler.with_name(name))

    def with_separator(self, separator: str) -> Tool:
        """Return the same tool with *separator* between toolkit and method in its name."""
        entry = self.entry.with_separator(separator)
        if entry is self.entry:
            return self
        return Tool(entry, self.handler.with_name(entry.name))

    def with_lifespan(
        self, lifespan: Callable[..., Any] | None, module: ModuleType | None = None
    ) -> Tool:
        """Return the same tool with this *lifespan*, unless it has one, offered by *module*."""
        return Tool(self.entry.with_lifespan(lifespan, module), self.handler)

    def without_structured(self) -> Tool:
        """Return the same tool without an output schema in its list and structured content in its
        results. Resources and prompts have neither.
        """
        if self.kind != "tools":
            return self
        handler = self.tool_handler.with_results(drop_structured)
        return Tool(self.entry.without_output_schema(), handler)


def make_tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    options: Options | None = None,
    return_data: list[dict[str, Any]] | None = None,
    toolkit: str | None = None,
    returns: Returns | None = None,
    is_adopted: bool = False,
) -> Tool:
    """Return *function* as a tool: a function, bound method, partial or callable object.

    *name* and *options* win over what the decorator said, and *return_data*, in Lagent's form, over
    what the docstring says of the result's members. A method of a *toolkit*, which has a name, is
    called `Toolkit_method`. *returns* wins over the hint of the result. A function that
    *is_adopted* is of another framework: its context is the same in `def` and `async def`.

    Raises:
        RegistrationError: if it cannot be described to callers; says what to change.
    """
    options = options or find_options(function)
    parts = name_parts(function, name, options, toolkit)
    full_name = SEPARATOR.join(parts)
    signature = read_function(function, full_name, options, returns=returns, is_adopted=is_adopted)
    output_schema = _make_shown_output_schema(function, options, signature.returns, return_data)
    entry = Entry(
        kind="tools",
        name=full_name,
        parts=parts,
        shown=_show_tool(full_name, options, signature, output_schema),
        options=options,
        input_schema=signature.arguments.input_schema,
        output_schema=signature.returns.output_schema,
        function=function,
        findings=tuple(_lint(full_name, signature)),
    )
    return Tool(entry, make_handler(function, full_name, options, signature))


def make_function_handler(tool: Tool) -> FunctionHandler:
    """Return what runs the function of a *tool*, resource or prompt that was made of one."""
    handler: Any = tool.handler
    if not isinstance(handler, FunctionHandler):
        handler = handler.inner
    assert isinstance(handler, FunctionHandler)
    return handler


def name_parts(
    function: Callable[..., Any], name: str | None, options: Options, toolkit: str | None
) -> tuple[str, ...]:
    """Return the *toolkit*, if there is one, and the name of *function* within it."""
    _check_callable(function)
    own_name = name or options.name or _name(function)
    if toolkit:
        return (toolkit, own_name)
    return (own_name,)


def read_function(
    function: Callable[..., Any],
    name: str,
    options: Options,
    *,
    returns: Returns | None = None,
    is_adopted: bool = False,
) -> Signature:
    """Return the signature of *function*, whose *options* may say what to include and exclude, and
    the schemas. Raises a `RegistrationError`.
    """
    return read_signature(
        function,
        tool=name,
        input_schema=options.input_schema,
        output_schema=options.output_schema,
        include=options.include_arguments,
        exclude=options.exclude_arguments,
        returns=returns,
        lenient=is_adopted,
    )


def _check_callable(function: Any) -> None:
    if callable(function) and not isinstance(function, type):
        return
    kind = f"an object of type {type(function).__name__}"
    if isinstance(function, type):
        kind = "a class"
    name = getattr(function, "__name__", repr(function))
    remedy = "give a function, or a toolkit: an object whose methods are decorated"
    raise RegistrationError(f"{kind} is not a tool", tool=name, remedy=remedy)


def _name(function: Any) -> str:
    name = name_of(function)
    if name == "<lambda>":
        remedy = 'write it with def, or give it one: tool_api(name="...")'
        raise RegistrationError("a lambda has no name", tool=name, remedy=remedy)
    return name


def _make_shown_output_schema(
    function: Callable[..., Any],
    options: Options,
    returns: Returns,
    return_data: list[dict[str, Any]] | None,
) -> dict[str, Any] | None:
    """Return the output schema as the list shows it: with what the author says of the result's
    members.
    """
    if not options.structured or returns.output_schema is None:
        return None
    describes_members = options.explode_return or options.returns_named_value
    if return_data is None and not describes_members:
        return returns.output_schema
    from . import api_description

    if return_data is None:
        return_data = api_description.return_data(function, options)
    return api_description.with_members(
        returns.output_schema, return_data, is_tuple=returns.is_tuple
    )


_EXECUTION = {
    "auto": {"taskSupport": "optional"},
    "always": {"taskSupport": "optional"},
    "required": {"taskSupport": "required"},
}
"""What clients of MCP 2025-11-25, which choose by it, read of the option `task`. Not that of tools
without the option: some of them would make a task of every call then.
"""


def _show_tool(
    name: str, options: Options, signature: Signature, output_schema: dict[str, Any] | None
) -> dict[str, Any]:
    annotations: dict[str, Any] = {}
    if options.title:
        # Clients before 2025-06-18 look for the title here.
        annotations["title"] = options.title
    for hint, option in HINTS.items():
        value = getattr(options, option)
        if value is not None:
            annotations[hint] = value
    own = {
        "inputSchema": signature.arguments.input_schema,
        "outputSchema": output_schema,
        "annotations": annotations,
        "execution": _EXECUTION.get(options.task or "never"),
    }
    return show({"name": name}, options, signature.description, own)


def _lint(name: str, signature: Signature) -> list[Finding]:
    if signature.is_basic and name.isascii() and name.isidentifier() and len(name) <= 64:
        return []  # as `lint` would say
    from toolwire_schemas.portability import lint

    findings = lint(name, signature.arguments.input_schema, signature.returns.output_schema)
    for finding in findings:
        if finding.severity == "error":
            raise RegistrationError(
                finding.problem, tool=name, parameter=finding.where, remedy=finding.remedy
            )
    return findings
