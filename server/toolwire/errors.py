"""The errors of the server and its command line.

RequestError            a request was answered with a JSON-RPC error (a tool's failure is a result)
  UpstreamError         another server answered so, or no server has the tool of a `call_tool`
LoadError               a target cannot be loaded
  LifespanFailed        its lifespan cannot be entered
UsageError              a command line is wrong
Failed                  a command failed
"""

from __future__ import annotations

# as that of `typing`, which `--version` does not need
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class RequestError(Exception):
    """A request was answered with a JSON-RPC error: `code`, `message`, and `data` (`None` if it has
    none).
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class UpstreamError(RequestError):
    """A call is answered with a JSON-RPC error: another server did so, a lock refuses what it
    offers, or `call_tool` names a tool that nothing has.
    """


class LoadError(Exception):
    """A target cannot be loaded. The text is one sentence that says how to fix it."""


class LifespanFailed(LoadError):
    """A lifespan cannot be entered. The cause, if there is one, is the error of its author's
    code.
    """


class UsageError(Exception):
    """A command line is wrong. The text is one sentence that says what to write instead."""


class Failed(Exception):
    """A command failed. Without a text, the reason has been printed already."""

    def __init__(self, sentence: str, status: int = 1) -> None:
        super().__init__(sentence)
        self.status = status
