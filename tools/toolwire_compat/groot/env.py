"""Groot's environment: one call for everything an agent may use.

Strategy. Each thing that an environment is made of becomes entries, by which a model's calls are
found, and tools, as which a server offers it. `_read` has a case for each kind of thing.
"""

from __future__ import annotations

import inspect
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from toolwire_dialects.lagent import from_entry
from toolwire_tools.api_description import describe_api
from toolwire_tools.construction import construct
from toolwire_tools.context.context import NULL_CALLER
from toolwire_tools.discovery import find_tools
from toolwire_tools.errors import ArgumentsError, RegistrationError, ToolError
from toolwire_tools.options import Options
from toolwire_tools.tool import Tool, make_function_handler, make_tool

from ..lagent.action_return import ActionReturn
from ..lagent.base import BaseAction
from ..lagent.executor import explain_unknown_action
from ..lagent.model_literals import NotALiteral, read_json
from ..lagent.registry import make_action

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..lagent.api import ActionApi


class EnvEntry(msgspec.Struct, frozen=True):
    """One action: its descriptions, and the function that calls it with a model's parameters."""

    name: str
    description: dict[str, Any]
    """As Lagent describes it."""
    describe: Callable[[], dict[str, Any]]
    """Returns its entry in MCP's `tools/list`."""
    call: Callable[[Any], Any]


class _Source(NamedTuple):
    """The entries of a thing, and the function that returns its tools as a server offers them."""

    entries: list[EnvEntry]
    list_tools: Callable[[], list[Tool]]


def _read(thing: Any) -> _Source:
    if isinstance(thing, dict):
        thing = make_action(thing)
    elif isinstance(thing, type) and issubclass(thing, BaseAction):
        thing = construct(thing)
    if isinstance(thing, BaseAction):
        return _read_action(thing)
    if _is_client(thing):
        listed = _list_entries(thing)
        entries = [_make_server_entry(thing, entry) for entry in listed]
        return _Source(entries, lambda: [_make_server_tool(thing, entry) for entry in listed])
    tools = find_tools(thing)
    return _Source([_make_tool_entry(tool) for tool in tools], lambda: tools)


def _read_action(action: BaseAction) -> _Source:
    entries = []
    if action.enable:
        for api in action.__toolwire_apis__.values():
            if api.is_callable:
                entries.append(_make_api_entry(api))
    if not entries:
        return _Source([], list)
    return _Source(entries, lambda: find_tools(action))


def _make_api_entry(api: ActionApi) -> EnvEntry:
    """Return the entry of an API of an action, whose parser reads what a model passes."""

    def call(parameters: Any) -> Any:
        arguments = api.action._parser.parse_inputs(parameters, api.name)
        run = api.run_async if api.is_async else api.run
        return _read_value(run(arguments))

    def describe() -> dict[str, Any]:
        return api.tool.describe()

    return EnvEntry(
        name=api.full_name,
        description={**api.description, "name": api.full_name},
        describe=describe,
        call=call,
    )


def _make_tool_entry(tool: Tool) -> EnvEntry:
    entry = tool.entry
    handler = make_function_handler(tool)

    def call(parameters: Any) -> Any:
        run = handler.run_async if handler.is_async else handler.run
        return _read_value(run(_read_arguments(parameters), NULL_CALLER))

    name = entry.name_with(".")
    description = describe_api(entry.function, entry.options, name=name)
    return EnvEntry(name, description, tool.describe, call)


def _read_arguments(parameters: Any) -> dict[str, Any]:
    arguments = parameters
    if isinstance(parameters, str):
        try:
            arguments = read_json(parameters)
        except NotALiteral as error:
            raise ArgumentsError([("parameters", f"no JSON: {error}")]) from None
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise ArgumentsError([("parameters", f"pass an object, not {type(arguments).__name__}")])
    return arguments


def _read_value(value: Any) -> Any:
    """Return *value* for an agent: of a coroutine its result, of an `ActionReturn` the text."""
    if inspect.iscoroutine(value):
        value = _wait_for(value)
    if isinstance(value, ActionReturn):
        return value.failure or value.format_result()
    return value


def _wait_for(value: Any) -> Any:
    """Wait for *value* in another thread, since an event loop may run in this one, as in a
    notebook.
    """
    from anyio.from_thread import start_blocking_portal

    async def wait() -> Any:
        return await value

    with start_blocking_portal() as portal:
        return portal.call(wait)


class Env:
    """Actions by name: `env("Search.find", {"text": "hi"})` returns what the action returns.

    *actions* may be functions, actions, toolkits, executors, connected servers (anything with
    `list_tools` and `call_tool`), agents (anything with `run`), other environments, and settings
    such as `{"type": "PPT"}`.

    Raises:
        RegistrationError: for any other object, and if two actions have one name.
    """

    def __init__(self, actions: Any) -> None:
        things = actions if isinstance(actions, list | tuple) else [actions]
        self._entries: dict[str, EnvEntry] = {}
        self._tools: list[Callable[[], list[Tool]]] = []
        for thing in things:
            source = _read(thing)
            self._tools.append(source.list_tools)
            for entry in source.entries:
                self._add(entry)

    def _add(self, entry: EnvEntry) -> None:
        if entry.name in self._entries:
            remedy = "omit one, or give it another name"
            raise RegistrationError("two actions have this name", tool=entry.name, remedy=remedy)
        self._entries[entry.name] = entry

    def get_actions_info(self) -> list[dict[str, Any]]:
        """Return Lagent's description of each action; the APIs of toolkits are called
        `Toolkit.api`.
        """
        return [deepcopy(entry.description) for entry in self._entries.values()]

    def describe_actions(self) -> list[dict[str, Any]]:
        """Return each action as an entry of MCP's `tools/list`: with the schemas by which its
        arguments are checked.

        The names are those of `get_actions_info`, with a dot (`Toolkit.api`), as descriptions
        mention them: only hosts need underscores. Calls take both.
        """
        described = []
        for entry in self._entries.values():
            described.append({**deepcopy(entry.describe()), "name": entry.name})
        return described

    def __call__(self, name: str, parameters: Any = None) -> Any:
        """Execute an action, with a dict of arguments, and return its result; a text if there is no
        such action.

        A bare name means the API `run`.

        Raises:
            ToolError: for wrong arguments, and for what the action itself calls a failure.
            Exception: whatever the action raises.
        """
        entry = self._find(name)
        if entry is None:
            return explain_unknown_action(name, self._entries)
        return entry.call(parameters)

    def _find(self, name: str) -> EnvEntry | None:
        entry = self._entries.get(name) or self._entries.get(str(name).removesuffix(".run"))
        if entry is not None:
            return entry
        for entry in self._entries.values():  # as hosts call it, with underscores
            if entry.describe().get("name") == name:
                return entry
        return None

    def list_tools(self) -> list[Tool]:
        """Return all actions, as a server offers them."""
        tools: list[Tool] = []
        for list_tools in self._tools:
            tools += list_tools()
        return tools


def list_env_tools(env: Env) -> list[Tool]:
    """Return the tools of all actions of *env*."""
    return env.list_tools()


# --- connected servers ---

# Clients differ in how they spell what MCP defines: entries and results may be dicts, or objects
# with names in either style. Only the members that are needed are looked for, under all of their
# names.


def _is_client(thing: Any) -> bool:
    if isinstance(thing, type):
        return False
    list_tools, call_tool = getattr(thing, "list_tools", None), getattr(thing, "call_tool", None)
    return callable(list_tools) and callable(call_tool)


def _list_entries(client: Any) -> list[dict[str, Any]]:
    """Return the entries of MCP's `tools/list` for the tools of the server of *client*."""
    kind = type(client).__name__
    for method in (client.list_tools, client.call_tool):
        if inspect.iscoroutinefunction(method):
            remedy = "pass a synchronous client"
            raise RegistrationError("its methods are asynchronous", tool=kind, remedy=remedy)
    listed = client.list_tools()
    entries = []
    for item in _get_member(listed, "tools", default=listed):
        entry = {
            "name": _get_member(item, "name"),
            "description": _get_member(item, "description"),
            "inputSchema": _get_member(item, "inputSchema", "input_schema") or {"type": "object"},
            "outputSchema": _get_member(item, "outputSchema", "output_schema"),
        }
        if not isinstance(entry["name"], str) or not entry["name"]:
            problem = "it lists a tool without a name"
            raise RegistrationError(problem, tool=kind, remedy="fix the server")
        entries.append({member: value for member, value in entry.items() if value})
    return entries


def _make_server_entry(client: Any, entry: dict[str, Any]) -> EnvEntry:
    name = entry["name"]

    def call(parameters: Any) -> Any:
        return _read_result(client.call_tool(name, _read_arguments(parameters)))

    return EnvEntry(name, from_entry(entry), partial(dict, entry), call)


def _make_server_tool(client: Any, entry: dict[str, Any]) -> Tool:
    """Return the tool of *entry*, which calls the server of *client*."""
    name = entry["name"]

    def call(**arguments: Any) -> Any:
        return _read_result(client.call_tool(name, arguments), has_schema="outputSchema" in entry)

    call.__self__ = client  # type: ignore[attr-defined]
    options = Options(
        description=entry.get("description"),
        input_schema=entry["inputSchema"],
        output_schema=entry.get("outputSchema"),
    )
    return make_tool(call, name=name, options=options)


def _read_result(result: Any, *, has_schema: bool = False) -> Any:
    """Return the result of a call as a Python value: data if there is any, else the text, else the
    content blocks.

    With *has_schema*, the data are what the output schema describes.

    Raises:
        ToolError: if the tool failed.
    """
    content = _get_member(result, "content")
    if content is None:
        return result
    blocks = list(map(_read_block, content))
    texts = [block.get("text", "") for block in blocks if block.get("type") == "text"]
    if _get_member(result, "isError", "is_error"):
        raise ToolError("\n".join(texts) or "The tool failed without a message.")
    data = _get_member(result, "structuredContent", "structured_content", "structured")
    if has_schema:
        return data
    if data is None:
        return "\n".join(texts) if len(texts) == len(blocks) else blocks
    # A value that is not an object is sent as the only member of one.
    if isinstance(data, dict) and data.keys() == {"result"}:
        return data["result"]
    return data


def _read_block(block: Any) -> dict[str, Any]:
    if isinstance(block, dict):
        return block
    dump = getattr(block, "model_dump", None)  # of a pydantic model
    if dump is None:
        return dict(vars(block))
    members: dict[str, Any] = dump(mode="json", by_alias=True, exclude_none=True)
    return members


def _get_member(thing: Any, *names: str, default: Any = None) -> Any:
    """Return the first of these members or attributes that *thing* has and that is not None."""
    for name in names:
        value = thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
        if value is not None:
            return value
    return default
