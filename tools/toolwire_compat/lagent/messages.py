"""Messages between agents and executors, and hooks that see them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from enum import IntEnum
from itertools import count
from typing import Any

from .action_return import ActionReturn


class ModelStatusCode(IntEnum):
    """How far a model is with its reply; the failures are negative."""

    END = 0
    STREAM_ING = 1
    SESSION_READY = 2
    SERVER_ERR = -1
    SESSION_CLOSED = -2
    SESSION_OUT_OF_LIMIT = -3
    SESSION_INVALID_ARG = -4


class AgentStatusCode(IntEnum):
    """How far an agent is with its reply: as `ModelStatusCode`, and with its current activity."""

    END = 0
    STREAM_ING = 1
    SESSION_READY = 2
    PLUGIN_START = 3
    PLUGIN_END = 4
    PLUGIN_RETURN = 5
    CODING = 6
    CODE_END = 7
    CODE_RETURN = 8
    ANSWER_ING = 9
    SERVER_ERR = -1
    SESSION_CLOSED = -2
    SESSION_OUT_OF_LIMIT = -3
    SESSION_INVALID_ARG = -4


@dataclass
class FunctionCall:
    """The content of a message that asks for an action: its name, and what the model wrote as
    parameters.
    """

    name: str
    parameters: dict[str, Any] | str


@dataclass
class AgentMessage:
    """A message from *sender*; any object with these attributes serves as one.

    To an executor, *content* is a `FunctionCall` or a dict with `name` and `parameters`; from it,
    an `ActionReturn`.
    """

    content: Any
    sender: str = "user"
    formatted: Any = None
    extra_info: Any = None
    type: str | None = None
    receiver: str | None = None
    stream_state: ModelStatusCode | AgentStatusCode | int = AgentStatusCode.END

    # Lagent's is a model of pydantic's, and hooks copy messages before they change them.

    def model_copy(
        self, *, update: dict[str, Any] | None = None, deep: bool = False
    ) -> AgentMessage:
        """Return a copy with the members of *update*; with *deep*, its values are copied too."""
        original = deepcopy(self) if deep else self
        return replace(original, **update or {})

    copy = model_copy

    def model_dump(self) -> dict[str, Any]:
        """Return the members as a dict."""
        return asdict(self)


def read_call(call: Any) -> tuple[Any, Any]:
    """Return the name and the parameters of a `FunctionCall`, or of a dict; None for a missing
    one.
    """
    if isinstance(call, dict):
        return call.get("name"), call.get("parameters")
    return getattr(call, "name", None), getattr(call, "parameters", None)


_numbers = count()


class Hook:
    """Receives each message before and after its action. A value that a method returns replaces the
    message.

    An asynchronous executor awaits methods that are `async`.
    """

    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """Receive the request *message*, whose content has `name` and `parameters`."""

    def after_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """Receive the answer *message*, whose content is an `ActionReturn`."""


class RemovableHandle:
    """A place among *hooks*, at the key `id`."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self._hooks = hooks
        self.id = next(_numbers)

    def remove(self) -> None:
        """Remove the hook; a second time does nothing."""
        self._hooks.pop(self.id, None)


class ActionPreprocessor(Hook):
    """Between an agent whose parser puts the call into `formatted`, and an executor.

    The call is made the message's content, and the answer's content becomes a text for the model. A
    message without `formatted` has its call in the content already.
    """

    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """Take the call out of `formatted`, or out of `action` in it."""
        call = message.formatted
        if call is not None:
            if isinstance(call, dict):
                call = call.get("action", call)
            name, parameters = read_call(call)
            message.content = {"name": name, "parameters": parameters}
        return message

    def after_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """Replace the result by its text."""
        if isinstance(message.content, ActionReturn):
            message.content = message.content.failure or message.content.format_result()
        return message


class InternLMActionProcessor(ActionPreprocessor):
    """As `ActionPreprocessor`; an `action` that is a text is code, for the first action of the
    executor.
    """

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
        for parameter in action.description.get("parameters", ()):
            if parameter["name"] == "session_id":
                parameters["session_id"] = session_id
        return {"name": name, "parameters": parameters}


class MessageLogger(Hook):
    """Writes each message to the log called *name*, and to stderr unless the program says where
    logs go.
    """

    def __init__(self, name: str = "toolwire_tools") -> None:
        import logging

        self.logger = logging.getLogger(name)
        if not self.logger.hasHandlers():
            self.logger.addHandler(logging.StreamHandler())
            self.logger.setLevel(logging.INFO)

    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> None:
        """Log the message."""
        self.logger.info(
            "session %s, message from %s: %s", session_id, message.sender, message.content
        )

    after_action = before_action
