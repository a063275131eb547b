"""`Server`, the low-level class of the SDK, whose functions answer whole requests.

Strategy. Version 1 registers such functions with decorators (`@server.list_tools()`), version 2
with arguments (`on_list_tools=`). Both are kept as functions of the context and the parameters.
When the program starts its server, the lists are asked once, and each of their entries becomes an
entry of Toolwire whose handler asks the function for calls. All of them run on the program's own
event loop, where it has made its connections.
"""

from __future__ import annotations

import json
import logging
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_tools.content import encode_base64
from toolwire_tools.entry import Entry
from toolwire_tools.errors import ToolError as ToolFailed
from toolwire_tools.handler import FunctionHandler
from toolwire_tools.resources.prompt import PromptHandler
from toolwire_tools.resources.resource import ResourceHandler, ResourceNotFound
from toolwire_tools.resources.uri_template import UriTemplate
from toolwire_tools.signature.given_schemas import make_arguments_by_schema
from toolwire_tools.tool import Tool

from .context import Context
from .mcp_types import Record, make_data_type, make_plain
from .refusals import note_without_effect
from .starting import hand_over_async

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import AsyncIterator, Callable

_LOG = logging.getLogger("toolwire_tools")

_CONTEXT = "the context of the call"
"""The keyword of the context: no argument of a tool is called so."""

_LIST_SECONDS = 60
"""How long a program may take to list what it offers."""

_LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resource_templates",
}
"""The members of the results of lists."""

_METHODS = {
    "on_list_tools": "tools/list",
    "on_call_tool": "tools/call",
    "on_list_prompts": "prompts/list",
    "on_get_prompt": "prompts/get",
    "on_list_resources": "resources/list",
    "on_list_resource_templates": "resources/templates/list",
    "on_read_resource": "resources/read",
}
"""The methods that the arguments of version 2 answer."""

NOT_ASKED = ("completion", "subscribe_resource", "unsubscribe_resource", "set_logging_level")
"""Decorators of version 1 whose functions Toolwire does not call."""

_current: ContextVar[Any] = ContextVar("request_context")


class RequestContext(Context):
    """The context of a request, as functions of a low-level server get it."""

    __slots__ = ("params",)

    method = "tools/call"
    params: dict[str, Any]

    @property
    def lifespan_context(self) -> Any:
        """The value of the server's lifespan."""
        if isinstance(self._server, Server):
            return self._server.lifespan_value
        return super().lifespan_context

    @property
    def protocol_version(self) -> None:
        """None: Toolwire answers in the revision of the client."""
        return


class Server:
    """A low-level server of the SDK, on Toolwire."""

    def __init__(
        self,
        name: str,
        version: str | None = None,
        instructions: str | None = None,
        *,
        lifespan: Callable[..., Any] | None = None,
        title: str | None = None,
        **options: Any,
    ) -> None:
        self.name = name
        self.version = version
        self.instructions = instructions
        self.title = title
        self.entered = None
        self.completer = None
        self.lifespan_value: Any = {}
        self._lifespan = lifespan
        self._answers: dict[str, Callable[..., Any]] = {}
        self._checks_arguments = True
        self._loop: AbstractEventLoop | None = None
        for option, value in options.items():
            if option in _METHODS:
                self._answers[_METHODS[option]] = value
            elif value not in (None, False, (), []):
                note_without_effect(f"{type(self).__name__}({option}=)")

    def __class_getitem__(cls, _: Any) -> type[Server]:  # Server[AppContext, Request]
        return cls

    @property
    def request_context(self) -> Any:
        """The context of the request that is answered now. Raises a LookupError outside of one."""
        return _current.get()

    @property
    def identity(self) -> dict[str, str]:
        """The arguments for Toolwire's `Server` that the program gives."""
        members = {
            "name": self.name,
            "version": self.version,
            "title": self.title,
            "instructions": self.instructions,
        }
        return {key: str(value) for key, value in members.items() if value}

    # Decorators of version 1

    def list_tools(self) -> Callable[[Any], Any]:
        """Answer tools/list with the function below, which returns the tools."""
        return self._decorate_list("tools/list")

    def list_prompts(self) -> Callable[[Any], Any]:
        """Answer prompts/list with the function below."""
        return self._decorate_list("prompts/list")

    def list_resources(self) -> Callable[[Any], Any]:
        """Answer resources/list with the function below."""
        return self._decorate_list("resources/list")

    def list_resource_templates(self) -> Callable[[Any], Any]:
        """Answer resources/templates/list with the function below."""
        return self._decorate_list("resources/templates/list")

    def call_tool(self, *, validate_input: bool = True) -> Callable[[Any], Any]:
        """Answer tools/call with the function below, of a name and arguments."""
        self._checks_arguments = validate_input

        async def answer(function: Any, _: Any, params: Any) -> Any:
            return await function(params.name, params.arguments)

        return self._decorate("tools/call", answer)

    def get_prompt(self) -> Callable[[Any], Any]:
        """Answer prompts/get with the function below, of a name and arguments."""

        async def answer(function: Any, _: Any, params: Any) -> Any:
            return await function(params.name, params.arguments)

        return self._decorate("prompts/get", answer)

    def read_resource(self) -> Callable[[Any], Any]:
        """Answer resources/read with the function below, of a URI."""

        async def answer(function: Any, _: Any, params: Any) -> Any:
            return await function(Uri(params.uri))

        return self._decorate("resources/read", answer)

    def __getattr__(self, name: str) -> Any:
        if name not in NOT_ASKED:
            raise AttributeError(f"Server has no {name} in Toolwire")
        note_without_effect(f"@{type(self).__name__}.{name}")
        return lambda: _return_unchanged

    def _decorate_list(self, method: str) -> Callable[[Any], Any]:
        async def answer(function: Any, _: Any, params: Any) -> Any:
            return await (function(params) if _takes_one(function) else function())

        return self._decorate(method, answer)

    def _decorate(self, method: str, answer: Callable[..., Any]) -> Callable[[Any], Any]:
        def decorate(function: Any) -> Any:
            self._answers[method] = partial(answer, function)
            return function

        return decorate

    # Running

    def get_capabilities(self, *_: Any, **__: Any) -> Any:
        """Return capabilities, of which Toolwire declares its own."""
        return make_data_type("ServerCapabilities")()

    def create_initialization_options(self, *_: Any, **__: Any) -> Any:
        """Return the options for `run`."""
        return InitializationOptions(server_name=self.name, server_version=self.version)

    async def run(self, _: Any = None, __: Any = None, options: Any = None, **___: Any) -> None:
        """Give Toolwire this server, and wait until the process ends."""
        from asyncio import get_running_loop

        self._loop = get_running_loop()
        self._take_identity(options)
        async with AsyncExitStack() as stack:
            if self._lifespan is not None:
                self.lifespan_value = await stack.enter_async_context(self._lifespan(self))
            await hand_over_async(self)

    def _take_identity(self, options: Any) -> None:
        self.name = getattr(options, "server_name", None) or self.name
        self.version = getattr(options, "server_version", None) or self.version
        self.instructions = getattr(options, "instructions", None) or self.instructions

    @staticmethod
    def __toolwire_tools__(thing: Any) -> list[Tool]:
        if isinstance(thing, type):
            return []
        tools = [thing._make_tool(tool) for tool in thing._list("tools/list")]
        tools += [thing._make_prompt(prompt) for prompt in thing._list("prompts/list")]
        tools += [thing._make_resource(one, "uri") for one in thing._list("resources/list")]
        templates = thing._list("resources/templates/list")
        tools += [thing._make_resource(one, "uriTemplate") for one in templates]
        return tools

    def _list(self, method: str) -> list[dict[str, Any]]:
        """Return the entries of all pages of a list."""
        from asyncio import run_coroutine_threadsafe

        if method not in self._answers:
            return []
        if self._loop is None:  # it was not run, only made
            self._loop = _start_loop()
        listing = run_coroutine_threadsafe(self._list_pages(method), self._loop)
        try:
            return listing.result(_LIST_SECONDS)
        except Exception as error:
            if method == "tools/list":
                raise
            # The SDK would serve the tools, and answer this list alone with an error.
            _LOG.warning("%s offers no %s: %s", self.name, _LISTS[method], error)
            return []

    async def _list_pages(self, method: str) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        cursor = None
        while True:
            params = make_data_type("PaginatedRequestParams")(cursor=cursor)
            result = await self._answers[method](None, params)
            items = getattr(result, _LISTS[method], result)
            entries += [make_plain(item) for item in items]
            cursor = getattr(result, "next_cursor", None)
            if not cursor:
                return entries

    async def _answer(self, method: str, name: str, values: dict[str, Any]) -> Any:
        """Return what the program answers to a request, on its own event loop."""
        from asyncio import run_coroutine_threadsafe, wrap_future

        context = values.pop(_CONTEXT, None)
        members: dict[str, Any] = {"name": name, "arguments": values}
        if method == "resources/read":
            members = {"uri": name}
        params = make_data_type("RequestParams")(**members)
        assert self._loop is not None
        answering = self._run_in_context(method, context, params)
        return await wrap_future(run_coroutine_threadsafe(answering, self._loop))

    async def _run_in_context(self, method: str, context: Any, params: Any) -> Any:
        _current.set(context)
        try:
            return await self._answers[method](context, params)
        except ToolFailed:
            raise
        except Exception as error:
            # The SDK shows the text alone.
            raise ToolFailed(str(error) or type(error).__name__) from error

    def _make_handler(self, method: str, name: str, bind: Any, present: Any) -> FunctionHandler:
        async def run(**values: Any) -> Any:
            return await self._answer(method, name, values)

        return FunctionHandler(
            name=name,
            function=run,
            bind=bind,
            present=present,
            is_async=True,
            notices_cancellation=True,
            context_parameter=_CONTEXT,
            new_context=partial(RequestContext, server=self),
        )

    def _make_tool(self, shown: dict[str, Any]) -> Tool:
        name = shown["name"]
        schema = shown.get("inputSchema") or {}
        checked = {"type": "object", **schema} if self._checks_arguments else {"type": "object"}
        entry = Entry(
            kind="tools",
            name=name,
            parts=(name,),
            shown={**shown, "inputSchema": {"type": "object", **schema}},
            input_schema=checked,
            output_schema=shown.get("outputSchema"),
            owner=self,
        )
        bind = make_arguments_by_schema(checked, name).bind
        return Tool(entry, self._make_handler("tools/call", name, bind, present_call))

    def _make_prompt(self, shown: dict[str, Any]) -> Tool:
        name = shown["name"]
        arguments = shown.get("arguments") or []
        schema = {
            "type": "object",
            "properties": {argument["name"]: {"type": "string"} for argument in arguments},
            "required": [argument["name"] for argument in arguments if argument.get("required")],
        }
        entry = Entry(
            kind="prompts",
            name=name,
            parts=(name,),
            shown=shown,
            input_schema=schema,
            owner=self,
        )
        bind = make_arguments_by_schema(schema, name).bind
        inner = self._make_handler("prompts/get", name, bind, make_plain)
        return Tool(entry, PromptHandler(inner=inner, input_schema=schema, present=make_plain))

    def _make_resource(self, shown: dict[str, Any], key: str) -> Tool:
        uri = str(shown[key])
        is_template = key == "uriTemplate"
        template = UriTemplate(uri)
        entry = Entry(
            kind="resourceTemplates" if is_template else "resources",
            name=uri,
            parts=(uri,),
            shown=shown,
            template=template,
            owner=self,
        )
        handler = _LowLevelResource(
            inner=self._make_handler("resources/read", uri, _bind_nothing, make_plain),
            template=template,
            takes_any_path=True,  # the program checks its URIs itself
            present=partial(_present_read, shown.get("mimeType")),
            not_found=ResourceNotFound,
            server=self,
        )
        return Tool(entry, handler)


class _LowLevelResource(ResourceHandler, frozen=True, eq=False, kw_only=True):
    """Reads a resource by its whole URI: a low-level server takes that apart itself."""

    server: Server

    async def call_async(
        self, arguments: dict[str, Any], caller: Any, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Ask the program for the contents."""
        uri = arguments["uri"]
        context = RequestContext(caller, uri, self.server)
        value = await self.server._answer("resources/read", uri, {_CONTEXT: context})
        return self.present(uri, value)


class Uri(str):
    """A URI, as text and with the attributes that programs read of pydantic's `AnyUrl`."""

    __slots__ = ()

    def _split(self) -> Any:
        from urllib.parse import urlsplit

        return urlsplit(self)

    @property
    def scheme(self) -> str:
        """The part before the colon."""
        return str(self._split().scheme)

    @property
    def host(self) -> str | None:
        """The part after `//`."""
        return self._split().netloc or None

    @property
    def path(self) -> str | None:
        """The path, with its slash."""
        return self._split().path or None

    @property
    def query(self) -> str | None:
        """The part after the question mark."""
        return self._split().query or None


class NotificationOptions(Record):
    prompts_changed: bool = False
    resources_changed: bool = False
    tools_changed: bool = False


class InitializationOptions(Record):
    server_name: str | None = None
    server_version: str | None = None
    capabilities: Any = None
    instructions: str | None = None
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: Any = None


class ReadResourceContents(Record):
    content: Any
    mime_type: str | None = None

    def __init__(self, content: Any, mime_type: str | None = None, meta: Any = None) -> None:
        super().__init__(content=content, mime_type=mime_type, meta=meta)


@asynccontextmanager
async def stdio_server(*_: Any, **__: Any) -> AsyncIterator[tuple[None, None]]:
    """Yield two streams for `Server.run`, which needs none: Toolwire has the real ones."""
    yield None, None


def _start_loop() -> AbstractEventLoop:
    from asyncio import new_event_loop

    from toolwire_schemas.threads import start_thread

    loop = new_event_loop()
    start_thread(loop.run_forever, "low-level server")
    return loop


def _bind_nothing(*_: Any) -> Any:
    return (), {}


def _return_unchanged(function: Any) -> Any:
    return function


def _takes_one(function: Any) -> bool:
    import inspect

    return bool(inspect.signature(function).parameters)


def present_call(value: Any) -> dict[str, Any]:
    """Return the result of tools/call for the *value* of the program's function."""
    if isinstance(value, Record):
        return {"content": [], "isError": False, **value.to_mcp()}
    data = None
    content = value
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict):
        content, data = value
    elif isinstance(value, dict):
        data = value
        content = [{"type": "text", "text": json.dumps(make_plain(value), indent=2)}]
    result = {"content": [make_plain(block) for block in content], "isError": False}
    if data is not None:
        result["structuredContent"] = make_plain(data)
    return result


def _present_read(media_type: str | None, uri: str, value: Any) -> dict[str, Any]:
    """Return the result of resources/read for the *value* of the program's function."""
    if isinstance(value, Record) and not isinstance(value, ReadResourceContents):
        result: dict[str, Any] = value.to_mcp()
        return result
    parts = [value] if isinstance(value, str | bytes | Record) else list(value)
    return {"contents": [_read_part(media_type, uri, part) for part in parts]}


def _read_part(media_type: str | None, uri: str, part: Any) -> dict[str, Any]:
    content = getattr(part, "content", part)
    kind = getattr(part, "mime_type", None) or media_type
    members: dict[str, Any] = {"uri": uri}
    if isinstance(content, bytes):
        members["mimeType"] = kind or "application/octet-stream"
        members["blob"] = encode_base64(content)
    else:
        members["mimeType"] = kind or "text/plain"
        members["text"] = str(content)
    return members
