"""Questions to the user in both of MCP's eras: how they are put, and how an answer finds its call.

A legacy client gets a request of ours, `elicitation/create`, and answers it. A modern one is never sent requests: its
`tools/call` is answered with `input_required`, and it calls again with the user's answer and the key it was given.
The tool has been waiting all the while, parked under that key: no code runs twice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import decode
from toolwire_schemas.wire.codes import INVALID_PARAMS
from toolwire_tools import Cancelled, CannotAsk, NotAnswered

from ..errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .call import Call

Reply = dict[str, Any] | NotAnswered | Cancelled

COULD_NOT_ASK = "The client could not ask: "

_NAME = "answer"
"""What our one question is called among a modern result's `inputRequests`."""


class Asked(msgspec.Struct, eq=False):
    """One question under way. `wake` hands the waiting tool its reply and never waits itself.

    `key` is what the answer will carry: the id of our request, or the `requestState` of a modern client's next call.
    """

    call: Call
    message: str
    schema: dict[str, Any]
    wake: Callable[[Reply], None]
    key: str = ""

    def params(self, version: str | None) -> dict[str, Any]:
        """Return the params of `elicitation/create`; only the revisions from 2025-11-25 on know the mode."""
        mode = {} if version is not None and version < "2025-11-25" else {"mode": "form"}
        return {**mode, "message": self.message, "requestedSchema": self.schema}


class Questions:
    """The questions that are open. All of it is used under the protocol's lock."""

    def __init__(self) -> None:
        self._sent: dict[str, Asked] = {}
        self._parked: dict[str, Asked] = {}

    def put(self, asked: Asked, version: str | None) -> bytes:
        """Return the request that asks a legacy client."""
        self._open(asked, self._sent)
        return messages.request(asked.key, "elicitation/create", asked.params(version))

    def park(self, asked: Asked) -> dict[str, Any]:
        """Return the result that asks a modern client, without what every modern result carries."""
        self._open(asked, self._parked)
        request = {"method": "elicitation/create", "params": asked.params(None)}
        return {"resultType": "input_required", "inputRequests": {_NAME: request}, "requestState": asked.key}

    def answered(self, response: Response) -> Asked | None:
        """Return the question that *response* answers, which is then closed; `None` if it answers none."""
        return self._sent.pop(response.id, None) if isinstance(response.id, str) else None

    def parked(self, key: object, tool: str, arguments: Any) -> Asked:
        """Return the question that waits under *key*, which must be that of a call with the same arguments.

        Raises:
            RequestError: if there is none, or it belongs to another call.
        """
        asked = self._parked.get(key) if isinstance(key, str) else None
        if asked is None or asked.call.ended:
            raise RequestError(
                INVALID_PARAMS,
                "params.requestState is not known here: it was used already, is too old, or comes from another server; "
                "call the tool again without it",
            )
        if asked.call.tool.name != tool or decode(asked.call.sent) != arguments:
            raise RequestError(INVALID_PARAMS, "params.requestState belongs to a call of another tool or arguments")
        return asked

    def close(self, asked: Asked) -> bool:
        """Forget *asked*; false if that has happened already."""
        return self._sent.pop(asked.key, None) is not None or self._parked.pop(asked.key, None) is not None

    def number(self) -> int:
        """Return how many questions are open."""
        return len(self._sent) + len(self._parked)

    def all(self) -> list[Asked]:
        """Return every open question."""
        return [*self._sent.values(), *self._parked.values()]

    def _open(self, asked: Asked, where: dict[str, Asked]) -> None:
        # Not to be guessed: whoever has the key of a parked call can answer in the user's name.
        asked.key = os.urandom(16).hex()
        where[asked.key] = asked


class Response(msgspec.Struct):
    """What answers a request of ours."""

    id: str | int
    result: Any = msgspec.UNSET
    error: Any = msgspec.UNSET
    method: Any = msgspec.UNSET

    def is_one(self) -> bool:
        """Return whether it is a response, and no request."""
        answers = self.result is not msgspec.UNSET or self.error is not msgspec.UNSET
        return answers and self.method is msgspec.UNSET

    def reply(self) -> Reply:
        """Return what the waiting tool gets."""
        if isinstance(self.result, dict):
            return self.result
        told = self.error.get("message") if isinstance(self.error, dict) else None
        return NotAnswered(f"{COULD_NOT_ASK}{told or 'its answer is none'}.")


def input_response(params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the user's answer in a modern client's repeated call; `None` if it has none."""
    responses = params.get("inputResponses")
    reply = responses.get(_NAME) if isinstance(responses, dict) else None
    return reply if isinstance(reply, dict) else None


def check_can_ask(capabilities: object) -> None:
    """Do nothing if a client with these capabilities can show a form.

    Raises:
        CannotAsk: if it cannot.
    """
    if not can_ask(capabilities):
        raise CannotAsk("This tool needs to ask the user, and the client that called it has no way to (elicitation).")


def can_ask(capabilities: object) -> bool:
    """Return whether a client with these capabilities can show a form."""
    elicitation = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    # An empty object means forms: the other kinds came later, and are named.
    return isinstance(elicitation, dict) and (not elicitation or "form" in elicitation)
