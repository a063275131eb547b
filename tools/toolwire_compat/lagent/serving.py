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
from toolwire_tools.construction import construct
from toolwire_tools.discovery import import_named
from toolwire_tools.errors import NotOffered, RegistrationError
from toolwire_tools.tool import Tool, make_function_handler, make_tool

from .action_return import ActionReturn
from .base import AsyncActionMixin, BaseAction, is_async
from .executor import AsyncActionExecutor

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.confirmation import Confirmation
    from toolwire_tools.options import Options

    from .api import ActionApi
    from .executor import ActionExecutor

_ENTRY_IN_CHINESE = "toolwire_bundled.chinese:translate_entry"
"""A path, since bundled tools are above actions."""


def list_action_tools(action: BaseAction | type[BaseAction]) -> list[Tool]:
    """Return a tool for each API of an action, or of one made from a class.

    Raises:
        NotOffered: if it offers nothing.
    """
    cls = action if isinstance(action, type) else type(action)
    if inspect.isabstract(cls):
        remedy = "create a subclass that implements it"
        raise NotOffered("the class is abstract", tool=cls.__name__, remedy=remedy)
    if isinstance(action, type):
        if not cls.__toolwire_methods__:
            raise _refuse_without_api(cls.__name__)
        action = _make(action)
    if not action.enable:
        raise NotOffered("it is not enabled", tool=action.name, remedy="create it with enable=True")
    is_usual = cls.__call__ in (BaseAction.__call__, AsyncActionMixin.__call__)
    tools = []
    for api in action.__toolwire_apis__.values():
        if not api.is_callable:
            continue
        tool = _make_tool(api)
        if not is_usual:  # the action's own __call__ has to see each call
            call = partial(_call, action, api.name)
            tool = _redirect(tool, call, is_async=is_async(action))
        tools.append(tool)
    if not tools:
        raise _refuse_without_api(action.name)
    return tools


def _call(action: BaseAction, api: str, arguments: dict[str, Any]) -> Any:
    return action(arguments, api)


def _refuse_without_api(name: str) -> NotOffered:
    remedy = "write a method `run`, or decorate other methods"
    return NotOffered("nothing runs it", tool=name, remedy=remedy)


def _make(cls: type[BaseAction]) -> BaseAction:
    """Return an object of *cls*. If that fails, for example without a key, a server still offers
    its other tools.
    """
    try:
        action: BaseAction = construct(cls)
    except Exception as error:
        problem = f"it cannot be created: {type(error).__name__}: {error}".rstrip(".")
        remedy = f"create the object yourself and list it: __tools__ = [{cls.__name__}(...)]"
        if isinstance(error, RegistrationError):
            problem, remedy = error.problem, error.remedy
        raise NotOffered(problem, tool=cls.__name__, remedy=remedy) from error
    return action


def list_executor_tools(executor: ActionExecutor) -> list[Tool]:
    """Return the tools of all enabled actions. If there are hooks by now, they see every call."""
    tools: list[Tool] = []
    for action in executor.actions.values():
        with suppress(NotOffered):
            tools += list_action_tools(action)
    if not executor._hooks:
        return tools
    is_awaited = isinstance(executor, AsyncActionExecutor)
    redirected = []
    for tool in tools:
        call = partial(executor, tool.entry.name_with("."))
        redirected.append(_redirect(tool, call, is_async=is_awaited))
    return redirected


def _make_tool(api: ActionApi) -> Tool:
    tool = api.as_tool()
    entry, handler = tool.entry, make_function_handler(tool)
    if entry.output_schema is not None:
        is_open = entry.output_schema == {"type": "object"}
        handler = replace(handler, present=partial(_present, handler.present, is_open))
    if api.returns_awaitable and not handler.is_generator:
        handler = replace(handler, is_async=True, runs_in_thread=True)  # it may block
    language = api.action.__toolwire_language__
    if language != "en":
        entry = replace(entry, shown=import_named(_ENTRY_IN_CHINESE)(entry.shown, api.description))
        handler = replace(handler, bind=partial(_bind_in_language, language, handler.bind))
    return Tool(entry, handler)


def _bind_in_language(language: str, bind: Callable[..., Any], *arguments: Any) -> Any:
    """Return what *bind* returns, which words faults of the arguments in *language*."""
    from toolwire_schemas.language import use_language

    with use_language(language):
        return bind(*arguments)


def _present(present: Callable[[Any], dict[str, Any]], is_open: bool, value: Any) -> dict[str, Any]:
    """Return the result for *value*, of an `ActionReturn` for its data; if the output schema
    *is_open*, any value becomes an object.
    """
    if isinstance(value, ActionReturn):
        content = value.to_content()
        if is_open and not isinstance(content, dict):
            content = value.format_result()
        value = content
    is_bare = value is None or isinstance(value, str | int | float | list | tuple)
    return present({"result": value} if is_open and is_bare else value)


def _redirect(tool: Tool, call: Callable[[dict[str, Any]], Any], *, is_async: bool) -> Tool:
    """Return *tool*, each call of which is *call* with its arguments."""
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

    own_handler = make_function_handler(tool)
    confirmation = own_handler.confirmation
    if confirmation is not None:  # about the values that the action's own method gets, and once
        confirmation = confirmation.bind_by(own_handler.bind)
        approve = _approve_async if is_async else _approve
        call_it = approve(confirmation, call)
    function: Any = call_it
    function.__self__ = getattr(entry.function, "__self__", None)
    function.__module__ = entry.function.__module__
    function.__qualname__ = entry.function.__qualname__
    made = make_tool(function, name=tool.name, options=options)
    handler = replace(
        make_function_handler(made),
        confirmation=confirmation,
        is_async=is_async,
        notices_cancellation=is_async,
    )
    return Tool(replace(made.entry, parts=entry.parts), handler)


def _approve(
    confirmation: Confirmation, call: Callable[[dict[str, Any]], Any]
) -> Callable[..., Any]:
    def call_it(**arguments: Any) -> Any:
        with confirmation.keep_approved(arguments):
            return call(arguments)

    return call_it


def _approve_async(
    confirmation: Confirmation, call: Callable[[dict[str, Any]], Any]
) -> Callable[..., Any]:
    async def call_it(**arguments: Any) -> Any:
        with confirmation.keep_approved(arguments):
            return await call(arguments)

    return call_it
