"""The tools of a connected server, known by two methods: `list_tools()` and `call_tool(name, arguments)`.

Strategy. Clients differ in how they spell what MCP defines: entries and results may be dicts, or objects with names in
either style. Only what is needed is looked for, under all of its names.
"""

from __future__ import annotations

import inspect
from typing import Any

from ..errors import RegistrationError, ToolError
from ..options import Options
from ..tool import Tool

Entry = dict[str, Any]

_MISSING: Any = object()


def is_server(thing: Any) -> bool:
    """True for what has `list_tools` and `call_tool`, and is no class."""
    has_both = callable(getattr(thing, "list_tools", None)) and callable(getattr(thing, "call_tool", None))
    return has_both and not isinstance(thing, type)


def entries_of(server: Any) -> list[Entry]:
    """The entries of MCP's `tools/list` for the tools of *server*.

    Raises:
        RegistrationError: if it has to be awaited, or lists a tool without a name.
    """
    if inspect.iscoroutinefunction(server.list_tools) or inspect.iscoroutinefunction(server.call_tool):
        raise RegistrationError(
            "its calls have to be awaited", tool=type(server).__name__, remedy="give a client that waits by itself"
        )
    listed = server.list_tools()
    return [_entry(item, type(server).__name__) for item in _member(listed, "tools", default=listed)]


def tool_of(entry: Entry, server: Any) -> Tool:
    """The tool of *entry*, each call of which asks *server*."""

    def call(**arguments: Any) -> Any:
        result = server.call_tool(entry["name"], arguments)
        return value_of(result) if "outputSchema" not in entry else _structured(result)

    options = Options(
        description=entry.get("description"),
        input_schema=entry["inputSchema"],
        output_schema=entry.get("outputSchema"),
    )
    call.__self__ = server  # type: ignore[attr-defined]
    return Tool(call, name=entry["name"], options=options)


def value_of(result: Any) -> Any:
    """Return the result of a call as a Python value: data if there is any, else the text, else the content blocks.

    Raises:
        ToolError: if the tool failed.
    """
    content = _member(result, "content")
    if content is _MISSING:
        return result
    blocks = [_block(block) for block in content]
    texts = [block.get("text", "") for block in blocks if block.get("type") == "text"]
    if _member(result, "isError", "is_error", default=False):
        raise ToolError("\n".join(texts) or "The tool failed and did not say why.")
    data = _structured(result)
    if data is not None:
        # A value that is not an object is sent as the only member of one.
        return data["result"] if isinstance(data, dict) and data.keys() == {"result"} else data
    return "\n".join(texts) if len(texts) == len(blocks) else blocks


def _structured(result: Any) -> Any:
    if _member(result, "isError", "is_error", default=False):
        return value_of(result)
    return _member(result, "structuredContent", "structured_content", "structured", default=None)


def _entry(item: Any, server: str) -> Entry:
    name = _member(item, "name", default="")
    if not isinstance(name, str) or not name:
        raise RegistrationError("it lists a tool without a name", tool=server, remedy="fix the server")
    found = {
        "name": name,
        "description": _member(item, "description", default=None),
        "inputSchema": _member(item, "inputSchema", "input_schema", default=None) or {"type": "object"},
        "outputSchema": _member(item, "outputSchema", "output_schema", default=None),
    }
    return {member: value for member, value in found.items() if value}


def _block(block: Any) -> dict[str, Any]:
    if isinstance(block, dict):
        return block
    dump = getattr(block, "model_dump", None)
    made: dict[str, Any] = dump(mode="json", by_alias=True, exclude_none=True) if dump else dict(vars(block))
    return made


def _member(thing: Any, *names: str, default: Any = _MISSING) -> Any:
    """The first of these members or attributes that *thing* has."""
    for name in names:
        found = thing.get(name, _MISSING) if isinstance(thing, dict) else getattr(thing, name, _MISSING)
        if found is not _MISSING:
            return found
    return default
