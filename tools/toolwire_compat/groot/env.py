"""Groot's environment: one call for everything an agent may use."""

from __future__ import annotations

import inspect
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_dialects.lagent import from_entry
from toolwire_tools.api_description import description_of
from toolwire_tools.context.context import NULL_CALLER
from toolwire_tools.discovery import constructed, tools_of
from toolwire_tools.errors import ArgumentsError, RegistrationError, ToolError
from toolwire_tools.options import Options
from toolwire_tools.tool import Tool, function_handler, make_tool

from ..lagent.action_return import ActionReturn
from ..lagent.base import BaseAction
from ..lagent.executor import no_such_action
from ..lagent.model_literals import NotALiteral, json_value
from ..lagent.registry import action_from

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


def _read(thing: Any) -> tuple[list[EnvEntry], Callable[[], list[Tool]]]:
    """Return the actions of *thing*, and the function that returns them as a server offers them."""
    if isinstance(thing, dict):
        thing = action_from(thing)
    elif isinstance(thing, type) and issubclass(thing, BaseAction):
        thing = constructed(thing)
    if isinstance(thing, BaseAction):
        apis = [api for api in thing.__toolwire_apis__.values() if api.is_callable and thing.enable]
        return [_entry_of_api(api) for api in apis], lambda: tools_of(thing) if apis else []
    is_server = callable(getattr(thing, "list_tools", None)) and callable(
        getattr(thing, "call_tool", None)
    )
    if is_server and not isinstance(thing, type):
        listed = _listed(thing)
        entries = [
            EnvEntry(
                entry["name"],
                from_entry(entry),
                partial(dict, entry),
                partial(_call_server, thing, entry["name"]),
            )
            for entry in listed
        ]
        return entries, lambda: [_tool(entry, thing) for entry in listed]
    tools = tools_of(thing)
    return [_entry_of_tool(tool) for tool in tools], lambda: tools


def _entry_of_api(api: ActionApi) -> EnvEntry:
    """Return the entry of an API of an action, whose parser reads what a model passes."""

    def call(parameters: Any) -> Any:
        arguments = api.action._parser.parse_inputs(parameters, api.name)
        return _result(api.run_async(arguments) if api.is_async else api.run(arguments))

    return EnvEntry(
        api.full_name, {**api.description, "name": api.full_name}, lambda: api.tool.describe(), call
    )


def _entry_of_tool(tool: Tool) -> EnvEntry:
    def call(parameters: Any) -> Any:
        run = handler.run_async if handler.is_async else handler.run
        return _result(run(_arguments(parameters), NULL_CALLER))

    handler, entry = function_handler(tool), tool.entry
    name = entry.name_with(".")
    description = description_of(entry.function, entry.options, name=name)
    return EnvEntry(name, description, tool.describe, call)


def _arguments(parameters: Any) -> dict[str, Any]:
    try:
        arguments = json_value(parameters) if isinstance(parameters, str) else parameters
    except NotALiteral as error:
        raise ArgumentsError([("parameters", f"no JSON: {error}")]) from None
    if arguments is not None and not isinstance(arguments, dict):
        raise ArgumentsError([("parameters", f"pass an object, not {type(arguments).__name__}")])
    return arguments or {}


def _result(value: Any) -> Any:
    """Return *value* for an agent: of a coroutine its result, of an `ActionReturn` the text."""
    if inspect.iscoroutine(value):
        value = _awaited(value)
    return value.failure or value.format_result() if isinstance(value, ActionReturn) else value


def _awaited(value: Any) -> Any:
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
        for entries, tools in map(_read, things):
            self._tools.append(tools)
            for entry in entries:
                if self._entries.setdefault(entry.name, entry) is not entry:
                    remedy = "omit one, or give it another name"
                    raise RegistrationError(
                        "two actions have this name", tool=entry.name, remedy=remedy
                    )

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
        entry = self._entries.get(name) or self._entries.get(str(name).removesuffix(".run"))
        if entry is None:
            entry = next(
                (entry for entry in self._entries.values() if entry.describe().get("name") == name),
                None,
            )
        if entry is None:
            return no_such_action(name, self._entries)
        return entry.call(parameters)

    def tools(self) -> list[Tool]:
        """Return all actions, as a server offers them."""
        return [tool for tools in self._tools for tool in tools()]


def tools_of_env(env: Env) -> list[Tool]:
    """Return the tools of all actions of *env*."""
    return env.tools()


# --- connected servers ---

# Clients differ in how they spell what MCP defines: entries and results may be dicts, or objects
# with names in either style. Only the members that are needed are looked for, under all of their
# names.


def _listed(server: Any) -> list[dict[str, Any]]:
    """Return the entries of MCP's `tools/list` for the tools of *server*."""
    kind = type(server).__name__
    if inspect.iscoroutinefunction(server.list_tools) or inspect.iscoroutinefunction(
        server.call_tool
    ):
        raise RegistrationError(
            "its methods are asynchronous", tool=kind, remedy="pass a synchronous client"
        )
    entries = []
    listed = server.list_tools()
    for item in _member(listed, "tools", default=listed):
        found = {
            "name": _member(item, "name"),
            "description": _member(item, "description"),
            "inputSchema": _member(item, "inputSchema", "input_schema") or {"type": "object"},
            "outputSchema": _member(item, "outputSchema", "output_schema"),
        }
        if not isinstance(found["name"], str) or not found["name"]:
            raise RegistrationError(
                "it lists a tool without a name", tool=kind, remedy="fix the server"
            )
        entries.append({member: value for member, value in found.items() if value})
    return entries


def _tool(entry: dict[str, Any], server: Any) -> Tool:
    """Return the tool of *entry*, which calls *server*."""

    def call(**arguments: Any) -> Any:
        return _value(
            server.call_tool(entry["name"], arguments), as_promised="outputSchema" in entry
        )

    schemas = {"input_schema": entry["inputSchema"], "output_schema": entry.get("outputSchema")}
    call.__self__ = server  # type: ignore[attr-defined]
    return make_tool(
        call, name=entry["name"], options=Options(description=entry.get("description"), **schemas)
    )


def _call_server(server: Any, name: str, parameters: Any) -> Any:
    return _value(server.call_tool(name, _arguments(parameters)))


def _value(result: Any, *, as_promised: bool = False) -> Any:
    """Return the result of a call as a Python value: data if there is any, else the text, else the
    content blocks.

    With *as_promised*, the data are what the output schema describes. Raises a ToolError if the
    tool failed.
    """
    content = _member(result, "content")
    if content is None:
        return result
    blocks = [_block(block) for block in content]
    texts = [block.get("text", "") for block in blocks if block.get("type") == "text"]
    if _member(result, "isError", "is_error"):
        raise ToolError("\n".join(texts) or "The tool failed without a message.")
    data = _member(result, "structuredContent", "structured_content", "structured")
    if data is None and not as_promised:
        return "\n".join(texts) if len(texts) == len(blocks) else blocks
    # A value that is not an object is sent as the only member of one.
    is_wrapped = isinstance(data, dict) and data.keys() == {"result"}
    return data["result"] if is_wrapped and not as_promised else data


def _block(block: Any) -> dict[str, Any]:
    if isinstance(block, dict):
        return block
    dump = getattr(block, "model_dump", None)
    made: dict[str, Any] = (
        dump(mode="json", by_alias=True, exclude_none=True) if dump else dict(vars(block))
    )
    return made


def _member(thing: Any, *names: str, default: Any = None) -> Any:
    """Return the first of these members or attributes that *thing* has and that is not None."""
    found = (
        thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None) for name in names
    )
    return next((value for value in found if value is not None), default)
