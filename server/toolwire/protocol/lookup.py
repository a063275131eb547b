"""Which resource, prompt or completion a request means; unknown names; failures. Imported when
needed.

A request for a resource or prompt becomes a `Call`, as that of a tool does; see `ServerProtocol`.
Its arguments are `{"uri": ...}` or those of the prompt, and it fails with a JSON-RPC error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from toolwire_schemas.did_you_mean import find_closest
from toolwire_schemas.wire.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
)
from toolwire_tools import ArgumentsError, Tool, ToolError
from toolwire_tools.failures import write_failure

from .. import log
from ..errors import RequestError, UpstreamError
from .connection_handler import ConnectionHandler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .call import Call
    from .catalog import Catalog

    Named = Mapping[str, Tool]


CAPABILITIES = {
    "resources/read": "resources",
    "prompts/get": "prompts",
    "completion/complete": "completions",
}
"""The capability that a server with each method declares."""


def find(
    method: str,
    params: dict[str, Any],
    catalog: Catalog,
    kept: Named,
    *,
    modern: bool,
) -> tuple[Tool, dict[str, Any]]:
    """Return the resource, prompt or completion that a request means, and its arguments.

    *kept* are resources that no list has.

    Raises:
        RequestError: if the server does not have it.
    """
    templates = {**kept, **catalog.templates}
    if method == "resources/read":
        return _read_resource_request(params, catalog.resources, templates, modern=modern)
    if method == "prompts/get":
        return _read_prompt_request(params, catalog.prompts)
    return _read_completion_request(params, catalog.prompts, templates)


def make_method_error(method: str, tools: Named) -> RequestError:
    """Return the error for a *method* that does not exist; it may be one of the *tools*."""
    hint = ""
    if method in tools:  # in JSON-RPC without MCP, a function would be a method
        hint = f'; it is a tool: the method is tools/call, with params {{"name": "{method}"}}'
    return RequestError(METHOD_NOT_FOUND, f"Method not found: {method[:200]}{hint}")


def make_tool_error(name: str, shown: Named) -> RequestError:
    """Return the error for a *name* that none of the tools *shown* has, with the closest ones."""
    for tool in shown.values():
        action = getattr(tool.entry.function, "__self__", None)
        needs = getattr(action, "__toolwire_needs__", None)  # why an action does not offer some
        if action is not None and needs:
            why = needs.get(name.removeprefix(action.name)[1:])
            if why is not None:
                return RequestError(INVALID_PARAMS, f"Unknown tool: {name}; {why}")
    return RequestError(INVALID_PARAMS, _explain_unknown("tool", name, list(shown)))


def _read_resource_request(
    params: dict[str, Any], by_uri: Named, templates: Named, *, modern: bool
) -> tuple[Tool, Any]:
    """Return the resource that a request with *params* means, and its arguments.

    Raises:
        RequestError: if the URI is that of no resource and matches no template.
    """
    uri = params.get("uri")
    if type(uri) is not str:
        raise RequestError(
            INVALID_PARAMS, "params.uri must be a string: the URI of the resource to read"
        )
    found = by_uri.get(uri) or _find_by_template(uri, templates)
    if found is None:
        problem = _explain_unknown("resource", uri, [*by_uri, *templates])
        raise RequestError(_adapt_code(RESOURCE_NOT_FOUND, modern), problem, {"uri": uri[:200]})
    return found, {"uri": uri}


def find_resource(uri: str, catalog: Catalog, kept: Named) -> Tool | None:
    """Return the resource at *uri*; `None` if the server has none there. *kept* is as in `find`."""
    return catalog.resources.get(uri) or _find_by_template(uri, {**kept, **catalog.templates})


def _find_by_template(uri: str, templates: Named) -> Tool | None:
    for tool in templates.values():
        template = tool.entry.template  # None for one of a mounted server that we cannot read
        if template is not None and template.match(uri) is not None:
            return tool
    return None


def _read_prompt_request(params: dict[str, Any], prompts: Named) -> tuple[Tool, Any]:
    """Return the prompt that a request with *params* means, and its arguments.

    Raises:
        RequestError: if no prompt has the name.
    """
    name = params.get("name")
    if type(name) is not str:
        raise RequestError(
            INVALID_PARAMS, "params.name must be a string: the name of the prompt to get"
        )
    if name not in prompts:
        raise RequestError(INVALID_PARAMS, _explain_unknown("prompt", name, list(prompts)))
    arguments = params.get("arguments")
    if arguments is not None and type(arguments) is not dict:
        raise RequestError(
            INVALID_PARAMS, "params.arguments must be an object of the prompt's arguments"
        )
    return prompts[name], arguments or {}


def _read_completion_request(
    params: dict[str, Any], prompts: Named, templates: Named
) -> tuple[Tool, Any]:
    """Return the completion that a request with *params* means, and its arguments.

    Raises:
        RequestError: if no prompt or template has the name, or it has no such argument.
    """
    owner = _find_owner(params.get("ref"), prompts, templates)
    argument = params.get("argument")
    if not isinstance(argument, dict):
        argument = {}
    name, text = argument.get("name"), argument.get("value")
    if not isinstance(name, str) or not isinstance(text, str):
        raise RequestError(
            INVALID_PARAMS, "params.argument must have a name and a value, which are strings"
        )
    entry = owner.entry
    if entry.function is None:  # of a mounted server, which knows its arguments
        members = {member: params[member] for member in _COMPLETION if member in params}
        return _complete_there(owner), members
    known = entry.input_schema.get("properties", {})
    if name not in known:
        problem = _explain_unknown("argument", name, list(known))
        raise RequestError(INVALID_PARAMS, f"{owner.name}: {problem}")
    from toolwire_tools.resources.completion import find_completers, make_completion

    values = find_completers(entry).get(name, ())
    if callable(values) and owner.handler.gate is not None:  # its process calls the function
        members = {member: value for member, value in params.items() if member != "_meta"}
        return _complete_there(owner), members
    context = params.get("context")
    others = context.get("arguments") if isinstance(context, dict) else None
    if not isinstance(others, dict):
        others = {}
    return make_completion(entry, values), {"text": text, "arguments": others}


def _find_owner(ref: Any, prompts: Named, templates: Named) -> Tool:
    """Return the prompt or template that *ref* names, whose argument is to be completed."""
    if not isinstance(ref, dict) or ref.get("type") not in ("ref/prompt", "ref/resource"):
        raise RequestError(
            INVALID_PARAMS, 'params.ref must have the type "ref/prompt" or "ref/resource"'
        )
    if ref["type"] == "ref/prompt":
        owner, _ = _read_prompt_request(ref, prompts)
        return owner
    uri = str(ref.get("uri"))
    found = templates.get(uri) or _find_by_template(uri, templates)
    if found is None:
        raise RequestError(INVALID_PARAMS, _explain_unknown("template", uri, list(templates)))
    return found


def _complete_there(owner: Tool) -> Tool:
    """Return what completes an argument of *owner* in the process that runs its calls."""
    handler = owner.handler
    assert isinstance(handler, ConnectionHandler)
    return Tool(replace(owner.entry, kind="completions"), handler.make_completer())


_COMPLETION = ("ref", "argument", "context")


def _explain_unknown(what: str, name: str, known: list[str]) -> str:
    shown = name[:200]  # to compare megabytes would take seconds
    close = find_closest(shown, known, 3)
    more = f" and {len(known) - 10} more" if len(known) > 10 else ""
    listed = (
        f"; available: {', '.join(known[:10])}{more}" if known else f"; this server has no {what}s"
    )
    return f"Unknown {what}: {shown}" + (
        f"; did you mean {' or '.join(close)}?" if close else listed
    )


def log_failure(call: Call, error: BaseException, *, mask: bool) -> None:
    """Log the *error* of *call* with its traceback, unless it is meant for the caller.

    The text is private if it is that of an exception in the author's code: *mask* hides it from the
    client, so the log has it.
    """
    id = call.id_in_log or call.id
    if mask and isinstance(error, ArgumentsError) and error.private:
        log.traceback(f"{call.entry.name} refused its arguments", error.__cause__ or error, id=id)
        return
    meant = UpstreamError if call.entry.kind == "tools" else RequestError
    if not isinstance(error, ToolError | meant):
        log.traceback(f"{call.entry.name} failed", error, id=id)


_WORDS = {"prompts": "prompt", "completions": "completion of", "methods": "method"}


def make_error(error: BaseException, call: Call, *, mask: bool) -> RequestError:
    """Return the response to the *call* of a resource, prompt or plain method that failed with
    *error*.
    """
    from toolwire_tools import ResourceNotFound

    what = _WORDS.get(call.entry.kind, "resource")
    data = call.arguments if what == "resource" else None
    if isinstance(
        error, RequestError
    ):  # the answer of a worker process, to which we are a legacy client
        code, text, data = error.code, error.message, error.data
        if mask and what == "method" and code == INTERNAL_ERROR:
            data = None  # the text of an exception
    else:
        text = write_failure(error, mask, f"The {what} {call.entry.name}")
        codes = {ResourceNotFound: RESOURCE_NOT_FOUND, ArgumentsError: INVALID_PARAMS}
        code = next(
            (code for kind, code in codes.items() if isinstance(error, kind)), INTERNAL_ERROR
        )
    return RequestError(_adapt_code(code, call.origin.modern), text, data)


def _adapt_code(code: int, modern: bool) -> int:
    """Return *code*, or its replacement: 2026-07-28 forbids that of a missing resource."""
    return INVALID_PARAMS if modern and code == RESOURCE_NOT_FOUND else code
