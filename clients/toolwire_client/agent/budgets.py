"""How much a question may cost, and what it has cost so far."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from ..react.model_reply import Usage


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """What a question may cost, `None` for no limit. Then the model has one more turn, for its final answer.

    `turns` are replies of the model, `tokens` all that it reads and writes (four characters each, where it does not
    tell), `seconds` the time from the question on, without that in which a person was waited for. `final_seconds` is
    what the last turn may take beyond them.
    """

    turns: int | None = 20
    tokens: int | None = None
    seconds: float | None = None
    final_seconds: float = 60.0

    def __post_init__(self) -> None:
        for name in ("turns", "tokens", "seconds", "final_seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be more than 0, not {value!r}")


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What a question has cost. `since` is when it was asked, later by the time in which persons were waited for."""

    turns: int = 0
    tokens: int = 0
    usage: Usage = Usage()
    since: datetime = datetime.fromtimestamp(0, UTC)
