"""Which calls a person has to allow, and what they may say to it.

Strategy. A tool that says it only reads needs nobody, nor does one that says it destroys nothing; whatever says nothing
of itself is asked for, and refused where nobody can be asked. What a tool says of itself (MCP's `readOnlyHint` and
`destructiveHint`) is only as good as its server: `trust_hints=False` asks for all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec


class ApprovalRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A call that a person has to allow.

    `reason` says why it needs that. An `interrupted` call, or an identical one, was started before and its end is not
    recorded: it may have taken effect, and would do so twice. `thought` is the model's, `description` the tool's entry
    of `tools/list`.
    """

    tool: str
    params: dict[str, Any]
    reason: str
    thought: str = ""
    interrupted: bool = False
    description: dict[str, Any] = {}


class Allow(msgspec.Struct, frozen=True):
    """Call the tool; with other parameters, if some are given."""

    params: dict[str, Any] | None = None


class Refuse(msgspec.Struct, frozen=True):
    """Do not call it. The model is told the reason."""

    reason: str = ""


class Pause(msgspec.Struct, frozen=True):
    """Decide later: the run ends with `needs_input`, and is taken up again by `Agent.resume`."""


Verdict = Allow | Refuse | Pause
OnApproval = Callable[[ApprovalRequest], Verdict | bool | Awaitable[Verdict | bool]]
"""Asks a person. `True` is `Allow()`, `False` is `Refuse()`."""


class Approvals(msgspec.Struct, frozen=True, kw_only=True):
    """Who allows which calls.

    `ask` is asked for what needs it. Tools whose names match a pattern of `deny` are never called, those of `allow`
    without asking: patterns are as in a shell, so `allow=("*",)` allows everything. `deny` wins. If there is no `ask`,
    calls that need it are refused, or with `nobody="pause"` wait for `Agent.resume`.
    """

    ask: OnApproval | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    trust_hints: bool = True
    nobody: Literal["refuse", "pause"] = "refuse"

    def judge(self, tool: str, annotations: dict[str, Any]) -> Allow | Refuse | str:
        """Return what to do about a call of *tool*, or why a person has to decide."""
        if any(fnmatchcase(tool, pattern) for pattern in self.deny):
            return Refuse()
        if any(fnmatchcase(tool, pattern) for pattern in self.allow):
            return Allow()
        if not self.trust_hints:
            return "every call is asked for"
        if annotations.get("readOnlyHint") is True:
            return Allow()
        destructive = annotations.get("destructiveHint")
        if destructive is False:
            return Allow()
        return "it may destroy something" if destructive is True else "it does not say whether it changes anything"


def approvals(given: Approvals | OnApproval | None) -> Approvals:
    """Return the settings for what was *given*: these themselves, whom to ask, or nothing."""
    if isinstance(given, Approvals):
        return given
    if given is not None and not callable(given):
        raise TypeError(f"approval is a function that is asked, or Approvals(…), not {given!r}")
    return Approvals(ask=given)
