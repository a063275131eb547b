"""Actions: classes whose objects are called with what a model wrote, and answer with an `ActionReturn`."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

from toolwire_schemas.dialects.lagent import to_entries

from .action_classes import RUN, ActionMeta, Described, NotSetUp
from .action_return import ActionReturn, ActionStatusCode
from .api import Api
from .errors import ArgumentsError, ToolError
from .failures import text_of
from .parsers import BaseParser, JsonParser, ParseError
from .suggestions import unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from .tool import Tool


class BaseAction(metaclass=ActionMeta):
    """The base of all actions.

    A subclass has a method `run`, or several decorated by `tool_api`, which makes it a toolkit. `Name()` is described
    by these methods and their docstrings, and called as `Name()('{"text": "hi"}')`, or with the name of an API of the
    toolkit as the second argument. It is served by any server, and known to `get_tool`, by its name.

    *description* takes the place of the one made from the methods; *parser* says how a model passes arguments, *lang*
    ("en" or "zh") in which language the model is told so. An action that is not enabled is left out by executors and
    servers.

    Raises:
        ValueError: if *description* is none, or has APIs that the class has not.
    """

    __tool_description__ = Described()
    """The description of the class."""

    enable = True
    """Whether executors and servers offer it."""

    _apis: ClassVar[dict[str, str]]
    _described: ClassVar[dict[str, Any]]
    _description: dict[str, Any] = NotSetUp()  # type: ignore[assignment]
    _bound: dict[str, Api] = NotSetUp()  # type: ignore[assignment]

    def __init__(
        self,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
    ) -> None:
        self._description = deepcopy(description or type(self).__tool_description__)
        if description:
            self._check(self._description)
        self._bound = {api.name: api for api in self._apis_of(by_hand=bool(description))}
        self._parser = parser(self) if lang is None else parser(self, lang=lang)
        self.enable = enable

    @property
    def name(self) -> str:
        """What it is called by."""
        name: str = self._description["name"]
        return name

    @property
    def description(self) -> dict[str, Any]:
        """What the model is told of it, the way to pass arguments included: this object's own copy."""
        return self._description

    @property
    def is_toolkit(self) -> bool:
        """True if it has several APIs, each with a name."""
        return "api_list" in self._description

    @property
    def is_async(self) -> bool:
        """True if a call of it is to be awaited: one of its APIs is `async`, or it is an `AsyncActionMixin`."""
        return isinstance(self, AsyncActionMixin) or any(api.is_async for api in self._bound.values())

    def __call__(self, inputs: Any = None, name: str = RUN) -> Any:
        """Call the API *name* with what a model wrote, and return an `ActionReturn`, to be awaited if `is_async`.

        Whatever goes wrong is told by its `state` and `errmsg`; only orders to stop, such as KeyboardInterrupt, pass.
        """
        return self._call_async(inputs, name) if self.is_async else self._call(inputs, name)

    def __repr__(self) -> str:
        return f"{self._description}"

    @staticmethod
    def __toolwire_tools__(action: BaseAction | type[BaseAction]) -> list[Tool]:
        from .served_actions import tools_of_action

        return tools_of_action(action)

    # Calls

    def _call(self, inputs: Any, name: str) -> ActionReturn:
        arguments = {"inputs": inputs, "name": name}
        try:
            api = self._api(name)
            arguments = self._parser.parse_inputs(inputs, name)
            return self._returned(arguments, api.run(arguments))
        except Exception as error:  # whoever calls for a model wants the failure as an answer
            return self._failed(arguments, error)

    async def _call_async(self, inputs: Any, name: str) -> ActionReturn:
        arguments = {"inputs": inputs, "name": name}
        try:
            api = self._api(name)
            arguments = self._parser.parse_inputs(inputs, name)
            return self._returned(arguments, await api.run_async(arguments))
        except Exception as error:
            return self._failed(arguments, error)

    def _api(self, name: str) -> Api:
        api = self._bound.get(name)
        if api is None:
            raise ToolError(f"invalid API: {name}; {self.name} has {unknown('API', name, self._bound)}")
        if not api.is_callable:
            remedy = "subclass BaseAction and write the method that does it"
            raise ToolError(f"invalid API: {name}; {self.name} is only described, nothing runs it: {remedy}")
        return api

    def _returned(self, arguments: dict[str, Any], value: Any) -> ActionReturn:
        if not isinstance(value, ActionReturn):
            return ActionReturn(arguments, type=self.name, result=self._parser.parse_outputs(value))
        value.args = value.args or arguments
        value.type = value.type or self.name
        return value

    def _failed(self, arguments: dict[str, Any], error: Exception) -> ActionReturn:
        about_arguments = isinstance(error, ParseError | ArgumentsError)
        state = ActionStatusCode.ARGS_ERROR if about_arguments else ActionStatusCode.API_ERROR
        return ActionReturn(arguments, type=self.name, errmsg=_said(error), state=state)

    # Descriptions

    def _check(self, description: dict[str, Any]) -> None:
        to_entries(description)
        for api in description.get("api_list", [description]):
            api.setdefault("parameters", [])
            api.setdefault("required", [])
        apis = type(self)._apis
        if not apis:
            return
        if ("api_list" in description) == (RUN in apis):
            problem = (
                "no toolkit: its description has no api_list" if RUN in apis else "a toolkit, and needs an api_list"
            )
            raise ValueError(f"{type(self).__name__} is {problem}")
        for api in description.get("api_list", []):
            if api["name"] not in apis:
                raise ValueError(f"{type(self).__name__} has {unknown('API', api['name'], apis)}")

    def _apis_of(self, *, by_hand: bool) -> list[Api]:
        if not self.is_toolkit:
            return [Api(self, RUN, self._description, by_hand=by_hand)]
        return [Api(self, api["name"], api, by_hand=by_hand) for api in self._description["api_list"]]


class AsyncActionMixin:
    """Put in front of an action, as in `class Search(AsyncActionMixin, BaseAction)`: all its calls are awaited."""


def _said(error: Exception) -> str:
    text, name = text_of(error), type(error).__name__
    if isinstance(error, KeyError):  # whose text is the key alone
        return f"{name}: {text}"
    return text or name
