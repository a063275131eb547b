"""What an environment can take actions from, told by what a thing can do."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from toolwire_schemas.dialects.lagent import from_entry

from ..actions.action_return import ActionReturn
from ..actions.base import BaseAction
from ..actions.model_literals import Unreadable, json_value
from ..actions.registry import action_from
from ..context.unattended import UNATTENDED
from ..discovery.toolkit import constructed
from ..discovery.tools_of import tools_of
from ..errors import ArgumentsError, NotOffered
from ..lagent import description_of
from .remote_server import entries_of, is_server, tool_of, value_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..actions.api import Api
    from ..tool import Tool


class Entry(msgspec.Struct, frozen=True):
    """One action: how a model is told of it, and what calls it with what the model passed."""

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
    """What *thing* is good for.

    Raises:
        RegistrationError: if that is nothing.
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
    """Functions, toolkits, and whatever else stands for tools."""

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


def _told(api: Api) -> dict[str, Any]:
    return {**api.tool.describe(), "description": api.description["description"]}


def _act(api: Api, parameters: Any) -> Any:
    arguments = api.action._parser.parse_inputs(parameters, api.name)
    return _shown(_waited_for(lambda: api.run_async(arguments)) if api.is_async else api.run(arguments))


def _run(tool: Tool, parameters: Any) -> Any:
    arguments = _arguments(parameters)
    if tool.is_async:
        return _shown(_waited_for(lambda: tool.run_async(arguments, UNATTENDED)))
    return _shown(tool.run(arguments, UNATTENDED))


def _waited_for(start: Callable[[], Any]) -> Any:
    """What is awaited. In a thread where an event loop runs already, as in a notebook, another thread waits for it."""
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
