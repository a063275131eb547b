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
from typing import TYPE_CHECKING, Any

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
def naming(noun: str) -> Iterator[None]:
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

    PROBLEM = "made for FastMCP, and that package is installed; Toolwire does not serve its objects"
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
        super().__init__(in_sentences(self.faults))


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
        super().__init__(in_sentences(self.faults))


class Cancelled(BaseException):
    """The caller no longer wants the answer.

    Raised by `Context.check`; let it pass, and clean up in `finally`.
    """

    # A BaseException, as KeyboardInterrupt and asyncio.CancelledError are: a tool's own
    # `except Exception`, written to survive one bad item of many, must not swallow the order to
    # stop.


def in_sentences(faults: Iterable[tuple[str, str]]) -> str:
    """The faults as text, one to a line."""
    return "\n".join(f"{place}: {sentence}" for place, sentence in faults)


MAX_TEXT = 8192
"""Characters of an exception's text that travel: enough for what people read, and a model pays for
each.
"""


def failure(exception: BaseException, *, mask: bool, tool: str) -> dict[str, Any]:
    """The answer to a call that ended in *exception*: an MCP result with `isError`.

    A `ToolError` speaks for itself, word for word. Of anything else the type and the message are
    given, or with *mask* only that the tool failed, or which argument it refused. Never the
    traceback.
    """
    return {
        "content": [{"type": "text", "text": failure_text(exception, mask, f"The tool {tool}")}],
        "isError": True,
    }


def failure_text(exception: BaseException, mask: bool, subject: str) -> str:
    """The text of `failure`; its sentences begin with *subject*."""
    masked = f"{subject} failed."
    if isinstance(exception, BaseExceptionGroup):
        # An async tool's task group wraps even a single ToolError.
        texts = [failure_text(leaf, mask, subject) for leaf in _leaves(exception)]
        if mask or all(isinstance(leaf, ToolError) for leaf in _leaves(exception)):
            return "\n".join(dict.fromkeys(texts))
        return _shorten("\n".join([_name_of(exception), *(f"- {text}" for text in texts)]))
    if isinstance(exception, ArgumentsError):
        if mask and exception.private:
            return _shorten(
                in_sentences(
                    (place, "the tool refuses this value") for place, _ in exception.faults
                )
            )
        return _shorten(text_of(exception)) or masked
    if isinstance(exception, ToolError):
        return text_of(exception) or masked
    if mask:
        return masked
    if isinstance(exception, OutputError):
        return _shorten(f"{subject} ran, but its result cannot be sent:\n{text_of(exception)}")
    return _shorten(_name_of(exception))


def _name_of(exception: BaseException) -> str:
    name, message = type(exception).__name__, text_of(exception)
    if message:
        return f"{name}: {message}"
    return name


def text_of(exception: BaseException) -> str:
    """The message of *exception*, also if that cannot be shown."""
    try:
        return str(exception)
    except (
        BaseException
    ) as error:  # the tool author's __str__, which may do anything: an outer edge
        return f"(its message cannot be shown: {type(error).__name__} in __str__)"


def _shorten(text: str) -> str:
    rest = len(text) - MAX_TEXT
    if rest <= 0:
        return text
    return f"{text[:MAX_TEXT]}\n({rest:,} more characters were cut)"


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for exception in group.exceptions:
        if isinstance(exception, BaseExceptionGroup):
            yield from _leaves(exception)
        else:
            yield exception
