"""What endpoints say when they refuse: in which words, whether it may pass, and what can be done about it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import codec

from ..errors import Refused
from .retries import asked_wait, is_passing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .api_key import Key

_LONGEST = 1_000
_REQUEST_IDS = ("x-request-id", "request-id", "x-ds-trace-id", "x-dashscope-request-id")

# An error in the midst of a reply has no HTTP status. These are the types of Anthropic's and OpenAI's errors.
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


def refusal(status: int, body: bytes, headers: Mapping[str, str], *, where: str, key: Key | None) -> Refused:
    """The error for a response of this *status* from *where*."""
    try:
        value = codec.decode(body)
    except codec.DecodingError:  # a page for people, mostly
        value = body.decode("utf-8", "replace")
    return _refused(status, value, headers, where, key, in_stream=False)


def refusal_in_stream(error: Any, *, where: str, key: Key | None) -> Refused:
    """The same for an *error* that came instead of a piece of a reply."""
    _, code = _said(error)
    known = error.get("code") if isinstance(error, dict) else None
    status = known if isinstance(known, int) and 400 <= known <= 599 else _STATUSES.get(code, _UNKNOWN)
    return _refused(status, error, {}, where, key, in_stream=True)


def _refused(
    status: int, value: Any, headers: Mapping[str, str], where: str, key: Key | None, *, in_stream: bool
) -> Refused:
    message, code = _said(value)
    # First the key goes, then what is too long: a key that is cut in two would stay.
    message = " ".join(_clean(message, key).split())[:_LONGEST]
    what = "broke off its reply" if in_stream else "refused the request"
    advice = _clean(_advice(status, headers, key), key)
    return Refused(
        f"{where} {what} ({status}): {message or 'without a word'}" + (f" ({advice})" if advice else ""),
        status=status,
        message=message,
        code=_clean(code, key),
        request_id=_clean(next((headers[name] for name in _REQUEST_IDS if name in headers), ""), key),
        is_passing=is_passing(status, headers, code),
        asked_wait_seconds=asked_wait(headers, time.time()),
    )


def _clean(text: str, key: Key | None) -> str:
    return text if key is None else key.hidden_in(text)


def _said(value: Any) -> tuple[str, str]:
    """The message and the code of an error, in whichever of its many shapes it came."""
    match value:
        case {"error": dict() | str() as error} | [{"error": dict() | str() as error}]:  # the list is Gemini's
            value = error
    match value:
        case {"detail": detail} | {"message": {"detail": detail}} | {"message": list() as detail}:  # FastAPI, Mistral
            return _detail(detail), _code(value)
        case {"message": str(message)}:
            return message, _code(value)
        case dict():
            return _written(value), _code(value)
    return ("" if value is None else _written(value)), ""


def _detail(detail: Any) -> str:
    if not isinstance(detail, list):
        return _written(detail)
    return "; ".join(_fault(fault) for fault in detail)


def _fault(fault: Any) -> str:
    match fault:
        case {"loc": list() as path, "msg": str(message)}:
            return f"{'.'.join(map(_written, path))}: {message}"
    return _written(fault)


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return codec.encode(value).decode()
    except codec.EncodingError:  # nobody writes an error so, but what answers need not be an endpoint
        return "(JSON nested too deeply to be shown)"


def _code(error: dict[str, Any]) -> str:
    return next((error[name] for name in ("code", "type") if isinstance(error.get(name), str)), "")


def _advice(status: int, headers: Mapping[str, str], key: Key | None) -> str:
    if 300 <= status < 400:
        return f"it moved to {headers.get('location', 'elsewhere')}: set base_url; requests with keys follow nobody"
    if status in (401, 403):
        return "no key was sent" if key is None else f"the key is from {key.origin}"
    if status in (404, 405):
        return "is the model's name right, and base_url?"
    return ""
