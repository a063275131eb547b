"""The response to each call, from the outcome of its tool. Thread-safe; neither reads, writes nor blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import EncodingError
from toolwire_schemas.wire.codes import INTERNAL_ERROR
from toolwire_tools import ArgumentsError, ToolError, failure

from .. import log
from . import lifecycle

if TYPE_CHECKING:
    from ..errors import RequestError
    from ..settings import Settings
    from .call import Call
    from .in_flight import InFlight


class Responses:
    """Ends calls. Every method returns the message to send, `None` if the call had ended or needs no response."""

    def __init__(self, in_flight: InFlight, identity: lifecycle.Identity, settings: Settings) -> None:
        self._in_flight = in_flight
        self._identity = identity
        self._mask_errors = settings.mask_errors
        self._max_result_bytes = settings.max_result_bytes

    def finish(self, call: Call, result: dict[str, Any]) -> bytes | None:
        """Respond with the *result* of the tool."""
        return self._response(call, result) if self._in_flight.end(call) else None

    def fail(self, call: Call, error: BaseException) -> bytes | None:
        """Respond with the *error* that the tool raised. Logs errors that are not for the caller."""
        if not self._in_flight.end(call):
            return None
        if self._mask_errors and isinstance(error, ArgumentsError) and error.private:
            log.traceback(f"{call.tool.name} refused its arguments", error.__cause__ or error, id=call.id)
        elif not isinstance(error, ToolError):
            log.traceback(f"{call.tool.name} failed", error, id=call.id)
        return self._failure(call, error)

    def expire(self, call: Call, seconds: float) -> bytes | None:
        """Respond that the tool has taken longer than *seconds*."""
        if not self._in_flight.end(call, given_up=True):
            return None
        return self._problem(call, f"{call.tool.name} did not finish within {seconds:g} seconds.")

    def refuse(self, call: Call, error: RequestError) -> bytes | None:
        """Respond with a JSON-RPC error to a call that cannot be run."""
        return self._error(call, error.code, error.message) if self._in_flight.end(call) else None

    def internal_error(self, call: Call) -> bytes | None:
        """Respond to a call that has ended and whose real response could not be built."""
        return self._error(call, INTERNAL_ERROR, "Internal error")

    def elicit(self, call: Call, result: dict[str, Any]) -> bytes | None:
        """Respond to the current request of a parked call."""
        assert call.id is not None
        return self._message(call, messages.response(call.id, lifecycle.modern_result(self._identity, result)))

    def _error(self, call: Call, code: int, text: str) -> bytes | None:
        return self._message(call, None if call.id is None else messages.error(call.id, code, text))

    def _problem(self, call: Call, text: str, *, last: bool = False) -> bytes | None:
        return self._failure(call, ToolError(text), last=last)

    def _failure(self, call: Call, error: BaseException, *, last: bool = False) -> bytes | None:
        return self._response(call, failure(error, mask=self._mask_errors, tool=call.tool.name), last=last)

    def _message(self, call: Call, message: bytes | None) -> bytes | None:
        batch = call.origin.batch
        return message if batch is None else batch.end(message)

    def _response(self, call: Call, result: dict[str, Any], *, last: bool = False) -> bytes | None:
        """Return the response with *result*, or a failure if it cannot be sent; *last* ignores its size."""
        batch = call.origin.batch
        if call.id is None:
            return self._message(call, None)
        if call.origin.modern:
            result = lifecycle.modern_result(self._identity, result)
        replaced: list[str] = []
        try:
            message = messages.response(call.id, result, replaced)
        except EncodingError as error:
            return self._instead(call, f"{call.tool.name} returned what JSON cannot carry: {error}")
        if replaced:
            log.warning(
                f"{call.tool.name} returned half a character (a lone surrogate), sent as U+FFFD: {replaced[-1]}",
                id=call.id,
            )
        size = len(message) if batch is None else len(message) + batch.size
        if size > self._max_result_bytes and not last:
            what = f"The result of {call.tool.name} takes" if size == len(message) else "The answers of this batch take"
            return self._instead(
                call, f"{what} {size} bytes, and this server sends at most {self._max_result_bytes}. Ask for less."
            )
        return message if batch is None else batch.end(message)

    def _instead(self, call: Call, problem: str) -> bytes | None:
        log.error(problem, id=call.id)
        return self._problem(call, problem, last=True)
