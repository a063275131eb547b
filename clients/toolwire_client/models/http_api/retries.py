"""Asking again: which failures are worth it, how often, and after how long. Decides; waits for nothing itself."""

from __future__ import annotations

import math
import random
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import anyio
import msgspec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ..errors import ModelError

# Time-outs, locks, limits of rate, and whatever is wrong at the other end: what the SDKs of OpenAI and Anthropic ask
# again after, and 425 (Too Early), which RFC 8470 says may be repeated. Anthropic's 529 is "overloaded".
_PASSING = frozenset({408, 409, 425, 429})
_FINAL = frozenset({501, 505})  # neither is going to be implemented while we wait


class Retries(msgspec.Struct, frozen=True, kw_only=True):
    """How often a request is made that fails for a reason that may pass, and what lies between.

    The n-th wait is random between nothing and *first_seconds* doubled n times, at most *max_seconds* ("full jitter",
    which keeps many clients from coming back at the same moment). Where a server says how long to wait, that is done,
    unless it is longer than *max_asked_seconds*; two minutes are the limit of OpenAI's SDK too.
    """

    attempts: int = 5
    first_seconds: float = 0.5
    max_seconds: float = 20.0
    max_asked_seconds: float = 120.0
    sleep: Callable[[float], Awaitable[object]] = anyio.sleep
    random: Callable[[], float] = random.random

    def seconds_before(self, attempt: int, error: ModelError) -> float | None:
        """How long to wait after *error* before the *attempt*-th request, counted from 1; `None` for no further one."""
        if attempt > self.attempts or not error.is_passing:
            return None
        if error.asked_wait_seconds is None:
            doubled = self.first_seconds * 2.0 ** min(attempt - 2, 60)
            return self.random() * min(self.max_seconds, doubled)
        if error.asked_wait_seconds > self.max_asked_seconds:
            return None
        return error.asked_wait_seconds + self.random() * self.first_seconds


def is_passing(status: int, headers: Mapping[str, str], code: str) -> bool:
    """Whether a response of this HTTP *status* may be another one later. *code* is the error's own."""
    # OpenAI's answer to an account without money is a 429 like that for too many requests.
    if code in ("insufficient_quota", "billing_hard_limit_reached"):
        return False
    # Not a standard, but what the SDKs of OpenAI and Anthropic obey.
    match headers.get("x-should-retry"):
        case "true":
            return True
        case "false":
            return False
    return status in _PASSING or (status >= 500 and status not in _FINAL)


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """How many seconds a response's headers ask to wait, `None` if they do not. *now* is in seconds since 1970."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if not math.isnan(seconds):
            return max(0.0, seconds)
    try:
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - now)
    except (KeyError, ValueError, TypeError, OverflowError, IndexError):
        return None
