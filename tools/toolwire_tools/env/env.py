"""Groot's environment: one call for everything an agent may use."""

from __future__ import annotations

import inspect
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.dialects.lagent import from_entry

from ..actions.action_return import ActionReturn
from ..actions.base import BaseAction
from ..actions.executor import no_such_action
from ..actions.model_literals import Unreadable, json_value
from ..actions.registry import action_from
from ..api_description import description_of
from ..context.context import NULL_CALLER
from ..discovery import constructed, tools_of
from ..errors import ArgumentsError, NotOffered, RegistrationError, ToolError
from ..options import Options
from ..tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..actions.api import ActionApi


class Entry(msgspec.Struct, frozen=True):
    """One action: its descriptions, and the function that calls it with a model's parameters."""

    name: str
    description: dict[str, Any]
    """As Lagent describes it."""
    describe: Callable[[], dict[str, Any]]
    """Returns its entry in MCP's `tools/list`."""
    call: Callable[[Any], Any]


class Source(msgspec.Struct, frozen=True):
    """Where actions come from: the actions as an environment calls them, and as a server offers them."""

    entries: list[Entry]
    tools: Callable[[], list[Tool]]


def source_of(thing: Any) -> Source:
    """Return the source of actions that *thing* is.

    Raises:
        RegistrationError: if it is not a source of actions.
    """
    if isinstance(thing, dict):
        thing = action_from(thing)
    elif isinstance(thing, type) and issubclass(thing, BaseAction):
        thing = constructed(thing)
    if isinstance(thing, BaseAction):
        apis = [api for api in thing.__toolwire_apis__.values() if api.is_callable and thing.enable]
        return Source([_entry_of_api(api) for api in apis], partial(_offered, thing))
    if is_server(thing):
        listed = entries_of(thing)
        return Source(
            [_entry_of_server(entry, thing) for entry in listed], lambda: [tool_of(entry, thing) for entry in listed]
        )
    tools = tools_of(thing)
    return Source([_entry_of_tool(tool) for tool in tools], lambda: tools)


def _entry_of_api(api: ActionApi) -> Entry:
    """Return the entry of an API of an action, whose parser reads what a model passes."""

    def describe() -> dict[str, Any]:
        return {**api.tool.describe(), "description": api.description["description"]}

    def call(parameters: Any) -> Any:
        arguments = api.action._parser.parse_inputs(parameters, api.name)
        return _text_of(_awaited(lambda: api.run_async(arguments)) if api.is_async else api.run(arguments))

    return Entry(api.full_name, {**api.description, "name": api.full_name}, describe, call)


def _entry_of_server(entry: dict[str, Any], server: Any) -> Entry:
    def call(parameters: Any) -> Any:
        return value_of(server.call_tool(entry["name"], _arguments(parameters)))

    return Entry(entry["name"], from_entry(entry), partial(dict, entry), call)


def _entry_of_tool(tool: Tool) -> Entry:
    def call(parameters: Any) -> Any:
        arguments = _arguments(parameters)
        if tool.is_async:
            return _text_of(_awaited(lambda: tool.run_async(arguments, NULL_CALLER)))
        return _text_of(tool.run(arguments, NULL_CALLER))

    return Entry(tool.name, description_of(tool.function, tool.options, name=tool.name), tool.describe, call)


def _offered(action: BaseAction) -> list[Tool]:
    try:
        return tools_of(action)
    except NotOffered:
        return []


def _awaited(start: Callable[[], Any]) -> Any:
    """Wait for the result of *start*; in another thread if an event loop runs in this one, as in a notebook."""
    import asyncio

    import anyio

    async def wait() -> Any:
        return await start()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return anyio.run(wait)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, wait).result()


def _arguments(parameters: Any) -> dict[str, Any]:
    try:
        arguments = json_value(parameters) if isinstance(parameters, str) else parameters
    except Unreadable as error:
        raise ArgumentsError([("parameters", f"no JSON: {error}")]) from None
    if arguments is not None and not isinstance(arguments, dict):
        raise ArgumentsError([("parameters", f"pass an object, not {type(arguments).__name__}")])
    return arguments or {}


def _text_of(result: Any) -> Any:
    """Return the result for an agent: of an `ActionReturn` the text."""
    return result.failure or result.format_result() if isinstance(result, ActionReturn) else result


class Env:
    """Actions by name: `env("Search.find", {"text": "hi"})` returns what the action returns.

    *actions* may be functions, actions, toolkits, executors, connected servers (anything with `list_tools` and
    `call_tool`), agents (anything with `run`), other environments, and settings such as `{"type": "PPT"}`.

    Raises:
        RegistrationError: for any other object, and if two actions have one name.
    """

    def __init__(self, actions: Any) -> None:
        things = actions if isinstance(actions, list | tuple) else [actions]
        self._sources = [source_of(thing) for thing in things]
        self._entries: dict[str, Entry] = {}
        for entry in (entry for source in self._sources for entry in source.entries):
            if entry.name in self._entries:
                remedy = "leave one out, or give it another name"
                raise RegistrationError("two actions have this name", tool=entry.name, remedy=remedy)
            self._entries[entry.name] = entry

    def get_actions_info(self) -> list[dict[str, Any]]:
        """Return Lagent's description of each action; the APIs of toolkits are called `Toolkit.api`."""
        return [deepcopy(entry.description) for entry in self._entries.values()]

    def describe_actions(self) -> list[dict[str, Any]]:
        """Return each action as an entry of MCP's `tools/list`: with the schemas by which its arguments are checked."""
        return [deepcopy(entry.describe()) for entry in self._entries.values()]

    def __call__(self, name: str, parameters: Any = None) -> Any:
        """Execute an action, with a dict of arguments, and return its result; a text if there is no such action.

        A bare name means the API `run`.

        Raises:
            ToolError: for wrong arguments, and for what the action itself calls a failure.
            Exception: whatever the action raises.
        """
        entry = self._entries.get(name) or self._entries.get(str(name).removesuffix(".run"))
        if entry is None:
            return no_such_action(name, self._entries)
        return entry.call(parameters)

    def tools(self) -> list[Tool]:
        """Return all actions, as a server offers them."""
        return [tool for source in self._sources for tool in source.tools()]


def tools_of_env(env: Env) -> list[Tool]:
    """Return the tools of all actions of *env*."""
    return env.tools()


# --- connected servers ---

# Clients differ in how they spell what MCP defines: entries and results may be dicts, or objects with names in either
# style. Only the members that are needed are looked for, under all of their names.


def is_server(thing: Any) -> bool:
    """Return whether *thing* is an object with `list_tools` and `call_tool`."""
    has_both = callable(getattr(thing, "list_tools", None)) and callable(getattr(thing, "call_tool", None))
    return has_both and not isinstance(thing, type)


def entries_of(server: Any) -> list[dict[str, Any]]:
    """Return the entries of MCP's `tools/list` for the tools of *server*.

    Raises:
        RegistrationError: if it has to be awaited, or lists a tool without a name.
    """
    if inspect.iscoroutinefunction(server.list_tools) or inspect.iscoroutinefunction(server.call_tool):
        raise RegistrationError(
            "its calls have to be awaited", tool=type(server).__name__, remedy="give a client that blocks"
        )
    listed = server.list_tools()
    return [_listed_entry(item, type(server).__name__) for item in _member(listed, "tools", default=listed)]


def tool_of(entry: dict[str, Any], server: Any) -> Tool:
    """Return the tool of *entry*, which calls *server*."""

    def call(**arguments: Any) -> Any:
        result = server.call_tool(entry["name"], arguments)
        return value_of(result) if "outputSchema" not in entry else _structured(result)

    schemas = {"input_schema": entry["inputSchema"], "output_schema": entry.get("outputSchema")}
    options = Options(description=entry.get("description"), **schemas)
    call.__self__ = server  # type: ignore[attr-defined]
    return Tool(call, name=entry["name"], options=options)


def value_of(result: Any) -> Any:
    """Return the result of a call as a Python value: data if there is any, else the text, else the content blocks.

    Raises:
        ToolError: if the tool failed.
    """
    content = _member(result, "content", default=None)
    if content is None:
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


def _listed_entry(item: Any, server: str) -> dict[str, Any]:
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


def _member(thing: Any, *names: str, default: Any) -> Any:
    """Return the first of these members or attributes that *thing* has and that is not None."""
    found = (thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None) for name in names)
    return next((value for value in found if value is not None), default)
