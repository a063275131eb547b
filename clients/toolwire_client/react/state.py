"""What a conversation remembers, what it waits for, and what it decides."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .messages import Action, ActionResult, Ask, Error, FinalAnswer
from .result_text import MAX_CHARS

Turn = Literal["question", "reply", "action_result", "user_response", "stopped"]
"""What the exchange waits for; when it is stopped, for a question or for `force_final`."""


StopReason = Literal["invalid_replies", "repeated_action", "no_final_answer"]


class Retry(msgspec.Struct, frozen=True):
    """Ask the model again: `message` has been added to the messages.

    It is an `Error` if the reply was invalid, and an `ActionResult` if `action` cannot be done.
    """

    message: Error | ActionResult
    action: Action | None = None


class Stop(msgspec.Struct, frozen=True):
    """There is no going on: too many invalid replies, one action too often, or no final answer in the last turn."""

    reason: StopReason
    detail: str


Decision = Ask | Action | FinalAnswer | Retry | Stop


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of what is still all right.

    An invalid reply is answered by an error `max_errors` times in a row; the next one stops the exchange. The same
    action, asked for again since the last question, is warned of from the `warn_at`th time on; at the `stop_at`th the
    exchange stops. A result of more than `max_result_chars` characters is cut.
    """

    max_errors: int = 3
    warn_at: int = 3
    stop_at: int = 5
    max_result_chars: int = MAX_CHARS


class State(msgspec.Struct, frozen=True, kw_only=True):
    """All that a conversation remembers."""

    turn: Turn = "question"
    history: list[dict[str, Any]] = []
    pending: Ask | Action | None = None
    note: str = ""
    errors: int = 0
    actions: dict[str, int] = {}
    is_final: bool = False
    version: Literal[1] = 1


class OutOfTurn(RuntimeError):
    """A method was called when it was not its turn: a fault of the program that runs the exchange."""


def restored(snapshot: dict[str, Any]) -> State:
    """Return the state that *snapshot* is of.

    Raises:
        ValueError: if it is no snapshot.
    """
    try:
        state = msgspec.convert(snapshot, State)
    except msgspec.ValidationError as error:
        raise ValueError(f"this is no snapshot of a conversation: {error}") from None
    awaited = {"action_result": Action, "user_response": Ask}.get(state.turn, type(None))
    if not isinstance(state.pending, awaited):
        raise ValueError(f"this is no snapshot of a conversation: {state.turn} goes with another `pending`")
    return state
