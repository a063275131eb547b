"""Asking again: which failures are worth it, how often, and after how long. Decides; waits for nothing itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .errors import WebError

# Time-outs, limits of rate, 425 (Too Early), which RFC 8470 says may be repeated, and whatever is wrong over there.
_PASSING = frozenset({408, 425, 429})
_FINAL = frozenset({501, 505})  # neither is going to be implemented while we wait


class Retries(msgspec.Struct, frozen=True, kw_only=True):
    """How often something is asked that fails for a reason that may pass, and what lies between.

    The n-th wait is random between nothing and *first_seconds* doubled n times, at most *max_seconds* ("full jitter").
    Where a service says how long to wait, that is done, unless it is longer than *max_asked_seconds*.
    """

    attempts: int = 3
    first_seconds: float = 0.5
    max_seconds: float = 8.0
    max_asked_seconds: float = 30.0

    def seconds_before(self, attempt: int, error: WebError, chance: Callable[[], float]) -> float | None:
        """How long to wait after *error* before the *attempt*-th request, counted from 1; None for no further one."""
        if attempt > self.attempts or not error.is_passing:
            return None
        jitter = chance() * min(self.max_seconds, self.first_seconds * 2.0 ** min(attempt - 2, 60))
        if error.asked_wait_seconds is None:
            return jitter
        if error.asked_wait_seconds > self.max_asked_seconds:
            return None
        return error.asked_wait_seconds + min(jitter, self.first_seconds)


def is_passing(status: int) -> bool:
    """Whether a response of this HTTP *status* may be another one later."""
    return status in _PASSING or (status >= 500 and status not in _FINAL)


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """How many seconds a response's headers ask to wait, `None` if they do not. *now* is in seconds since 1970."""
    from email.utils import parsedate_to_datetime

    said = headers.get("retry-after", "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - now
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    return None if math.isnan(seconds) else max(0.0, seconds)
