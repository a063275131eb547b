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
from toolwire_schemas.language import say, speaking
from toolwire_tools.decorator import tool_api

from .action_return import ActionReturn, ActionStatusCode, ActionValidCode
from .base import BaseAction, is_async, run_to_end
from .messages import AgentMessage, RemovableHandle, asked_for
from .metaclass import RUN
from .parsers import BaseParser
from .registry import action_from

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, KeysView

    from .api import ActionApi


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
        with speaking(self.__toolwire_language__):
            self._err_msg = say(self._usual) if err_msg is None else err_msg

    @tool_api
    def run(self, err_msg: Any = None) -> ActionReturn:
        """Return the error message.

        Args:
            err_msg (str, optional): what to tell instead of the usual
        """
        is_given = err_msg not in (None, "", {}, [])
        return ActionReturn(
            {"text": err_msg},
            type=self.name,
            errmsg=self._parser.parse_outputs(err_msg)[0]["content"] if is_given else self._err_msg,
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


def no_such_action(name: object, known: Collection[str]) -> str:
    """A sentence for a model that asked for *name*: which it may have meant, and which there
    are.
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
        self.invalid_action = self._made(invalid_action or InvalidAction())
        self.no_action = self._made(no_action or NoAction())
        listed = actions if isinstance(actions, list | tuple) else [actions]
        given = self._made(finish_action) if finish_action else None
        self.actions: dict[str, BaseAction] = {}
        for action in [*listed, given] if given and finish_in_action else listed:
            made = self._made(action)
            if self.actions.get(made.name, made) is not made:
                warnings.warn(
                    f"two actions are called {made.name!r}; only the last is kept", stacklevel=2
                )
            self.actions[made.name] = made
        # One among *actions* is meant to be the one that ends the conversation.
        self.finish_action = given or self.actions.get("FinishAction") or self._made(FinishAction())
        if finish_in_action:
            self.actions.setdefault(self.finish_action.name, self.finish_action)
        self._hooks: dict[int, Any] = {}
        for hook in hooks or ():
            self.register_hook(hook)

    def add_action(self, action: Any) -> None:
        """Add an action, in the place of one of the same name."""
        made = self._made(action)
        self.actions[made.name] = made

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
        """The names of the actions."""
        return self.actions.keys()

    def action_names(self, only_enable: bool = True) -> list[str]:
        """The names of the enabled actions, or of all."""
        return [name for name, action in self.actions.items() if action.enable or not only_enable]

    def is_valid(self, name: str) -> bool:
        """True for the name of an enabled action, or of an API of one."""
        return name in self.action_names() or self._found(name) is not None

    def get_actions_info(self) -> list[dict[str, Any]]:
        """The description of each API of the enabled actions, those of toolkits called
        `Toolkit.api`.
        """
        return [{**deepcopy(api.description), "name": api.full_name} for api in self._apis()]

    description = get_actions_info

    def _apis(self) -> Iterator[ActionApi]:
        for action in self.actions.values():
            if action.enable:
                yield from action.__toolwire_apis__.values()

    def _found(self, name: str) -> tuple[BaseAction, str] | None:
        """The enabled action, and the name of the API, that *name* means. Either name may have dots
        in it.
        """
        for known, action in self.actions.items():
            if name == known or name.startswith(f"{known}."):
                api = RUN if name == known else name[len(known) + 1 :]
                if action.enable and api in action.__toolwire_apis__:
                    return action, api
        return None

    def _made(self, action: Any) -> BaseAction:
        made = action_from(action)
        if not isinstance(made, BaseAction):
            raise TypeError(
                f"expected an action, not {made!r}; subclass BaseAction, or put it into an Env"
            )
        if is_async(made) and not isinstance(self, AsyncActionExecutor):
            raise TypeError(f"the action {made.name!r} is asynchronous; use AsyncActionExecutor")
        return made

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
        call, inputs = name if message is None else message, inputs if command is None else command
        execution = self._execute(call, inputs, session_id)
        return execution if isinstance(self, AsyncActionExecutor) else run_to_end(execution)

    async def _execute(self, call: Any, inputs: Any, session_id: int) -> Any:
        """Execute a message, or a call by name: waits only for what is asynchronous."""
        is_name = isinstance(call, str)
        message = AgentMessage({"name": call, "parameters": inputs}) if is_name else call
        session_id = session_id if is_name or inputs is None else inputs
        for hook in self._hooks_with("before_action"):
            message = await _settled(hook(self, message, session_id), message)
        result = await _settled(self.forward(*_call_in(message)))
        answer = (
            result
            if hasattr(result, "content")
            else AgentMessage(result, sender=type(self).__name__)
        )
        for hook in self._hooks_with("after_action"):
            answer = await _settled(hook(self, answer, session_id), answer)
        return answer.content if is_name else answer

    def forward(self, name: str, parameters: Any) -> Any:
        """Call an action without hooks."""
        action, inputs, api = self._target(name, parameters)
        return action(inputs, api)

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Let *hook*, or the one that settings describe, see every call from now on, until the
        result's `remove()`.

        Raises:
            TypeError: if it has neither `before_action` nor `after_action`.
        """
        made = action_from(hook)
        if not any(
            callable(getattr(made, method, None)) for method in ("before_action", "after_action")
        ):
            raise TypeError(f"a hook must have before_action or after_action; {made!r} has neither")
        handle = RemovableHandle(self._hooks)
        self._hooks[handle.id] = made
        return handle

    def _hooks_with(self, method: str) -> list[Callable[..., Any]]:
        found = (getattr(hook, method, None) for hook in self._hooks.values())
        return [bound for bound in found if bound is not None]

    def _target(self, name: Any, parameters: Any) -> tuple[BaseAction, Any, str]:
        """Return the action to call, its inputs and its API; a substitute if *name* is not the name
        of an action.
        """
        if not isinstance(name, str):
            with speaking(self.no_action.__toolwire_language__):
                return (
                    self.no_action,
                    say("A call needs the name of an action, and parameters."),
                    "run",
                )
        if found := self._found(name):
            return found[0], parameters, found[1]
        if name == self.no_action.name:
            return self.no_action, parameters if isinstance(parameters, str) else None, "run"
        if name == self.finish_action.name:
            return self.finish_action, parameters, "run"
        words = getattr(self.invalid_action, "_err_msg", "")
        known = [api.full_name for api in self._apis()]
        with speaking(self.invalid_action.__toolwire_language__):
            return self.invalid_action, f"{words} {no_such_action(name, known)}".strip(), "run"


class AsyncActionExecutor(ActionExecutor):
    """As `ActionExecutor`, to be awaited. Actions that are not asynchronous run in threads."""

    async def forward(self, name: str, parameters: Any) -> ActionReturn:
        """Call an action without hooks."""
        action, inputs, api = self._target(name, parameters)
        if not is_async(action):
            from anyio import to_thread

            return await to_thread.run_sync(action, inputs, api)
        returned: ActionReturn = await action(inputs, api)
        return returned


def _call_in(message: Any) -> tuple[Any, Any]:
    """The name and the parameters in the content of *message*; raises a TypeError if it is not a
    message.
    """
    content = (
        message.get("content", message)
        if isinstance(message, dict)
        else getattr(message, "content", message)
    )
    if content is message and not isinstance(message, dict):
        raise TypeError(f"expected the name of an action or a message, not {message!r}")
    return asked_for(content)


async def _settled(value: Any, default: Any = None) -> Any:
    settled = await value if inspect.isawaitable(value) else value
    return default if settled is None else settled
