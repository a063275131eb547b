"""Actions and executors as the tools of a server.

Strategy. A server checks arguments itself and presents what a method returns, so the method is called directly: the
parser, and the texts of an `ActionReturn`, are for models that call an action without a server. Only hooks, and actions
with a `__call__` of their own, want to see each call; with them a call takes the executor's or the action's own way.
"""

from __future__ import annotations

import inspect
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any

import msgspec

from ..discovery import constructed, named_by
from ..errors import NotOffered, RegistrationError
from ..tool import Tool
from .action_return import ActionReturn
from .base import AsyncActionMixin, BaseAction, is_async
from .executor import AsyncActionExecutor

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..options import Options
    from .api import ActionApi
    from .executor import ActionExecutor

_ENTRY_IN_CHINESE = "toolwire_tools.bundled.chinese:entry"
"""A path, since bundled tools are above actions."""

_ANY_OBJECT = {"type": "object"}


def tools_of_action(action: BaseAction | type[BaseAction]) -> list[Tool]:
    """A tool for each API of an action, or of one made from a class without arguments.

    Raises:
        NotOffered: if it is not enabled, abstract, or only described, or if the class cannot be made without more.
        RegistrationError: if an API cannot be a tool.
    """
    cls = action if isinstance(action, type) else type(action)
    if inspect.isabstract(cls):
        raise NotOffered("the class is abstract", tool=cls.__name__, remedy="make a subclass that implements it")
    if isinstance(action, type) and not cls.__toolwire_methods__:
        raise _nothing_runs(cls.__name__)
    made = _made(action) if isinstance(action, type) else action
    if not made.enable:
        raise NotOffered("it is not enabled", tool=made.name, remedy="make it with enable=True")
    callable_ = [api for api in made.__toolwire_apis__.values() if api.is_callable]
    if not callable_:
        raise _nothing_runs(made.name)
    tools = [_tool(api) for api in callable_]
    if cls.__call__ in (BaseAction.__call__, AsyncActionMixin.__call__):
        return tools
    calls = [partial(_call, made, api.name) for api in callable_]
    return [_by_way_of(call, tool, is_async=is_async(made)) for call, tool in zip(calls, tools, strict=True)]


def _call(action: BaseAction, api: str, arguments: dict[str, Any]) -> Any:
    return action(arguments, api)


def _nothing_runs(name: str) -> NotOffered:
    return NotOffered("nothing runs it", tool=name, remedy="write a method `run`, or decorate others")


def _made(cls: type[BaseAction]) -> BaseAction:
    """Return an object of *cls*. If that fails, for example without a key, a server still offers its other tools."""
    try:
        made: BaseAction = constructed(cls)
    except RegistrationError as error:
        raise NotOffered(error.problem, tool=cls.__name__, remedy=error.remedy) from error
    except Exception as error:
        problem = f"it cannot be made: {type(error).__name__}: {error}".rstrip(".")
        remedy = f"make the object yourself and list it: __tools__ = [{cls.__name__}(...)]"
        raise NotOffered(problem, tool=cls.__name__, remedy=remedy) from error
    return made


def tools_of_executor(executor: ActionExecutor | AsyncActionExecutor) -> list[Tool]:
    """The tools of all enabled actions. If there are hooks by now, they see every call."""
    tools = []
    for action in executor.actions.values():
        try:
            tools += tools_of_action(action)
        except NotOffered:
            continue
    if not executor._hooks:
        return tools
    waits = isinstance(executor, AsyncActionExecutor)
    return [_by_way_of(partial(executor, tool.name), tool, is_async=waits) for tool in tools]


def _tool(api: ActionApi) -> Tool:
    tool = _plain(api)
    if api.action.__toolwire_language__ == "en":
        return tool
    entry = named_by(_ENTRY_IN_CHINESE)(tool.describe(), api.description)
    return tool.in_language(api.action.__toolwire_language__, entry)


def _plain(api: ActionApi) -> Tool:
    options = msgspec.structs.replace(api.options, description=api.description.get("description") or None)
    members = api.description.get("return_data", [])
    hinted = Tool(api.method, name=api.full_name, options=options, return_data=members)
    schema = hinted.output_schema
    if _is_generator(api.method) or (schema is None and not api.returns_awaitable):
        return hinted
    kind = _AnsweringLater if api.is_async or api.returns_awaitable else _Answering
    method = kind(api, is_open=schema == _ANY_OBJECT)
    return Tool(method, name=api.full_name, options=options, return_data=members)


def _is_generator(method: Callable[..., Any]) -> bool:
    return inspect.isgeneratorfunction(method) or inspect.isasyncgenfunction(method)


class _Answering:
    """The method of an API that promises data: an `ActionReturn` is answered as what it says.

    If any object will do (*is_open*), what is no object becomes one.
    """

    def __init__(self, api: ActionApi, *, is_open: bool) -> None:
        update_wrapper(self, api.method)
        self.__self__ = api.action
        self._method = api.method
        self._is_open = is_open

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        return self._shown(self._method(*positional, **keywords))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Answering) and self._method == other._method

    def __hash__(self) -> int:
        return hash(self._method)

    def _shown(self, value: Any) -> Any:
        if isinstance(value, ActionReturn):
            content = value.to_content()
            value = content if isinstance(content, dict) or not self._is_open else value.format_result()
        is_bare = value is None or isinstance(value, str | int | float | list | tuple)
        return {"result": value} if self._is_open and is_bare else value


class _AnsweringLater(_Answering):
    """As `_Answering`, for an action that is awaited. A method that is not async may block, and runs in a thread."""

    def __init__(self, api: ActionApi, *, is_open: bool) -> None:
        super().__init__(api, is_open=is_open)
        self._in_thread = api.returns_awaitable

    async def __call__(self, *positional: Any, **keywords: Any) -> Any:
        if self._in_thread:
            from anyio import to_thread

            value = await to_thread.run_sync(partial(self._method, *positional, **keywords))
        else:
            value = self._method(*positional, **keywords)
        while inspect.isawaitable(value):
            value = await value
        return self._shown(value)


def _by_way_of(call: Callable[[dict[str, Any]], Any], tool: Tool, *, is_async: bool) -> Tool:
    """The tool, each call of which is *call* with its arguments."""
    described = tool.describe()
    options: Options = msgspec.structs.replace(
        tool.options,
        input_schema=described["inputSchema"],
        output_schema=None,
        description=described.get("description"),
    )

    def call_now(**arguments: Any) -> Any:
        return call(arguments)

    async def call_later(**arguments: Any) -> Any:
        return call(arguments)  # a tool awaits what it gets until there is nothing to await

    function: Any = call_later if is_async else call_now
    function.__self__ = getattr(tool.function, "__self__", None)
    function.__module__, function.__qualname__ = tool.function.__module__, tool.function.__qualname__
    return Tool(function, name=tool.name, options=options)
