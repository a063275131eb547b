"""Runs calls through a connection: those of isolated tools and of the tools of mounted and wrapped
servers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from .call import Call

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools import Caller
    from toolwire_tools.handler import Gate

    Result = dict[str, Any]
    Send = Callable[[Any, Call], Result]


def _keep_arguments(arguments: Any, strict: bool) -> Any:
    return arguments


def _keep_result(result: Result, call: Call) -> Result:
    return result


class ConnectionHandler(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Runs the calls of an entry in another process, in a thread that waits for the response."""

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

    def call(self, arguments: Any, caller: Caller, strict_arguments: bool = False) -> Result:
        """As `Handler.call`, for a call of a server. The other process checks the arguments.

        Raises:
            TypeError: if the caller is no server: only its calls can be cancelled over there.
        """
        if not isinstance(caller, Call):
            raise TypeError("the tool runs in another process, so only a server can call it")
        sent = self.read(arguments, strict_arguments)
        return self.finish(self.send(sent, caller), caller)

    async def call_async(
        self, arguments: Any, caller: Caller, strict_arguments: bool = False
    ) -> Result:
        """Raise a `TypeError`: a thread waits for the response."""
        raise TypeError("calls of another process wait in a thread: use call")

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

    def completing(self) -> ConnectionHandler:
        """Return what completes an argument of the entry there."""
        return ConnectionHandler(send=self.complete, complete=self.complete, gate=self.gate)
