"""The permissions that the user gives one program.

Strategy. A program may call a tool in a loop, so one answer holds for several calls: for the same
values, for a number of calls of that tool, or for all of the program. A refusal holds for the whole
program, since it could ask again and again otherwise.
"""

from __future__ import annotations

from typing import Any, Literal

from toolwire_schemas.wire.codec import encode

Scope = Literal["call", "values", "tool", "program"]


class Permissions:
    """The permissions of one program. Not thread-safe."""

    def __init__(self) -> None:
        self.is_refused = False
        """Whether nothing may change any more."""
        self._allows_all = False
        self._values: set[tuple[str, bytes]] = set()
        self._counts: dict[str, int] = {}

    def use(self, tool: str, arguments: dict[str, Any]) -> bool:
        """Return whether a call of *tool* is allowed already, and count it."""
        if self._allows_all or (tool, encode(arguments)) in self._values:
            return True
        granted = self._counts.get(tool, 0)
        if granted:
            self._counts[tool] = granted - 1
        return granted > 0

    def grant(self, scope: Scope, calls: int, tool: str, arguments: dict[str, Any]) -> None:
        """Allow further calls, after this one of *tool*: in the scope `tool` to the number of
        *calls*, this one included.
        """
        match scope:
            case "values":
                self._values.add((tool, encode(arguments)))
            case "tool":
                self._counts[tool] = calls - 1
            case "program":
                self._allows_all = True
