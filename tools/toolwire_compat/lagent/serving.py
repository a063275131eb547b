"""Actions and executors as the tools of a server.

Strategy. A server checks arguments and presents results itself, so it calls the methods directly:
parsers and the texts of an `ActionReturn` are for models that call an action without a server. Only
where hooks, or a `__call__` of the action's own, have to see each call does it call the executor or
the action.
"""

from __future__ import annotations

import inspect
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from toolwire_tools.discovery import constructed, named_by
from toolwire_tools.errors import NotOffered, RegistrationError
from toolwire_tools.tool import Tool, function_handler, make_tool

from .action_return import ActionReturn
from .base import AsyncActionMixin, BaseAction, is_async
from .executor import AsyncActionExecutor

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.confirmation import Confirmation
    from toolwire_tools.options import Options

    from .api import ActionApi
    from .executor import ActionExecutor

_ENTRY_IN_CHINESE = "toolwire_bundled.chinese:entry"
"""A path, since bundled tools are above actions."""


def tools_of_action(action: BaseAction | type[BaseAction]) -> list[Tool]:
    """A tool for each API of an action, or of one made from a class; raises NotOffered if it offers
    nothing.
    """
    cls = action if isinstance(action, type) else type(action)
    if inspect.isabstract(cls):
        raise NotOffered(
            "the class is abstract",
            tool=cls.__name__,
            remedy="create a subclass that implements it",
        )
    if isinstance(action, type) and not cls.__toolwire_methods__:
        raise _nothing_runs(cls.__name__)
    made = _made(action) if isinstance(action, type) else action
    if not made.enable:
        raise NotOffered("it is not enabled", tool=made.name, remedy="create it with enable=True")
    callable_ = [api for api in made.__toolwire_apis__.values() if api.is_callable]
    if not callable_:
        raise _nothing_runs(made.name)
    tools = [_tool(api) for api in callable_]
    if cls.__call__ in (BaseAction.__call__, AsyncActionMixin.__call__):
        return tools
    calls = [partial(_call, made, api.name) for api in callable_]
    return [
        _by_way_of(call, tool, is_async=is_async(made))
        for call, tool in zip(calls, tools, strict=True)
    ]


def _call(action: BaseAction, api: str, arguments: dict[str, Any]) -> Any:
    return action(arguments, api)


def _nothing_runs(name: str) -> NotOffered:
    return NotOffered(
        "nothing runs it", tool=name, remedy="write a method `run`, or decorate other methods"
    )


def _made(cls: type[BaseAction]) -> BaseAction:
    """Return an object of *cls*. If that fails, for example without a key, a server still offers
    its other tools.
    """
    try:
        made: BaseAction = constructed(cls)
    except Exception as error:
        problem = f"it cannot be created: {type(error).__name__}: {error}".rstrip(".")
        remedy = f"create the object yourself and list it: __tools__ = [{cls.__name__}(...)]"
        if isinstance(error, RegistrationError):
            problem, remedy = error.problem, error.remedy
        raise NotOffered(problem, tool=cls.__name__, remedy=remedy) from error
    return made


def tools_of_executor(executor: ActionExecutor) -> list[Tool]:
    """The tools of all enabled actions. If there are hooks by now, they see every call."""
    tools: list[Tool] = []
    for action in executor.actions.values():
        with suppress(NotOffered):
            tools += tools_of_action(action)
    if not executor._hooks:
        return tools
    waits = isinstance(executor, AsyncActionExecutor)
    return [
        _by_way_of(partial(executor, tool.entry.name_with(".")), tool, is_async=waits)
        for tool in tools
    ]


def _tool(api: ActionApi) -> Tool:
    tool = api.as_tool()
    entry, handler = tool.entry, function_handler(tool)
    if entry.output_schema is not None:
        is_open = entry.output_schema == {"type": "object"}
        handler = replace(handler, present=partial(_present, handler.present, is_open))
    if api.returns_awaitable and not handler.is_generator:
        handler = replace(handler, is_async=True, runs_in_thread=True)  # it may block
    language = api.action.__toolwire_language__
    if language != "en":
        entry = replace(entry, shown=named_by(_ENTRY_IN_CHINESE)(entry.shown, api.description))
        handler = replace(handler, bind=partial(_bind_in_language, language, handler.bind))
    return Tool(entry, handler)


def _bind_in_language(language: str, bind: Callable[..., Any], *arguments: Any) -> Any:
    """Return what *bind* returns, which words faults of the arguments in *language*."""
    from toolwire_schemas.language import speaking

    with speaking(language):
        return bind(*arguments)


def _present(present: Callable[[Any], dict[str, Any]], is_open: bool, value: Any) -> dict[str, Any]:
    """Present *value*, of an `ActionReturn` the data; if the output schema *is_open*, any value
    becomes an object.
    """
    if isinstance(value, ActionReturn):
        content = value.to_content()
        value = content if isinstance(content, dict) or not is_open else value.format_result()
    is_bare = value is None or isinstance(value, str | int | float | list | tuple)
    return present({"result": value} if is_open and is_bare else value)


def _by_way_of(call: Callable[[dict[str, Any]], Any], tool: Tool, *, is_async: bool) -> Tool:
    """The tool, each call of which is *call* with its arguments."""
    entry = tool.entry
    options: Options = replace(
        entry.options,
        input_schema=entry.shown["inputSchema"],
        output_schema=None,
        description=entry.shown.get("description"),
        confirm=None,
        meta=entry.shown.get("_meta"),
    )

    def call_it(**arguments: Any) -> Any:
        return call(arguments)

    own_handler = function_handler(tool)
    confirmation = own_handler.confirmation
    if confirmation is not None:  # about the values that the action's own method gets, and once
        confirmation = confirmation.by(own_handler.bind)
        approve = _approved_async if is_async else _approved
        call_it = approve(confirmation, call)
    function: Any = call_it
    function.__self__ = getattr(entry.function, "__self__", None)
    function.__module__ = entry.function.__module__
    function.__qualname__ = entry.function.__qualname__
    made = make_tool(function, name=tool.name, options=options)
    handler = replace(
        function_handler(made),
        confirmation=confirmation,
        is_async=is_async,
        notices_cancellation=is_async,
    )
    return Tool(replace(made.entry, parts=entry.parts), handler)


def _approved(asks: Confirmation, call: Callable[[dict[str, Any]], Any]) -> Callable[..., Any]:
    def call_it(**arguments: Any) -> Any:
        with asks.approved(arguments):
            return call(arguments)

    return call_it


def _approved_async(
    asks: Confirmation, call: Callable[[dict[str, Any]], Any]
) -> Callable[..., Any]:
    async def call_it(**arguments: Any) -> Any:
        with asks.approved(arguments):
            return await call(arguments)

    return call_it
