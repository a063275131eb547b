"""Asks the user: the model's questions and the elicitations of tools."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

import anyio
import msgspec
from toolwire_client.session.elicitation import Elicitation, NoAnswer, find_misfit
from toolwire_schemas.wire import codec

from .events import UserAnswered

if TYPE_CHECKING:
    from toolwire_client.session.elicitation import Answer

UserReply = dict[str, Any] | str | NoAnswer | None
OnUser = Callable[[Elicitation], UserReply | Awaitable[UserReply]]
"""Asks the user, and returns text, the fields of the form, or a `NoAnswer`; `None` pauses the run.

Every `connect(on_ask=)` function works here.
"""

_FORM = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
"""The form for the model's own questions."""


class User(msgspec.Struct, frozen=True):
    """Asks *on_ask*. Without it the run pauses, or with `no_user="continue"` the model learns that
    there is no user.
    """

    on_ask: OnUser | None
    no_user: Literal["pause", "continue"]
    words: Callable[[str], str]
    _lock: anyio.Lock = msgspec.field(
        default_factory=anyio.Lock
    )  # tools that run side by side may ask at once

    async def answer(self, content: str) -> UserAnswered | None:
        """Ask the user a question of the model; `None` if it is not answered now."""
        if self.on_ask is None:
            if self.no_user == "continue":
                return UserAnswered(content=None)
            return None
        reply = await self._ask(Elicitation(content, _FORM))
        match reply:
            case None:
                return None
            case NoAnswer():
                return UserAnswered(
                    content=self.words("declined" if reply is NoAnswer.DECLINED else "dismissed")
                )
            case str():
                return UserAnswered(content=reply)
        text = reply.get("answer")
        if not isinstance(text, str):
            raise TypeError(
                f"on_ask must return text, {{'answer': text}} or a NoAnswer, not {reply!r}"
            )
        return UserAnswered(content=text)

    async def fill_in(self, question: Elicitation) -> Answer:
        """Ask the user a question of a tool. Text answers a form with a single field."""
        if self.on_ask is None:
            return NoAnswer.DISMISSED
        reply = await self._ask(question)
        if reply is None:
            return NoAnswer.DISMISSED
        if isinstance(reply, str):
            fields = question.schema.get("properties")
            if not isinstance(fields, dict) or len(fields) != 1:
                raise TypeError(
                    f"the form of {question.tool!r} has not one field: on_ask has to return a dict"
                )
            return dict.fromkeys(fields, _convert(reply, question))
        return reply

    async def _ask(self, question: Elicitation) -> UserReply:
        assert self.on_ask is not None
        async with self._lock:
            reply = self.on_ask(question)
            if inspect.isawaitable(reply):
                reply = await reply
        if not isinstance(reply, dict | str | NoAnswer | None):
            raise TypeError(
                "on_ask must return text, a dict of the form's fields, a NoAnswer or None, not"
                f" {reply!r}"
            )
        return reply


def _convert(text: str, question: Elicitation) -> Any:
    """Return *text* as the form's type, such as a number."""
    (name,) = question.schema["properties"]
    if not find_misfit({name: text}, question):
        return text
    try:
        value = codec.decode(text)
    except codec.DecodingError:
        return text
    if find_misfit({name: value}, question):
        return text
    return value
