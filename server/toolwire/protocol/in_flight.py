"""What is under way with one client, all of it behind one door: calls, questions to the user, subscriptions.

Reading and running happen on different threads, so whoever begins, ends, parks or wakes something does so here, under
one lock. A call ends exactly once, and whoever asked for that first learns that it was them.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codes import INVALID_PARAMS, INVALID_REQUEST, META_SUBSCRIPTION_ID, OVERLOADED
from toolwire_tools import Cancelled, NotAnswered

from .. import log
from ..errors import RequestError
from .elicitation import Asked, Questions, Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_schemas.wire.messages import Id

    from .call import Call, Origin


_KIND = "toolsListChanged"
"""The one kind of news there is from a server that has only tools."""


class Subscriptions:
    """The open `subscriptions/listen` requests, by their ids. Used under the protocol's lock."""

    def __init__(self) -> None:
        self.ids: dict[Id, bool] = {}
        """The open requests, each with whether it wants to hear of tools."""

    def open(self, id: Id, params: dict[str, Any]) -> bytes:
        """Return the notification that acknowledges the request: what it will hear of, of all it asked for.

        Raises:
            RequestError: if the params are not those of the method.
        """
        wanted = params.get("notifications")
        if not isinstance(wanted, dict):
            raise RequestError(
                INVALID_PARAMS, "params.notifications must be an object such as {'toolsListChanged': true}"
            )
        self.ids[id] = wanted.get(_KIND) is True
        granted = {_KIND: True} if self.ids[id] else {}
        return _notification("subscriptions/acknowledged", id, {"notifications": granted})

    def close(self, id: Id) -> bool:
        """Forget the request; false if it was not open."""
        return self.ids.pop(id, None) is not None

    def news(self) -> list[bytes]:
        """Return what tells every subscriber that the list of tools has changed."""
        return [_notification("tools/list_changed", id, {}) for id, wanted in self.ids.items() if wanted]

    def close_all(self) -> list[Id]:
        """Forget all requests and return their ids: they are owed an answer."""
        ids = list(self.ids)
        self.ids.clear()
        return ids


def _notification(name: str, id: Id, params: dict[str, Any]) -> bytes:
    return messages.notification(f"notifications/{name}", {**params, "_meta": {META_SUBSCRIPTION_ID: id}})


class Ledger:
    """Keeps the calls by the ids that cancel them, and their number and the bytes of input they hold within limits.

    A call counts until its tool has returned, even if it was given up or parked before: until then it holds memory.
    """

    def __init__(self, max_pending_calls: int, max_pending_bytes: int, max_questions: int) -> None:
        self._max_pending_calls = max_pending_calls
        self._max_pending_bytes = max_pending_bytes
        self._max_questions = max_questions
        self._lock = threading.Lock()
        self._calls: dict[Id | Call, Call] = {}
        self._lingering = 0  # calls that no request waits for any more, and whose tools have not returned
        # Two counters, each with one writer at a time: the thread that reads, and whoever holds the lock.
        self._bytes_in = 0
        self._bytes_out = 0
        self._questions = Questions()
        self._subscriptions = Subscriptions()
        self._when_idle: Callable[[], None] | None = None

    # Calls

    def begin(self, call: Call, id: Id | None, origin: Origin) -> None:
        """Enter *call* as the request *id* led to it. Only the thread that reads may: it needs no lock.

        Raises:
            RequestError: if the id is in use, or there is too much under way.
        """
        key = call if id is None else id
        if key in self._calls or key in self._subscriptions.ids:
            raise _in_use(id)
        if len(self._calls) + self._lingering >= self._max_pending_calls:
            raise self._too_many()
        entered = self._bytes_in + origin.size
        if entered - self._bytes_out > self._max_pending_bytes:
            held = self._bytes_in - self._bytes_out
            log.rarely("pending bytes", f"calls are refused: {held} bytes of input are held (--max-pending-bytes)")
            raise RequestError(
                OVERLOADED,
                f"Overloaded: the calls under way hold {held} bytes of input, "
                f"and the limit is {self._max_pending_bytes}; call again when some have ended",
            )
        self._bytes_in = entered
        self._calls[key] = call

    def get(self, id: Id) -> Call | None:
        """Return the call that was begun with *id* and has not ended."""
        return self._calls.get(id)

    def calls(self) -> list[Call]:
        """Return every call that a client waits for."""
        return list(self._calls.values())

    def end(self, call: Call, given_up: bool = False) -> bool:
        """End *call*, and return whether it is to be answered now: true at most once, and never if no request waits.

        A tool that waits for the user is woken.
        """
        self._lock.acquire()  # `with` takes twice as long, and this is on the path of every call
        try:
            if call.ended:
                if not given_up:  # the tool of a call that was given up has returned
                    self._let_go(call)
                return False
            call.ended = True
            key = call if call.id is None else call.id
            is_awaited = self._calls.get(key) is call  # not so if it is parked
            if is_awaited:
                del self._calls[key]
            if given_up:
                call.given_up = True
                if is_awaited:
                    self._linger(call)
            elif is_awaited:
                self._bytes_out += call.origin.size
            else:
                self._let_go(call)
        finally:
            self._lock.release()
        asked = call.asked
        if asked is not None:
            asked.wake(_cancelled(call))
        if self._when_idle is not None and not self._calls:
            self._when_idle()
        return is_awaited

    def let_go(self, call: Call) -> None:
        """Count *call*, which has ended, no more: its tool has returned, or will never be run."""
        with self._lock:
            self._let_go(call)

    def hold(self, size: int) -> None:
        """Count *size* more bytes as held, or fewer if it is negative: those of a batch's answers."""
        with self._lock:
            self._bytes_out -= size

    def is_idle(self) -> bool:
        """Whether no call is under way."""
        return not self._calls

    def notify_when_idle(self, callback: Callable[[], None]) -> None:
        """Call *callback* as soon as no call is under way, which may be now, and may be more than once."""
        self._when_idle = callback
        if not self._calls:
            callback()

    # Questions

    def ask(self, asked: Asked, version: str | None) -> bytes:
        """Open a question to a legacy client of *version*; return the request that puts it.

        Raises:
            Cancelled: if the call has ended.
            RuntimeError: if the same call is asking already.
        """
        with self._lock:
            self._open(asked)
            return self._questions.put(asked, version)

    def park(self, asked: Asked) -> dict[str, Any]:
        """Open a question to a modern client; return the result that puts it, and ends the request but not the call.

        Raises what `ask` raises.
        """
        with self._lock:
            call = asked.call
            if call.id is None or self._calls.get(call.id) is not call:  # nobody waits for it any more
                raise _cancelled(call)
            self._open(asked)
            del self._calls[call.id]
            self._linger(call)
            return self._questions.park(asked)

    def resume(self, key: object, again: Call) -> Asked:
        """Return the question parked under *key*, whose call goes on as the request that led to *again*.

        Raises:
            RequestError: if there is no such question, it belongs to another call, or the id is in use.
        """
        with self._lock:
            asked = self._questions.parked(key, again.tool.name, again.arguments)
            call = asked.call
            if again.id is None:
                raise RequestError(INVALID_REQUEST, "A call that goes on needs an id: its answer is waited for")
            self.begin(call, again.id, again.origin)
            self._questions.close(asked)
            self._let_go(call)  # what the request before held
            call.id, call.origin, call.token, call.last_progress = again.id, again.origin, again.token, None
            call.capabilities = again.capabilities
            return asked

    def repeat(self, key: object, again: Call) -> dict[str, Any]:
        """Return the result that puts the question parked under *key* once more, under a new key, to *again*'s client.

        Raises what `resume` raises.
        """
        with self._lock:
            asked = self._questions.parked(key, again.tool.name, again.arguments)
            if again.id is not None:
                self._refuse_used(again.id)
            self._questions.close(asked)
            return self._questions.park(asked)

    def answered(self, response: Response) -> Asked | None:
        """Return the question that a legacy client's *response* answers, which is then closed."""
        with self._lock:
            return self._questions.answered(response)

    def close(self, asked: Asked) -> bool:
        """Close a question; false if it was closed already."""
        with self._lock:
            return self._questions.close(asked)

    def close_all(self) -> list[Asked]:
        """Close and return every open question."""
        with self._lock:
            return [asked for asked in self._questions.all() if self._questions.close(asked)]

    def _open(self, asked: Asked) -> None:
        call = asked.call
        if call.ended:
            raise _cancelled(call)
        if call.asked not in (None, asked):
            raise RuntimeError("ask one question at a time, or several as the fields of a dataclass")
        if self._questions.number() >= self._max_questions:
            told = f"{self._max_questions} questions wait for the user already, and no more may (--max-questions)"
            log.rarely("questions", f"questions are not put: {told}")
            raise NotAnswered(f"{told}; ask again when some have been answered.")
        call.asked = asked

    # Subscriptions

    def listen(self, id: Id, params: dict[str, Any]) -> bytes:
        """Enter a subscription and return its acknowledgement.

        Raises:
            RequestError: if the id is in use, or the params are none.
        """
        with self._lock:
            self._refuse_used(id)
            if len(self._subscriptions.ids) >= self._max_pending_calls:
                raise self._too_many()
            return self._subscriptions.open(id, params)

    def stop_listening(self, id: Id) -> bool:
        """End a subscription; false if there is none."""
        with self._lock:
            return self._subscriptions.close(id)

    def stop_all_listening(self) -> list[Id]:
        """End all subscriptions and return their ids: they are owed an answer."""
        with self._lock:
            return self._subscriptions.close_all()

    def news(self) -> list[bytes]:
        """Return what tells subscribers that the tools have changed."""
        with self._lock:
            return self._subscriptions.news()

    def _linger(self, call: Call) -> None:
        call.lingers = True
        self._lingering += 1

    def _let_go(self, call: Call) -> None:
        if call.lingers:
            call.lingers = False
            self._lingering -= 1
            self._bytes_out += call.origin.size

    def _too_many(self) -> RequestError:
        limit = self._max_pending_calls
        log.rarely("pending calls", f"calls are refused: {limit} are under way (--max-pending-calls)")
        return RequestError(
            OVERLOADED,
            f"Overloaded: {limit} calls are under way, given-up ones that still run included, and that is the limit; "
            "call again when some have ended",
        )

    def _refuse_used(self, id: Id) -> None:
        if id in self._calls or id in self._subscriptions.ids:
            raise _in_use(id)


def _cancelled(call: Call) -> Cancelled:
    return Cancelled(f"the call of {call.tool.name} was cancelled")


def _in_use(id: Id | None) -> RequestError:
    return RequestError(INVALID_REQUEST, f"A request with the id {id!r} is under way already")
