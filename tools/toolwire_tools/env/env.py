"""Groot's environment: one call for everything an agent may use."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

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
from ..errors import ArgumentsError, NotOffered, RegistrationError
from .remote_server import entries_of, is_server, tool_of, value_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..actions.api import ActionApi
    from ..tool import Tool


class Entry(msgspec.Struct, frozen=True):
    """One action: its descriptions, and the function that calls it with a model's parameters."""

    name: str
    description: dict[str, Any]
    """As Lagent describes it."""
    describe: Callable[[], dict[str, Any]]
    """Returns its entry in MCP's `tools/list`."""
    call: Callable[[Any], Any]


class Source(Protocol):
    """Where actions come from."""

    def entries(self) -> list[Entry]:
        """The actions as an environment calls them."""

    def tools(self) -> list[Tool]:
        """The actions as a server offers them."""


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
        return _Action(thing)
    if is_server(thing):
        return _Server(thing)
    return _Tools(tools_of(thing))


class _Action:
    """An action, whose parser reads what the model passed."""

    def __init__(self, action: BaseAction) -> None:
        self._action = action

    def entries(self) -> list[Entry]:
        apis = [api for api in self._action.__toolwire_apis__.values() if api.is_callable and self._action.enable]
        return [
            Entry(api.full_name, {**api.description, "name": api.full_name}, partial(_told, api), partial(_act, api))
            for api in apis
        ]

    def tools(self) -> list[Tool]:
        try:
            return tools_of(self._action)
        except NotOffered:
            return []


class _Server:
    """A connected server."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._listed = entries_of(server)

    def entries(self) -> list[Entry]:
        return [
            Entry(entry["name"], from_entry(entry), partial(dict, entry), partial(self._call, entry["name"]))
            for entry in self._listed
        ]

    def tools(self) -> list[Tool]:
        return [tool_of(entry, self._server) for entry in self._listed]

    def _call(self, name: str, parameters: Any) -> Any:
        return value_of(self._server.call_tool(name, _arguments(parameters)))


class _Tools:
    """Functions, toolkits, and everything else that `tools_of` knows."""

    def __init__(self, tools: list[Tool]) -> None:
        self._tools = tools

    def entries(self) -> list[Entry]:
        return [
            Entry(
                tool.name,
                description_of(tool.function, tool.options, name=tool.name),
                tool.describe,
                partial(_run, tool),
            )
            for tool in self._tools
        ]

    def tools(self) -> list[Tool]:
        return self._tools


def _told(api: ActionApi) -> dict[str, Any]:
    return {**api.tool.describe(), "description": api.description["description"]}


def _act(api: ActionApi, parameters: Any) -> Any:
    arguments = api.action._parser.parse_inputs(parameters, api.name)
    return _shown(_waited_for(lambda: api.run_async(arguments)) if api.is_async else api.run(arguments))


def _run(tool: Tool, parameters: Any) -> Any:
    arguments = _arguments(parameters)
    if tool.is_async:
        return _shown(_waited_for(lambda: tool.run_async(arguments, NULL_CALLER)))
    return _shown(tool.run(arguments, NULL_CALLER))


def _waited_for(start: Callable[[], Any]) -> Any:
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


def _shown(result: Any) -> Any:
    """The result for an agent: of an `ActionReturn` the text."""
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
        for entry in self.entries():
            if entry.name in self._entries:
                remedy = "leave one out, or give it another name"
                raise RegistrationError("two actions have this name", tool=entry.name, remedy=remedy)
            self._entries[entry.name] = entry

    def get_actions_info(self) -> list[dict[str, Any]]:
        """Lagent's description of each action; the APIs of toolkits are called `Toolkit.api`."""
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

    def entries(self) -> list[Entry]:
        """All actions, as they are called."""
        return [entry for source in self._sources for entry in source.entries()]

    def tools(self) -> list[Tool]:
        """All actions, as a server offers them."""
        return [tool for source in self._sources for tool in source.tools()]


def tools_of_env(env: Env) -> list[Tool]:
    """Return the tools of all actions of *env*."""
    return env.tools()
