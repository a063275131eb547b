"""What can go wrong with a request.

RequestError            the request cannot be served: a JSON-RPC error, not a tool's failure
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
