"""Questions from tools to the user, in both of MCP's eras: how they are put to us, and what answers them.

A legacy server sends a request, `elicitation/create`, which says nothing about the call that it belongs to; so it is
answered by whoever waits for that server, whichever call that is. A modern one answers the call itself with what it
wants to know, and is called again with the answers.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import codes, messages

from ..errors import BrokenRules

if TYPE_CHECKING:
    from ..waiting.base import Waiting
    from .connection import Connection


class Question(msgspec.Struct, frozen=True):
    """What a tool asks the user.

    `schema` describes the form to be filled in: the JSON Schema of a flat object. `tool` is the tool that asks, `None`
    where the server does not say (before MCP 2026-07-28).
    """

    message: str
    schema: dict[str, Any]
    tool: str | None = None


class NoAnswer(enum.Enum):
    """What a user does instead of answering."""

    DECLINED = "decline"
    """The user says no to the question."""
    DISMISSED = "cancel"
    """The user closes it without a decision."""


Answer = dict[str, Any] | NoAnswer
"""The fields of the form, or why there are none."""

OnAsk = Callable[[Question], Answer | Awaitable[Answer]]


class Witness:
    """Hears of the questions that tools ask while they are called, and of the answers. This one does not care."""

    def asked(self, question: Question) -> None:
        """A question is put to the user."""

    def answered(self, reply: dict[str, Any]) -> None:
        """The user has answered it: MCP's `ElicitResult`."""


witness: ContextVar[Witness] = ContextVar("witness", default=Witness())  # noqa: B039 - it has no state
"""Who hears of them where a tool is called, and in what is called from there."""


class Asker:
    """Puts questions to *on_ask*; without one, there is nobody to ask."""

    def __init__(self, on_ask: OnAsk | None, waiting: Waiting) -> None:
        self._on_ask = on_ask
        self._waiting = waiting

    async def serve(self, connection: Connection) -> None:
        """Answer a question of a legacy server's, if there is one that nobody else has taken.

        Raises:
            BaseException: what `on_ask` raised. The server has been told that there is no answer, unless `on_ask` was
                only interrupted: then somebody else asks.
        """
        asked = connection.take_question()
        if asked is None or self._on_ask is None:
            return
        try:
            question = _read(asked.params, None)
        except BrokenRules as error:
            connection.answer(asked, messages.error(asked.id, codes.INVALID_PARAMS, str(error)))
            return
        try:
            witness.get().asked(question)
            answer: Answer | None = await self._waiting.unless_closed(asked, self._on_ask(question))
            if asked.is_open:
                replied = reply(answer, question)
                connection.answer(asked, messages.response(asked.id, replied))
                witness.get().answered(replied)
        except Exception:
            connection.answer(
                asked, messages.error(asked.id, codes.INTERNAL_ERROR, "the client failed to ask the user")
            )
            raise
        except BaseException:  # whoever was asked is interrupted; the question is not
            connection.put_back(asked)
            raise

    async def responses(self, requests: Any, tool: str) -> dict[str, Any]:
        """Return the user's answers to the `inputRequests` of a modern server.

        Raises:
            BrokenRules: if they are none, or of a kind that was not offered.
        """
        if not isinstance(requests, dict):
            raise BrokenRules("the tool asks a question that is none")
        return {name: await self._respond(request, tool) for name, request in requests.items()}

    async def _respond(self, request: Any, tool: str) -> dict[str, Any]:
        method = request.get("method") if isinstance(request, dict) else None
        if method != "elicitation/create":
            raise BrokenRules(f"the tool {tool!r} asks for {method!r}, which this client did not offer")
        if self._on_ask is None:
            raise BrokenRules(f"the tool {tool!r} asks the user a question, and there is no on_ask to put it to")
        question = _read(request.get("params"), tool)
        witness.get().asked(question)
        answer: Answer = await self._waiting.settled(self._on_ask(question))
        replied = reply(answer, question)
        witness.get().answered(replied)
        return replied


def _read(params: Any, tool: str | None) -> Question:
    members = params if isinstance(params, dict) else {}
    message, schema = members.get("message"), members.get("requestedSchema")
    if members.get("mode", "form") != "form":
        raise BrokenRules(f"this client has no way to ask by {members['mode']!r}, only by form")
    if not isinstance(message, str) or not isinstance(schema, dict):
        raise BrokenRules("a question needs a message and a requestedSchema")
    return Question(message, schema, tool)


def reply(answer: Answer | None, question: Question) -> dict[str, Any]:
    """Return MCP's `ElicitResult` for what `on_ask` returned.

    Raises:
        TypeError: if that is no answer.
        ValueError: if it does not fit the question's form.
    """
    if isinstance(answer, NoAnswer):
        return {"action": answer.value}
    if not isinstance(answer, dict):
        raise TypeError(
            f"on_ask must return the answer's fields as a dict, NoAnswer.DECLINED or NoAnswer.DISMISSED, not {answer!r}"
        )
    if wrong := misfit(answer, question):
        asked_by = f" of {question.tool!r}" if question.tool else ""
        raise ValueError(f"what on_ask returned does not fit the form{asked_by}: {wrong}")
    return {"action": "accept", "content": answer}


def misfit(answer: dict[str, Any], question: Question) -> str:
    """Return what the form of *question* has against *answer*, as a sentence; empty if it fits."""
    from ..validation import Fitting, told  # only an answer needs them

    return told(Fitting(question.schema).faults(answer, "answer"))
