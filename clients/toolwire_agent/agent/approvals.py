"""Which calls need approval, and what the user may decide.

Strategy. A tool's description of itself (MCP's hints) is only as good as its source. Functions of
this process are the user's own: they run unless they are marked destructive, or approval is
available and they are not marked harmless. Hints of a server give no permission by themselves: its
tool is a read only if it says so, does not reach the outside world, and its hints are trusted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec
from toolwire_schemas.language import say


class ApprovalRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A call that needs approval.

    `reason` says why. An `interrupted` call, or an identical one, was started before without a
    recorded end: it may have taken effect already. `thought` is the model's, `description` the
    tool's entry of `tools/list`. `program` has the lines around the call, with their numbers, if a
    program makes it.
    """

    tool: str
    params: dict[str, Any]
    reason: str
    thought: str = ""
    interrupted: bool = False
    description: dict[str, Any] = {}
    program: str = ""


MAX_GRANTED = 1000
"""How many calls of a tool a user can allow a program at once: as many as it may make."""


class Allow(msgspec.Struct, frozen=True):
    """Call the tool, with *params* in place of the model's if given.

    If a program makes the call, *scope* says what else it may do without asking: `values` is this
    tool with the same values, `tool` as many calls of it as *calls*, this one included, and
    `program` all its calls.
    """

    params: dict[str, Any] | None = None
    scope: Literal["call", "values", "tool", "program"] = "call"
    calls: int = 1


class Refuse(msgspec.Struct, frozen=True):
    """Do not call the tool; the model receives the reason."""

    reason: str = ""


class Pause(msgspec.Struct, frozen=True):
    """Decide later: the run ends with `needs_input`, and `Agent.resume` asks again."""


Verdict = Allow | Refuse | Pause
OnApproval = Callable[[ApprovalRequest], Verdict | bool | Awaitable[Verdict | bool]]
"""Asks the user. `True` means `Allow()`, `False` means `Refuse()`."""


Trust = Literal["function", "hints"]
"""Why a tool may run without approval: it is a function of this process, or its server's hints are
trusted.
"""


class Approvals(msgspec.Struct, frozen=True, kw_only=True):
    """Who approves which calls.

    Calls that need approval are passed to `ask`. `deny` and `allow` are shell patterns of tool
    names that are never called, or called without approval; `deny` wins. Without `ask`, calls that
    need approval are refused, or with `no_user="pause"` wait for `Agent.resume`.

    Functions of this process run unless they are marked destructive. With `ask` or
    `no_user="pause"` those need approval too that are marked neither read-only nor non-destructive.

    `trust_hints` names the servers whose hints are trusted, by the keys of the agent's `tools`;
    `True` trusts all servers. With `False` every call needs approval, also of functions.

    Raises:
        TypeError: if `trust_hints` is text.
    """

    ask: OnApproval | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    trust_hints: bool | tuple[str, ...] = ()
    no_user: Literal["refuse", "pause"] = "refuse"

    def __post_init__(self) -> None:
        if isinstance(self.trust_hints, str):
            raise TypeError(
                f"trust_hints must be a tuple of names, such as ({self.trust_hints!r},), or a bool"
            )

    def trust(self, source: str, *, is_local: bool) -> Trust | None:
        """Return how far tools of *source* are trusted; *is_local* for functions of this
        process.
        """
        if self.trust_hints is False:
            return None
        if is_local:
            return "function"
        if self.trust_hints is True or source in self.trust_hints:
            return "hints"
        return None

    def judge(
        self, tool: str, annotations: dict[str, Any], trust: Trust | None
    ) -> Allow | Refuse | str:
        """Return whether *tool* may be called, or the reason why it needs approval."""
        if any(fnmatchcase(tool, pattern) for pattern in self.deny):
            return Refuse()
        if any(fnmatchcase(tool, pattern) for pattern in self.allow):
            return Allow()
        if annotations.get("destructiveHint") is True:
            return say("it may destroy something")
        if trust == "function":
            says = (
                annotations.get("readOnlyHint") is True
                or annotations.get("destructiveHint") is False
            )
            is_unattended = self.ask is None and self.no_user == "refuse"
            if says or is_unattended:
                return Allow()
            return say("it does not say whether it changes anything")
        if annotations.get("readOnlyHint") is not True:
            return say("it does not say that it only reads")
        if trust is None:
            return say("it says that it only reads, but what it says of itself is not trusted")
        if annotations.get("openWorldHint") is True:
            return say("it reaches the outside world")
        return Allow()
