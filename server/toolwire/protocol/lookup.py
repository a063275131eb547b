"""Which resource, prompt or completion a request means; unknown names; their failures. Imported
when needed.

A request for a resource or prompt becomes a `Call`, as that of a tool does; see `ServerProtocol`.
Its arguments are `{"uri": ...}` or those of the prompt, and it fails with a JSON-RPC error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import closest
from toolwire_schemas.wire.messages import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND
from toolwire_tools import ArgumentsError
from toolwire_tools.errors import failure_text

from ..errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from toolwire_tools import Tool

    from .call import Call

    Named = Mapping[str, Tool]

    class Catalog(Protocol):
        """The `Catalog` of `server_protocol.py`, which imports this file."""

        shown: dict[str, Tool]
        resources: dict[str, Tool]
        templates: dict[str, Tool]
        prompts: dict[str, Tool]
        late: Any


def clash(first: Tool, second: Tool) -> str:
    """Return the sentence that two tools, resources or prompts have the name of *second*."""
    origins = f"two {second.kind} are called {second.name}: {first.origin} and {second.origin}"
    is_by_separator = first.name_with(".") != second.name_with(".")
    dots = (
        ", or list toolkits' tools with a dot: --separator . (in Python, separator='.')"
        if is_by_separator
        else ""
    )
    return f'{origins}; rename one: @tool_api(name="..."){dots}'


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
    may_be_late: bool = True,
) -> tuple[Tool, dict[str, Any]]:
    """Return the resource, prompt or completion that a request means, and its arguments.

    *kept* are resources that no list has. If nothing is found, and it *may_be_late*, a mounted
    server may have it.

    Raises:
        RequestError: if the server does not have it.
    """
    templates = {**kept, **catalog.templates}
    try:
        if method == "resources/read":
            return resource(params, catalog.resources, templates, modern=modern)
        if method == "prompts/get":
            return prompt(params, catalog.prompts)
        return completion(params, catalog.prompts, templates)
    except RequestError:
        if catalog.late is None or not may_be_late:
            raise
        return late(method, params, catalog)


def late(method: str, params: dict[str, Any], catalog: Catalog) -> tuple[Tool, dict[str, Any]]:
    """Return what answers for the mounted servers, and the request as its arguments.

    Raises:
        RequestError: without mounted servers: the tool of `tools/call` is unknown.
    """
    if catalog.late is None:
        raise unknown_tool(params["name"], catalog.shown)
    return catalog.late, {"method": method, "params": params}


def completions_of(catalog: Catalog) -> dict[str, Any]:
    """Return the capability `completions`, if any argument of a prompt or template can be
    completed.
    """
    from toolwire_tools.resources.completion import completers

    several = (*catalog.prompts.values(), *catalog.templates.values())
    return {"completions": {}} if catalog.late or any(map(completers, several)) else {}


def unknown_tool(name: str, shown: Named) -> RequestError:
    """Return the error for a *name* that none of the tools *shown* has, with the closest ones."""
    for tool in shown.values():
        action = getattr(tool.function, "__self__", None)
        needs = getattr(action, "__toolwire_needs__", None)  # why an action does not offer some
        if action is not None and needs:
            why = needs.get(name.removeprefix(action.name)[1:])
            if why is not None:
                return RequestError(INVALID_PARAMS, f"Unknown tool: {name}; {why}")
    return RequestError(INVALID_PARAMS, _unknown("tool", name, list(shown)))


def resource(
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
    found = by_uri.get(uri) or _by_template(uri, templates)
    if found is None:
        problem = _unknown("resource", uri, [*by_uri, *templates])
        raise RequestError(_for_era(RESOURCE_NOT_FOUND, modern), problem, {"uri": uri[:200]})
    return found, {"uri": uri}


def _by_template(uri: str, templates: Named) -> Tool | None:
    for tool in templates.values():
        # which may be a copy that runs in a process, or mounted with a template we cannot read
        resource: Any = tool
        if resource.template is not None and resource.template.match(uri) is not None:
            return tool
    return None


def prompt(params: dict[str, Any], prompts: Named) -> tuple[Tool, Any]:
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
        raise RequestError(INVALID_PARAMS, _unknown("prompt", name, list(prompts)))
    arguments = params.get("arguments")
    if arguments is not None and type(arguments) is not dict:
        raise RequestError(
            INVALID_PARAMS, "params.arguments must be an object of the prompt's arguments"
        )
    return prompts[name], arguments or {}


def completion(params: dict[str, Any], prompts: Named, templates: Named) -> tuple[Tool, Any]:
    """Return the completion that a request with *params* means, and its arguments.

    Raises:
        RequestError: if no prompt or template has the name, or it has no such argument.
    """
    ref, argument, context = (params.get(name) for name in ("ref", "argument", "context"))
    if not isinstance(ref, dict) or ref.get("type") not in ("ref/prompt", "ref/resource"):
        raise RequestError(
            INVALID_PARAMS, 'params.ref must have the type "ref/prompt" or "ref/resource"'
        )
    if not isinstance(argument, dict) or not all(
        isinstance(argument.get(key), str) for key in ("name", "value")
    ):
        raise RequestError(
            INVALID_PARAMS, "params.argument must have a name and a value, which are strings"
        )
    if ref["type"] == "ref/prompt":
        owner, _ = prompt(ref, prompts)
    else:
        uri = str(ref.get("uri"))
        found = templates.get(uri) or _by_template(uri, templates)
        if found is None:
            raise RequestError(INVALID_PARAMS, _unknown("template", uri, list(templates)))
        owner = found
    if (
        forwarded := getattr(owner, "completion", None)
    ) is not None:  # of a mounted server, which knows its arguments
        found_there: tuple[Tool, Any] = forwarded(
            {name: params[name] for name in _COMPLETION if name in params}
        )
        return found_there
    known, name = owner._signature.arguments.input_schema.get("properties", {}), argument["name"]
    if name not in known:
        raise RequestError(
            INVALID_PARAMS, f"{owner.name}: {_unknown('argument', name, list(known))}"
        )
    from toolwire_tools.resources.completion import Completion

    others = context.get("arguments") if isinstance(context, dict) else None
    completion = Completion(owner, name)
    if owner.gate is not None and completion.has_function:
        in_process = owner.renamed(owner.name)
        in_process.kind = completion.kind
        return in_process, {member: value for member, value in params.items() if member != "_meta"}
    return completion, {
        "text": argument["value"],
        "arguments": others if isinstance(others, dict) else {},
    }


_COMPLETION = ("ref", "argument", "context")


def _unknown(what: str, name: str, known: list[str]) -> str:
    shown = name[:200]  # to compare megabytes would take seconds
    close = closest(shown, known, 3)
    more = f" and {len(known) - 10} more" if len(known) > 10 else ""
    listed = (
        f"; available: {', '.join(known[:10])}{more}" if known else f"; this server has no {what}s"
    )
    return f"Unknown {what}: {shown}" + (
        f"; did you mean {' or '.join(close)}?" if close else listed
    )


def error_of(error: BaseException, call: Call, *, mask: bool) -> RequestError:
    """Return the response to the *call* of a resource or prompt that failed with *error*."""
    from toolwire_tools import ResourceNotFound

    what = {"prompts": "prompt", "completions": "completion of"}.get(call.tool.kind, "resource")
    data = call.arguments if what == "resource" else None
    if isinstance(
        error, RequestError
    ):  # the answer of a worker process, to which we are a legacy client
        code, text, data = error.code, error.message, error.data
    else:
        text = failure_text(error, mask, f"The {what} {call.tool.name}")
        codes = {ResourceNotFound: RESOURCE_NOT_FOUND, ArgumentsError: INVALID_PARAMS}
        code = next(
            (code for kind, code in codes.items() if isinstance(error, kind)), INTERNAL_ERROR
        )
    return RequestError(_for_era(code, call.origin.modern), text, data)


def _for_era(code: int, modern: bool) -> int:
    """Return *code*, or its replacement: 2026-07-28 forbids that of a missing resource."""
    return INVALID_PARAMS if modern and code == RESOURCE_NOT_FOUND else code
