"""What can go wrong with a tool.

TypeError
└─ RegistrationError    you described a tool that cannot be offered
   ├─ NotOffered        it could be, and is not meant to be as it is
   └─ MadeForFastMCP    only FastMCP, or MCP's Python SDK, can serve it
Exception
├─ ToolError            the tool says, in its own words, that it failed
│  ├─ ArgumentsError    the caller sent arguments the tool does not take
│  └─ NotAnswered       the user was asked and gave no usable answer
│     ├─ CannotAsk      the client has no way to ask
│     ├─ Declined       the user said no
│     └─ Dismissed      the user closed the question
└─ OutputError          the tool returned what its output schema refuses
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ArgumentsError",
    "CannotAsk",
    "Declined",
    "Dismissed",
    "NotAnswered",
    "NotOffered",
    "OutputError",
    "RegistrationError",
    "ToolError",
]


class RegistrationError(TypeError):
    """A tool that cannot be offered, with the parameter at fault and what to do about it."""

    def __init__(self, problem: str, *, tool: str, parameter: str | None = None, remedy: str = "") -> None:
        self.problem = problem
        self.tool = tool
        self.parameter = parameter
        self.remedy = remedy
        where = f"tool {tool!r}" + (f", {parameter}" if parameter else "")
        super().__init__(f"{where}: {problem}" + (f"; {remedy}" if remedy else ""))


class NotOffered(RegistrationError):
    """An action that is no tool as it is: not enabled, abstract, only described, or not to be made without more."""


class MadeForFastMCP(RegistrationError):
    """A server, tool or module made for FastMCP or MCP's Python SDK."""

    PROBLEM = "made for FastMCP, whose servers and tools Toolwire does not serve"
    REMEDY = "run it with FastMCP, or put @tool_api (from toolwire import tool_api) on the functions instead"

    def __init__(self, name: str) -> None:
        super().__init__(f"it is {self.PROBLEM}", tool=name, remedy=self.REMEDY)


class ToolError(Exception):
    """A failure of the tool whose text reaches the caller word for word."""


class ArgumentsError(ToolError):
    """Arguments that a tool does not take.

    *faults* holds a pair for each one: the place (`arguments.items[2].count`) and a sentence. *private* says that the
    sentences are messages of exceptions raised by the tool author's code, such as a dataclass's `__post_init__`.
    """

    def __init__(self, faults: Iterable[tuple[str, str]], *, private: bool = False) -> None:
        self.faults = list(faults)
        self.private = private
        super().__init__(in_sentences(self.faults))


class NotAnswered(ToolError):
    """A question of the tool's that the user did not answer, or not in a way that fits."""


class CannotAsk(NotAnswered):
    """The client that made this call has no way to ask its user."""


class Declined(NotAnswered):
    """The user said no to the question itself."""


class Dismissed(NotAnswered):
    """The user closed the question without choosing."""


class OutputError(Exception):
    """A result that the tool's own output schema refuses, or that JSON cannot express.

    *faults* holds a pair for each one: the place (`result.items[2].count`) and a sentence.
    """

    def __init__(self, faults: Iterable[tuple[str, str]]) -> None:
        self.faults = list(faults)
        super().__init__(in_sentences(self.faults))


def in_sentences(faults: Iterable[tuple[str, str]]) -> str:
    """The faults as text, one to a line."""
    return "\n".join(f"{place}: {sentence}" for place, sentence in faults)
