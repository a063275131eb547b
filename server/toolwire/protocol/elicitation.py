"""The messages of elicitation in both eras of MCP. Imported for the first elicitation.

A legacy client receives our request `elicitation/create` and responds to it. A modern client never receives requests:
its `tools/call` is answered with `input_required`, and it repeats the call with the user's input and our key. The tool
waits all the time, parked under that key: no code runs twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import messages
from toolwire_tools import CannotAsk, NotAnswered

from .lifecycle import can_elicit

if TYPE_CHECKING:
    from .call import PendingElicitation, Reply

COULD_NOT_ASK = "The client could not ask: "

_NAME = "answer"
"""The name of our only entry in `inputRequests`."""


class Response(msgspec.Struct):
    """A response to one of our requests."""

    id: str | int
    result: Any = msgspec.UNSET
    error: Any = msgspec.UNSET
    method: Any = msgspec.UNSET

    def is_one(self) -> bool:
        """Return whether it is a response and not a request."""
        return self.method is msgspec.UNSET and not (self.result is msgspec.UNSET and self.error is msgspec.UNSET)

    def reply(self) -> Reply:
        """Return the reply for the waiting tool."""
        if isinstance(self.result, dict):
            return self.result
        reason = self.error.get("message") if isinstance(self.error, dict) else None
        return NotAnswered(f"{COULD_NOT_ASK}{reason or 'it sent no valid response'}.")


_decode_response = msgspec.json.Decoder(Response).decode


def read_response(frame: bytes) -> Response | None:
    """Return the response that *frame* is; `None` if it is something else."""
    try:
        response = _decode_response(frame)
    except (ValueError, RecursionError):
        return None
    return response if response.is_one() else None


def legacy_request(pending: PendingElicitation, version: str | None) -> bytes:
    """Return the request to a legacy client of *version*."""
    return messages.request(pending.key, "elicitation/create", _params(pending, version))


def modern_result(pending: PendingElicitation) -> dict[str, Any]:
    """Return the `input_required` result for a modern client."""
    request = {"method": "elicitation/create", "params": _params(pending, None)}
    return {"resultType": "input_required", "inputRequests": {_NAME: request}, "requestState": pending.key}


def input_response(params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the user's input in a modern client's repeated call; `None` if it has none."""
    responses = params.get("inputResponses")
    reply = responses.get(_NAME) if isinstance(responses, dict) else None
    return reply if isinstance(reply, dict) else None


def check_can_elicit(capabilities: object) -> None:
    """Do nothing if a client with these *capabilities* can show a form.

    Raises:
        CannotAsk: if it cannot.
    """
    if not can_elicit(capabilities):
        raise CannotAsk("This tool needs to ask the user, and the client that called it has no way to (elicitation).")


def _params(pending: PendingElicitation, version: str | None) -> dict[str, Any]:
    # Revisions before 2025-11-25 do not know the mode.
    mode = {} if version is not None and version < "2025-11-25" else {"mode": "form"}
    return {**mode, "message": pending.message, "requestedSchema": pending.schema}
