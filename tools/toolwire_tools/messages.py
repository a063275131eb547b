"""What agents and executors pass to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
    stream_state: int = 0
