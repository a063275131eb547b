"""`FastMCP` and `MCPServer`: the objects that a file makes, and that Toolwire serves."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace
from toolwire_tools.decorator import checked
from toolwire_tools.errors import RegistrationError
from toolwire_tools.options import name_of, options_for
from toolwire_tools.resources.prompt import PromptOptions
from toolwire_tools.resources.resource import ResourceOptions
from toolwire_tools.tool import HINTS

from .mcp_types import plain
from .refusals import OWN_PACKAGE, NotSupported, users_line
from .tools import adopt_prompt, adopt_resource, adopt_tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from toolwire_tools.options import Options
    from toolwire_tools.tool import Tool

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
    **dict.fromkeys(
        ("auth", "auth_server_provider", "token_verifier"),
        "a host starts the server itself: remove it",
    ),
    "mask_error_details": "remove it, and serve with --mask-errors",
    "strict_input_validation": "remove it, and serve with --strict-arguments",
    "list_page_size": "remove it, and serve with --limit page_size=NUMBER",
    **dict.fromkeys(
        ("mount", "import_server", "providers", "add_provider"),
        "name each server to your host as one of its own",
    ),
    **dict.fromkeys(("as_proxy", "from_openapi", "from_fastapi", "from_client"), OWN_PACKAGE),
    **dict.fromkeys(
        (
            "custom_route",
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

    def __init__(
        self, name: str | None = None, instructions: str | None = None, **options: Any
    ) -> None:
        self.name, self.instructions = name or type(self).__name__, instructions
        self.version, self.title = options.pop("version", None) or None, options.pop("title", None)
        self.description, self.website_url = (
            options.pop("description", None),
            options.pop("website_url", None),
        )
        self.icons = plain(options.pop("icons", None))
        lifespan = options.pop("lifespan", None)
        self.entered = None if lifespan is None else partial(lifespan, self)
        """The lifespan, which takes this object; None without one."""
        self.settings = _Settings()
        self._offered: dict[tuple[str, str], Callable[[], Tool]] = {}
        self._made: list[Tool] | None = None
        """The tools, resources and prompts; None until the file is loaded."""
        self.completer: Callable[..., Any] | None = None
        """The function below `@mcp.completion()`."""
        self._keeps = options.pop("on_duplicate", None) or (
            "ignore" if _unwarned(options) else "error"
        )
        tools = options.pop("tools", None) or ()
        for option, value in options.items():
            if option in _EVEN_NONE or (
                option not in _WITHOUT_EFFECT and value not in (None, False, (), [])
            ):
                refuse(f"{type(self).__name__}({option}=)", option)
        for tool in tools:
            self.add_tool(tool)

    @property
    def identity(self) -> dict[str, str]:
        """The arguments for Toolwire's `Server` that the file gives, in the constructor or
        later.
        """
        name = None if self.name == type(self).__name__ else self.name
        given = {
            "name": name,
            "version": self.version,
            "title": self.title,
            "instructions": self.instructions,
        }
        return {key: str(value) for key, value in given.items() if value is not None}

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
        return self._decorated(self.add_tool, name_or_function, options)

    def prompt(self, name_or_function: Any = None, /, **options: Any) -> Any:
        """Register a prompt, as `tool` does a tool."""
        return self._decorated(self.add_prompt, name_or_function, options)

    def resource(self, uri: Any, **options: Any) -> Any:
        """Register the function below as the resource *uri*, or as all those of a template."""
        if callable(uri):
            raise TypeError('resource: its URI comes first, as in @mcp.resource("notes://{name}")')
        return lambda function: (self.add_resource(function, uri=str(uri), **options), function)[1]

    @staticmethod
    def _decorated(add: Callable[..., Any], name_or_function: Any, options: dict[str, Any]) -> Any:
        if callable(name_or_function):
            add(name_or_function, **options)
            return name_or_function
        given = {"name": name_or_function} if name_or_function is not None else {}
        return lambda function: (add(function, **given, **options), function)[1]

    def add_tool(self, function: Any, name: str | None = None, **options: Any) -> Any:
        """Register a function, or what `Tool.from_function` returned, and return it."""
        given, options = _give(function, {**({"name": name} if name else {}), **options})
        structured = options.pop("structured_output", None)
        if "output_schema" in options and options["output_schema"] is None and structured is None:
            structured = False
        if options.pop("enabled", None) is not False:
            made = _options("tool", options_for(given), options)
            self._register(
                "tool", made.name or name_of(given), adopt_tool, given, self, made, structured
            )
        return function

    def add_resource(self, function: Any, **options: Any) -> Any:
        """Register what `FunctionResource` or `TextResource` returned, and return it."""
        given, options = _give(function, options)
        if options.pop("enabled", None) is not False:
            made = _options("resource", ResourceOptions(uri=str(options.pop("uri"))), options)
            self._register("resource", made.uri, adopt_resource, given, self, made)
        return function

    add_template = add_resource

    def add_prompt(self, function: Any, **options: Any) -> Any:
        """Register a function, or what `Prompt.from_function` returned, and return it."""
        given, options = _give(function, options)
        if options.pop("enabled", None) is not False:
            made = _options("prompt", PromptOptions(), options)
            self._register("prompt", made.name or name_of(given), adopt_prompt, given, self, made)
        return function

    def remove_tool(self, name: str) -> None:
        """Remove the tool called *name*."""
        self._check_loading(f"removing the tool {name}")
        del self._offered["tool", name]

    def remove_prompt(self, name: str) -> None:
        """Remove the prompt called *name*."""
        self._check_loading(f"removing the prompt {name}")
        del self._offered["prompt", name]

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

    def _register(self, kind: str, name: str, make: Callable[..., Tool], *arguments: Any) -> None:
        self._check_loading(f"adding the {kind} {name}")
        known = (kind, name) in self._offered
        if known and self._keeps == "error":
            problem = f"two {kind}s have this name, the second at {users_line()}"
            raise RegistrationError(
                problem, tool=name, remedy=f'rename one: @mcp.{kind}(name="...")'
            )
        if not known or self._keeps != "ignore":
            self._offered[kind, name] = partial(make, *arguments)

    @staticmethod
    def __toolwire_tools__(thing: Any) -> list[Tool]:
        if isinstance(thing, type):
            return []
        thing._made = [make() for make in thing._offered.values()]
        return list(thing._made)

    def resources(self) -> list[Tool]:
        """Return the resources that are served, templates last."""
        made = self._made or []
        resources = [tool for tool in made if tool.kind == "resources"]
        templates = [tool for tool in made if tool.kind == "resourceTemplates"]
        return resources + templates

    # Running

    def run(self, transport: str | None = None, **options: Any) -> None:
        """Serve standard input and output; does nothing while `toolwire serve` loads the file,
        since that serves it.

        Raises:
            NotSupported: for another transport.
        """
        if transport not in (None, "stdio"):
            refuse(f"{type(self).__name__}.run(transport={transport!r})", "http_app")
        for option in options:
            if option not in _WITHOUT_EFFECT:
                refuse(f"{type(self).__name__}.run({option}=)", option)
        if not _is_loaded_by_toolwire():
            from toolwire_tools.discovery import named_by

            named_by("toolwire.server:Server")(
                [self], **{"name": self.name, **self.identity}
            ).serve()

    async def run_async(self, transport: str | None = None, **options: Any) -> None:
        """As `run`."""
        self.run(transport, **options)

    async def run_stdio_async(self, **options: Any) -> None:
        """As `run`."""
        self.run("stdio", **options)


class MCPServer(FastMCP):
    """A server of the SDK's version 2, on Toolwire."""

    def __init__(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(name, instructions, title=title, description=description, **options)


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


def _give(function: Any, options: dict[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    return (
        (function.fn, {**function.options, **options})
        if isinstance(function, Component)
        else (function, options)
    )


def _is_loaded_by_toolwire() -> bool:
    frame: Any = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != "toolwire.loading.importing":
        frame = frame.f_back
    return frame is not None


class WithoutEffect:
    """Takes the place of settings of HTTP: any arguments, and no effect."""

    def __init__(self, *_: Any, **__: Any) -> None: ...


class _Settings:
    """What files set on `mcp.settings`: of no effect without HTTP."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _WITHOUT_EFFECT:
            refuse(f"settings.{name}", name)
        super().__setattr__(name, value)


def _unwarned(options: dict[str, Any]) -> bool:
    """Return whether the file says that it registers names twice on purpose; take that from
    *options*.
    """
    said = [
        options.pop(key, True)
        for key in list(options)
        if key.startswith(("warn_on_duplicate", "on_duplicate_"))
    ]
    return any(value is False for value in said)


def _options(kind: str, own: T, given: dict[str, Any]) -> T:
    """Return *own* with the options *given* for a tool, resource or prompt."""
    said: dict[str, Any] = {}
    for option, value in given.items():
        if (value is None and option not in _EVEN_NONE) or (option == "run_in_thread" and value):
            continue
        if option == "annotations" and kind == "tool":
            hints = value if isinstance(value, Mapping) else value.to_mcp()
            said = {
                name: hints[hint]
                for hint, name in {"title": "title", **HINTS}.items()
                if hint in hints
            } | said
        elif (name := _OPTIONS.get(option, option)) in own.__struct_fields__ and option in _KNOWN[
            kind
        ]:
            said[name] = plain(value) if option in ("annotations", "icons") else value
        elif value not in (False, (), []):
            refuse(f"{kind}({option}=)", option)
    known = {"uri": own.uri} if isinstance(own, ResourceOptions) else {}
    read = checked({**said, **known}, type(own), f"mcp.{kind}")
    return replace(own, **{option: getattr(read, option) for option in said})
