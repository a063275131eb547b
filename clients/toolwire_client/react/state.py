"""The state, limits and decisions of a conversation."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .messages import Action, ActionResult, Ask, Error, FinalAnswer
from .result_text import MAX_CHARS

Turn = Literal["question", "reply", "action_result", "user_response", "stopped"]
"""What the conversation expects next; a stopped one, a question or `force_final`."""


StopReason = Literal["invalid_replies", "repeated_action", "no_final_answer"]


class Retry(msgspec.Struct, frozen=True):
    """Ask the model again: `message` has been added to the messages.

    It is an `Error` for an invalid reply, and an `ActionResult` if `action` cannot be done.
    """

    message: Error | ActionResult
    action: Action | None = None


class Stop(msgspec.Struct, frozen=True):
    """The conversation stops: too many invalid replies or repeated actions, or no final answer in the last turn."""

    reason: StopReason
    detail: str


Decision = Ask | Action | FinalAnswer | Retry | Stop


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a conversation.

    `max_errors` invalid replies in a row are answered by an error; the next one stops. The same action since the last
    question gets a warning from the `warn_at`th time on, and stops at the `stop_at`th. Results are cut to
    `max_result_chars`.
    """

    max_errors: int = 3
    warn_at: int = 3
    stop_at: int = 5
    max_result_chars: int = MAX_CHARS


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The whole memory of a conversation."""

    turn: Turn = "question"
    history: list[dict[str, Any]] = []
    pending: Ask | Action | None = None
    note: str = ""
    errors: int = 0
    actions: dict[str, int] = {}
    is_final: bool = False
    version: Literal[1] = 1


class OutOfTurn(RuntimeError):
    """A method was called in the wrong turn: a bug in the calling program."""


def restored(snapshot: dict[str, Any]) -> State:
    """Return the state in *snapshot*.

    Raises:
        ValueError: if it is not a snapshot.
    """
    try:
        state = msgspec.convert(snapshot, State)
    except msgspec.ValidationError as error:
        raise ValueError(f"not a snapshot of a conversation: {error}") from None
    awaited = {"action_result": Action, "user_response": Ask}.get(state.turn, type(None))
    if not isinstance(state.pending, awaited):
        raise ValueError(f"not a snapshot of a conversation: {state.turn} goes with another `pending`")
    return state
