"""The tools, resources and prompts of a server that another server mounts, in its namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from toolwire_tools.resources.resource import ResourceHandler
from toolwire_tools.resources.uri_template import UriTemplate
from toolwire_tools.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable


def list_mounted(server: Any, made: Iterable[Tool]) -> list[Tool]:
    """Return what the servers mounted in *server* offer, without names that *made* has."""
    known = {(tool.kind, tool.name) for tool in made}
    found: list[Tool] = []
    for inner, namespace in server.mounted:
        for tool in type(inner).__toolwire_tools__(inner):
            named = _put_into_namespace(tool, namespace) if namespace else tool
            if (named.kind, named.name) in known:
                continue
            known.add((named.kind, named.name))
            lifespan = named.entry.lifespan or server.entered
            entry = replace(named.entry, owner=server, lifespan=lifespan)
            found.append(Tool(entry, named.handler))
    return found


def _put_into_namespace(tool: Tool, namespace: str) -> Tool:
    """Return *tool* named as FastMCP does: `namespace_name`, or `scheme://namespace/path`."""
    if not isinstance(tool.handler, ResourceHandler):
        return tool.with_name(f"{namespace}_{tool.name}")
    scheme, separator, path = tool.name.partition("://")
    uri = f"{scheme}{separator}{namespace}/{path}"
    template = UriTemplate(uri)
    key = "uriTemplate" if template.is_template else "uri"
    entry = replace(
        tool.entry,
        name=uri,
        parts=(uri,),
        shown={**tool.entry.shown, key: uri},
        template=template,
    )
    return Tool(entry, replace(tool.handler, template=template))
