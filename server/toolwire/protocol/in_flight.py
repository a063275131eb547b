"""Everything in flight with one client, under one lock: calls, elicitations, subscriptions.

Reading and running happen on different threads. A call ends exactly once: only the first `end` returns true.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from toolwire_schemas.wire.codec import decode
from toolwire_schemas.wire.codes import INVALID_PARAMS, INVALID_REQUEST, OVERLOADED
from toolwire_tools import Cancelled, NotAnswered

from .. import log
from ..errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_schemas.wire.messages import Id

    from ..settings import Settings
    from .call import Call, Origin, PendingElicitation


class InFlight:
    """Keeps calls by the ids that cancel them, within the limits of *settings* on their number and input bytes.

    A call counts until its tool has returned, even if it was given up or parked before: until then it holds memory.
    """

    def __init__(self, settings: Settings) -> None:
        self._max_calls = settings.max_pending_calls
        self._max_bytes = settings.max_pending_bytes
        self._max_elicitations = settings.max_questions
        self._lock = threading.Lock()
        self._calls: dict[Id | Call, Call] = {}
        self._lingering = 0  # calls that no request waits for, and whose tools have not returned
        # Two counters, each with one writer at a time: the reading thread, and the holder of the lock.
        self._bytes_in = 0
        self._bytes_out = 0
        self._elicitations: dict[str, PendingElicitation] = {}
        self._subscriptions: dict[Id, bool] = {}  # each with whether it includes changes of the tool list
        self._when_idle: Callable[[], None] | None = None

    # Calls

    def begin(self, call: Call, id: Id | None, origin: Origin) -> None:
        """Add *call* under *id*. Only for the reading thread: it takes no lock.

        Raises:
            RequestError: if the id is in use, or a limit is reached.
        """
        key = call if id is None else id
        if key in self._calls or key in self._subscriptions:
            raise _in_use(id)
        if len(self._calls) + self._lingering >= self._max_calls:
            raise self._too_many()
        entered = self._bytes_in + origin.size
        if entered - self._bytes_out > self._max_bytes:
            held = self._bytes_in - self._bytes_out
            log.rarely("pending bytes", f"calls are refused: {held} bytes of input are held (--max-pending-bytes)")
            raise RequestError(
                OVERLOADED,
                f"Overloaded: the calls under way hold {held} bytes of input, "
                f"and the limit is {self._max_bytes}; call again when some have ended",
            )
        self._bytes_in = entered
        self._calls[key] = call

    def get(self, id: Id) -> Call | None:
        """Return the call with *id* that has not ended."""
        return self._calls.get(id)

    def end(self, call: Call, given_up: bool = False) -> bool:
        """End *call*; return whether to answer it now: true at most once, and never if no request waits for it.

        Wakes a tool that waits for the user.
        """
        self._lock.acquire()  # `with` takes twice as long, and this is on the path of every call
        try:
            if call.ended:
                if not given_up:  # the tool of a call that was given up has returned
                    self._release(call)
                return False
            call.ended = True
            key = call if call.id is None else call.id
            is_awaited = self._calls.get(key) is call  # false if it is parked
            if is_awaited:
                del self._calls[key]
            if given_up:
                call.given_up = True
                if is_awaited:
                    self._linger(call)
            elif is_awaited:
                self._bytes_out += call.origin.size
            else:
                self._release(call)
        finally:
            self._lock.release()
        pending = call.elicitation
        if pending is not None:
            pending.wake(_cancelled(call))
        if self._when_idle is not None and not self._calls:
            self._when_idle()
        return is_awaited

    def end_all(self) -> list[Call]:
        """End every call that a client waits for, without responses, and return them: the server is exiting."""
        return [call for call in list(self._calls.values()) if self.end(call, given_up=True)]

    def release(self, call: Call) -> None:
        """Stop counting *call*, which has ended: its tool has returned, or will never run."""
        with self._lock:
            self._release(call)

    def hold(self, size: int) -> None:
        """Count *size* more bytes as held, or fewer if negative: the responses of a batch."""
        with self._lock:
            self._bytes_out -= size

    def is_idle(self) -> bool:
        """Return whether no call is in flight."""
        return not self._calls

    def notify_when_idle(self, callback: Callable[[], None]) -> None:
        """Call *callback* as soon as no call is in flight: possibly now, possibly more than once."""
        self._when_idle = callback
        if not self._calls:
            callback()

    # Elicitations: those of modern clients are parked, their calls no longer awaited.

    def elicit(self, pending: PendingElicitation) -> None:
        """Add an elicitation and set its key; that of a modern client ends the request but not the call.

        Raises:
            Cancelled: if the call has ended.
            NotAnswered: if too many wait already.
            RuntimeError: if the same call waits for one already.
        """
        with self._lock:
            call = pending.call
            modern = call.origin.modern
            if call.ended or (modern and (call.id is None or self._calls.get(call.id) is not call)):
                raise _cancelled(call)
            if call.elicitation not in (None, pending):
                raise RuntimeError("ask one question at a time, or several as the fields of a dataclass")
            if len(self._elicitations) >= self._max_elicitations:
                problem = (
                    f"{self._max_elicitations} questions wait for the user already, and no more may (--max-questions)"
                )
                log.rarely("questions", f"questions are not put: {problem}")
                raise NotAnswered(f"{problem}; ask again when some have been answered.")
            call.elicitation = pending
            if modern and call.id is not None:
                del self._calls[call.id]
                self._linger(call)
            self._add(pending)

    def resume(self, key: object, again: Call) -> PendingElicitation:
        """Return the elicitation parked under *key*; its call continues as the request that led to *again*.

        Raises:
            RequestError: if it is unknown, it belongs to another call, or the id is in use.
        """
        with self._lock:
            pending = self._parked(key, again)
            call = pending.call
            if again.id is None:
                raise RequestError(INVALID_REQUEST, "A call that goes on needs an id: its answer is waited for")
            self.begin(call, again.id, again.origin)
            del self._elicitations[pending.key]
            self._release(call)  # the bytes of the previous request
            call.id, call.origin, call.token, call.last_progress = again.id, again.origin, again.token, None
            call.capabilities = again.capabilities
            return pending

    def repeat(self, key: object, again: Call) -> PendingElicitation:
        """Return the elicitation parked under *key*, with a new key. Raises what `resume` raises."""
        with self._lock:
            pending = self._parked(key, again)
            if again.id is not None:
                self._check_unused(again.id)
            del self._elicitations[pending.key]
            self._add(pending)
            return pending

    def take_elicitation(self, key: str | int) -> PendingElicitation | None:
        """Remove and return the elicitation that a legacy client's response with this id answers."""
        with self._lock:
            pending = self._elicitations.get(key) if isinstance(key, str) else None
            if pending is None or pending.call.origin.modern:
                return None
            return self._elicitations.pop(pending.key)

    def close_elicitation(self, pending: PendingElicitation, give_up: bool = False) -> bool:
        """Remove an elicitation; false if it was removed before. *give_up* ends its call, too."""
        with self._lock:
            closed = self._elicitations.pop(pending.key, None) is not None
        if closed and give_up:
            self.end(pending.call, given_up=True)
        return closed

    def close_elicitations(self) -> list[PendingElicitation]:
        """Remove and return every elicitation, since the client has gone; end the calls that are parked."""
        every = [pending for pending in list(self._elicitations.values()) if self.close_elicitation(pending)]
        for pending in every:
            if pending.call.origin.modern:
                self.end(pending.call, given_up=True)
        return every

    def _parked(self, key: object, again: Call) -> PendingElicitation:
        pending = self._elicitations.get(key) if isinstance(key, str) else None
        if pending is None or pending.call.ended or not pending.call.origin.modern:
            raise RequestError(
                INVALID_PARAMS,
                "params.requestState is not known here: it was used already, is too old, or comes from another server; "
                "call the tool again without it",
            )
        call = pending.call
        if call.tool.name != again.tool.name or decode(call.sent) != again.arguments:
            raise RequestError(INVALID_PARAMS, "params.requestState belongs to a call of another tool or arguments")
        return pending

    def _add(self, pending: PendingElicitation) -> None:
        # Random, since a client that knows the key of a parked call can answer in the user's name.
        pending.key = os.urandom(16).hex()
        self._elicitations[pending.key] = pending

    # Subscriptions

    def subscribe(self, id: Id, to_tools: bool) -> None:
        """Add a subscription.

        Raises:
            RequestError: if the id is in use, or there are too many.
        """
        with self._lock:
            self._check_unused(id)
            if len(self._subscriptions) >= self._max_calls:
                raise self._too_many()
            self._subscriptions[id] = to_tools

    def unsubscribe(self, id: Id) -> bool:
        """Remove a subscription; false if it does not exist."""
        with self._lock:
            return self._subscriptions.pop(id, None) is not None

    def subscribed_to_tools(self) -> list[Id]:
        """Return the subscriptions to changes of the tool list."""
        with self._lock:
            return [id for id, to_tools in self._subscriptions.items() if to_tools]

    def unsubscribe_all(self) -> list[Id]:
        """Remove all subscriptions and return their ids, which still need a response."""
        with self._lock:
            ids = list(self._subscriptions)
            self._subscriptions.clear()
            return ids

    def _linger(self, call: Call) -> None:
        call.lingers = True
        self._lingering += 1

    def _release(self, call: Call) -> None:
        if call.lingers:
            call.lingers = False
            self._lingering -= 1
            self._bytes_out += call.origin.size

    def _too_many(self) -> RequestError:
        limit = self._max_calls
        log.rarely("pending calls", f"calls are refused: {limit} are under way (--max-pending-calls)")
        return RequestError(
            OVERLOADED,
            f"Overloaded: {limit} calls are under way, given-up ones that still run included, and that is the limit; "
            "call again when some have ended",
        )

    def _check_unused(self, id: Id) -> None:
        if id in self._calls or id in self._subscriptions:
            raise _in_use(id)


def _cancelled(call: Call) -> Cancelled:
    return Cancelled(f"the call of {call.tool.name} was cancelled")


def _in_use(id: Id | None) -> RequestError:
    return RequestError(INVALID_REQUEST, f"A request with the id {id!r} is under way already")
