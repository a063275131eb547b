"""What can go wrong with a request.

RequestError            the request cannot be served: a JSON-RPC error, not a tool's failure
LoadError               what was to be served cannot be loaded
UsageError              the command line cannot be understood
Failed                  a command did not come to what it is for
"""

from __future__ import annotations

from typing import Any


class RequestError(Exception):
    """A request was answered with a JSON-RPC error: `code`, `message`, and `data` (`None`: there is none)."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class LoadError(Exception):
    """A target cannot be served. The text is one sentence that says what to do about it."""


class UsageError(Exception):
    """A command line cannot be understood. The text is one sentence that says what to write instead."""


class Failed(Exception):
    """A command did not come to what it is for. Without a text, whoever is to blame has said so."""

    def __init__(self, sentence: str, status: int = 1) -> None:
        super().__init__(sentence)
        self.status = status
