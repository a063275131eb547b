"""Tools in this process as a source of a toolbox."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from toolwire_client.errors import TimedOut
from toolwire_client.protocol.results import CallResult, ToolDescription, describe, read_call_result
from toolwire_client.session.elicitation import (
    Elicitation,
    ElicitationHandler,
    NoAnswer,
    elicitation_observer,
)
from toolwire_schemas.deadline import DeadlineExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from toolwire_client.session.elicitation import OnAsk
    from toolwire_client.session.request import OnProgress
    from toolwire_client.waiting.base import Waiting
    from toolwire_schemas.deadline import Deadline


@runtime_checkable
class ToolLike(Protocol):
    """The interface of a tool, such as `toolwire_tools.Tool`. `call_async` is used if it
    `is_async`.

    `describe` returns its entry in MCP's `tools/list`, the calls the result of MCP's `tools/call`.
    *caller* is a `LocalCaller`.
    """

    @property
    def name(self) -> str: ...

    @property
    def is_async(self) -> bool: ...

    def describe(self) -> dict[str, Any]: ...

    def call(self, arguments: dict[str, Any], caller: Any, /) -> dict[str, Any]: ...

    async def call_async(self, arguments: dict[str, Any], caller: Any, /) -> dict[str, Any]: ...


def find_tools(thing: Any) -> Iterable[ToolLike]:
    """Return the tools of *thing*.

    A `ToolLike`, or anything with `as_tool()`, describes itself. `toolwire_tools.tools_of`
    describes the rest (plain functions, toolkits, actions, environments, agents), as it does for a
    server.

    Raises:
        TypeError: if it is something else, or cannot be described.
    """
    if isinstance(thing, ToolLike):
        return [thing]
    if callable(as_tool := getattr(thing, "as_tool", None)):
        return find_tools(as_tool())
    # The one import from the tools' shelf: only for objects of this process, so a client of servers
    # runs without it.
    from toolwire_tools import find_tools as described

    return described(thing)


def build_typed_tool(function: Callable[..., Any], argument: str, kind: Any) -> ToolLike:
    """Return *function* as a tool with one *argument* of the type *kind*, or with arguments of the
    JSON Schema *kind*.

    Raises:
        TypeError: if JSON has no form for the type.
    """
    from toolwire_tools import RegistrationError, tool_api

    if isinstance(kind, dict):
        function = tool_api(input_schema=kind)(function)
    else:
        function.__annotations__ = {argument: kind}
    try:
        (tool,) = find_tools(function)
    except RegistrationError as error:
        raise TypeError(f"{argument}: {error.problem}") from None
    if argument not in tool.describe()["inputSchema"]["properties"]:
        raise TypeError(f"{argument}: {kind!r} is no data")
    return tool


LOCAL = "local"
"""The name of the tools of this process, unless the caller gives another."""


class LocalTools:
    """The tools of this process, as a source."""

    def __init__(
        self, things: Iterable[Any], waiting: Waiting, on_ask: OnAsk | None, name: str | None
    ) -> None:
        self.name = name or LOCAL
        self._tools: dict[str, ToolLike] = {}
        self._waiting = waiting
        self._on_ask = on_ask
        for tool in (tool for thing in things for tool in find_tools(thing)):
            if tool.name in self._tools:
                raise ValueError(
                    f"two tools in {self.name!r} are called {tool.name!r}: give Toolbox a dict of"
                    " sources"
                )
            self._tools[tool.name] = tool

    def is_local(self, name: str) -> bool:
        return True

    async def list(self, deadline: Deadline) -> list[ToolDescription]:
        return [describe(tool.describe()) for tool in self._tools.values()]

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        on_progress: OnProgress | None,
        deadline: Deadline,
    ) -> CallResult:
        """Call a tool. Its exceptions become error results.

        Raises:
            TimedOut: if it does not end before *deadline*, not counting the time in which the user
                answers. A synchronous tool continues in its thread and can see that it was
                cancelled.
        """
        tool, waiting = self._tools[name], self._waiting
        caller = LocalCaller(tool, waiting, on_progress, self._on_ask, deadline)
        try:
            if tool.is_async:
                result = await waiting.run_async(
                    partial(tool.call_async, arguments, caller), deadline
                )
            else:
                result = await waiting.run_blocking(partial(tool.call, arguments, caller), deadline)
        except DeadlineExceeded:
            raise TimedOut(f"{tool.name} did not finish {deadline}") from None
        except Exception as error:  # the edge between a tool and its caller
            result = {"content": [{"type": "text", "text": _write_error(error)}], "isError": True}
        finally:
            caller.cancelled = True
        return read_call_result(result)


class LocalCaller:
    """The caller of a tool in this process (`toolwire_tools.Caller`)."""

    def __init__(
        self,
        tool: ToolLike,
        waiting: Waiting,
        on_progress: OnProgress | None,
        on_ask: OnAsk | None,
        deadline: Deadline,
    ) -> None:
        self.cancelled = False
        self.session_id = ""
        self.session_state: dict[str, Any] = {}
        self._tool = tool
        self._waiting = waiting
        self._deadline = deadline
        self._on_progress = on_progress
        self._elicitation = ElicitationHandler(on_ask, waiting)
        self._observer = (
            elicitation_observer.get()
        )  # of this call, even if the tool is an agent that calls others

    @property
    def state(self) -> Any:
        """Raise a RuntimeError: only a server enters lifespans."""
        raise RuntimeError("context.state needs a server: the tool was called by a program")

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Report progress where the caller waits."""
        report = self._on_progress
        if report is None or self.cancelled:
            return

        async def report_there() -> None:
            report(done, total, message)

        if self._tool.is_async:
            report(done, total, message)
        else:
            self._waiting.run_from_worker(report_there)

    def status(self, message: str) -> None:
        """Do nothing: progress says how far the call is."""

    def resource_changed(self, uri: str) -> None:
        """Do nothing: an agent watches no resources."""

    def log(self, level: str, message: str, fields: dict[str, Any], logger: str | None) -> None:
        """Do nothing: a tool in this process has this process's log."""

    def ask(self, message: str, schema: dict[str, Any], key: str = "answer") -> dict[str, Any]:
        """Ask the user and wait, unless the call has ended."""
        if self.cancelled:
            return self._dismiss("Cancelled", f"the call of {self._tool.name} was cancelled")
        return self._waiting.run_from_worker(partial(self.ask_async, message, schema, key))

    async def ask_async(
        self, message: str, schema: dict[str, Any], key: str = "answer"
    ) -> dict[str, Any]:
        """Ask the user, if there is an `on_ask`."""
        if not self._elicitation.can_ask:
            return self._dismiss(
                "CannotAsk", "This tool needs to ask the user, and the client cannot ask."
            )
        with self._deadline.stop_clock():
            replied = await self._elicitation.ask(
                Elicitation(message, schema, self._tool.name, key), observer=self._observer
            )
        assert replied is not None
        return replied

    def _dismiss(self, error: str, reason: str) -> dict[str, Any]:
        """Raise the class *error* of the tool's own package with *reason*; without such a class,
        dismiss the question.

        The class is found by name, since a client runs without the package of tools.
        """
        package = sys.modules.get(type(self._tool).__module__.partition(".")[0])
        kind = getattr(package, error, None)
        if kind is not None:
            raise kind(reason)
        return {"action": NoAnswer.DISMISSED.value}


def _write_error(error: Exception) -> str:
    """The text for the model. A `ToolError`, recognized by its name, is written for the model
    already.
    """
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "ToolError" in kinds and str(error):
        return str(error)
    if str(error):
        return f"{type(error).__name__}: {error}"
    return type(error).__name__
