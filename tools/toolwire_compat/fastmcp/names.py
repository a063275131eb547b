"""The modules of fastmcp and mcp that have a place here, and the names in each."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .refusals import NO_MIDDLEWARE, OWN_PACKAGE, USE_MOUNTS, Refused, find_users_line

if TYPE_CHECKING:
    from collections.abc import Collection

PACKAGES = ("fastmcp", "mcp", "mcp_types")
"""The top-level packages whose modules have stand-ins."""

_TYPES = (
    "Annotations AudioContent BlobResourceContents CallToolResult Completion CompletionArgument"
    " CompletionContext ContentBlock EmbeddedResource GetPromptResult Icon ImageContent"
    " PromptMessage PromptReference ResourceLink ResourceTemplateReference TextContent"
    " TextResourceContents ToolAnnotations"
)
_EXCEPTIONS = "FastMCPError NotFoundError PromptError ResourceError ToolError"
_ELICITATION = "AcceptedElicitation CancelledElicitation DeclinedElicitation ElicitationResult"

_MIDDLEWARE = "CallNext Middleware MiddlewareContext"
_MESSAGES = "AssistantMessage Message UserMessage"
_RESOLVERS = "Elicit ListRoots Resolve Sample"

_SDK = {
    "": "Audio Context Icon Image {server}",
    ".context": "Context",
    ".exceptions": f"{_EXCEPTIONS} ResourceNotFoundError",
    ".prompts": "Prompt",
    ".prompts.base": f"{_MESSAGES} Prompt",
    ".resources": "FunctionResource Resource TextResource",
    ".server": "Context {server}",
    ".tools": "Tool",
    ".tools.base": "Tool",
    ".utilities": "",
    ".utilities.logging": "configure_logging get_logger",
    ".utilities.types": "Audio Image",
}
"""The modules of the SDK's package of servers: `mcp.server.fastmcp` in version 1,
`mcp.server.mcpserver` in 2.
"""

NAMES: dict[str, str] = {
    "fastmcp": "Context FastMCP",
    "fastmcp.exceptions": _EXCEPTIONS,
    "fastmcp.prompts": "Message Prompt PromptMessage PromptResult",
    "fastmcp.prompts.prompt": "Message Prompt PromptMessage PromptResult",
    "fastmcp.resources": "FunctionResource Resource ResourceContent ResourceResult TextResource",
    "fastmcp.server": "Context FastMCP",
    "fastmcp.server.context": "Context",
    "fastmcp.server.dependencies": (
        "get_access_token get_context get_http_headers get_http_request"
    ),
    "fastmcp.server.elicitation": _ELICITATION,
    "fastmcp.server.lifespan": "ContextManagerLifespan lifespan",
    "fastmcp.server.middleware": _MIDDLEWARE,
    "fastmcp.server.middleware.middleware": _MIDDLEWARE,
    "fastmcp.server.server": "FastMCP",
    "fastmcp.tools": "FunctionTool Tool ToolResult",
    "fastmcp.tools.base": "Tool ToolResult",
    "fastmcp.tools.function_tool": "FunctionTool",
    "fastmcp.tools.tool": "FunctionTool Tool ToolResult",
    "fastmcp.utilities": "",
    "fastmcp.utilities.logging": "configure_logging get_logger",
    "fastmcp.utilities.types": "Audio File Image",
    "mcp": "McpError MCPError Resource stdio_server Tool",
    "mcp.server": (
        "FastMCP InitializationOptions MCPServer NotificationOptions Server ServerRequestContext"
    ),
    "mcp.server.auth.middleware.auth_context": "get_access_token",
    "mcp.server.caching": "CacheHint",
    "mcp.server.context": "CallNext HandlerResult ServerMiddleware ServerRequestContext",
    "mcp.server.elicitation": _ELICITATION,
    "mcp.server.lowlevel": "NotificationOptions Server",
    "mcp.server.lowlevel.helper_types": "ReadResourceContents",
    "mcp.server.lowlevel.server": "NotificationOptions Server",
    "mcp.server.models": "InitializationOptions",
    "mcp.server.stdio": "stdio_server",
    "mcp.server.transport_security": "TransportSecuritySettings",
    "mcp.server.mcpserver.resolve": f"{_ELICITATION} {_RESOLVERS}",
    "mcp.shared": "",
    "mcp.shared.context": "RequestContext",
    "mcp.shared.exceptions": "MCPError McpError",
    "mcp.types": _TYPES,
    "mcp_types": _TYPES,
    **{f"mcp.server.fastmcp{part}": names.format(server="FastMCP") for part, names in _SDK.items()},
    **{
        f"mcp.server.mcpserver{part}": (
            names.format(server="MCPServer")
            + ("" if part else f" {_ELICITATION} {_MESSAGES} {_RESOLVERS}")
        )
        for part, names in _SDK.items()
    },
}
"""The names of each module that files may import."""

_HELPERS = (
    "Audio File Image PromptResult ResourceContent ResourceNotFoundError ResourceResult ToolResult"
)
_PLACES = {
    **dict.fromkeys(f"{_TYPES} {_EXCEPTIONS} {_MESSAGES} {_HELPERS}".split(), (".mcp_types", "")),
    **dict.fromkeys((*_ELICITATION.split(), "Context"), (".context", "")),
    **dict.fromkeys(_RESOLVERS.split(), (".resolvers", "")),
    **dict.fromkeys(("Middleware", "MiddlewareContext"), (".hooks", "")),
    **dict.fromkeys(("FastMCP", "MCPServer", "TextResource"), (".server", "")),
    **dict.fromkeys(
        ("mcp.server.fastmcp.FastMCP", "mcp.server.fastmcp.server.FastMCP"),
        (".server", "SdkServer"),
    ),
    **dict.fromkeys(
        ("FunctionResource", "FunctionTool", "Prompt", "Resource", "Tool"), (".server", "Component")
    ),
    **dict.fromkeys(
        (
            "InitializationOptions",
            "NotificationOptions",
            "ReadResourceContents",
            "RequestContext",
            "Server",
            "stdio_server",
        ),
        (".lowlevel", ""),
    ),
    **dict.fromkeys(("MCPError", "McpError"), (".mcp_types", "MCPError")),
    **dict.fromkeys(("mcp.Resource", "mcp.Tool"), (".mcp_types", "")),
    "ServerRequestContext": (".lowlevel", "RequestContext"),
    **dict.fromkeys(
        (
            *("ContextManagerLifespan", "configure_logging", "get_access_token", "get_context"),
            *("get_http_headers", "get_http_request", "lifespan"),
        ),
        (".dependencies", ""),
    ),
    **dict.fromkeys(
        ["CacheHint", "CallNext", "HandlerResult", "ServerMiddleware", "TransportSecuritySettings"],
        (".server", "WithoutEffect"),
    ),
    "get_logger": ("logging", "getLogger"),
}
"""The modules that hold the names, by the name or its whole path, and how they are called there, if
otherwise.
"""

_NO_HTTP = (
    "Toolwire serves standard input and output alone, and a host starts the server itself:"
    " remove it"
)
_NO_CLIENT = "install the package, whose client is used then, or use toolwire_client.Client"
_NO_ROUND_TRIPS = (
    "ask with `await ctx.elicit(...)`, which Toolwire sends in the form that the client understands"
)

_REFUSED = {
    "fastmcp.server.auth": _NO_HTTP,
    "fastmcp.server.dependencies": (
        "take a parameter with the hint Context; there is no HTTP request, and no token"
    ),
    "mcp.server.auth": _NO_HTTP,
    "fastmcp.server.event_store": _NO_HTTP,
    "fastmcp.server.http": _NO_HTTP,
    "fastmcp.server.low_level": OWN_PACKAGE,
    "fastmcp.server.middleware": NO_MIDDLEWARE,
    "fastmcp.server.create_proxy": USE_MOUNTS,
    "fastmcp.server.proxy": USE_MOUNTS,
    "fastmcp.server.providers.proxy": USE_MOUNTS,
    "fastmcp.settings": OWN_PACKAGE,
    "fastmcp.utilities.auth": _NO_HTTP,
    "mcp.server.session": OWN_PACKAGE,
    "mcp.server.sse": _NO_HTTP,
    "mcp.server.streamable_http": _NO_HTTP,
    "mcp.server.streamable_http_manager": _NO_HTTP,
    "mcp.server.websocket": _NO_HTTP,
    "mcp.shared": OWN_PACKAGE,
}
"""Modules with all their names, and names, that may be imported but not used, and what to do
instead.
"""

_AUTH = ("fastmcp.server.auth", "mcp.server.auth")
"""Modules whose classes have no effect: a server on standard input and output has no users but the
one that has started it.
"""

_CLIENTS = (
    *(
        "fastmcp.Client",
        "fastmcp.client",
        "mcp.Client",
        "mcp.ClientSession",
        "mcp.StdioServerParameters",
    ),
    *("mcp.client", "mcp.stdio_client"),
)
"""The names of the packages' clients: of the real packages, where these are installed."""

_UNAVAILABLE = {
    "mcp.types.ElicitRequest": _NO_ROUND_TRIPS,
    "mcp.types.InputRequiredResult": _NO_ROUND_TRIPS,
    "mcp_types.InputRequiredResult": _NO_ROUND_TRIPS,
}
"""What to do instead of importing these: a tool that used them would fail when it is called."""


class NameNotAvailable(ImportError):
    """A name that Toolwire's FastMCP does not have; the text says where it is imported, and the
    available ones.
    """


class StandIn(ModuleType):
    """A module in the place of one of fastmcp or mcp."""

    def __getattr__(self, name: str) -> Any:
        try:
            return find_member(self.__name__, name)
        except NameNotAvailable as error:
            raise AttributeError(str(error)) from None


_TYPE_MODULES = ("mcp.types", "mcp_types")
"""The modules of which any data type of the protocol may be imported."""

_made: dict[str, StandIn] = {}


def find_module(name: str) -> StandIn:
    """Return the module in the place of *name*.

    Raises:
        NameNotAvailable: if there is no such module.
    """
    is_refused = _find_entry(name, _REFUSED) is not None
    if name not in NAMES and not is_refused and _find_entry(name, _CLIENTS) is None:
        parent = name
        while parent not in NAMES:
            parent = parent.rpartition(".")[0]
        raise _make_unavailable(name, parent)
    if name not in _made:
        _made[name] = StandIn(name)
        _made[name].__path__ = []
    return _made[name]


def find_member(place: str, name: str) -> Any:
    """Return the member *name* of the module *place*: a class, a module, or an object that refuses
    to be used.

    Raises:
        NameNotAvailable: if Toolwire has nothing of that name.
    """
    path = f"{place}.{name}"
    if place in _TYPE_MODULES and path not in _UNAVAILABLE and path not in _REFUSED:
        from .mcp_types import find_type

        found = find_type(name)
        if found is not None:
            return found
    if name in NAMES.get(place, "").split():
        file, attribute = _PLACES.get(path) or _PLACES[name]
        return getattr(import_module(file, __package__), attribute or name)
    if path in NAMES:
        return find_module(path)
    if _find_entry(path, _CLIENTS) is not None:
        with suppress(ImportError, AttributeError):
            return getattr(import_module(place), name)
        return Refused(name, _NO_CLIENT)
    refused = None if name.startswith("__") else _find_entry(path, _REFUSED)
    if refused is None:
        raise _make_unavailable(path, place)
    if refused in _AUTH and name[0].isupper():
        from .server import make_without_effect

        return make_without_effect(name)
    return Refused(name, _REFUSED[refused])


def _make_unavailable(path: str, place: str) -> NameNotAvailable:
    available = NAMES.get(place, "").split()
    for module in NAMES:
        parent, _, inner = module.rpartition(".")
        if parent == place:
            available.append(inner)
    names = ", ".join(sorted(available)) or "nothing"
    advice = _UNAVAILABLE.get(_find_entry(path, _UNAVAILABLE) or "", OWN_PACKAGE)
    problem = f"Toolwire does not support {path} ({place} has {names} here)"
    return NameNotAvailable(f"{find_users_line()}: {problem}; {advice}", name=place)


def _find_entry(path: str, table: Collection[str]) -> str | None:
    """Return the entry of *table* for *path* or the closest module around it."""
    while path:
        if path in table:
            return path
        path = path.rpartition(".")[0]
    return None
