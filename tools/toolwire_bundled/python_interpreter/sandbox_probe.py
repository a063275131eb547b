"""Detects once, by running it, which sandbox this machine allows."""

from __future__ import annotations

from functools import cache
from typing import Literal

import msgspec
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from .job import Job
from .process import execute

Sandbox = Literal["auto", "required", "off"]

_PROBE_SECONDS = 10


class Protection(msgspec.Struct, frozen=True):
    """Whether the code is in a sandbox, and if not, why."""

    sandboxed: bool
    reason: str = ""

    def describe(self) -> dict[str, str]:
        """Return its description for a result."""
        return (
            {"sandbox": "bubblewrap"}
            if self.sandboxed
            else {"sandbox": "none", "reason": self.reason}
        )


def find_protection(wanted: Sandbox) -> Protection:
    """The protection that there is.

    Raises:
        ToolError: if a sandbox is required and unavailable.
    """
    if wanted == "off":
        return Protection(False, "it is switched off")
    reason = _find_obstacle()
    if reason and wanted == "required":
        raise ToolError(
            say(
                'The code was not run: sandbox="required", and this machine has no sandbox:'
                " {reason}.",
                reason=reason,
            )
        )
    return Protection(not reason, reason)


@cache
def _find_obstacle() -> str:
    """Why there is no sandbox; empty if there is one. That bwrap is installed does not mean that it
    may do anything.
    """
    try:
        ended = execute(Job(code="", timeout_seconds=_PROBE_SECONDS), sandboxed=True)
    except ToolError as error:
        return str(error)
    if ended.result == b"none\n":
        return ""
    said = ended.output.strip().replace("\n", " ")
    return said or f"nothing came of trying it (status {ended.status})"
