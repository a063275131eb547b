"""Actions: classes whose objects are called with what a model wrote, and answer with an `ActionReturn`."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

from toolwire_schemas.language import checked, language

from . import action_calls
from .api import Api, apis_of
from .metaclass import RUN, ActionMeta, NotSetUp, complete
from .parsers import BaseParser, JsonParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tool import Tool
    from .action_return import ActionReturn


class BaseAction(metaclass=ActionMeta):
    """The base of all actions.

    A subclass has a method `run`, or several decorated by `tool_api`, which makes it a toolkit. `Name()` is described
    by these methods and their docstrings (`Name.__tool_description__` is what the class says of itself), and called as
    `Name()('{"text": "hi"}')`, or with the name of an API of the toolkit as the second argument. It is served by any
    server, and known to `get_tool`, by its name.

    *description* takes the place of the one made from the methods; *parser* says how a model passes arguments. *lang*
    ("en" or "zh", that of the process by default) is the language of the parser's text, of faults of arguments, and
    of the descriptions of bundled actions. An action that is not enabled is left out by executors and servers.

    Raises:
        ValueError: if *description* is none, or has APIs that the class has not; or for another *lang*.
    """

    enable = True
    """Whether executors and servers offer it."""

    # What subclasses may know by Lagent's own names.
    _name: str = NotSetUp()  # type: ignore[assignment]
    _description: dict[str, Any] = NotSetUp()  # type: ignore[assignment]
    _parser: BaseParser

    __toolwire_language__: str = NotSetUp()  # type: ignore[assignment]
    __toolwire_apis__: dict[str, Api] = NotSetUp()  # type: ignore[assignment]

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
        self.__toolwire_language__ = language() if lang is None else checked(lang)
        self._description = deepcopy(description or type(self).__tool_description__)
        if description:
            complete(self._description, type(self))
        elif self.__toolwire_language__ == "zh":
            from ..bundled.chinese import describe

            describe(self._description, type(self))
        self._name = self._description["name"]
        self.__toolwire_apis__ = apis_of(self, by_hand=bool(description))
        self._parser = parser(self) if lang is None else parser(self, lang=lang)
        self.enable = enable

    @property
    def name(self) -> str:
        """What it is called by."""
        return self._name

    @property
    def description(self) -> dict[str, Any]:
        """What the model is told of it, the way to pass arguments included: this object's own copy."""
        return self._description

    @property
    def is_toolkit(self) -> bool:
        """True if it has several APIs, each with a name."""
        return "api_list" in self._description

    def __call__(self, inputs: Any = None, name: str = RUN) -> Any:
        """Call the API *name* with what a model wrote, and return an `ActionReturn`.

        It is to be awaited if one of the APIs is `async`. Whatever goes wrong is told by its `state` and `errmsg`; only
        orders to stop, such as KeyboardInterrupt, pass.
        """
        call = action_calls.call_async if action_calls.has_async_apis(self) else action_calls.call
        return call(self, inputs, name)

    def __repr__(self) -> str:
        return f"{self._description}"

    @staticmethod
    def __toolwire_tools__(action: BaseAction | type[BaseAction]) -> list[Tool]:
        from .serving import tools_of_action

        return tools_of_action(action)


class AsyncActionMixin:
    """Put in front of an action, as in `class Search(AsyncActionMixin, BaseAction)`: all its calls are awaited."""

    async def __call__(self, inputs: Any = None, name: str = RUN) -> ActionReturn:
        """As `BaseAction.__call__`."""
        return await action_calls.call_async(self, inputs, name)  # type: ignore[arg-type]
