"""`FastMCP` and `MCPServer`: the objects that a file makes, and that Toolwire serves."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace
from toolwire_tools.decorator import check_options
from toolwire_tools.errors import RegistrationError
from toolwire_tools.options import find_options, name_of
from toolwire_tools.resources.prompt import PromptOptions
from toolwire_tools.resources.resource import ResourceOptions
from toolwire_tools.tool import HINTS

from .mcp_types import CallToolResult, ListedTool, make_plain
from .refusals import (
    OWN_PACKAGE,
    USE_MOUNTS,
    NotSupported,
    find_users_line,
    log_once,
    note_without_effect,
)
from .starting import hand_over, hand_over_async, is_program_running
from .tools import adopt_prompt, adopt_resource, adopt_tool, returns_any_dict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn

    from toolwire_tools.options import Options
    from toolwire_tools.tool import Tool

    from .context import Context

_WITHOUT_EFFECT = frozenset(
    # They concern HTTP, the installation, or the log of the original package.
    [
        "debug",
        "log_level",
        "client_log_level",
        "dependencies",
        "host",
        "port",
        "mount_path",
        "sse_path",
        "message_path",
        "streamable_http_path",
        "path",
        "json_response",
        "stateless_http",
        "max_request_body_size",
        "session_idle_timeout",
        "max_sessions",
        "event_store",
        "retry_interval",
        "transport_security",
        "show_banner",
        "dereference_schemas",
        "cache_ttl",
        "cache_scope",
        "cache_hints",
        "subscriptions",
        "request_state_security",
    ]
)
"""Arguments that change nothing of a server on standard input and output."""

_EVEN_NONE = ("resource_security", "security")
"""Arguments whose None has an effect: it lets templates take any path."""

_REMEDIES = {
    **dict.fromkeys(
        _EVEN_NONE, "remove it: no variable of a template may be a path out of its folder"
    ),
    "mask_error_details": "remove it, and serve with --mask-errors",
    "strict_input_validation": "remove it, and serve with --strict-arguments",
    "list_page_size": "remove it, and serve with --limit page_size=NUMBER",
    **dict.fromkeys(
        ("mount", "providers", "add_provider"),
        "name each server to your host as one of its own",
    ),
    **dict.fromkeys(("from_openapi", "from_fastapi", "from_client"), OWN_PACKAGE),
    "as_proxy": USE_MOUNTS,
    **dict.fromkeys(
        ("disable", "include_tags", "exclude_tags"),
        "remove it, and serve with --include or --exclude, which take names and tag:NAME",
    ),
    **dict.fromkeys(
        (
            "http_app",
            "streamable_http_app",
            "sse_app",
            "session_manager",
            "run_http_async",
        ),
        "Toolwire serves standard input and output alone: move it below `if __name__ =="
        ' "__main__":`',
    ),
}
"""What to do about arguments and methods that Toolwire does not have."""

_OPTIONS = {
    "exclude_args": "exclude_arguments",
    "mime_type": "media_type",
    "timeout": "timeout_seconds",
}
"""Toolwire's options by those of FastMCP that have another name."""

_COMMON = "name title description tags icons meta timeout"
_KNOWN = {
    "tool": f"{_COMMON} output_schema exclude_args".split(),
    "resource": f"{_COMMON} mime_type annotations".split(),
    "prompt": _COMMON.split(),
}

T = TypeVar("T", bound="Options")


def refuse(what: str, name: str) -> NoReturn:
    """Refuse *what*, whose last part is *name*."""
    raise NotSupported(what, _REMEDIES.get(name, OWN_PACKAGE))


_LISTING = ("_list_tools_mcp", "_mcp_list_tools", "list_tools")
_CALLING = ("_call_tool_mcp", "_mcp_call_tool", "call_tool")
"""Methods that a class may override, the outermost first: those of fastmcp 3, of 2, and of all."""

_ANSWERS = frozenset(
    f"{start}{verb}_{noun}"
    for start in ("", "_")
    for verb, noun in (
        *(("list", "tools"), ("call", "tool"), ("get", "tools"), ("get", "tool")),
        *(("list", "resources"), ("read", "resource"), ("list", "prompts"), ("get", "prompt")),
    )
)
"""Methods of FastMCP that answer requests, which Toolwire answers itself."""


class _Refusing(type):
    def __getattr__(cls, name: str) -> Any:  # FastMCP.from_openapi
        if name.startswith("_"):
            raise AttributeError(name)
        refuse(f"{cls.__name__}.{name}", name)


class FastMCP(metaclass=_Refusing):
    """A server of FastMCP, on Toolwire.

    Raises:
        NotSupported: for an argument or, when it is used, a method that Toolwire does not have.
    """

    _describes_dicts = True
    """Whether the hint `dict` promises an object. The SDK reads no promise in it, so that its tools
    may return anything.
    """

    _has_hooks = True
    """Whether the middleware is FastMCP's. That of the SDK stands around calls of tools alone."""

    def __init__(
        self, name: str | None = None, instructions: str | None = None, **options: Any
    ) -> None:
        self.name = name or type(self).__name__
        self.instructions = instructions
        self.version = options.pop("version", None) or None
        self.title = options.pop("title", None)
        self.description = options.pop("description", None)
        self.website_url = options.pop("website_url", None)
        self.icons = make_plain(options.pop("icons", None))
        lifespan = options.pop("lifespan", None)
        self.entered = None if lifespan is None else partial(lifespan, self)
        """The lifespan, which takes this object; None without one."""
        self.settings = _Settings()
        self.mounted: list[tuple[FastMCP, str | None]] = []
        """Other servers, each with its namespace."""
        self.middleware = list(options.pop("middleware", None) or ())
        """Objects of `Middleware`; in version 2 of the SDK, functions of the context and
        `call_next`.
        """
        self._makers: dict[tuple[str, str], Callable[[], Tool]] = {}
        """The functions that make what is registered, by kind and name."""
        self._lines: dict[str, str] = {}
        """Where the resources are registered, by their URIs."""
        self._made: list[Tool] | None = None
        """The tools, resources and prompts; None until the file is loaded."""
        self.listing: Callable[..., Any] | None = None
        """What lists the tools instead, below `@mcp._mcp_server.list_tools()`."""
        self.completer: Callable[..., Any] | None = None
        """The function below `@mcp.completion()`."""
        usual = "ignore" if _pop_duplicates_are_meant(options) else "error"
        self._on_duplicate = options.pop("on_duplicate", None) or usual
        tools = options.pop("tools", None) or ()
        for option in ("auth", "auth_server_provider", "token_verifier"):
            if options.pop(option, None) is not None:
                note_without_effect(f"{type(self).__name__}({option}=)")
        for option, value in options.items():
            is_empty = value in (None, False, (), [])
            has_no_effect = is_empty or option in _WITHOUT_EFFECT
            if option in _EVEN_NONE or not has_no_effect:
                refuse(f"{type(self).__name__}({option}=)", option)
        for tool in tools:
            self.add_tool(tool)

    @property
    def identity(self) -> dict[str, str]:
        """The arguments for Toolwire's `Server` that the file gives, in the constructor or
        later.
        """
        has_name = self.name != type(self).__name__
        members = {
            "name": self.name if has_name else None,
            "version": self.version,
            "title": self.title,
            "instructions": self.instructions,
        }
        return {key: str(value) for key, value in members.items() if value is not None}

    def __init_subclass__(cls) -> None:
        """Refuse a class that answers requests for anything but tools itself.

        Raises:
            NotSupported: naming its method.
        """
        if cls.__module__ == __name__:
            return
        for name in vars(cls):
            if name in (*_LISTING, *_CALLING):
                continue
            if name in _ANSWERS or name.startswith("_mcp_") or name.endswith("_mcp"):
                refuse(f"{cls.__name__}.{name}", name)

    def __class_getitem__(cls, _: Any) -> type[FastMCP]:  # FastMCP[AppContext]
        return cls

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse(f"{type(self).__name__}.{name}", name)

    # Tools, resources, prompts

    def tool(self, name_or_function: Any = None, /, **options: Any) -> Any:
        """Register a tool, as `@mcp.tool`, `@mcp.tool()` or `mcp.tool(function, name=...)`; return
        the function.
        """
        return _decorate(self.add_tool, name_or_function, options)

    def prompt(self, name_or_function: Any = None, /, **options: Any) -> Any:
        """Register a prompt, as `tool` does a tool."""
        return _decorate(self.add_prompt, name_or_function, options)

    def resource(self, uri: Any, **options: Any) -> Any:
        """Register the function below as the resource *uri*, or as all those of a template."""
        if callable(uri):
            raise TypeError('resource: its URI comes first, as in @mcp.resource("notes://{name}")')
        return partial(self._add_resource_at, str(uri), options)

    def _add_resource_at(self, uri: str, options: dict[str, Any], function: Any) -> Any:
        self.add_resource(function, uri=uri, **options)
        return function

    def add_tool(self, function: Any, name: str | None = None, **options: Any) -> Any:
        """Register a function, or what `Tool.from_function` returned, and return it."""
        if name:
            options = {"name": name, **options}
        code, options = _unpack(function, options)
        structured = options.pop("structured_output", None)
        # FastMCP: output_schema=None turns structured results off, which is not its default.
        if structured is None and options.get("output_schema", "") is None:
            structured = False
        if structured is None and not self._describes_dicts and returns_any_dict(code):
            structured = False
        if options.pop("enabled", None) is not False:
            own = _complete("tool", find_options(code), options)
            tool_name = own.name or name_of(code)
            self._register("tool", tool_name, partial(adopt_tool, code, self, own, structured))
        return function

    def add_resource(self, function: Any, **options: Any) -> Any:
        """Register what `FunctionResource` or `TextResource` returned, and return it."""
        code, options = _unpack(function, options)
        if options.pop("enabled", None) is not False:
            uri = str(options.pop("uri"))
            own = _complete("resource", ResourceOptions(uri=uri), options)
            self._lines[own.uri] = find_users_line()
            self._register("resource", own.uri, partial(adopt_resource, code, self, own))
        return function

    add_template = add_resource

    def add_prompt(self, function: Any, **options: Any) -> Any:
        """Register a function, or what `Prompt.from_function` returned, and return it."""
        code, options = _unpack(function, options)
        if options.pop("enabled", None) is not False:
            own = _complete("prompt", PromptOptions(), options)
            name = own.name or name_of(code)
            self._register("prompt", name, partial(adopt_prompt, code, self, own))
        return function

    def mount(
        self, server: Any, namespace: Any = None, *, prefix: str | None = None, **_: Any
    ) -> None:
        """Offer what another *server* has, in a *namespace*. The oldest form is
        `mount(prefix, server)`.

        Raises:
            NotSupported: if that is no server of FastMCP in this process.
        """
        if isinstance(namespace, FastMCP):
            server, namespace = namespace, server
        if not isinstance(server, FastMCP):
            refuse(f"{type(self).__name__}.mount of {type(server).__name__}", "mount")
        self._check_loading(f"mounting {server.name}")
        self.mounted.append((server, namespace or prefix))

    async def import_server(self, *servers: Any, **options: Any) -> None:
        """As `mount`."""
        self.mount(*servers, **options)

    def custom_route(self, path: str, *_: Any, **__: Any) -> Callable[[Any], Any]:
        """Leave out a route of HTTP; return the function below."""
        note_without_effect(f"the route {path!r}")
        return _return_unchanged

    def add_middleware(self, middleware: Any) -> None:
        """Run the hooks of *middleware* inside of those that were added before."""
        self._check_loading("adding middleware")
        self.middleware.append(middleware)

    async def list_tools(self, *_: Any, run_middleware: bool = True, **__: Any) -> list[Any]:
        """Return the tools, as `mcp.types.Tool` with tags."""
        tools = self._list_made_tools()
        if not (run_middleware and self._has_hooks and self.middleware):
            return tools
        from .hooks import pass_list_hooks

        return list(await pass_list_hooks(self, "tools", tools))

    def _list_made_tools(self) -> list[ListedTool]:
        made = self._made
        if made is None:
            made = self._make_all()
        return [_list_tool(tool) for tool in made if tool.kind == "tools"]

    get_tools = list_tools

    async def get_tool(self, name: str) -> Any:
        """Return the tool called *name*, as `list_tools` does; None if it is unknown."""
        for tool in self._list_made_tools():
            if tool.name == name:
                return tool
        return None

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *_: Any,
        run_middleware: bool = True,
        **__: Any,
    ) -> Any:
        """Run the tool called *name*, for the call that runs now, and return its result."""
        from .overriding import call_tool

        return await call_tool(self, name, arguments or {}, run_middleware)

    async def _list_tools_mcp(self, *_: Any) -> Any:
        return await self.list_tools()

    async def _call_tool_mcp(self, name: str, arguments: dict[str, Any]) -> Any:
        return await self.call_tool(name, arguments)

    _mcp_list_tools = _list_tools_mcp
    _mcp_call_tool = _call_tool_mcp

    def _present_to_python(self, content: list[Any], data: dict[str, Any] | None) -> Any:
        """Return what `call_tool` returns for the parts of a result."""
        return CallToolResult(content=content, structured_content=data)

    def get_context(self) -> Context:
        """Return the context of the call that runs now; outside of one, a context without a
        client.
        """
        from .context import Context, NoCaller, find_running_context

        return find_running_context() or Context(NoCaller(), server=self)

    @property
    def _mcp_server(self) -> Any:
        """The low-level server below this one, as far as files use it."""
        from .overriding import InnerServer

        return InnerServer(self)

    _lowlevel_server = _mcp_server

    @property
    def _tool_manager(self) -> _ToolManager:
        """Lists the tools that the file has registered until now, for files that read them."""
        return _ToolManager([make() for (kind, _), make in self._makers.items() if kind == "tool"])

    def remove_tool(self, name: str) -> None:
        """Remove the tool called *name*."""
        self._check_loading(f"removing the tool {name}")
        del self._makers["tool", name]

    def remove_prompt(self, name: str) -> None:
        """Remove the prompt called *name*."""
        self._check_loading(f"removing the prompt {name}")
        del self._makers["prompt", name]

    def completion(self) -> Callable[[Any], Any]:
        """Let the function below complete the arguments of all prompts and templates."""
        self._check_loading("adding a completion")
        return self._complete_with

    def _complete_with(self, function: Any) -> Any:
        self.completer = function
        return function

    def _check_loading(self, what: str) -> None:
        """Refuse *what* in a tool or the lifespan: Toolwire has made its lists by then."""
        if self._made is not None and not _is_loaded_by_toolwire():
            remedy = "do it at the top level of the file, or in a function that is called there"
            raise NotSupported(f"{what} after the file was loaded", remedy)

    def _register(self, kind: str, name: str, make: Callable[[], Tool]) -> None:
        self._check_loading(f"adding the {kind} {name}")
        is_duplicate = (kind, name) in self._makers
        if is_duplicate and self._on_duplicate == "error":
            problem = f"two {kind}s have this name, the second at {find_users_line()}"
            remedy = f'rename one: @mcp.{kind}(name="...")'
            raise RegistrationError(problem, tool=name, remedy=remedy)
        if not is_duplicate or self._on_duplicate != "ignore":
            self._makers[kind, name] = make

    def _make_all(self) -> list[Tool]:
        """Return what is registered. A resource that cannot be served is left out with a warning,
        since the tools do not need it.
        """
        made = []
        for (kind, name), make in self._makers.items():
            try:
                made.append(make())
            except NotSupported:
                raise
            except RegistrationError as error:
                if kind != "resource":
                    raise
                log_once(f"{self._lines[name]}: the {kind} is left out: {error}")
        return made

    @staticmethod
    def __toolwire_tools__(thing: Any) -> list[Tool]:
        if isinstance(thing, type):
            return []
        made = thing._make_all()
        if thing.mounted:
            from .mounts import list_mounted

            made += list_mounted(thing, made)
        if thing.middleware:
            made = thing._wrap_by_middleware(made)
        thing._made = made
        listings = thing._find_listings(made)
        calling = _find_override(thing, _CALLING)
        if not listings and calling is None:
            return list(made)
        from .overriding import answer_by

        return answer_by(thing, made, listings, calling)

    def _wrap_by_middleware(self, made: list[Tool]) -> list[Tool]:
        if self._has_hooks:
            from .hooks import wrap_tool
        else:
            from .middleware import wrap_tool
        return [wrap_tool(tool, self) for tool in made]

    def _find_listings(self, made: list[Tool]) -> dict[str, Callable[..., Any]]:
        """Return what lists the tools, resources or prompts *made* in another way, by kinds."""
        listings: dict[str, Callable[..., Any]] = {}
        if self.middleware and self._has_hooks:
            from .hooks import find_listings

            listings = find_listings(self, made)
        listing = self.listing or _find_override(self, _LISTING)
        if listing is not None:
            listings["tools"] = listing
        return listings

    def list_resource_tools(self) -> list[Tool]:
        """Return the resources that are served, templates last."""
        made = self._made or []
        resources = [tool for tool in made if tool.kind == "resources"]
        templates = [tool for tool in made if tool.kind == "resourceTemplates"]
        return resources + templates

    # Running

    def run(self, transport: str | None = None, **options: Any) -> None:
        """Serve standard input and output.

        While `toolwire serve` loads a file, it does nothing, since that serves it; in a program
        that `toolwire serve` runs, it gives Toolwire the server, and waits.

        Raises:
            NotSupported: for another transport, outside of `toolwire serve`.
        """
        if is_program_running():
            _note_transport(transport)
            hand_over(self)
        if _is_loaded_by_toolwire():
            return
        if transport not in (None, "stdio"):
            refuse(f"{type(self).__name__}.run(transport={transport!r})", "http_app")
        from toolwire_tools.discovery import import_named

        make_server = import_named(
            "toolwire.server:Server"
        )  # a path, since servers are above tools
        make_server([self], **{"name": self.name, **self.identity}).serve()

    async def run_async(self, transport: str | None = None, **options: Any) -> None:
        """As `run`."""
        if is_program_running():
            _note_transport(transport)
            await hand_over_async(self)
        self.run(transport, **options)

    async def run_stdio_async(self, **options: Any) -> None:
        """As `run`."""
        await self.run_async("stdio", **options)


def _note_transport(transport: str | None) -> None:
    if transport not in (None, "stdio"):
        note_without_effect(f"transport={transport!r}")


class SdkServer(FastMCP):
    """`FastMCP` of the SDK's version 1, on Toolwire."""

    _describes_dicts = False

    def _present_to_python(self, content: list[Any], data: dict[str, Any] | None) -> Any:
        return content if data is None else (content, data)


SdkServer.__name__ = "FastMCP"  # as messages call it


class MCPServer(SdkServer):
    """A server of the SDK's version 2, on Toolwire."""

    _has_hooks = False

    def __init__(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(name, instructions, title=title, description=description, **options)

    def _present_to_python(self, content: list[Any], data: dict[str, Any] | None) -> Any:
        return CallToolResult(content=content, structured_content=data)


class Component:
    """A function with options, for `add_tool`, `add_resource` and `add_prompt`:
    `Tool.from_function(f, name=...)`.
    """

    def __init__(self, fn: Callable[..., Any], **options: Any) -> None:
        self.fn, self.options = fn, options

    @classmethod
    def from_function(cls, fn: Callable[..., Any], **options: Any) -> Component:
        """Return the function *fn* with these options."""
        return cls(fn, **options)


class TextResource(Component):
    """A resource whose text is known."""

    def __init__(self, text: str, **options: Any) -> None:
        super().__init__(lambda: text, **{"name": str(options.get("uri")), **options})


def _return_unchanged(function: Any) -> Any:
    return function


def _list_tool(tool: Tool) -> ListedTool:
    options = tool.entry.options
    tags = options.tags if options is not None else None
    return ListedTool(tags=tags or (), **tool.describe())


def _find_override(server: FastMCP, names: Iterable[str]) -> Callable[..., Any] | None:
    """Return the first method of *names* that a class of the user overrides; None if none is."""
    for name in names:
        for base in type(server).__mro__:
            if name in vars(base) and base.__module__ != __name__:
                method: Callable[..., Any] = getattr(server, name)
                return method
    return None


def _decorate(add: Callable[..., Any], name_or_function: Any, options: dict[str, Any]) -> Any:
    """Register a function, or return a decorator that does; both return the function."""
    if callable(name_or_function):
        add(name_or_function, **options)
        return name_or_function
    named = {} if name_or_function is None else {"name": name_or_function}

    def decorate(function: Any) -> Any:
        add(function, **named, **options)
        return function

    return decorate


def _unpack(function: Any, options: dict[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the function in a `Component` with the options of both; any other as it is."""
    if isinstance(function, Component):
        return function.fn, {**function.options, **options}
    return function, options


def _is_loaded_by_toolwire() -> bool:
    frame: Any = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != "toolwire.loading.importing":
        frame = frame.f_back
    return frame is not None


class WithoutEffect:
    """Takes the place of settings of HTTP, and of types of annotations: any arguments, and no
    effect.
    """

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __class_getitem__(cls, _: Any) -> type[WithoutEffect]:
        return cls


def make_without_effect(name: str) -> type[WithoutEffect]:
    """Return a class called *name*, whose objects have no effect, which is logged."""

    def note(*_: Any, **__: Any) -> None:
        note_without_effect(name)

    return type(name, (WithoutEffect,), {"__init__": note})


class _ToolManager:
    """Lists tools as the SDK's class of this name does."""

    def __init__(self, tools: list[Tool]) -> None:
        self._tools = tools

    def list_tools(self) -> list[ListedTool]:
        """Return the tools; a change of them has no effect."""
        return [_list_tool(tool) for tool in self._tools]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        refuse(f"_tool_manager.{name}", name)


class _Settings:
    """What files set on `mcp.settings`: of no effect without HTTP."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _WITHOUT_EFFECT:
            refuse(f"settings.{name}", name)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in _WITHOUT_EFFECT:
            raise AttributeError(name)
        return {"host": "127.0.0.1", "port": 8000, "log_level": "INFO"}.get(name)


def _pop_duplicates_are_meant(options: dict[str, Any]) -> bool:
    """Return whether the file says that it registers names twice on purpose; take that from
    *options*.
    """
    is_meant = False
    for option in list(options):
        if option.startswith(("warn_on_duplicate", "on_duplicate_")):
            value = options.pop(option)
            is_meant = is_meant or value is False
    return is_meant


def _complete(kind: str, own: T, options: dict[str, Any]) -> T:
    """Return *own* with the *options* of FastMCP for a tool, resource or prompt."""
    hints: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    for option, value in options.items():
        name = _OPTIONS.get(option, option)
        is_unset = value is None and option not in _EVEN_NONE
        if is_unset or (option == "run_in_thread" and value):
            continue
        if option == "annotations" and kind == "tool":
            hints = _read_hints(value)
        elif option in _KNOWN[kind] and name in own.__struct_fields__:
            changes[name] = make_plain(value) if option in ("annotations", "icons") else value
        elif value not in (False, (), []):
            refuse(f"{kind}({option}=)", option)
    changes = {**hints, **changes}  # an option of its own decides
    members = dict(changes)
    if isinstance(own, ResourceOptions):
        members["uri"] = own.uri
    read = check_options(members, type(own), f"mcp.{kind}")
    for name in changes:
        changes[name] = getattr(read, name)
    return replace(own, **changes)


def _read_hints(annotations: Any) -> dict[str, Any]:
    """Return the options that the *annotations* of a tool set."""
    members = annotations if isinstance(annotations, Mapping) else annotations.to_mcp()
    options = {}
    for hint, name in {"title": "title", **HINTS}.items():
        if hint in members:
            options[name] = members[hint]
    return options
