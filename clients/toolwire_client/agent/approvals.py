"""Which calls a person has to allow, and what they may say to it.

Strategy. What a tool says of itself (MCP's hints) is only as good as its source. A function of this process is the
user's own: it runs unless it is marked destructive, or somebody can be asked and it does not say that it is harmless.
A server's hints never give permission by themselves: its tool is a read only if it says so, does not say that it
reaches the outside world, and its hints are trusted.
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


Trust = Literal["function", "hints"]
"""Why a tool may run unasked: it is a function of this process, or its server's hints are trusted."""


class Approvals(msgspec.Struct, frozen=True, kw_only=True):
    """Who allows which calls.

    `ask` is asked for what needs it. Tools whose names match a pattern of `deny` are never called, those of `allow`
    without asking: patterns are as in a shell, so `allow=("*",)` allows everything. `deny` wins. If there is no `ask`,
    calls that need it are refused, or with `nobody="pause"` wait for `Agent.resume`.

    Functions of this process run unless they are marked destructive. If there is somebody to ask, now or later, that
    is done for those as well that are marked neither read-only nor non-destructive.

    `trust_hints` names the servers whose hints are trusted, by the keys of the agent's `tools`; `True` trusts those of
    all servers. With `False` every call needs approval, also of functions.

    Raises:
        TypeError: if `trust_hints` is text.
    """

    ask: OnApproval | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    trust_hints: bool | tuple[str, ...] = ()
    nobody: Literal["refuse", "pause"] = "refuse"

    def __post_init__(self) -> None:
        if isinstance(self.trust_hints, str):
            raise TypeError(f"trust_hints is a tuple of names, such as ({self.trust_hints!r},), or a bool")

    def trust(self, source: str, *, is_local: bool) -> Trust | None:
        """Return how far tools of *source* are trusted; *is_local* if they are functions of this process."""
        if self.trust_hints is False:
            return None
        if is_local:
            return "function"
        return "hints" if self.trust_hints is True or source in self.trust_hints else None

    def judge(self, tool: str, annotations: dict[str, Any], trust: Trust | None) -> Allow | Refuse | str:
        """Return what to do about a call of *tool*, or why a person has to decide."""
        if any(fnmatchcase(tool, pattern) for pattern in self.deny):
            return Refuse()
        if any(fnmatchcase(tool, pattern) for pattern in self.allow):
            return Allow()
        if annotations.get("destructiveHint") is True:
            return "it may destroy something"
        if trust == "function":
            says = annotations.get("readOnlyHint") is True or annotations.get("destructiveHint") is False
            is_alone = self.ask is None and self.nobody == "refuse"
            return Allow() if says or is_alone else "it does not say whether it changes anything"
        if annotations.get("readOnlyHint") is not True:
            return "it does not say that it only reads"
        if trust is None:
            return "it says that it only reads, but what it says of itself is not trusted"
        if annotations.get("openWorldHint") is True:
            return "it reaches the outside world"
        return Allow()


def approvals(given: Approvals | OnApproval | None) -> Approvals:
    """Return the settings for what was *given*: these themselves, whom to ask, or nothing."""
    if isinstance(given, Approvals):
        return given
    if given is not None and not callable(given):
        raise TypeError(f"approval is a function that is asked, or Approvals(…), not {given!r}")
    return Approvals(ask=given)
