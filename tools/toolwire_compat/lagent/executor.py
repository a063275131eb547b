"""Several actions behind one call, for an agent that knows them all.

Strategy. Every call takes one way: a message, its hooks, the action, its hooks, a message. A call
by name becomes a message as well, so that hooks see it.
"""

from __future__ import annotations

import inspect
import warnings
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import say_unknown_name
from toolwire_schemas.language import say, use_language
from toolwire_tools.decorator import tool_api

from .action_return import ActionReturn, ActionStatusCode, ActionValidCode
from .base import BaseAction, is_async, run_to_end
from .messages import AgentMessage, RemovableHandle, read_call
from .metaclass import RUN
from .parsers import BaseParser
from .registry import make_action

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, KeysView

    from .api import ActionApi


_HOOK_METHODS = ("before_action", "after_action")


class InvalidAction(BaseAction):
    """Tells the model that there is no such action: by *err_msg*, unless a call has a better
    text.
    """

    _usual = "The action is invalid, please check the action name."

    def __init__(
        self,
        err_msg: str | None = None,
        description: Any = None,
        parser: Any = BaseParser,
        *,
        lang: str | None = None,
    ) -> None:
        super().__init__(description, parser, enable=False, lang=lang)
        with use_language(self.__toolwire_language__):
            if err_msg is None:
                err_msg = say(self._usual)
        self._err_msg = err_msg

    @tool_api
    def run(self, err_msg: Any = None) -> ActionReturn:
        """Return the error message.

        Args:
            err_msg (str, optional): what to tell instead of the usual
        """
        text = self._err_msg
        if err_msg not in (None, "", {}, []):
            text = self._parser.parse_outputs(err_msg)[0]["content"]
        return ActionReturn(
            {"text": err_msg},
            type=self.name,
            errmsg=text,
            state=ActionStatusCode.API_ERROR,
            valid=ActionValidCode.INVALID,
        )


class NoAction(InvalidAction):
    """Tells the model that its reply is not a call: by *err_msg*, unless a call has a better
    text.
    """

    _usual = "Please follow the format"


class FinishAction(BaseAction):
    """Takes the final answer; its `valid` ends the conversation."""

    def __init__(
        self, description: Any = None, parser: Any = BaseParser, *, lang: str | None = None
    ) -> None:
        super().__init__(description, parser, lang=lang)

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def run(self, response: Any) -> ActionReturn:
        """Return the final result.

        Args:
            response (str): the final result
        """
        return ActionReturn(
            {"text": response},
            type=self.name,
            result=self._parser.parse_outputs(response),
            valid=ActionValidCode.FINISH,
        )


def explain_unknown_action(name: object, known: Collection[str]) -> str:
    """Return a sentence for a model that asked for *name*: the name that it may have meant, and
    the known ones.
    """
    apis = [other for other in known if other.startswith(f"{name}.")]
    if apis:
        return say("{name!r} is a toolkit; call one of {apis}", name=name, apis=", ".join(apis))
    return say("There is {which}", which=say_unknown_name("action", name, known))


class ActionExecutor:
    """Calls actions by name, as `executor("Toolkit.api", '{"text": "hi"}')`, which returns an
    `ActionReturn`.

    Or by a message, an `AgentMessage` or a dict, whose content has `name` and `parameters`; the
    answer is an `AgentMessage` with the `ActionReturn` as its content. Hooks (see `Hook`) see both.

    *actions* may be settings as well: `{"type": "PythonInterpreter", "timeout": 5}`.
    *invalid_action* answers to unknown names, *no_action* to other messages; with
    *finish_in_action*, *finish_action* is listed with the others.

    Raises:
        TypeError: for an object that is not an action, or for an asynchronous action (see
            `AsyncActionExecutor`).
    """

    def __init__(
        self,
        actions: Any,
        invalid_action: Any = None,
        no_action: Any = None,
        finish_action: Any = None,
        finish_in_action: bool = False,
        hooks: Iterable[Any] | None = None,
    ) -> None:
        self.invalid_action = self._make(invalid_action or InvalidAction())
        self.no_action = self._make(no_action or NoAction())
        self.actions: dict[str, BaseAction] = {}
        last = self._make(finish_action) if finish_action else None
        listed = list(actions) if isinstance(actions, list | tuple) else [actions]
        if last is not None and finish_in_action:
            listed.append(last)
        for each in listed:
            action = self._make(each)
            if self.actions.get(action.name, action) is not action:
                text = f"two actions are called {action.name!r}; only the last is kept"
                warnings.warn(text, stacklevel=2)
            self.actions[action.name] = action
        # One among *actions* is meant to be the one that ends the conversation.
        self.finish_action = last or self.actions.get("FinishAction") or self._make(FinishAction())
        if finish_in_action:
            self.actions.setdefault(self.finish_action.name, self.finish_action)
        self._hooks: dict[int, Any] = {}
        for hook in hooks or ():
            self.register_hook(hook)

    def add_action(self, action: Any) -> None:
        """Add an action, in the place of one of the same name."""
        instance = self._make(action)
        self.actions[instance.name] = instance

    def del_action(self, name: str) -> None:
        """Forget the action called *name*, if there is one."""
        self.actions.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self.actions

    def __getitem__(self, name: str) -> BaseAction:
        return self.actions[name]

    def __setitem__(self, name: str, action: Any) -> None:
        self.add_action(action)  # it goes by its own name

    def __delitem__(self, name: str) -> None:
        del self.actions[name]

    def keys(self) -> KeysView[str]:
        """Return the names of the actions."""
        return self.actions.keys()

    def action_names(self, only_enable: bool = True) -> list[str]:
        """Return the names of the enabled actions, or of all."""
        if not only_enable:
            return list(self.actions)
        return [name for name, action in self.actions.items() if action.enable]

    def is_valid(self, name: str) -> bool:
        """True for the name of an enabled action, or of an API of one."""
        return name in self.action_names() or self._find(name) is not None

    def get_actions_info(self) -> list[dict[str, Any]]:
        """Return the description of each API of the enabled actions, those of toolkits called
        `Toolkit.api`.
        """
        return [{**deepcopy(api.description), "name": api.full_name} for api in self._list_apis()]

    description = get_actions_info

    def _list_apis(self) -> Iterator[ActionApi]:
        for action in self.actions.values():
            if action.enable:
                yield from action.__toolwire_apis__.values()

    def _find(self, name: str) -> tuple[BaseAction, str] | None:
        """Return the enabled action, and the name of the API, that *name* means. Either name may
        have dots in it.
        """
        for known, action in self.actions.items():
            api = RUN
            if name != known:
                if not name.startswith(f"{known}."):
                    continue
                api = name.removeprefix(f"{known}.")
            if action.enable and api in action.__toolwire_apis__:
                return action, api
        return None

    def _make(self, action: Any) -> BaseAction:
        """Return *action*, made if it is a class or settings."""
        instance = make_action(action)
        if not isinstance(instance, BaseAction):
            raise TypeError(
                f"expected an action, not {instance!r}; subclass BaseAction, or put it into an Env"
            )
        if is_async(instance) and not isinstance(self, AsyncActionExecutor):
            problem = f"the action {instance.name!r} is asynchronous"
            raise TypeError(f"{problem}; use AsyncActionExecutor")
        return instance

    def __call__(
        self,
        name: Any = None,
        inputs: Any = None,
        session_id: int = 0,
        *,
        message: Any = None,
        command: Any = None,
    ) -> Any:
        """Call the action called *name* with *inputs*, or execute the message that stands in the
        place of the name.

        *message* and *command* are Lagent's other keywords for the same two.
        """
        call, arguments = name, inputs
        if message is not None:
            call = message
        if command is not None:
            arguments = command
        execution = self._execute(call, arguments, session_id)
        if isinstance(self, AsyncActionExecutor):
            return execution
        return run_to_end(execution)

    async def _execute(self, call: Any, inputs: Any, session_id: int) -> Any:
        """Execute a message, or a call by name: waits only for what is asynchronous."""
        is_by_name = isinstance(call, str)
        message = call
        if is_by_name:
            message = AgentMessage({"name": call, "parameters": inputs})
        elif inputs is not None:  # the second argument is then the session
            session_id = inputs
        for hook in self._find_hooks("before_action"):
            message = await _wait_for(hook(self, message, session_id), message)
        name, parameters = _read_call(message)
        answer = await _wait_for(self.forward(name, parameters))
        if not hasattr(answer, "content"):
            answer = AgentMessage(answer, sender=type(self).__name__)
        for hook in self._find_hooks("after_action"):
            answer = await _wait_for(hook(self, answer, session_id), answer)
        if is_by_name:
            return answer.content
        return answer

    def forward(self, name: str, parameters: Any) -> Any:
        """Call an action without hooks."""
        action, inputs, api = self._choose(name, parameters)
        return action(inputs, api)

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Let *hook*, or the one that settings describe, see every call from now on, until the
        result's `remove()`.

        Raises:
            TypeError: if it has neither `before_action` nor `after_action`.
        """
        instance = make_action(hook)
        handlers = [getattr(instance, method, None) for method in _HOOK_METHODS]
        if not any(map(callable, handlers)):
            problem = "a hook must have before_action or after_action"
            raise TypeError(f"{problem}; {instance!r} has neither")
        handle = RemovableHandle(self._hooks)
        self._hooks[handle.id] = instance
        return handle

    def _find_hooks(self, method: str) -> list[Callable[..., Any]]:
        handlers = [getattr(hook, method, None) for hook in self._hooks.values()]
        return [handler for handler in handlers if handler is not None]

    def _choose(self, name: Any, parameters: Any) -> tuple[BaseAction, Any, str]:
        """Return the action to call, its inputs and its API; a substitute if *name* is not the name
        of an action.
        """
        if not isinstance(name, str):
            with use_language(self.no_action.__toolwire_language__):
                text = say("A call needs the name of an action, and parameters.")
            return self.no_action, text, RUN
        found = self._find(name)
        if found is not None:
            action, api = found
            return action, parameters, api
        if name == self.no_action.name:
            answer = None
            if isinstance(parameters, str):
                answer = parameters
            return self.no_action, answer, RUN
        if name == self.finish_action.name:
            return self.finish_action, parameters, RUN
        words = getattr(self.invalid_action, "_err_msg", "")
        known = [api.full_name for api in self._list_apis()]
        with use_language(self.invalid_action.__toolwire_language__):
            text = f"{words} {explain_unknown_action(name, known)}".strip()
        return self.invalid_action, text, RUN


class AsyncActionExecutor(ActionExecutor):
    """As `ActionExecutor`, to be awaited. Actions that are not asynchronous run in threads."""

    async def forward(self, name: str, parameters: Any) -> ActionReturn:
        """Call an action without hooks."""
        action, inputs, api = self._choose(name, parameters)
        if not is_async(action):
            from anyio import to_thread

            return await to_thread.run_sync(action, inputs, api)
        returned: ActionReturn = await action(inputs, api)
        return returned


def _read_call(message: Any) -> tuple[Any, Any]:
    """Return the name and the parameters in the content of *message*.

    Raises:
        TypeError: if it is not a message.
    """
    if isinstance(message, dict):
        return read_call(message.get("content", message))
    if not hasattr(message, "content"):
        raise TypeError(f"expected the name of an action or a message, not {message!r}")
    return read_call(message.content)


async def _wait_for(value: Any, default: Any = None) -> Any:
    """Return *value*, awaited if that is possible; *default* instead of None."""
    if inspect.isawaitable(value):
        value = await value
    if value is None:
        return default
    return value
