"""Why an entry of a mounted server's list is left out."""

from __future__ import annotations

from typing import Any

from toolwire_client.errors import BrokenRules
from toolwire_client.protocol.results import (
    PromptDescription,
    ResourceDescription,
    ResourceTemplate,
    ToolDescription,
    describe_entry,
)
from toolwire_dialects.lint.audit import check_members
from toolwire_schemas.wire.codec import EncodingError, encode_plain

from .mounted_entry import find_key

_KINDS: dict[str, tuple[Any, str]] = {
    "tools": (ToolDescription, "tool"),
    "resources": (ResourceDescription, "resource"),
    "resourceTemplates": (ResourceTemplate, "resource template"),
    "prompts": (PromptDescription, "prompt"),
}


def find_problem(entry: Any, kind: str, keys: set[tuple[str, str]]) -> str | None:
    """Return why *entry*, of a server's list of *kind*, is left out; `None` if its kind and name
    are added to *keys*.

    Hosts on the TypeScript SDK would refuse the whole list for it.
    """
    try:
        encode_plain([[[entry]]])  # as deep as it is in a response
        describe_entry(entry, *_KINDS[kind])
    except (BrokenRules, EncodingError) as error:
        return str(error)
    present = {name: value for name, value in entry.items() if value is not None}
    name = find_key(kind, entry)
    shown = name[:100]
    if not name:
        return "its name is empty"
    if (kind, name) in keys:
        return f"{shown!r} is listed twice"
    keys.add((kind, name))
    if kind != "tools":
        return None
    if present.get("inputSchema", {}).get("type") != "object":
        return f"the inputSchema of {shown} is not of the type object"
    for wrong in check_members(present):
        return f"{wrong.where} of {shown}: {wrong.text}"
    return None
