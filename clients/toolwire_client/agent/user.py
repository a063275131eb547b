"""The user: one person, whoever asks."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

from toolwire_schemas.wire import codec

from ..session.elicitation import NoAnswer, Question, misfit
from .events import UserAnswered

if TYPE_CHECKING:
    from ..session.elicitation import Answer

Said = dict[str, Any] | str | NoAnswer | None
OnUser = Callable[[Question], Said | Awaitable[Said]]
"""Asks the user, and returns text, the fields of the form, or a `NoAnswer`; `None` to be asked again later.

Whatever serves as `connect(on_ask=)` serves as this.
"""

ANSWER = "answer"
"""The field of a form that the model's own questions have."""


def question_of(content: str) -> Question:
    """Return a question of the model as a form of one field."""
    form = {"type": "object", "properties": {ANSWER: {"type": "string"}}, "required": [ANSWER]}
    return Question(content, form)


class User:
    """Asks *on_ask*. Without it the run waits, or with *nobody* `"tell"` the model learns that there is no user."""

    def __init__(self, on_ask: OnUser | None, nobody: Literal["pause", "tell"], words: Callable[[str], str]) -> None:
        self._on_ask = on_ask
        self._nobody = nobody
        self._words = words

    async def answer(self, content: str) -> UserAnswered | None:
        """Put a question of the model to the user; `None` if it is not answered now."""
        if self._on_ask is None:
            return UserAnswered(content=None) if self._nobody == "tell" else None
        said = await self._asked(question_of(content))
        match said:
            case None:
                return None
            case NoAnswer():
                return UserAnswered(content=self._words("declined" if said is NoAnswer.DECLINED else "dismissed"))
            case str():
                return UserAnswered(content=said)
        text = said.get(ANSWER)
        if not isinstance(text, str):
            raise TypeError(f"on_ask returns text, or {{{ANSWER!r}: text}}, or a NoAnswer, not {said!r}")
        return UserAnswered(content=text)

    async def fill_in(self, question: Question) -> Answer:
        """Put a question of a tool to the user. Text is the answer of a form with a single field."""
        if self._on_ask is None:
            return NoAnswer.DISMISSED
        said = await self._asked(question)
        if said is None:
            return NoAnswer.DISMISSED
        if isinstance(said, str):
            fields = question.schema.get("properties")
            if not isinstance(fields, dict) or len(fields) != 1:
                raise TypeError(f"the form of {question.tool!r} has not one field: on_ask has to return a dict")
            return dict.fromkeys(fields, _typed(said, question))
        return said

    async def _asked(self, question: Question) -> Said:
        assert self._on_ask is not None
        said = self._on_ask(question)
        said = await said if inspect.isawaitable(said) else said
        if not isinstance(said, dict | str | NoAnswer | None):
            raise TypeError(f"on_ask returns text, a dict of the form's fields, a NoAnswer or None, not {said!r}")
        return said


def _typed(text: str, question: Question) -> Any:
    """What was said as the form wants it: a number or a switch, if it is no text that is asked for."""
    (name,) = question.schema["properties"]
    if not misfit({name: text}, question):
        return text
    try:
        value = codec.decode(text)
    except codec.DecodingError:
        return text
    return text if misfit({name: value}, question) else value
