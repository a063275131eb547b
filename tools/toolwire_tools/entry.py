"""The data of a tool, resource or prompt: its member of a list of MCP, and the limits of its calls.

Theory of operation. A tool is a pair: its `Entry` says what clients see and what a server allows
for a call, its handler (handler.py) runs a call. A change of one is a new entry made by
`msgspec.structs.replace`, so that several catalogs may hold entries of one function under
different names.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from .options import Options

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from toolwire_schemas.portability import Finding

    from .resources.uri_template import UriTemplate

SEPARATOR = "_"
"""Stands between toolkit and method in the name of a tool. Several hosts and most models' APIs
refuse a dot.
"""

_NOUNS = {"tools": "tool", "prompts": "prompt", "methods": "method"}


class Entry(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One tool, resource, resource template, prompt or completion, as a server knows it."""

    kind: str
    """The list of MCP in which it is: `tools`, `resources`, `resourceTemplates` or `prompts`; or
    `completions` or `methods` of JSON-RPC, which no list shows.
    """
    name: str
    """What callers call it: its name, URI or URI template."""
    parts: tuple[str, ...]
    """The toolkit, if it has one, and the name within it."""
    shown: dict[str, Any]
    """Its member of the list, as MCP has it, without empty members. Do not change it."""
    options: Options = Options()
    """What its author says of it: also limits of time, memory and size, tags, and where it runs."""
    input_schema: dict[str, Any] = {}
    """The JSON Schema of its arguments; of a template, that of its variables."""
    output_schema: dict[str, Any] | None = None
    """What results are checked against; None if nothing is promised."""
    function: Any = None
    """The callable that it was made of; None for an entry of another server."""
    template: UriTemplate | None = None
    """Of a resource: which URIs it serves."""
    completer: Callable[..., Any] | None = None
    """Completes any of its arguments, as FastMCP has it; None if each argument has its own."""
    lifespan: Callable[..., Any] | None = None
    """Returns the context manager whose value is `context.state`; a server enters it before the
    first call.

    It takes nothing, or the `Server`. Entries with the same one share the value.
    """
    module: ModuleType | None = None
    """The module that offers it, if a server has loaded one."""
    owner: Any = None
    """The server object of another framework that it belongs to."""
    findings: tuple[Finding, ...] = ()
    """Problems of it in some hosts; other hosts can use it."""

    @property
    def noun(self) -> str:
        """The word for it in messages: tool, resource or prompt."""
        return _NOUNS.get(self.kind, "resource")

    @property
    def origin(self) -> str:
        """Where it comes from, for messages: `module.function`."""
        function = self.function
        if isinstance(function, partial):
            function = function.func
        if not hasattr(function, "__qualname__"):
            function = type(function)
        return f"{function.__module__}.{function.__qualname__}"

    @property
    def spellings(self) -> tuple[str, ...]:
        """The names that calls may use: `name` and, of a toolkit's method, the one with a dot."""
        return tuple(dict.fromkeys((self.name, self.name_with(SEPARATOR), self.name_with("."))))

    def name_with(self, separator: str) -> str:
        """Return its name with *separator* between toolkit and method."""
        return separator.join(self.parts)

    def with_name(self, name: str) -> Entry:
        """Return the same entry called *name*, which is no resource: those have a URI."""
        return replace(self, name=name, parts=(name,), shown={**self.shown, "name": name})

    def with_separator(self, separator: str) -> Entry:
        """Return the same entry with *separator* between toolkit and method in its name."""
        name = self.name_with(separator)
        if name == self.name:
            return self
        # Only toolkits' tools and prompts have parts, and their lists show the name that is called.
        return replace(self, name=name, shown={**self.shown, "name": name})

    def with_lifespan(
        self, lifespan: Callable[..., Any] | None, module: ModuleType | None = None
    ) -> Entry:
        """Return the same entry with this *lifespan*, unless it has one, offered by *module*."""
        return replace(self, lifespan=self.lifespan or lifespan, module=self.module or module)

    def without_output_schema(self) -> Entry:
        """Return the same entry whose list member promises no structured content."""
        shown = {member: value for member, value in self.shown.items() if member != "outputSchema"}
        return replace(self, shown=shown)


def show(
    names: dict[str, str], options: Options, description: str, own: dict[str, Any]
) -> dict[str, Any]:
    """Return the member of one of MCP's lists, with its *own* members after those that all have.

    *description* is that of the docstring; the one of *options* wins. Empty members are left out.
    """
    if options.description is not None:
        description = options.description
    members = {
        **names,
        "title": options.title,
        "description": description,
        **own,
        "icons": [msgspec.to_builtins(icon) for icon in options.icons],
        "_meta": options.make_shown_meta(),
    }
    return {member: value for member, value in members.items() if value}
