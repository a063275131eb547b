"""Whether and when to repeat a request that failed: for models with an HTTP API, and for tools that
ask services.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

# Time-outs, limits of rate, 425 (Too Early), which RFC 8470 says may be repeated, and failures of
# the server.
_PASSING = frozenset({408, 425, 429})
_FINAL = frozenset({501, 505})  # waiting does not change them


def _draw() -> float:
    import random  # it takes long to import, and few requests fail

    return random.random()


class PassingError(Protocol):
    """An error of a request: whether a later one may succeed, and the wait that the server asks
    for.
    """

    @property
    def is_passing(self) -> bool: ...

    @property
    def asked_wait_seconds(self) -> float | None: ...


class Retries(msgspec.Struct, frozen=True, kw_only=True):
    """How often a request is repeated after a passing error, and the waits between.

    The n-th wait is random between 0 and *first_seconds* doubled n times, at most *max_seconds*
    ("full jitter", which keeps many clients from returning at the same moment). A server's own wait
    is obeyed, unless it is longer than *max_asked_seconds*; OpenAI's SDK has the same limit of two
    minutes. *sleep* replaces the wait itself, in a test.
    """

    attempts: int = 5
    first_seconds: float = 0.5
    max_seconds: float = 20.0
    max_asked_seconds: float = 120.0
    sleep: Callable[[float], Awaitable[object]] | None = None
    random: Callable[[], float] = _draw

    def choose_wait_seconds(
        self, attempt: int, error: PassingError, chance: Callable[[], float] | None = None
    ) -> float | None:
        """Return the wait after *error* before the *attempt*-th request, counted from 1; `None` to
        give up. *chance* replaces `random`.
        """
        if attempt > self.attempts or not error.is_passing:
            return None
        chance = chance or self.random
        if error.asked_wait_seconds is None:
            # A higher power is beyond what a float can express, and beyond the limit anyway.
            doubled = self.first_seconds * 2.0 ** min(attempt - 2, 60)
            return chance() * min(self.max_seconds, doubled)
        if error.asked_wait_seconds > self.max_asked_seconds:
            return None
        return error.asked_wait_seconds + chance() * self.first_seconds


def is_passing_status(status: int) -> bool:
    """Whether a later request may succeed after a response with this HTTP *status*."""
    return status in _PASSING or (status >= 500 and status not in _FINAL)


def read_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the wait in seconds that *headers* ask for, or `None`. *now* is in seconds since
    1970.
    """
    from email.utils import parsedate_to_datetime  # here, since it imports much

    given = headers.get("retry-after", "")
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(given).timestamp() - now
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    if math.isnan(seconds):
        return None
    return max(0.0, seconds)
