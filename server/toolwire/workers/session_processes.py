"""The worker processes of tools that must not be shared: one for each session of a shared process.

Strategy. Sessions have one list of tools in common, so these tools have one gate, which looks for
the pool of the session that a call belongs to. The session keeps it, and ends its process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol.call import Call
    from .process_pool import ProcessPool


class SessionProcesses:
    """Calls tools in the process of their session, which *make_pool* makes a pool for; as
    `ProcessPool`.
    """

    def __init__(self, make_pool: Callable[[], ProcessPool]) -> None:
        self._make_pool = make_pool

    async def run(self, name: str, arguments: Any, call: Call) -> dict[str, Any]:
        """Return the result of the tool of *call*, called in the process of its session, where its
        name is *name*.

        Raises:
            ToolError: if the process ended.
            Cancelled: if the call ended.
        """
        return await self._find_pool(call).run(name, arguments, call)

    def enter(self, call: Call) -> bool:
        """Return whether *call* may run now; if not, it waits for another one of its session."""
        return self._find_pool(call).enter(call)

    def leave(self, call: Call) -> Call | None:
        """Free the place of *call*, which has ended; return the call that gets it."""
        return self._find_pool(call).leave(call)

    def retire(self) -> None:
        """Do nothing: each session ends its own process."""

    def wait(self, deadline: float) -> None:
        """Do nothing: each session waits for its own process."""

    def _find_pool(self, call: Call) -> ProcessPool:
        session: Any = call.host
        pool: ProcessPool = session.find_pool(self, self._make_pool)
        return pool
