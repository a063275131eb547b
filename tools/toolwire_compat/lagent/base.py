"""Actions: classes whose objects are called with what a model wrote, and answer with an
`ActionReturn`.
"""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

from toolwire_schemas.language import check_language, get_language, use_language
from toolwire_tools.discovery import import_named
from toolwire_tools.errors import ArgumentsError, read_message

from .action_return import ActionReturn, ActionStatusCode
from .api import ActionApi, find_api, list_apis
from .metaclass import RUN, ActionMeta, NotSetUp, complete
from .parsers import BaseParser, JsonParser, ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

_DESCRIBE_IN_CHINESE = "toolwire_bundled.chinese:describe"
"""A path, since bundled tools are above actions."""


class BaseAction(metaclass=ActionMeta):
    """The base of all actions.

    A subclass has a method `run`, or several decorated by `tool_api`, which makes it a toolkit.
    These methods and their docstrings describe it. It is called as `Name()('{"text": "hi"}')`, a
    toolkit with the name of an API as the second argument, and known to `get_tool` by its name.

    *description* replaces the one made from the methods; *parser* defines how a model passes
    arguments. *lang* ("en" or "zh", by default that of the process) is the language of the parser's
    text, of faults of arguments, and of the descriptions of bundled actions. Executors and servers
    leave out an action that is not enabled.

    Raises:
        ValueError: if *description* is malformed or has APIs that the class has not; or for another
            *lang*.
    """

    enable = True
    """Whether executors and servers offer it."""

    # Lagent's own names, which subclasses may use.
    _name: str = NotSetUp()  # type: ignore[assignment]
    _description: dict[str, Any] = NotSetUp()  # type: ignore[assignment]
    _parser: BaseParser

    __toolwire_language__: str = NotSetUp()  # type: ignore[assignment]
    __toolwire_apis__: dict[str, ActionApi] = NotSetUp()  # type: ignore[assignment]

    __toolwire_needs__: ClassVar[dict[str, str]] = {}
    """For APIs that only some settings offer: a sentence that names the setting."""

    def __init__(
        self,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
    ) -> None:
        self.__toolwire_language__ = get_language() if lang is None else check_language(lang)
        self._description = deepcopy(description or type(self).__tool_description__)
        if description:
            complete(self._description, type(self))
        elif self.__toolwire_language__ == "zh":
            import_named(_DESCRIBE_IN_CHINESE)(self._description, type(self))
        self._name = self._description["name"]
        self.__toolwire_apis__ = list_apis(self, by_hand=bool(description))
        self._parser = parser(self) if lang is None else parser(self, lang=lang)
        self.enable = enable

    @property
    def name(self) -> str:
        """The name that callers use."""
        return self._name

    @property
    def description(self) -> dict[str, Any]:
        """The description for the model, including how to pass arguments: this object's own
        copy.
        """
        return self._description

    @property
    def is_toolkit(self) -> bool:
        """True if it has several APIs, each with a name."""
        return "api_list" in self._description

    def __call__(self, inputs: Any = None, name: str = RUN) -> Any:
        """Call the API *name* with what a model wrote, and return an `ActionReturn`.

        Await the result if one of the APIs is `async`. `state` and `errmsg` report every failure;
        only KeyboardInterrupt, SystemExit and cancellations are raised.
        """
        is_async = has_async_apis(self)  # before the call: it may raise
        call = _call(self, inputs, name)
        return call if is_async else run_to_end(call)

    def __repr__(self) -> str:
        return f"{self._description}"


class AsyncActionMixin:
    """Makes all calls of an action asynchronous: `class Search(AsyncActionMixin, BaseAction)`."""

    async def __call__(self, inputs: Any = None, name: str = RUN) -> ActionReturn:
        """As `BaseAction.__call__`."""
        return await _call(self, inputs, name)  # type: ignore[arg-type]


def is_async(action: BaseAction) -> bool:
    """True if a call of *action* is to be awaited."""
    return inspect.iscoroutinefunction(type(action).__call__) or has_async_apis(action)


def has_async_apis(action: BaseAction) -> bool:
    """True if one of the APIs of *action* is `async`."""
    return any(api.is_async for api in action.__toolwire_apis__.values())


def run_to_end(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of *coroutine*, which waits for nothing; raises a TypeError if it does."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise TypeError("an asynchronous action was called without await; use AsyncActionExecutor")


async def _call(action: BaseAction, inputs: Any, name: str) -> ActionReturn:
    arguments = {"inputs": inputs, "name": name}
    with use_language(action.__toolwire_language__):
        try:
            api = find_api(action, name)
            arguments = action._parser.parse_inputs(inputs, name)
            value = await api.run_async(arguments)
            return _wrap_value(action, arguments, value)
        except Exception as error:  # a model needs the failure as an answer
            return _wrap_error(action, arguments, error)


def _wrap_value(action: BaseAction, arguments: dict[str, Any], value: Any) -> ActionReturn:
    if not isinstance(value, ActionReturn):
        return ActionReturn(arguments, type=action.name, result=action._parser.parse_outputs(value))
    value.args = value.args or arguments
    value.type = value.type or action.name
    return value


def _wrap_error(action: BaseAction, arguments: dict[str, Any], error: Exception) -> ActionReturn:
    name = type(error).__name__
    text = read_message(error)
    if isinstance(error, KeyError):  # its text is the key alone
        text = f"{name}: {text}"
    return ActionReturn(arguments, type=action.name, errmsg=text or name, state=_find_state(error))


def _find_state(error: Exception) -> ActionStatusCode:
    state = getattr(error, "state", None)
    if isinstance(state, ActionStatusCode):
        return state
    if isinstance(error, ParseError | ArgumentsError):
        return ActionStatusCode.ARGS_ERROR
    return ActionStatusCode.API_ERROR
