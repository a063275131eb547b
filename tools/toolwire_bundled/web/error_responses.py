"""Finds the error text in the response of a service that refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import say
from toolwire_schemas.retries import is_passing_status, read_retry_after
from toolwire_schemas.wire import codec

from .errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MAX_READ = 16 * 1024
_MAX_TOLD = 500
_MAX_DEPTH = 5

# Where services put the sentence, the most telling first: {"error": {"message": ...}}, {"detail":
# [...]} and so on.
_PLACES = (
    "error",
    "errors",
    "detail",
    "message",
    "error_message",
    "error_description",
    "errmsg",
    "msg",
    "title",
)


def make_refusal(
    status: int,
    body: bytes,
    headers: Mapping[str, str],
    *,
    where: str,
    now: float,
    clean: Callable[[str], str],
) -> Refused:
    """The error for an answer of this *status* from *where*. *clean* takes what is secret out of a
    text.
    """
    message = clean(find_error_text(body))[:_MAX_TOLD]
    seconds = read_retry_after(headers, now)
    advice = clean(_write_advice(status, headers))
    if seconds and not advice:
        advice = say("it asks to wait {seconds:.0f} seconds", seconds=seconds)
    reason = message or say("without a word")
    problem = say("{where} answered {status}: {reason}", where=where, status=status, reason=reason)
    return Refused(
        problem + (f" ({advice})" if advice else ""),
        status=status,
        message=message,
        is_passing=is_passing_status(status),
        asked_wait_seconds=seconds,
    )


def find_error_text(body: bytes) -> str:
    """The text of an error, out of JSON of any of the usual shapes, or of a page for people. One
    line.
    """
    text = body[:_MAX_READ].decode("utf-8", "replace")
    try:
        text = _find_sentence(codec.decode(body), _MAX_DEPTH)
    except (codec.DecodingError, codec.EncodingError):
        if text.lstrip().startswith("<"):
            text = _without_markup(text)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _find_sentence(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth:
        return "; ".join(filter(None, (_find_sentence(each, depth - 1) for each in value)))
    if isinstance(value, dict) and depth:
        found = next((value[place] for place in _PLACES if value.get(place)), None)
        if found is not None and not isinstance(found, bool):
            return _find_sentence(found, depth - 1)
    return codec.encode(value).decode() if value not in (None, {}, []) else ""


def _without_markup(text: str) -> str:
    import html
    import re

    if "<feed" in text and "<summary" in text:  # Atom's, as arXiv's errors are
        text = text.partition("<summary")[2].partition(">")[2].partition("</summary")[0]
    without = re.sub(r"(?is)<(script|style|head)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", " ", text)
    return html.unescape(without)


def _write_advice(status: int, headers: Mapping[str, str]) -> str:
    from urllib.parse import urlsplit

    if not 300 <= status < 400:
        return ""
    try:
        parts = urlsplit(headers.get("location", ""))
    except ValueError:
        return "it moved to what is no address"
    # The host alone: behind it may be what is secret.
    return (
        f"it moved to {parts.scheme}://{parts.netloc}: set its base URL"
        if parts.netloc
        else "it moved"
    )
