"""Which failures are worth another request, and how long to wait before it."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_agent.models import (
    EndpointRefused,
    ModelError,
    NotReady,
    ReplyTimedOut,
    Retries,
    Unreachable,
)
from toolwire_agent.models.http_api.error_responses import is_passing
from toolwire_schemas.retries import read_retry_after

NOW = 1_800_000_000.0
BUSY = EndpointRefused("busy", status=429, is_passing=True)


def after(seconds: float) -> EndpointRefused:
    return EndpointRefused("busy", status=429, is_passing=True, asked_wait_seconds=seconds)


def test_waits_double_up_to_a_limit_and_then_end() -> None:
    retries = Retries(attempts=8, first_seconds=0.5, max_seconds=4, random=lambda: 1.0)
    waits = [retries.choose_wait_seconds(attempt, BUSY) for attempt in range(2, 10)]
    assert waits == [0.5, 1, 2, 4, 4, 4, 4, None]


def test_jitter_is_full() -> None:
    lowest, highest = Retries(random=lambda: 0.0), Retries(random=lambda: 1.0)
    assert lowest.choose_wait_seconds(4, BUSY) == 0.0
    assert highest.choose_wait_seconds(4, BUSY) == 2.0


@given(
    st.integers(2, 5), st.floats(0, 1, exclude_max=True), st.one_of(st.none(), st.floats(0, 120))
)
def test_wait_is_within_its_limits(attempt: int, chance: float, asked: float | None) -> None:
    retries = Retries(random=lambda: chance)
    error = BUSY if asked is None else after(asked)
    seconds = retries.choose_wait_seconds(attempt, error)
    assert seconds is not None
    assert (asked or 0.0) <= seconds <= (20.0 if asked is None else asked + 0.5)


def test_longer_retry_after_than_allowed_gives_up() -> None:
    assert Retries(max_asked_seconds=60).choose_wait_seconds(2, after(61)) is None
    assert Retries().choose_wait_seconds(2, after(float("inf"))) is None


def test_many_attempts_do_not_overflow() -> None:
    assert Retries(attempts=10**6, random=lambda: 1.0).choose_wait_seconds(10**6, BUSY) == 20.0


@pytest.mark.parametrize(
    ("error", "is_worth_it"),
    [
        (Unreachable("x"), True),
        (ReplyTimedOut("x"), True),
        (NotReady("x"), False),
        (ModelError("x"), False),
    ],
)
def test_only_passing_errors_are_retried_after_a_wait(error: ModelError, is_worth_it: bool) -> None:
    assert (Retries().choose_wait_seconds(2, error) is not None) is is_worth_it


PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 507, 520, 524, 529}


@pytest.mark.parametrize(
    "status",
    [301, 308, 400, 401, 402, 403, 404, 405, 413, 418, 422, 431, 451, 501, 505, *sorted(PASSING)],
)
def test_passing_statuses_are_listed(status: int) -> None:
    assert is_passing(status, "") is (status in PASSING)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"retry-after": "Fri, 99 Foo 2026 00:00:00 GMT"}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers, NOW) == seconds


@given(st.text(max_size=40))
def test_any_retry_after_is_seconds_or_nothing(said: str) -> None:
    seconds = read_retry_after({"retry-after": said}, NOW)
    assert seconds is None or seconds >= 0
