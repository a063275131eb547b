"""Elicitation in both eras of MCP. Imported for the first elicitation.

A legacy client receives our request `elicitation/create` and responds to it. A modern client never
receives requests: its `tools/call` is answered with `input_required`, and it repeats the call with
the user's input and our key. The tool waits all the time, parked under that key: no code runs
twice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import UNSET, UnsetType
from toolwire_schemas.json_schema.choices import list_choices
from toolwire_schemas.json_schema.graph import SchemaGraph
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import decode, encode_plain
from toolwire_schemas.wire.messages import INVALID_PARAMS, INVALID_REQUEST, META_INPUT_KEY
from toolwire_schemas.wire.tasks import META_RELATED_TASK
from toolwire_tools import CannotAsk, NotAnswered

from .. import log
from ..errors import RequestError
from . import lifecycle
from .call import ElicitationReply
from .in_flight import make_cancelled_error
from .lifecycle import can_elicit

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_schemas.json_schema.graph import SchemaNode
    from toolwire_schemas.wire.messages import Id

    from .call import Call, Decision, Reply
    from .in_flight import InFlight
    from .lifecycle import Capabilities

COULD_NOT_ASK = "The client could not ask the user: "


class PendingElicitation(msgspec.Struct, eq=False):
    """One elicitation, or request of another *method*, that waits. `wake` passes the reply to the
    tool; never blocks.

    `key` identifies the reply: the id of our request, or the `requestState` of a modern client's
    next call. `input_key` is that of the request among the `inputRequests` of a modern client.
    """

    call: Call
    params: dict[str, Any]
    wake: Callable[[Reply], None]
    method: str = "elicitation/create"
    input_key: str = "answer"
    key: str = ""


class Answerer(Protocol):
    """What elicitations need of the protocol of their client."""

    @property
    def eras(self) -> lifecycle.Eras:
        """Knows the revision of a legacy client."""

    @property
    def identity(self) -> lifecycle.Identity:
        """The identity of the server."""

    def answer(
        self, id: Id | UnsetType | None, outcome: bytes | RequestError, recipient: Any
    ) -> tuple[Decision, ...]:
        """Return the decision to send the response with *outcome*."""


class Elicitations:
    """The elicitations that wait for a reply, at most *most*: calls of *in_flight*, whose lock
    holds here, too.
    """

    def __init__(self, in_flight: InFlight, protocol: Answerer, most: int) -> None:
        self._in_flight = in_flight
        self._eras = protocol.eras
        self._protocol = protocol
        self._most = most
        self._open: dict[str, PendingElicitation] = {}
        self._of_no_call: dict[str, Callable[[Reply], None]] = {}

    def request(self, pending: PendingElicitation) -> bytes | None:
        """Add an elicitation, and return the message that asks the client; `None` if that is part
        of a batch which is not complete, or the client has answered before it was asked.

        A modern client gets it as the response to its request; the call goes on without one. That
        of a task gets it with the state of the task, when it asks for that.

        Raises:
            CannotAsk: if the client cannot ask its user, or has no such form in its revision.
            Cancelled: if the call has ended.
            NotAnswered: if too many wait already.
            RuntimeError: if the same call waits for one already.
        """
        call, version = pending.call, self._eras.version
        _check_client(pending)
        early_reply = _take_early_answer(pending)
        if early_reply is not None:
            pending.wake(early_reply)
            return None
        if call.origin.modern and call.task is None:
            with self._in_flight.lock:
                self._begin(pending)
                self._in_flight.park(call)
            return self._in_flight.respond_with_elicitation(call, make_input_required(pending))
        if not call.origin.modern:
            pending.params = to_older_form(pending.params, version)
        with self._in_flight.lock:
            self._begin(pending)
        if call.task is not None:
            call.task.ask(pending)
        if call.origin.modern:
            return None
        params = _make_params(pending, version)
        meta: dict[str, Any] = {}
        if pending.input_key != "answer":
            meta[META_INPUT_KEY] = pending.input_key
        if call.task is not None:
            meta[META_RELATED_TASK] = {"taskId": call.task.id}
        if meta:
            params = {**params, "_meta": meta}
        return messages.encode_request(pending.key, pending.method, params)

    def _begin(self, pending: PendingElicitation) -> None:
        """Let *pending* wait under a new key. Only with the lock."""
        call = pending.call
        assert call.id is not None
        is_parked = _has_requests(call) and self._in_flight.get(call.id) is not call
        if call.ended or is_parked:
            raise make_cancelled_error(call)
        if call.task is None and call.elicitation not in (None, pending):
            raise RuntimeError(
                "ask one question at a time, or several as the fields of a dataclass"
            )
        self._check_room()
        call.elicitation = pending
        self._add(pending)

    def _check_room(self) -> None:
        if len(self._open) + len(self._of_no_call) < self._most:
            return
        problem = (
            f"{self._most} questions already wait for the user, which is the limit"
            " (--limit max_questions)"
        )
        log.warn_rarely("questions", f"questions are refused: {problem}")
        raise NotAnswered(f"{problem}; ask again when some have been answered.")

    def resume(self, again: Call, params: dict[str, Any]) -> tuple[Decision, ...]:
        """Return what to do about a parked call that a modern client repeats with *params*.

        With the user's reply, the parked call continues as the request that led to *again*.
        Without, the elicitation gets a new key, and the client is asked again.
        """
        key, responses = params["requestState"], params.get("inputResponses")
        with self._in_flight.lock:
            pending = self._find_parked(key, again)
            call = pending.call
            reply = _find_reply(responses, pending.input_key)
            if reply is None and not again.capabilities:
                raise RequestError(
                    INVALID_PARAMS,
                    f"params.inputResponses has no {pending.input_key!r}, and the client cannot"
                    " elicit",
                )
            if reply is None:
                if again.id is not None:
                    self._in_flight.check_unused(again.id)
            elif again.id is None:
                raise RequestError(
                    INVALID_REQUEST, "A call with params.requestState must have an id"
                )
            else:
                self._in_flight.unpark(call, again)
            del self._open[pending.key]
            if reply is None:
                self._add(pending)
        if reply is not None:
            return (ElicitationReply(pending.wake, reply, pending.call),)
        id = UNSET if again.id is None else again.id
        asked_again = lifecycle.complete_modern_result(
            self._protocol.identity, make_input_required(pending)
        )
        return self._protocol.answer(id, encode_plain(asked_again), again.origin.recipient)

    def take(self, response: Response) -> tuple[Decision, ...]:
        """Return what to do about a legacy client's *response*, which may answer an elicitation."""
        key = response.id
        if not isinstance(key, str):
            return ()
        with self._in_flight.lock:
            wake = self._of_no_call.pop(key, None)
            if wake is not None:
                return (ElicitationReply(wake, response.reply()),)
            pending = self._open.get(key)
            if pending is None or pending.call.origin.modern:
                return ()
            del self._open[key]
        return (ElicitationReply(pending.wake, response.reply(), pending.call),)

    def request_outside(
        self, method: str, params: dict[str, Any], wake: Callable[[Reply], None]
    ) -> tuple[str, bytes]:
        """Return the key and the message of a request to a legacy client that belongs to no call;
        *wake* gets the reply, and never blocks.

        Raises:
            NotAnswered: if too many wait already.
        """
        with self._in_flight.lock:
            self._check_room()
            key = _make_key()
            self._of_no_call[key] = wake
        return key, messages.encode_request(key, method, params)

    def close_outside(self, key: str) -> bool:
        """Remove a request that belongs to no call; false if it was removed before."""
        with self._in_flight.lock:
            return self._of_no_call.pop(key, None) is not None

    def close(self, pending: PendingElicitation, give_up: bool = False) -> bool:
        """Remove an elicitation; false if it was removed before. *give_up* ends its call, too."""
        with self._in_flight.lock:
            closed = self._open.pop(pending.key, None) is not None
        if closed and give_up:
            self._in_flight.end(pending.call, given_up=True)
        return closed

    def end(self, pending: PendingElicitation) -> bytes | None:
        """Note that the tool continues; return the notification that cancels an elicitation without
        a reply.

        A modern client's call without a reply ends: the request that led to it has been answered.
        """
        call = pending.call
        call.elicitation = None
        if call.task is not None:
            call.task.remove_question(pending)
        if not self.close(pending, give_up=_has_requests(call)) or call.origin.modern:
            return None
        return messages.encode_notification("notifications/cancelled", {"requestId": pending.key})

    def close_all(self) -> list[PendingElicitation]:
        """Remove and return every elicitation, since the client has gone; end the calls that are
        parked.
        """
        return [
            pending
            for pending in list(self._open.values())
            if self.close(pending, pending.call.origin.modern)
        ]

    def close_all_outside(self) -> list[Callable[[Reply], None]]:
        """Remove every request that belongs to no call, and return their `wake`."""
        with self._in_flight.lock:
            closed = list(self._of_no_call.values())
            self._of_no_call.clear()
        return closed

    def _find_parked(self, key: object, again: Call) -> PendingElicitation:
        pending = self._open.get(key) if isinstance(key, str) else None
        if pending is None or pending.call.ended or not pending.call.origin.modern:
            raise RequestError(
                INVALID_PARAMS,
                "params.requestState is unknown: it was already used, has expired, or is from"
                " another server; call the tool again without it",
            )
        call = pending.call
        same = (call.entry.kind, call.entry.name) == (again.entry.kind, again.entry.name)
        if not same or decode(call.sent) != again.arguments:
            raise RequestError(
                INVALID_PARAMS, "params.requestState was made for another tool or other arguments"
            )
        return pending

    def _add(self, pending: PendingElicitation) -> None:
        pending.key = _make_key()
        self._open[pending.key] = pending


class Response(msgspec.Struct):
    """A response to one of our requests."""

    id: str | int
    result: Any = msgspec.UNSET
    error: Any = msgspec.UNSET
    method: Any = msgspec.UNSET

    def reply(self) -> Reply:
        """Return the reply for the waiting tool."""
        if isinstance(self.result, dict):
            return self.result
        if not isinstance(self.error, dict):
            return NotAnswered(f"{COULD_NOT_ASK}it sent an invalid response.")
        return ClientFailed(self.error)


class ClientFailed(NotAnswered):
    """The client answered with this *error*."""

    def __init__(self, error: dict[str, Any]) -> None:
        reason = error.get("message") or "it sent an invalid response"
        super().__init__(f"{COULD_NOT_ASK}{reason}.")
        self.error = error


def _make_key() -> str:
    # Random, since a client that knows the key of a parked call can answer in the user's name.
    return os.urandom(16).hex()


_decode_response = msgspec.json.Decoder(Response).decode


def read_response(frame: bytes) -> Response | None:
    """Return the response that *frame* is; `None` if it is something else."""
    try:
        found = _decode_response(frame)
    except (ValueError, RecursionError):
        return None
    has_outcome = not (found.result is msgspec.UNSET and found.error is msgspec.UNSET)
    return found if has_outcome and found.method is msgspec.UNSET else None


def _check_client(pending: PendingElicitation) -> None:
    """Raise `CannotAsk` if the client that called cannot be asked."""
    call = pending.call
    missing = _find_missing(call.capabilities, pending)
    if missing:
        wanted = "the user" if missing.startswith("elicitation") else f"for {pending.method}"
        raise CannotAsk(
            f"This tool asks {wanted}, but the client that called it does not support {missing}."
        )
    if call.id is None:
        raise CannotAsk("This tool asks the user, which is not possible in a call without an id.")


def _find_missing(capabilities: Capabilities, pending: PendingElicitation) -> str:
    """Return what a client with these *capabilities* lacks to answer a request: each kind has one
    of that name.
    """
    kind = pending.method.partition("/")[0]
    mode = pending.params.get("mode", "form")
    if kind == "elicitation" and mode == "form":
        return "" if can_elicit(capabilities) else kind
    declared = capabilities.get(kind)
    if not isinstance(declared, dict):
        return kind if kind != "elicitation" else f"elicitation by {mode}"
    if kind == "elicitation" and mode not in declared:
        return f"elicitation by {mode}"
    return ""


def to_older_form(params: dict[str, Any], version: str | None) -> dict[str, Any]:
    """Return *params* with their form, if they have one, as a legacy client of *version* knows it.

    Raises:
        CannotAsk: if that revision has no such form.
    """
    if version is None or version >= "2025-11-25":
        return params
    form = SchemaGraph(params.get("requestedSchema")).root
    if not form.properties:  # a mounted server may leave them out
        return params
    older = {name: _make_older_field(field) for name, field in form.properties.items()}
    return {**params, "requestedSchema": {**form.keywords, "properties": older}}


def _make_older_field(field: SchemaNode) -> Any:
    """Return the schema of *field* with `enumNames` in place of constants in `oneOf`.

    Raises:
        CannotAsk: if the user may choose several values.
    """
    if "array" in field.types:
        raise CannotAsk(
            "This tool asks for several choices at once, which clients can show since MCP"
            " 2025-11-25."
        )
    choices = list_choices(field)
    if not field.one_of or not choices:
        return field.schema
    values = [choice.value for choice in choices]
    names = [choice.label for choice in choices]
    rest = {word: value for word, value in field.keywords.items() if word != "oneOf"}
    return {**rest, "enum": values, "enumNames": names}


def make_input_required(pending: PendingElicitation) -> dict[str, Any]:
    """Return the `input_required` result for a modern client."""
    return {
        "resultType": "input_required",
        "inputRequests": {pending.input_key: make_input_request(pending)},
        "requestState": pending.key,
    }


def make_input_request(pending: PendingElicitation) -> dict[str, Any]:
    """Return the request for a modern client, which is a part of a result or of a task."""
    return {"method": pending.method, "params": _make_params(pending, None)}


def _has_requests(call: Call) -> bool:
    """Return whether each question of *call* answers a request, and the next one continues it."""
    return call.origin.modern and call.task is None


def _find_reply(responses: Any, key: str) -> dict[str, Any] | None:
    """Return the reply with *key* in a client's `inputResponses`; `None` if it has none."""
    reply = responses.get(key) if isinstance(responses, dict) else None
    return reply if isinstance(reply, dict) else None


def _take_early_answer(pending: PendingElicitation) -> dict[str, Any] | None:
    """Return what the client has answered with its call, before it was asked: each answer once.

    Without a key of its author, a question must have been seen: it may ask for consent to this
    very call.
    """
    if pending.input_key == "answer":
        return None
    answers = pending.call.early_answers
    reply = _find_reply(answers, pending.input_key)
    if reply is not None:
        del answers[pending.input_key]
    return reply


def _make_params(pending: PendingElicitation, version: str | None) -> dict[str, Any]:
    # Revisions before 2025-11-25 do not know the mode.
    has_mode = "requestedSchema" in pending.params and (version is None or version >= "2025-11-25")
    return {"mode": "form", **pending.params} if has_mode else pending.params
