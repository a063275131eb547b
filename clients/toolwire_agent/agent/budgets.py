"""The limits of a question, and what a run has used of them. No clock: events bring the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from ..react.messages import Usage
from .events import NEVER

if TYPE_CHECKING:
    from datetime import datetime

_MIN_REPLY_TOKENS = 512


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one question; `None` sets no limit. At a limit the model has one more turn, for
    its final answer.

    `turns` counts replies of the model, `tokens` its input and output (estimated at four characters
    each where the model does not report them). `seconds` is the time since the question, without
    waits for the user; the first question of a session includes the listing of the tools. The run
    ends after `final_seconds` more, which are kept for the last turn; the first reply may use them
    too. A reply has at most `reply_tokens`, or what is left of `tokens`. Messages name
    `user_seconds` as the limit, if it is given: the one that the user knows; `seconds` is a part of
    it.
    """

    turns: int | None = 20
    tokens: int | None = None
    seconds: float | None = None
    final_seconds: float = 60.0
    user_seconds: float | None = None
    reply_tokens: int | None = 8192

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be more than 0, not {value!r}")

    @classmethod
    def within(cls, seconds: float, *, spent_seconds: float = 0.0, **limits: int) -> Budgets:
        """Return budgets of *seconds* in all, of which *spent_seconds* have been used, and other
        *limits*. A part is kept for the last turn.
        """
        left = seconds
        if spent_seconds:
            left = max(_MIN_SECONDS, seconds - spent_seconds)
        final_seconds = min(_FINAL_PART * left, _MAX_FINAL_SECONDS)
        return cls(
            seconds=left - final_seconds,
            final_seconds=final_seconds,
            user_seconds=seconds,
            **limits,
        )


_FINAL_PART = 0.25
"""The part of the time that is kept for the last turn, with the final answer."""
_MAX_FINAL_SECONDS = 60.0
_MIN_SECONDS = 0.01

Budget = Literal["turns", "tokens", "seconds"]


class Spending:
    """The part of its budgets that the current question has used."""

    def __init__(self, budgets: Budgets) -> None:
        self.budgets = budgets
        self.turns = 0
        self.usage = Usage()
        """The tokens that the model has reported."""
        self.now = NEVER
        """The time of the last event."""
        self._tokens = 0
        # Moved forward by each wait for the user, so that `now` minus it is the time that counts.
        self._since = NEVER
        self._session_start: datetime | None = None
        self._wait_start: datetime | None = None

    def move_to(self, time: datetime, *, counts: bool) -> None:
        """Go on to *time*; unless it *counts*, the time before it belongs to no question."""
        if not counts:
            pause = time - self.now
            self._since += pause
            if self._wait_start is not None:
                self._wait_start += pause
        self.now = time

    def start_session(self) -> None:
        """Count from now for the first question: it waits until the tools are listed."""
        self._session_start = self.now

    def forget_session_start(self) -> None:
        """Do not count the time before now for the next question: another process started the
        session.
        """
        self._session_start = None

    def start_question(self) -> None:
        """Count from 0."""
        self.turns = 0
        self.usage = Usage()
        self._tokens = 0
        self._since = self._session_start or self.now
        self._session_start = None

    def add_reply(self, usage: Usage) -> None:
        """Count a reply."""
        self.turns += 1
        self._tokens += usage.total_tokens
        self.usage += usage

    def add_estimated_reply(self, tokens: int) -> None:
        """Count a reply of a model that does not report its usage."""
        self.turns += 1
        self._tokens += tokens

    def start_wait(self) -> None:
        """Count no time from here on, while a person is asked."""
        self._wait_start = self.now

    def end_wait(self) -> None:
        """Count time again, if a person was asked: the settings refuse calls without a wait."""
        if self._wait_start is not None:
            self._since += self.now - self._wait_start
            self._wait_start = None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time is over; `None` without a limit."""
        if self.budgets.seconds is None:
            return None
        return self.budgets.seconds - (self.now - self._since).total_seconds()

    @property
    def max_reply_tokens(self) -> int | None:
        """The limit of the next reply; a last turn has some tokens even if none are left."""
        limit, total = self.budgets.reply_tokens, self.budgets.tokens
        if total is None:
            return limit
        left = max(total - self._tokens, _MIN_REPLY_TOKENS)
        if limit is None:
            return left
        return min(limit, left)

    def find_exhausted(self) -> Budget | None:
        """Return the budget that has been used up, if any."""
        budgets, seconds_left = self.budgets, self.seconds_left
        if budgets.turns is not None and self.turns >= budgets.turns:
            return "turns"
        if budgets.tokens is not None and self._tokens >= budgets.tokens:
            return "tokens"
        # A model that has not replied has nothing to answer from in a last turn.
        if seconds_left is not None and seconds_left <= 0 and self.turns:
            return "seconds"
        return None

    def format_limit(self, budget: Budget) -> str | int:
        """Return the limit of *budget* for a message."""
        limit = getattr(self.budgets, budget)
        if budget == "seconds":
            return f"{self.budgets.user_seconds or limit:.3g}"
        return int(limit)
