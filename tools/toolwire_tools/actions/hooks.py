"""What looks on when an executor calls an action, and may step in."""

from __future__ import annotations

from copy import deepcopy
from itertools import count
from typing import TYPE_CHECKING, Any

from .action_return import ActionReturn
from .messages import asked_for

if TYPE_CHECKING:
    from collections.abc import Iterator

_numbers = count()


class Hook:
    """Sees each message before and after its action. What a method returns, unless None, takes the message's place.

    An asynchronous executor awaits methods that are `async`.
    """

    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """*message* is about to be executed: its content has `name` and `parameters`."""

    def after_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """*message* is the answer: its content is an `ActionReturn`."""


class RemovableHandle:
    """A place among *hooks*, at the key `id`."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self._hooks = hooks
        self.id = next(_numbers)

    def remove(self) -> None:
        """Let the hook there see no more messages. Doing so twice does no harm."""
        self._hooks.pop(self.id, None)


class ActionPreprocessor(Hook):
    """Between an agent whose parser puts the call into `formatted`, and an executor.

    The call is made the message's content, and the answer's content becomes a text for the model. A message without
    `formatted` has its call in the content already.
    """

    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """Take the call out of `formatted`, or out of `action` in it."""
        call = message.formatted
        if call is not None:
            name, parameters = asked_for(call.get("action", call) if isinstance(call, dict) else call)
            message.content = {"name": name, "parameters": parameters}
        return message

    def after_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """Put the result in words."""
        if isinstance(message.content, ActionReturn):
            message.content = message.content.failure or message.content.format_result()
        return message


class InternLMActionProcessor(ActionPreprocessor):
    """As `ActionPreprocessor`; an `action` that is a text is code, for the first action of the executor."""

    def __init__(self, code_parameter: str = "command") -> None:
        self.code_parameter = code_parameter

    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """Take the call, or the code, out of `action` in `formatted`."""
        call = message.formatted
        if isinstance(call, dict) and isinstance(call.get("action"), str):
            message = deepcopy(message)
            message.formatted["action"] = self._call_for(call["action"], executor, session_id)
        return super().before_action(executor, message, session_id)

    def _call_for(self, code: str, executor: Any, session_id: int) -> dict[str, Any]:
        name, action = next(iter(executor.actions.items()))
        parameters: dict[str, Any] = {self.code_parameter: code}
        if any(parameter["name"] == "session_id" for parameter in action.description.get("parameters", ())):
            parameters["session_id"] = session_id
        return {"name": name, "parameters": parameters}


class MessageLogger(Hook):
    """Writes each message to the log called *name*, and to stderr unless the program says where logs go."""

    def __init__(self, name: str = "toolwire_tools") -> None:
        import logging

        self.logger = logging.getLogger(name)
        if not self.logger.hasHandlers():
            self.logger.addHandler(logging.StreamHandler())
            self.logger.setLevel(logging.INFO)

    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> None:
        """Log what is asked for."""
        self._log(message, session_id)

    def after_action(self, executor: Any, message: Any, session_id: int = 0) -> None:
        """Log what came of it."""
        self._log(message, session_id)

    def _log(self, message: Any, session_id: int) -> None:
        self.logger.info("session %s, message from %s: %s", session_id, message.sender, message.content)


def methods_of(hooks: dict[int, Any], name: str) -> Iterator[Any]:
    """The method *name* of each hook that has it, in the order of registration."""
    for hook in list(hooks.values()):
        method = getattr(hook, name, None)
        if method is not None:
            yield method
