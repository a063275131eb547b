"""Elicitation in both eras of MCP: how a tool's question reaches the user, and the answer the tool.

A legacy server sends a request, `elicitation/create`, that does not name the call it belongs to, so
any call that waits for that server answers it. A modern server puts the question into its result
and is called again with the answers.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.messages import METHOD_NOT_FOUND

from ..errors import BrokenRules
from ..protocol.loose_members import as_object, as_text

if TYPE_CHECKING:
    from ..waiting.base import OpenElicitation, Waiting
    from .connection import Connection


class Elicitation(msgspec.Struct, frozen=True):
    """A tool's question to the user.

    `schema` describes the form to fill in: the JSON Schema of a flat object. `tool` is the tool
    that asks, `None` where the server does not say (before MCP 2026-07-28). `key` is the server's
    name of the question, `answer` where it gives none.
    """

    message: str
    schema: dict[str, Any]
    tool: str | None = None
    key: str = "answer"


class NoAnswer(enum.Enum):
    """A user's action other than an answer."""

    DECLINED = "decline"
    """The user says no to the question."""
    DISMISSED = "cancel"
    """The user closes it without a decision."""


Answer = dict[str, Any] | NoAnswer
"""The fields of the form, or why they are missing."""

OnAsk = Callable[[Elicitation], Answer | Awaitable[Answer]]


class ElicitationObserver:
    """Receives the questions that tools ask during a call, the answers, and the id of the task that
    the call has become. This one ignores them.
    """

    def observe_request(self, question: Elicitation) -> None: ...

    def observe_reply(self, reply: dict[str, Any]) -> None: ...

    def observe_task(self, task_id: str) -> None: ...


elicitation_observer: ContextVar[ElicitationObserver] = ContextVar(
    "elicitation_observer",
    default=ElicitationObserver(),  # noqa: B039 - it has no state
)
"""The observer of the current call, and of all calls made from inside it."""


class ElicitationHandler:
    """Passes questions to *on_ask*; `None` refuses them."""

    def __init__(self, on_ask: OnAsk | None, waiting: Waiting) -> None:
        self._on_ask = on_ask
        self._waiting = waiting

    @property
    def can_ask(self) -> bool:
        return self._on_ask is not None

    async def ask(
        self,
        question: Elicitation,
        *,
        elicitation: OpenElicitation | None = None,
        observer: ElicitationObserver | None = None,
    ) -> dict[str, Any] | None:
        """Return the user's answer, MCP's `ElicitResult`; `None` if the server withdrew its
        *elicitation* first.

        Raises:
            BaseException: what `on_ask` raised.
            TypeError: if its answer is neither fields nor a `NoAnswer`.
            ValueError: if its answer does not fit the form.
        """
        assert self._on_ask is not None
        observer = observer or elicitation_observer.get()
        observer.observe_request(question)
        given = self._on_ask(question)
        if elicitation is None:
            answer: Answer | None = await self._waiting.await_if_awaitable(given)
        else:
            answer = await self._waiting.await_while_open(elicitation, given)
            if not elicitation.is_open:
                return None
        replied = _elicit_result(answer, question)
        observer.observe_reply(replied)
        return replied

    async def serve(self, connection: Connection, asked: OpenElicitation) -> None:
        """Answer an elicitation of a legacy server; other requests get an error.

        If `on_ask` fails, the server receives an error. If it is interrupted, another waiting call
        asks again.

        Raises:
            BaseException: as `ask`.
        """
        if asked.method != "elicitation/create":
            problem = f"this client has no method {asked.method!r}"
            connection.answer(asked, messages.encode_error(asked.id, METHOD_NOT_FOUND, problem))
            return
        try:
            question = _make_question(asked.params, None)
        except BrokenRules as error:
            connection.answer(
                asked, messages.encode_error(asked.id, messages.INVALID_PARAMS, str(error))
            )
            return
        try:
            replied = await self.ask(question, elicitation=asked)
            if replied is not None:
                connection.answer(asked, messages.encode_response(asked.id, replied))
        except Exception:
            failed = messages.encode_error(
                asked.id, messages.INTERNAL_ERROR, "the client failed to ask the user"
            )
            connection.answer(asked, failed)
            raise
        except BaseException:  # cancelled or interrupted: the question is still open
            connection.put_back(asked)
            raise

    async def collect_answers(self, requests: Any, tool: str) -> dict[str, Any]:
        """Return the user's answers to the `inputRequests` of a modern server."""
        if not isinstance(requests, dict):
            raise BrokenRules("the tool's inputRequests are not an object")
        responses = {}
        for name, request in requests.items():
            method = as_object(request).get("method")
            if method != "elicitation/create" or self._on_ask is None:
                raise BrokenRules(
                    f"the tool {tool!r} asks for {method!r}, which this client did not offer"
                )
            responses[name] = await self.ask(_make_question(request.get("params"), tool, name))
        return responses


def _make_question(params: Any, tool: str | None, key: str | None = None) -> Elicitation:
    members = as_object(params)
    if key is None:
        key = as_text(as_object(members.get("_meta")).get(messages.META_INPUT_KEY)) or "answer"
    message, schema = members.get("message"), members.get("requestedSchema")
    if members.get("mode", "form") != "form":
        raise BrokenRules(f"this client cannot elicit by {members['mode']!r}, only by form")
    if not isinstance(message, str) or not isinstance(schema, dict):
        raise BrokenRules("a question needs a message and a requestedSchema")
    return Elicitation(message, schema, tool, key)


def _elicit_result(answer: Answer | None, question: Elicitation) -> dict[str, Any]:
    if isinstance(answer, NoAnswer):
        return {"action": answer.value}
    if not isinstance(answer, dict):
        raise TypeError(
            "on_ask must return the answer's fields as a dict, NoAnswer.DECLINED or"
            f" NoAnswer.DISMISSED, not {answer!r}"
        )
    if wrong := find_misfit(answer, question):
        form = "the form"
        if question.tool:
            form = f"the form of {question.tool!r}"
        raise ValueError(f"what on_ask returned does not fit {form}: {wrong}")
    return {"action": "accept", "content": answer}


def find_misfit(answer: dict[str, Any], question: Elicitation) -> str:
    """Return why *answer* does not fit the form of *question*; empty if it fits."""
    from ..validation import LenientValidator, join_errors  # only an answer needs them

    return join_errors(LenientValidator(question.schema).find_faults(answer, "answer"))
