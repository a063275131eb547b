"""Refusals of endpoints: their text, whether to retry, and advice."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from toolwire_schemas.retries import is_passing_status, read_retry_after
from toolwire_schemas.wire import codec

from ..errors import ContextExceeded, EndpointRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .vendors import Key


def is_passing(status: int, code: str) -> bool:
    """Whether a later request may succeed after this HTTP *status*. *code* is the error's own."""
    # OpenAI's answer to an account without money is a 429 like that for too many requests.
    if code in ("insufficient_quota", "billing_hard_limit_reached"):
        return False
    # The SDKs of OpenAI and Anthropic also repeat after 409, a lock.
    return status == 409 or is_passing_status(status)


_LONGEST = 1_000

# An error in the midst of a reply has no HTTP status. These are the types of Anthropic's and
# OpenAI's errors.
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "overloaded_error": 529,
}
_UNKNOWN = 500

# As servers say it: OpenAI and Groq (the code), llama.cpp (the type; once a 500), vLLM and OpenAI
# ("This model's maximum context length is 4097 tokens"), SGLang ("is longer than the model's
# context length"), TGI ("`inputs` tokens + `max_new_tokens` must be <= 2048"), LM Studio ("Trying
# to keep the first 15857 tokens when context the overflows", "Context size has been exceeded"),
# Ollama ("the input length exceeds the context length"), Anthropic ("prompt is too long", "exceed
# context limit"), Gemini ("The input token count (…) exceeds the maximum"), Qwen ("Range of input
# length").
_TOO_LONG = re.compile(
    "context_length_exceeded|exceed_context_size|maximum context length|exceeds? (?:the )?(?:available )?context|"  # noqa: E501
    "model's context length|`?inputs`? tokens [+]|context the overflows|context size has been exceeded|"  # noqa: E501
    "prompt is too long|input token count .{0,40}exceeds|range of input length",
    re.IGNORECASE,
)
_OF_LENGTH = (400, 413, 422, 500)


def make_refusal(
    status: int | None, error: Any, headers: Mapping[str, str], *, where: str, key: Key | None
) -> EndpointRefused:
    """Return the error for a response, whose body is *error*; without a *status*, for one in the
    midst of a reply.
    """
    clean = (lambda text: text) if key is None else key.hide_in
    if isinstance(error, bytes):
        error = _decode(error)
    message, code = _find_message_and_code(error)
    what = "refused the request"
    if status is None:
        what = "aborted its reply"
        status = _guess_status(error, code)
    # First the key goes, then what is too long: a key that is cut in two would stay.
    message = " ".join(clean(message).split())[:_LONGEST]
    advice = clean(_write_advice(status, headers, key))
    is_too_long = status in _OF_LENGTH and _TOO_LONG.search(f"{message} {code}")
    text = f"{where} {what} ({status}): {message or 'without a message'}"
    if advice:
        text += f" ({advice})"
    kind = ContextExceeded if is_too_long else EndpointRefused
    return kind(
        text,
        status=status,
        message=message,
        code=clean(code),
        is_passing=is_passing(status, code) and not is_too_long,
        asked_wait_seconds=read_retry_after(headers, time.time()),
    )


def _guess_status(error: Any, code: str) -> int:
    """Return the HTTP status that *error*, in the midst of a reply, would have had."""
    status = error.get("code") if isinstance(error, dict) else None
    if isinstance(status, int) and 400 <= status <= 599:
        return status
    return _STATUSES.get(code, _UNKNOWN)


def _decode(body: bytes) -> Any:
    try:
        return codec.decode(body)
    except codec.DecodingError:  # a page for people, mostly
        return body.decode("utf-8", "replace")


def _find_message_and_code(value: Any) -> tuple[str, str]:
    match value:
        case {"error": dict() | str() as error} | [
            {"error": dict() | str() as error}
        ]:  # the list is Gemini's
            value = error
    match value:
        # FastAPI's, Mistral's, and everybody else's.
        case (
            {"detail": detail}
            | {"message": {"detail": detail}}
            | {"message": (list() | str()) as detail}
        ):
            return _write(detail), _find_code(value)
        case dict():
            return _write(value), _find_code(value)
    return ("" if value is None else _write(value)), ""


def _write(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return codec.encode(value).decode()
    except codec.EncodingError:  # the server may be anything
        return "(JSON nested too deeply to be shown)"


def _find_code(error: dict[str, Any]) -> str:
    return next((error[name] for name in ("code", "type") if isinstance(error.get(name), str)), "")


def _write_advice(status: int, headers: Mapping[str, str], key: Key | None) -> str:
    if 300 <= status < 400:
        return f"it moved to {headers.get('location', 'elsewhere')}: set base_url; redirects are not followed"  # noqa: E501
    if status in (401, 403):
        if key is None:
            return "no key was sent"
        return f"the key is from {key.origin}"
    if status in (404, 405):
        return "is the model's name right, and base_url?"
    return ""
