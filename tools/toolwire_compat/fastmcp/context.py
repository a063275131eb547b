"""The context of FastMCP and of the SDK's servers, for the call of a Toolwire tool."""

from __future__ import annotations

import sys
from binascii import a2b_base64
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from toolwire_tools.context.context import DONE, LEVELS, MISSING, AsyncContext, Done
from toolwire_tools.errors import Declined, Dismissed

from .mcp_types import Record, ResourceNotFoundError, make_data_type, make_plain
from .refusals import NotSupported, format_line

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from toolwire_tools.context.context import Caller


class AcceptedElicitation(Record):
    action: str = "accept"
    data: Any

    def __class_getitem__(cls, _: Any) -> type[AcceptedElicitation]:
        return cls


class DeclinedElicitation(Record):
    action: str = "decline"


class CancelledElicitation(Record):
    action: str = "cancel"


_Elicited = AcceptedElicitation | DeclinedElicitation | CancelledElicitation


class ElicitationResult:
    """In annotations: what `elicit` returns."""

    def __class_getitem__(cls, _: Any) -> Any:
        return AcceptedElicitation | DeclinedElicitation | CancelledElicitation


class ReadContent(Record):
    """One of the contents of a resource, as the protocol has it, and as the packages name its
    members.
    """

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None

    @property
    def content(self) -> str | bytes:
        """The text, or the bytes."""
        if self.text is None and self.blob is not None:
            return a2b_base64(self.blob)
        return self.text or ""


class Contents(list[ReadContent]):
    """What `read_resource` returns: a list in the SDK, an object with `contents` in FastMCP."""

    @property
    def contents(self) -> list[ReadContent]:
        """The list itself."""
        return self


class Context(AsyncContext):
    """The call that a tool runs for, as FastMCP has it. `request_context` and `session` are the
    same object.
    """

    __slots__ = ("_server",)

    def __init__(self, caller: Caller, tool: str = "", server: Any = None) -> None:
        super().__init__(caller, tool)
        self._server = server

    def __class_getitem__(cls, _: Any) -> type[Context]:  # Context[ServerSession, AppContext]
        return cls

    @property
    def fastmcp(self) -> Any:
        """The server object."""
        return self._server

    mcp_server = fastmcp

    @property
    def request_context(self) -> Context:
        """The context itself: it has what the SDK's request context has."""
        return self

    session = request_context

    @property
    def lifespan_context(self) -> Any:
        """The value of the server's lifespan, or of the server's in which it is mounted; an empty
        dict without one.
        """
        if self._server.entered is not None:
            return self.state
        try:
            return self.state
        except RuntimeError:
            return {}

    @property
    def request_id(self) -> str:
        """The id of the client's request."""
        return str(getattr(self._caller, "id", None) or "")

    @property
    def client_id(self) -> str | None:
        """None, as over any stdio connection."""
        return None

    @property
    def session_id(self) -> str:
        """A text that is the same for all calls of one connection."""
        return self._caller.session_id

    @property
    def transport(self) -> Literal["stdio"]:
        """The transport of the connection."""
        return "stdio"

    @property
    def meta(self) -> Any:
        """The `_meta` of the request. Progress is reported to the call whatever its token is."""
        return make_data_type("RequestParamsMeta")(progress_token=self.request_id or None)

    @property
    def client_capabilities(self) -> Any:
        """The capabilities that the client has declared."""
        return make_data_type("ClientCapabilities")(**self._declared)

    @property
    def client_params(self) -> Any:
        """The handshake of the client, as far as Toolwire keeps it; None outside of a call."""
        if isinstance(self._caller, NoCaller):
            return None
        return make_data_type("InitializeRequestParams")(capabilities=self.client_capabilities)

    @property
    def _declared(self) -> dict[str, Any]:
        declared = getattr(self._caller, "capabilities", None)
        return declared if isinstance(declared, dict) else {}

    def check_client_capability(self, capability: Any) -> bool:
        """Return whether the client has declared all that *capability* has."""
        return _contains(self._declared, make_plain(capability))

    def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Done:
        """Report progress to the client."""
        self.progress(progress, total, message)
        return DONE

    def log(  # type: ignore[override]  # the SDK takes the level first, and FastMCP the message
        self,
        first: Any = None,
        second: Any = None,
        *,
        level: str | None = None,
        message: Any = None,
        logger_name: str | None = None,
        extra: Any = None,
        **fields: Any,
    ) -> Done:
        """Log a message: `log("info", text)` as in the SDK, `log(text, "info")` as in FastMCP, or
        by name.
        """
        words = [word for word in (first, second, message) if word is not None]
        if level is None:
            level = "info"
            for word in words:
                if word in LEVELS:
                    level = word
                    break
            words = [word for word in words if word is not level] or words  # the level may be all
        self._log(words[0], level, {**(extra or {}), **fields}, logger_name)
        return DONE

    def debug(self, message: Any, **fields: Any) -> Done:
        """Log at this level."""
        return self.log(level="debug", message=message, **fields)

    def info(self, message: Any, **fields: Any) -> Done:
        """Log at this level."""
        return self.log(level="info", message=message, **fields)

    def warning(self, message: Any, **fields: Any) -> Done:
        """Log at this level."""
        return self.log(level="warning", message=message, **fields)

    def error(self, message: Any, **fields: Any) -> Done:
        """Log at this level."""
        return self.log(level="error", message=message, **fields)

    def send_log_message(self, level: str, data: Any, logger: str | None = None, **_: Any) -> Done:
        """Log a message, as a method of the session."""
        return self.log(level=level, message=data, logger_name=logger)

    def send_progress_notification(self, _: Any, progress: float, *rest: Any, **names: Any) -> Any:
        """Report progress of the call."""
        names.pop("related_request_id", None)
        return self.report_progress(progress, *rest, **names)

    async def send_tool_list_changed(self) -> None:
        """Do nothing: the lists are those of the start."""

    send_prompt_list_changed = send_resource_list_changed = send_tool_list_changed

    def elicit(
        self, message: str, schema: Any = None, response_type: Any = None
    ) -> Coroutine[Any, Any, _Elicited]:
        """Ask the user. *schema* or *response_type* is a type as for `Context.ask`, or a list of
        choices.
        """
        return self._begin_pending("elicit", partial(self._elicit, message, schema, response_type))

    async def _elicit(self, message: str, schema: Any, response_type: Any) -> _Elicited:
        kind = response_type if schema is None else schema
        if kind is None:
            raise TypeError("elicit needs the type of the answer: schema= or response_type=")
        if isinstance(kind, list) and kind and all(isinstance(choice, str) for choice in kind):
            kind = Literal[tuple(kind)]
        try:
            return AcceptedElicitation(data=await self._ask(message, kind, MISSING))
        except Declined:
            return DeclinedElicitation()
        except Dismissed:
            return CancelledElicitation()

    def sample(
        self, messages: Any, system_prompt: str | None = None, **options: Any
    ) -> Coroutine[Any, Any, Any]:
        """Return what the model of the host says to *messages*, as fastmcp's `SamplingResult`.

        *options* are `temperature`, `max_tokens`, `model_preferences` and `include_context`.
        """
        unknown = options.keys() - _SAMPLING_OPTIONS
        if unknown:
            raise NotSupported(f"ctx.sample({min(unknown)}=...)", _REMEDY)
        return self._begin_pending(
            "sample", partial(self._sample, messages, system_prompt, options)
        )

    async def _sample(
        self, messages: Any, system_prompt: str | None, options: dict[str, Any]
    ) -> Any:
        from .host_requests import read_text

        limit = options.get("max_tokens")
        given = {**options, "system_prompt": system_prompt, "max_tokens": None}
        return read_text(await self._create_message(messages, limit, given))

    def create_message(
        self, messages: Any, max_tokens: int | None = None, **options: Any
    ) -> Coroutine[Any, Any, Any]:
        """Return what the model of the host says to *messages*, as a method of the SDK's session.

        *options* are members of MCP's request, such as `system_prompt`.
        """
        options.pop("related_request_id", None)
        return self._begin_pending(
            "create_message", partial(self._create_message, messages, max_tokens, options)
        )

    async def _create_message(
        self, messages: Any, max_tokens: int | None, options: dict[str, Any]
    ) -> Any:
        from .host_requests import make_sampling_params, read_sample, request

        params = make_sampling_params(messages, max_tokens, options)
        return read_sample(await request(self._caller, "sampling/createMessage", params))

    def list_roots(self) -> Coroutine[Any, Any, Any]:
        """Return the folders of the host: a list that is also its `roots`."""
        return self._begin_pending("list_roots", self._list_roots)

    async def _list_roots(self) -> Any:
        from .host_requests import read_roots, request

        return read_roots(await request(self._caller, "roots/list", {}))

    def elicit_url(
        self, message: str, url: str, elicitation_id: str, **_: Any
    ) -> Coroutine[Any, Any, Any]:
        """Have the user open *url*; return the action."""
        params = {
            "mode": "url",
            "message": message,
            "url": url,
            "elicitationId": elicitation_id,
        }
        return self._begin_pending("elicit_url", partial(self._elicit_url, params))

    async def _elicit_url(self, params: dict[str, Any]) -> Any:
        from .host_requests import request

        answer = await request(self._caller, "elicitation/create", params)
        action = answer.get("action")
        if action == "accept":
            return AcceptedElicitation(data=None)
        return DeclinedElicitation() if action == "decline" else CancelledElicitation()

    def read_resource(self, uri: Any) -> Coroutine[Any, Any, Contents]:
        """Return the contents of a resource of this server.

        Raises:
            ResourceNotFoundError: if there is no such resource.
        """
        return self._begin_pending("read_resource", partial(self._read_resource, uri))

    async def _read_resource(self, uri: Any) -> Contents:
        for resource in self._server.list_resource_tools():
            template = resource.entry.template
            if template is None or template.match(str(uri)) is None:
                continue
            arguments = {"uri": str(uri)}
            if resource.is_async:
                result = await resource.call_async(arguments, self._caller)
            else:
                from anyio import to_thread

                result = await to_thread.run_sync(resource.call, arguments, self._caller)
            return Contents(ReadContent(**content) for content in result["contents"])
        raise ResourceNotFoundError(f"there is no resource {uri}")

    def _find_state(self) -> dict[str, Any]:
        if "toolwire.worker" in sys.modules:
            raise RuntimeError(
                "set_state and get_state do not work in isolated tools: serve without --isolate"
            )
        return self._caller.session_state

    def set_state(self, key: str, value: Any, **_: Any) -> Done:
        """Keep *value* for later calls of this connection."""
        self._find_state()[key] = value
        return DONE

    def get_state(self, key: str) -> Coroutine[Any, Any, Any]:
        """Return what `set_state` has kept; None if nothing."""
        return self._begin_pending("get_state", partial(self._get_state, key))

    async def _get_state(self, key: str) -> Any:
        return self._find_state().get(key)

    def delete_state(self, key: str) -> Done:
        """Forget *key*."""
        self._find_state().pop(key, None)
        return DONE


class NoCaller:
    """The far end of a context outside of a call, with the value of the lifespan."""

    capabilities: dict[str, Any] = {}  # noqa: RUF012 - it stays empty

    def __init__(self, state: Any = None) -> None:
        self.state = state

    def __getattr__(self, name: str) -> Any:
        raise ValueError(f"the context has no {name} outside of a call")


_running: ContextVar[Context | None] = ContextVar("running_context", default=None)


def enter_context(server: Any, caller: Any, tool: str = "") -> Context:
    """Return a context for a call that begins; the functions that run for it find it."""
    context = Context(caller, tool, server)
    _running.set(context)
    return context


def find_running_context() -> Context | None:
    """Return the context of the call that runs now; None outside of one."""
    return _running.get()


def _contains(declared: Any, wanted: Any) -> bool:
    """Return whether *declared* has all members of *wanted*, and of the dicts in it."""
    if not isinstance(wanted, dict):
        return bool(declared == wanted)
    if not isinstance(declared, dict):
        return False
    return all(name in declared and _contains(declared[name], wanted[name]) for name in wanted)


def check_uses(function: Callable[..., Any], context: str) -> None:
    """Refuse *function* if its source uses a member of its parameter *context* that `Context` has
    not.

    Raises:
        NotSupported: with the line of that use.
    """
    import ast
    import inspect
    from textwrap import dedent

    inner = inspect.unwrap(function)
    try:
        lines, first = inspect.getsourcelines(inner)
        tree = ast.parse(dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):  # no source: a use is refused when it is reached
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not _is_context(node.value, context):
            continue
        if not hasattr(Context, node.attr):
            where = format_line(inspect.getsourcefile(inner) or "?", first + node.lineno - 1)
            raise NotSupported(ast.unparse(node), _REMEDIES.get(node.attr, _REMEDY), where=where)


def _is_context(node: Any, name: str) -> bool:
    """Return whether *node* of a syntax tree is the context, or what it has under another name."""
    if hasattr(node, "attr"):
        return node.attr in ("request_context", "session") and _is_context(node.value, name)
    return getattr(node, "id", None) == name


_REMEDY = "leave this tool out, or serve the file with the package it was written for"
_REMEDIES = {"sample_step": "use ctx.sample, whose result is the whole text"}
_SAMPLING_OPTIONS = {"temperature", "max_tokens", "model_preferences", "include_context"}
