"""Asks the user before a program changes something: once for several calls (`Permissions`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec
from toolwire_bundled.programs.permissions import Permissions
from toolwire_tools import CannotAsk, Context, NotAnswered, ToolError
from toolwire_tools.confirmation import show

from ..protocol.connection_handler import ConnectionHandler

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from toolwire_bundled.programs.permissions import Scope
    from toolwire_tools import Caller, Tool

Answer = Literal[
    "this call",
    "this tool with these values",
    "as many calls of this tool as below",
    "all calls of this program",
    "no",
]
ONCE, SAME_VALUES, COUNTED, ALL, NO = get_args(Answer)

_SCOPES: dict[str, Scope] = {ONCE: "call", SAME_VALUES: "values", COUNTED: "tool", ALL: "program"}

MAX_GRANTED = 1000
_MAX_ARGUMENTS = 20
"""How many arguments a question shows: each takes a line."""


class Permission(msgspec.Struct, frozen=True):
    """The answer to the question: what is allowed; *calls* is for `COUNTED` alone."""

    allow: Answer
    calls: (
        Annotated[int, msgspec.Meta(ge=1, le=MAX_GRANTED, description=f'for "{COUNTED}"')] | None
    ) = None


def may_change(tool: Tool, trusted: Collection[str]) -> bool:
    """Return whether a call of *tool* needs approval.

    An own tool that is read-only does not. One of a mounted server does not if the server is
    *trusted* (by its name, or as `yes` all are), and the tool says that it reads only, and nothing
    of the outside world. A tool with `confirm` asks before each call itself.
    """
    if tool.entry.options.confirm is not None:
        return False
    hints = tool.describe().get("annotations") or {}
    if hints.get("readOnlyHint") is not True:
        return True
    handler = tool.handler
    if not (isinstance(handler, ConnectionHandler) and handler.is_mounted):
        return False
    is_trusted = "yes" in trusted or (len(tool.entry.parts) > 1 and tool.entry.parts[0] in trusted)
    return not is_trusted or hints.get("openWorldHint") is True


def find_remedy(tool: Tool) -> str:
    """Return the sentence by which a user can have programs call *tool* without a question; "" if
    there is no such way.
    """
    handler = tool.handler
    if not (isinstance(handler, ConnectionHandler) and handler.is_mounted):
        return " If it only reads, its author can say so: @tool_api(read_only=True)."
    hints = tool.describe().get("annotations") or {}
    if hints.get("readOnlyHint") is not True or hints.get("openWorldHint") is True:
        return ""
    server = tool.entry.parts[0] if len(tool.entry.parts) > 1 else "yes"
    return f" Its server says that it only reads; `--trust-hints {server}` trusts that."


class ProgramApprovals:
    """The permissions of one program. Not thread-safe: one thread asks.

    *describe_line* returns the program around a line, and *ask* asks by a function that gets the
    caller that can.
    """

    def __init__(
        self,
        describe_line: Callable[[int], str],
        ask: Callable[[Callable[[Caller], Permission]], Permission],
    ) -> None:
        self._describe_line = describe_line
        self._ask = ask
        self._permissions = Permissions()

    def check(self, tool: str, arguments: dict[str, Any], line: int, *, remedy: str = "") -> None:
        """Return if a call of *tool* is allowed; asks the user if that is not known.

        *remedy* is a sentence for a host that cannot ask.

        Raises:
            ToolError: if it is not, or the user cannot be asked.
            Cancelled: if the program was cancelled in the meantime.
        """
        permissions = self._permissions
        if permissions.is_refused:
            raise ToolError(f"{tool} did not run: the user has refused changes by this program.")
        if permissions.use(tool, arguments):
            return
        answer = self._request(tool, arguments, line, remedy)
        if answer.allow == NO:
            permissions.is_refused = True
            raise ToolError(f"{tool} did not run: the user said no.")
        permissions.grant(_SCOPES[answer.allow], answer.calls or 1, tool, arguments)

    def _request(self, tool: str, arguments: dict[str, Any], line: int, remedy: str) -> Permission:
        question = describe_call(tool, arguments, self._describe_line(line))
        try:
            return self._ask(lambda caller: Context(caller, tool).ask(question, Permission))
        except CannotAsk:
            reason = "it may change something, and this host cannot ask its user whether it may"
            raise ToolError(f"{tool} did not run: {reason}.{remedy}") from None
        except NotAnswered as error:
            self._permissions.is_refused = True
            raise ToolError(f"{tool} did not run: it may change something. {error}") from error


def describe_call(tool: str, arguments: dict[str, Any], lines: str) -> str:
    """Return the question for a call of *tool* by the *lines* of a program."""
    shown = [f"  {name} = {show(value)}" for name, value in list(arguments.items())]
    left_out = len(shown) - _MAX_ARGUMENTS
    if left_out > 0:
        shown = [*shown[:_MAX_ARGUMENTS], f"  and {left_out} more arguments"]
    parts = [f"A program calls {tool}, which may change something.", *shown]
    if lines:
        parts += ["It is here in the program:", lines]
    return "\n".join([*parts, "What is allowed?"])
