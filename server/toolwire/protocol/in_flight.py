"""The calls in flight with one client, and how each ends.

Theory of operation. Reading and running happen on different threads. A call ends exactly once: only
the first `end` returns true. The states of a call and the methods that change them are the table in
call.py; those of this file are its transitions. `begin` takes no lock, which would be on the path
of every call: only the reading thread adds the calls of requests and counts their input. The calls
of programs (`begin_inner`) come from any thread, but have keys of their own and no input, and one
operation of a dictionary is atomic.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import EncodingError
from toolwire_schemas.wire.messages import INTERNAL_ERROR, INVALID_REQUEST, OVERLOADED
from toolwire_tools import Cancelled, ToolError

from .. import log
from ..errors import RequestError, UpstreamError
from .lifecycle import complete_modern_result

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_schemas.wire.messages import Id
    from toolwire_tools import Tool

    from ..settings import Settings
    from .call import Call, Origin
    from .lifecycle import Identity
    from .result_size.large_results import LargeResults
    from .running import Watched


class InFlight:
    """Keeps calls by the ids that cancel them, within the limits of *settings* on their number and
    input bytes.

    A call counts until its tool has returned, even if it was given up or parked before: until then
    it holds memory.
    """

    def __init__(self, settings: Settings, identity: Identity) -> None:
        self._identity = identity
        self._settings = settings
        # No token takes less than a byte.
        self._always_fitting_bytes = min(
            settings.max_result_bytes, settings.max_result_tokens or settings.max_result_bytes
        )
        self._mask_errors = settings.mask_errors
        self.max_calls = settings.max_pending_calls
        self._max_bytes = settings.max_pending_bytes
        self.lock = threading.Lock()
        # By the id of the request; a call without an id by itself.
        self._calls: dict[Id | Call, Call] = {}
        # Given up or parked: no request waits for them, and their tools have not returned.
        self.lingering: set[Call] = set()
        # Notified when a lingering call no longer counts. The end of the lifespans waits for it
        # (lifespans.py).
        self.returned = threading.Condition(self.lock)
        # Two counters, each with one writer at a time: the reading thread, and the holder of the
        # lock.
        self._bytes_in = 0
        self._bytes_out = 0
        self.subscriptions: dict[Id, frozenset[str]] = {}
        """Open requests, each with its topics: the lists `tools`, `resources` and `prompts`,
        resources, tasks, or the result of a task.
        """
        self.watched: Watched | None = None
        """The resources that the client watches; `None` before the first."""
        self.kept: dict[str, Tool] = {}
        """Resources of this session alone, by their URI templates: results that were too large. No
        list has them.
        """
        self.large: LargeResults | None = None
        """Makes results smaller that are too large to send as they are; `None` before the first."""
        self._when_idle: Callable[[], None] | None = None

    def begin(self, call: Call, id: Id | None, origin: Origin) -> None:
        """Add *call* under *id*. Only for the reading thread: it takes no lock."""
        key = call if id is None else id
        if key in self._calls or key in self.subscriptions:
            raise _make_id_error(id)
        if len(self._calls) + len(self.lingering) >= self.max_calls:
            from .overload import make_calls_error

            raise make_calls_error(self.max_calls)
        entered = self._bytes_in + origin.size
        if entered - self._bytes_out > self._max_bytes:
            raise self._make_bytes_error()
        self._bytes_in = entered
        self._calls[key] = call

    def begin_inner(self, call: Call) -> None:
        """Add *call*, which a program makes within another call. From any thread.

        It holds no input, and each program has a limit for the number of its calls.
        """
        self._calls[call] = call

    def get(self, id: Id) -> Call | None:
        """Return the call with *id* that has not ended."""
        return self._calls.get(id)

    def end(self, call: Call, given_up: bool = False) -> bool:
        """End *call*; return whether its outcome is wanted: true at most once, and never for a
        parked call that is no task.

        The outcome of a notification or of a program's call is wanted, too, though no response
        follows. Wakes a tool that waits for the user.
        """
        self.lock.acquire()  # `with` takes twice as long, and this is on the path of every call
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
            self.lock.release()
        pending = call.elicitation
        if pending is not None:
            pending.wake(make_cancelled_error(call))
        if self._when_idle is not None and not self._calls:
            self._when_idle()
        return is_awaited or call.task is not None

    def list_running(self) -> list[Call]:
        """Return the calls whose tools have not returned: those in flight, given up or parked."""
        with self.lock:
            return [*self._calls.values(), *self.lingering]

    def end_all(self) -> list[Call]:
        """End every call in flight without a response, and return them: the server is exiting.

        Includes tasks, notifications and the calls of programs, but no other parked calls
        (`Elicitations`).
        """
        ended = []
        for call in self.list_running():
            if (call.task or not call.lingers) and self.end(call, given_up=True):
                ended.append(call)
        return ended

    def release(self, call: Call) -> None:
        """Stop counting *call*, which has ended: its tool has returned, or will never run."""
        with self.lock:
            self._release(call)

    def hold(self, size: int) -> None:
        """Count *size* more bytes as held, or fewer if negative: the responses of a batch."""
        with self.lock:
            self._bytes_out -= size

    def is_idle(self) -> bool:
        """Return whether no call is in flight."""
        return not self._calls

    def notify_when_idle(self, callback: Callable[[], None]) -> None:
        """Call *callback* as soon as no call is in flight: possibly now, possibly more than
        once.
        """
        self._when_idle = callback
        if not self._calls:
            callback()

    # Parked calls of modern clients, which no request waits for. The caller of these three methods,
    # `Elicitations`, holds the lock.

    def park(self, call: Call) -> None:
        """End the request of *call*, but not the call."""
        assert call.id is not None
        del self._calls[call.id]
        self._linger(call)

    def unpark(self, call: Call, again: Call) -> None:
        """Continue *call* as the request that led to *again*. Only for the reading thread.

        It has its place already, and the input of *again* replaces its own: so it can continue even
        at the limit.

        Raises:
            RequestError: if the id of *again* is in use, or its input is too large.
        """
        assert again.id is not None
        self.check_unused(again.id)
        entered = self._bytes_in + again.origin.size
        if entered - self._bytes_out - call.origin.size > self._max_bytes:
            raise self._make_bytes_error()
        self._bytes_in = entered
        self._calls[again.id] = call
        self._release(call)  # the place and the bytes of the previous request
        call.id, call.origin, call.token, call.last_report = (
            again.id,
            again.origin,
            again.token,
            again.last_report,
        )
        call.capabilities, call.log_level = again.capabilities, again.log_level

    def check_unused(self, id: Id) -> None:
        """Raise a `RequestError` if *id* is in use."""
        if id in self._calls or id in self.subscriptions:
            raise _make_id_error(id)

    def _make_bytes_error(self) -> RequestError:
        from .overload import make_bytes_error

        return make_bytes_error(self._bytes_in - self._bytes_out, self._max_bytes)

    # The callers of these two hold the lock.

    def _linger(self, call: Call) -> None:
        call.lingers = True
        self.lingering.add(call)

    def _release(self, call: Call) -> None:
        if call.lingers:
            call.lingers = False
            self.lingering.remove(call)
            self.returned.notify_all()
            self._bytes_out += call.origin.size

    # Responses: the message to send, `None` if the call had ended or needs none. From any thread.

    def finish(self, call: Call, result: dict[str, Any]) -> bytes | None:
        """Respond with the *result* of the tool."""
        return self._respond(call, result) if self.end(call) else None

    def fail(self, call: Call, error: BaseException) -> bytes | None:
        """Respond with the *error* that the tool raised. Logs errors that are not for the
        caller.
        """
        if not self.end(call):
            return None
        try:
            from .lookup import log_failure

            log_failure(call, error, mask=self._mask_errors)
            return self._respond_failure(call, error)
        except ImportError as missing:  # Toolwire was upgraded while it runs: see `version.py`
            return self._respond_plain_failure(call, str(missing))
        except OSError:  # no descriptor is left to import them with
            return self._respond_plain_failure(
                call, "Internal error" if self._mask_errors else str(error)
            )

    def expire(self, call: Call, seconds: float) -> bytes | None:
        """Respond that the tool has taken longer than *seconds*."""
        if not self.end(call, given_up=True):
            return None
        return self._respond_failure(
            call, ToolError(f"{call.entry.name} did not finish within {seconds:g} seconds.")
        )

    def refuse(self, call: Call, problem: str) -> bytes | None:
        """Respond with a JSON-RPC error to a call that cannot be run."""
        return self._respond_error(call, OVERLOADED, problem) if self.end(call) else None

    def respond_internal_error(self, call: Call) -> bytes | None:
        """Respond to a call that has ended and whose real response could not be built."""
        return self._respond_error(call, INTERNAL_ERROR, "Internal error")

    def respond_with_elicitation(self, call: Call, result: dict[str, Any]) -> bytes | None:
        """Respond to the current request of a parked call with *result*, which asks the user."""
        assert call.id is not None
        return self._pass_to_recipient(
            call, messages.encode_response(call.id, complete_modern_result(self._identity, result))
        )

    def _respond_error(self, call: Call, code: int, text: str, data: Any = None) -> bytes | None:
        if call.id is None:
            return self._respond(call, _make_failure(ToolError(text), mask=False, tool=""))
        return self._pass_to_recipient(call, messages.encode_error(call.id, code, text, data))

    def _respond_failure(
        self, call: Call, error: BaseException, *, last: bool = False
    ) -> bytes | None:
        if call.entry.kind != "tools" or isinstance(error, UpstreamError):
            from .lookup import make_error

            failed = make_error(error, call, mask=self._mask_errors)
            return self._respond_error(call, failed.code, failed.message, failed.data)
        result = _make_failure(error, mask=self._mask_errors, tool=call.entry.name)
        return self._respond(call, result, last=last)

    def _respond_plain_failure(self, call: Call, text: str) -> bytes | None:
        """Respond with *text*, by what every server has imported."""
        if call.entry.kind != "tools":
            return self._respond_error(call, INTERNAL_ERROR, text)
        return self._respond(
            call, {"content": [{"type": "text", "text": text}], "isError": True}, last=True
        )

    def _pass_to_recipient(self, call: Call, message: bytes | None) -> bytes | None:
        recipient = call.origin.recipient
        return message if recipient is None else recipient.end(message)

    def _respond(self, call: Call, result: dict[str, Any], *, last: bool = False) -> bytes | None:
        """Return the response with *result*, or a failure if it cannot be sent; *last* ignores its
        size.
        """
        recipient = call.origin.recipient
        if call.id is None:
            call.take_result(result)
            return self._pass_to_recipient(call, None)
        if call.entry.kind == "methods":
            result = result["result"]
        elif call.origin.modern:
            result = complete_modern_result(self._identity, result)
        replaced: list[str] = []
        try:
            message = messages.encode_response(call.id, result, replaced, is_plain=True)
        except EncodingError as error:
            return self._respond_problem(
                call, f"{call.entry.name} returned a value that JSON cannot represent: {error}"
            )
        if replaced:
            log.warning(
                f"{call.entry.name} returned a lone surrogate (half a character), replaced by"
                f" U+FFFD: {replaced[-1]}",
                id=call.id_in_log or call.id,
            )
        most = call.entry.options.max_result_bytes or self._always_fitting_bytes
        if recipient is not None:
            most = min(most, self._settings.max_result_bytes - recipient.size)
        if len(message) > most and not last:
            made = self._make_smaller(call, result, message)
            return (
                self._pass_to_recipient(call, made)
                if isinstance(made, bytes)
                else self._respond_problem(call, made)
            )
        return message if recipient is None else recipient.end(message)

    def _make_smaller(self, call: Call, result: dict[str, Any], message: bytes) -> bytes | str:
        """Return *message*, with *result*, if it is within the limits; else a smaller one, or an
        error text.
        """
        from .result_size.large_results import LargeResults
        from .result_size.result_limit import limit_of

        limit = limit_of(call, result, len(message), self._settings)
        if len(message) <= limit.room:
            return message
        with self.lock:
            self.large = self.large or LargeResults(self._settings, self.kept)
        return self.large.make_response(call, result, len(message), limit)

    def _respond_problem(self, call: Call, problem: str) -> bytes | None:
        log.error(problem, id=call.id_in_log or call.id)
        return self._respond_failure(call, ToolError(problem), last=True)


def _make_failure(error: BaseException, *, mask: bool, tool: str) -> dict[str, Any]:
    from toolwire_tools.failures import (
        make_failure,  # which a server without failures does not need
    )

    return make_failure(error, mask=mask, tool=tool)


def make_cancelled_error(call: Call) -> Cancelled:
    """Return the exception for the tool of a *call* that has ended."""
    return Cancelled(f"the call of {call.entry.name} was cancelled")


def _make_id_error(id: Id | None) -> RequestError:
    return RequestError(INVALID_REQUEST, f"A request with the id {id!r} is already in progress")
