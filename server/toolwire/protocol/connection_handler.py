"""Runs calls through a connection: those of isolated tools and of the tools of mounted and wrapped
servers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from .call import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from toolwire_tools import Caller
    from toolwire_tools.handler import Gate

    from .running import Suspension

    Result = dict[str, Any]
    Send = Callable[[Any, Call], Coroutine[Any, Any, Result]]


def _keep_arguments(arguments: Any, strict: bool) -> Any:
    return arguments


def _keep_result(result: Result, call: Call) -> Result:
    return result


class ConnectionHandler(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Runs the calls of an entry in another process.

    Strategy. A call is a coroutine that awaits nothing but a `Suspension`, if anything: then it
    leaves its thread, and continues when a message arrives for it. Without one it blocks the thread
    until the response.
    """

    send: Send
    """Sends the arguments of a call, and returns the result as it came."""
    complete: Send
    """Sends the parameters of `completion/complete` for one of the entry's arguments."""
    read: Callable[[Any, bool], Any] = _keep_arguments
    """Returns the arguments to send for those of a call; the second argument is whether they are
    strict.
    """
    finish: Callable[[Result, Call], Result] = _keep_result
    """Returns the result of the call for the one that came."""
    gate: Gate[Call] | None = None
    is_generator: bool = False
    notices_cancellation: bool = True
    is_async: bool = False

    def call(self, arguments: Any, caller: Caller, strict_arguments: bool = False) -> Any:
        """As `Handler.call`, for a call of a server, or the rest of one; return `None` if it waits
        without a thread. The other process checks the arguments.

        Raises:
            TypeError: if the caller is no server: only its calls can be cancelled over there.
        """
        if not isinstance(caller, Call):
            raise TypeError("the tool runs in another process, so only a server can call it")
        work, caller.rest = caller.rest or self.respond(caller), None
        try:
            suspension = work.send(None)
        except StopIteration as done:
            return done.value
        caller.rest = work
        caller.worker = None  # which runs other calls from now on
        if not suspension.notify(partial(self._resume, caller, suspension)):
            self._resume(caller, suspension, is_final=False)
        return None

    def _resume(self, call: Call, suspension: Suspension, is_final: bool) -> None:
        """Run the rest of *call*, for which a message has come: here if that *is_final*, else on a
        worker, since the rest may block.
        """
        if not is_final:
            call.host.accept(call)
            call.host.run_accepted()
            return
        try:
            outcome = self.call(call.arguments, call)
        except BaseException as error:  # the outer edge of the thread that reads
            outcome = error
        suspension.deliver(call, outcome)

    async def respond(self, call: Call) -> Result:
        """Return the result of *call*."""
        sent = self.read(call.arguments, call.strict_arguments)
        return self.finish(await self.send(sent, call), call)

    async def call_async(
        self, arguments: Any, caller: Caller, strict_arguments: bool = False
    ) -> Result:
        """Raise a `TypeError`: calls of another process need no event loop."""
        raise TypeError("calls of another process need no event loop: use call")

    @property
    def is_mounted(self) -> bool:
        """Whether the entry is of another server: isolated tools of our own have a gate."""
        return self.gate is None

    def with_name(self, name: str) -> ConnectionHandler:
        """Return itself: the other process has its own name for it."""
        return self

    def with_arguments(self, change: Callable[[Any], Any]) -> ConnectionHandler:
        """As `ToolHandler.with_arguments`."""
        read = self.read
        return replace(self, read=lambda arguments, strict: read(change(arguments), strict))

    def with_results(self, change: Callable[[Result], Result]) -> ConnectionHandler:
        """As `ToolHandler.with_results`."""
        finish = self.finish
        return replace(self, finish=lambda result, call: change(finish(result, call)))

    def make_completer(self) -> ConnectionHandler:
        """Return what completes an argument of the entry there."""
        return ConnectionHandler(send=self.complete, complete=self.complete, gate=self.gate)
