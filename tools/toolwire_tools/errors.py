"""What can go wrong with a tool, and the answer to a call that failed.

TypeError
└─ RegistrationError    you described a tool that cannot be offered
   ├─ NotOffered        it could be, and is not meant to be as it is
   └─ MadeForFastMCP    only FastMCP, or MCP's Python SDK, can serve it
Exception
├─ ToolError            the tool says, in its own words, that it failed
│  ├─ ArgumentsError    the caller sent arguments the tool does not take
│  └─ NotAnswered       the user was asked and gave no usable answer
│     ├─ CannotAsk      the client cannot ask its user
│     ├─ Declined       the user said no
│     └─ Dismissed      the user closed the question
└─ OutputError          the tool returned what its output schema refuses
BaseException
└─ Cancelled            the caller no longer needs the response
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class RegistrationError(TypeError):
    """A tool that cannot be offered, with the parameter at fault and what to do about it."""

    def __init__(
        self, problem: str, *, tool: str, parameter: str | None = None, remedy: str = ""
    ) -> None:
        self.problem = problem
        self.tool = tool
        self.parameter = parameter
        self.remedy = remedy
        where = f"tool {tool!r}" + (f", {parameter}" if parameter else "")
        super().__init__(f"{where}: {problem}" + (f"; {remedy}" if remedy else ""))


class WrongContext(RegistrationError):
    """A tool whose parameter for the context cannot get it, or gets one of another kind."""


@contextmanager
def name_noun(noun: str) -> Iterator[None]:
    """Make a `RegistrationError` that is raised here one about a thing of this *noun*: a resource
    or a prompt.
    """
    try:
        yield
    except RegistrationError as error:
        text = str(error.args[0])
        if text.startswith(f"tool {error.tool!r}"):
            error.args = (noun + text.removeprefix("tool"),)
        raise


class NotOffered(RegistrationError):
    """An action that is no tool as it is: not enabled, abstract, only described, or not to be made
    without more.
    """


class MadeForFastMCP(RegistrationError):
    """A server, tool or module made for FastMCP or MCP's Python SDK."""

    PROBLEM = "made for FastMCP; Toolwire does not serve objects of that package"
    REMEDY = (
        "add --adopt to run it, unchanged, on Toolwire's own FastMCP (that of"
        " toolwire_compat.fastmcp)"
    )

    def __init__(self, name: str) -> None:
        super().__init__(f"it is {self.PROBLEM}", tool=name, remedy=self.REMEDY)


class ToolError(Exception):
    """A failure of the tool whose text reaches the caller word for word."""


class ArgumentsError(ToolError):
    """Arguments that a tool does not take.

    *faults* holds a pair for each one: the place (`arguments.items[2].count`) and a sentence.
    *private* says that the sentences are messages of exceptions raised by the tool author's code,
    such as a dataclass's `__post_init__`.
    """

    def __init__(self, faults: Iterable[tuple[str, str]], *, private: bool = False) -> None:
        self.faults = list(faults)
        self.private = private
        super().__init__(write_sentences(self.faults))


class NotAnswered(ToolError):
    """A question of the tool's that the user did not answer, or not in a way that fits."""


class CannotAsk(NotAnswered):
    """The client that made this call cannot ask its user."""


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
        super().__init__(write_sentences(self.faults))


class Cancelled(BaseException):
    """The caller no longer wants the answer.

    Raised by `Context.check`; let it pass, and clean up in `finally`.
    """

    # A BaseException, as KeyboardInterrupt and asyncio.CancelledError are: a tool's own
    # `except Exception`, written to survive one bad item of many, must not swallow the order to
    # stop.


def write_sentences(faults: Iterable[tuple[str, str]]) -> str:
    """The faults as text, one to a line."""
    return "\n".join(f"{place}: {sentence}" for place, sentence in faults)


def read_message(exception: BaseException) -> str:
    """The message of *exception*, also if that cannot be shown."""
    try:
        return str(exception)
    except (
        BaseException
    ) as error:  # the tool author's __str__, which may do anything: an outer edge
        return f"(its message cannot be shown: {type(error).__name__} in __str__)"
