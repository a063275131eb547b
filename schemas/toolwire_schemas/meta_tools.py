"""Describes the tools that replace a long list: `search_tools`, `call_tool` and `run_program`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Entry = dict[str, Any]

META_PROGRAM = "toolwire/program"
"""Under `_meta`: of the first text of a result, the number of calls and the seconds of a program;
of a call of another server, the `call` that runs the program, and the `line` of it.
"""

META_CONFIRM = "toolwire/confirm"
"""Under `_meta` of a tool: the question that it asks before each call, or true."""

MAX_HITS = 50
"""The most tools of one search: their stubs take some 10,000 tokens."""

DEFAULT_HITS = 5
"""How many tools a search finds by default."""

ABOUT_QUERY = "what it should do, or its name"
ABOUT_LIMIT = "how many"
ABOUT_SCHEMAS = "return whole texts and JSON schemas"
ABOUT_NAME = "the name of the tool"
ABOUT_ARGUMENTS = "its arguments by name"
ABOUT_CODE = "in Python"

_MAX_GROUP_CHARS = 300
"""Characters of the names of servers and toolkits in the description of the search."""


def find_free_name(name: str, taken: Collection[str]) -> str:
    """Return *name*, with a number after it if a tool has it."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def describe_search(groups: Sequence[str], use: str) -> str:
    """Return the description of a search over the tools of *groups*: a model has to know what there
    is to be found. *use* says what to do with it.
    """
    about = f"Find tools by what they do: this list shows few. Returns Python stubs; {use}."
    if not groups:
        return about
    named = ", ".join(groups)
    if len(named) > _MAX_GROUP_CHARS:
        named = named[:_MAX_GROUP_CHARS].rpartition(", ")[0] + " and others"
    return f"{about} There are tools of {named}."


def describe_call(search_name: str) -> str:
    """Return the description of a call by name."""
    return f"Call a tool that {search_name} has found, as it is described there."


def describe_program(search_name: str, sandbox: str) -> str:
    """Return the description of the tool that runs programs, in this *sandbox*."""
    failure = "its text" if sandbox == "monty" else ".text and .data"
    return (
        f"Run Python that calls tools by their stubs from {search_name}: `add(1, b=2)`,"
        ' `github.create_issue("...")`. Make many calls in one program; print only what you need.'
        f" Calls return data; a failure raises ToolFailed with {failure}. With `await`, await each"
        " call, as in `await asyncio.gather(...)`. The value of the last expression is returned."
        " No files, no network."
    )


def describe_miss(names: Sequence[str]) -> str:
    """Return what a search says that has found none of the tools with these *names*."""
    listed = ", ".join(names[:MAX_HITS])
    more = ""
    if len(names) > MAX_HITS:
        more = f" and {len(names) - MAX_HITS} more"
    return f"No tool has these words; use others, in the language of the tools: {listed}{more}"


def describe_unlisted(servers: Sequence[str]) -> str:
    """Return why a program cannot call the tools of these *servers*."""
    named = ", ".join(servers)
    return f"These servers have not listed their tools, so no program can call them: {named}."


def are_read_only(entries: Sequence[Entry]) -> bool:
    """Return whether all tools say that they only read."""
    for entry in entries:
        hints = entry.get("annotations")
        if not (isinstance(hints, dict) and hints.get("readOnlyHint") is True):
            return False
    return True


def search_entry(name: str, description: str) -> Entry:
    """Return the entry of the search, called *name*."""
    limit = {"type": "integer", "minimum": 1, "maximum": MAX_HITS, "default": DEFAULT_HITS}
    properties = {
        "query": {"type": "string", "description": ABOUT_QUERY},
        "limit": {**limit, "description": ABOUT_LIMIT},
    }
    entry = _make_entry(name, description, properties, ["query"])
    return {**entry, "annotations": {"readOnlyHint": True}}


def call_entry(name: str, description: str) -> Entry:
    """Return the entry of the call by name, called *name*."""
    properties = {
        "name": {"type": "string", "description": ABOUT_NAME},
        "arguments": {"type": "object", "description": ABOUT_ARGUMENTS},
    }
    return _make_entry(name, description, properties, ["name", "arguments"])


def make_program_entry(name: str, description: str) -> Entry:
    """Return the entry of the tool that runs programs. It changes nothing by itself: a call of
    another tool does.
    """
    code = {"type": "string", "description": ABOUT_CODE}
    entry = _make_entry(name, description, {"code": code}, ["code"])
    return {**entry, "annotations": {"destructiveHint": False}}


def _make_entry(
    name: str, description: str, properties: dict[str, Any], required: list[str]
) -> Entry:
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return {"name": name, "description": description, "inputSchema": schema}
