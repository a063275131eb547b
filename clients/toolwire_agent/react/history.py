"""What to leave out of a conversation that is longer than the model's context."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from .messages import ActionResult, from_json
from .result_text import to_text

if TYPE_CHECKING:
    from .prompt_protocol import Message


def shorten_history(
    history: list[Message], questions: list[int], surplus_chars: int
) -> list[Message]:
    """Return *history* without what is too old, *surplus_chars* or more of it.

    *questions* are the places of the user's questions. Whole earlier questions are left out first,
    then the oldest actions of the last one; that question itself stays, and so does the last
    action, even if they are too long.
    """
    sizes = [len(json.dumps(message, ensure_ascii=False)) for message in history]
    last_question = questions[-1]
    for start in (0, *questions[1:]):
        if sum(sizes[:start]) >= surplus_chars:
            return history[start:]
    surplus_chars -= sum(sizes[:last_question])
    first_kept = last_question + 1
    for place in range(last_question + 1, len(history)):
        if history[place]["role"] != "assistant":
            continue
        # Messages are left out up to a reply of the model, so that no result is without its action.
        first_kept = place
        if sum(sizes[last_question + 1 : place]) >= surplus_chars:
            break
    return [history[last_question], *history[first_kept:]]


class PlacedResult(NamedTuple):
    """A result of a tool, its place in the history, and the length of its text."""

    place: int
    result: ActionResult
    chars: int


def find_longest_result(history: list[Message]) -> PlacedResult | None:
    """Return the longest result of a tool in *history*, the first of several."""
    longest = None
    for place, message in enumerate(history):
        result = _read_result(message)
        if result is None:
            continue
        chars = len(to_text(result.result))
        if longest is None or chars > longest.chars:
            longest = PlacedResult(place, result, chars)
    return longest


def _read_result(message: Message) -> ActionResult | None:
    if message["role"] == "assistant":
        return None
    try:
        read = from_json(message["content"])
    except (ValueError, RecursionError):  # text, or any JSON of a user
        return None
    if isinstance(read, ActionResult):
        return read
    return None
