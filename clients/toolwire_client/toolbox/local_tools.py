"""Tools in this process: what they look like, how they are found, and how they are called."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..errors import TimedOut
from ..protocol.results import CallResult, outcome
from ..session.elicitation import NoAnswer, Question, reply, witness
from ..waiting.deadline import TooLate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..session.elicitation import Answer, OnAsk
    from ..session.request import OnProgress
    from ..waiting.base import Waiting
    from ..waiting.deadline import Limit


@runtime_checkable
class ToolLike(Protocol):
    """What a tool is like, such as `toolwire_tools.Tool`. One that is async is called by `call_async`."""

    name: str
    is_async: bool

    def describe(self) -> dict[str, Any]:
        """Return its entry in MCP's `tools/list`."""

    def call(self, arguments: dict[str, Any], caller: Any, /) -> dict[str, Any]:
        """Run it and return the result of MCP's `tools/call`. *caller* is a `LocalCaller`."""

    async def call_async(self, arguments: dict[str, Any], caller: Any, /) -> dict[str, Any]:
        """As `call`."""


def tools_of(thing: Any) -> Iterable[ToolLike]:
    """Return the tools that *thing* stands for.

    A `ToolLike`, or anything with `as_tool()`, describes itself. `toolwire_tools.tools_of` describes the rest (plain
    functions, toolkits, actions, environments, agents), as it does for a server.

    Raises:
        TypeError: if it is none of these, or cannot be described.
    """
    if isinstance(thing, ToolLike):
        return [thing]
    if callable(as_tool := getattr(thing, "as_tool", None)):
        return tools_of(as_tool())
    # The one import from the tools' shelf: only for objects of this process, so a client of servers runs without it.
    from toolwire_tools import tools_of as described

    return described(thing)


class LocalCaller:
    """The far end of a call, as tools in this process see it (`toolwire_tools.Caller`)."""

    def __init__(
        self,
        tool: ToolLike,
        waiting: Waiting,
        on_progress: OnProgress | None,
        on_ask: OnAsk | None,
        limit: Limit,
    ) -> None:
        self.cancelled = False
        self._tool = tool
        self._waiting = waiting
        self._limit = limit
        self._on_progress = on_progress
        self._on_ask = on_ask
        self._witness = witness.get()  # of this call, even if the tool is an agent that calls others

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Report progress where the call is waited for."""
        if self._on_progress is None or self.cancelled:
            return
        if self._tool.is_async:
            self._on_progress(done, total, message)
        else:
            self._waiting.call_back(partial(self._report, done, total, message))

    def log(self, level: str, message: str, fields: dict[str, Any]) -> None:
        """Log nothing: a tool in this process has this process's log."""

    def ask(self, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the user, and wait. For a call that is over nobody is asked."""
        if self.cancelled:
            return self._unasked("Cancelled", f"the call of {self._tool.name} was cancelled")
        return self._waiting.call_back(partial(self.ask_async, message, schema))

    async def ask_async(self, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the user, if there is one."""
        if self._on_ask is None:
            return self._unasked("CannotAsk", "This tool needs to ask the user, and there is nobody to ask.")
        question = Question(message, schema, self._tool.name)
        self._witness.asked(question)
        with self._limit.stopped():
            answer: Answer = await self._waiting.settled(self._on_ask(question))
            replied = reply(answer, question)
        self._witness.answered(replied)
        return replied

    def _unasked(self, error: str, reason: str) -> dict[str, Any]:
        """Tell the tool the *reason*, by its own package's *error* of that name; else close the question."""
        package = sys.modules.get(type(self._tool).__module__.partition(".")[0])
        kind = getattr(package, error, None)
        if kind is not None:
            raise kind(reason)
        return {"action": NoAnswer.DISMISSED.value}

    async def _report(self, done: float, total: float | None, message: str | None) -> None:
        assert self._on_progress is not None
        self._on_progress(done, total, message)


async def call(
    tool: ToolLike,
    arguments: dict[str, Any],
    waiting: Waiting,
    *,
    on_progress: OnProgress | None,
    on_ask: OnAsk | None,
    limit: Limit,
) -> CallResult:
    """Call a tool in this process. What it raises is a result that says so.

    Raises:
        TimedOut: if it does not end within *limit*, in which the time that the user takes to answer does not count. A
            synchronous tool may run on, and can see that it was cancelled.
    """
    caller = LocalCaller(tool, waiting, on_progress, on_ask, limit)
    try:
        if tool.is_async:
            result = await waiting.awaited(partial(tool.call_async, arguments, caller), limit)
        else:
            result = await waiting.aside(partial(tool.call, arguments, caller), limit)
    except TooLate:
        raise TimedOut(f"{tool.name} did not finish {limit}") from None
    except Exception as error:  # the edge between a tool and whoever called it
        result = {"content": [{"type": "text", "text": _said(error)}], "isError": True}
    finally:
        caller.cancelled = True
    return outcome(result)


def _said(error: Exception) -> str:
    """What a failure tells a model. By name, since the class is not known here: a `ToolError` speaks for itself."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "ToolError" in kinds and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
