"""What agents and executors pass to each other."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from enum import IntEnum
from typing import Any


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
    """How far an agent is with its reply: as `ModelStatusCode`, and with what it does meanwhile."""

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
    """The content of a message that asks for an action: its name, and what the model wrote as parameters."""

    name: str
    parameters: dict[str, Any] | str


@dataclass
class AgentMessage:
    """A message from *sender*; any object with these attributes serves as one.

    To an executor, *content* is a `FunctionCall` or a dict with `name` and `parameters`; from it, an `ActionReturn`.
    """

    content: Any
    sender: str = "user"
    formatted: Any = None
    extra_info: Any = None
    type: str | None = None
    receiver: str | None = None
    stream_state: ModelStatusCode | AgentStatusCode | int = AgentStatusCode.END

    # Lagent's is a model of pydantic's, and hooks copy messages before they change them.

    def model_copy(self, *, update: dict[str, Any] | None = None, deep: bool = False) -> AgentMessage:
        """A copy with other values for what *update* names; with *deep*, what is in it is copied as well."""
        return replace(deepcopy(self) if deep else self, **update or {})

    copy = model_copy

    def model_dump(self) -> dict[str, Any]:
        """The members as a dict."""
        return asdict(self)


def asked_for(call: Any) -> tuple[Any, Any]:
    """The name and the parameters of a `FunctionCall`, or of a dict; None for what is not there."""
    if isinstance(call, dict):
        return call.get("name"), call.get("parameters")
    return getattr(call, "name", None), getattr(call, "parameters", None)
