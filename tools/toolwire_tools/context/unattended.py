"""A call within the process: nobody follows its progress, cancels it or can be asked."""

from __future__ import annotations

import sys
from typing import Any

from ..errors import CannotAsk


class Unattended:
    """The far end of a call that a program makes directly. What the tool logs goes to stderr."""

    cancelled = False

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Do nothing."""

    def log(self, level: str, message: str, fields: dict[str, Any]) -> None:
        """Write a line to stderr."""
        said = "".join(f" {name}={value!r}" for name, value in fields.items())
        print(f"{level}: {message}{said}", file=sys.stderr)  # noqa: T201

    def ask(self, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Raise `CannotAsk`."""
        raise CannotAsk("the tool was called by a program that has no way to ask its user")

    async def ask_async(self, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """As `ask`."""
        return self.ask(message, schema)


UNATTENDED = Unattended()
