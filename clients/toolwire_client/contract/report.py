"""What a check came to: a verdict for each case, in each revision and framing it was played in."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

Outcome = Literal["pass", "fail", "warn", "known gap", "not applicable"]
OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "warn", "known gap", "not applicable")

SEVERITIES = ("must", "should", "advice")


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one case.

    `expected` and `came` say what was wrong, `exchange` holds the lines to see it again, and `after` the cases without
    which that did not come; `ours` if the source is only related, and Toolwire demands more; `reason` says why a case
    is not applicable, or a gap known, and `sdk` where that comes from. `revision` is "" where none was spoken.
    """

    case: str
    behaviour: str
    source: str
    severity: str
    outcome: Outcome
    revision: str = ""
    framing: str = ""
    reason: str = ""
    expected: str = ""
    came: str = ""
    exchange: list[str] = []
    after: list[str] = []
    ours: bool = False
    sdk: str = ""
    seconds: float = 0.0


class Report(msgspec.Struct, frozen=True):
    """The verdicts on one server, and what it says of itself.

    `sdk` is what it is made with, if that is recognized. `outdated` names the entries of the baseline that nothing
    failed for. With `seed` the same arguments are generated again, if any were.
    """

    command: list[str]
    server: str
    revisions: list[str]
    framings: list[str]
    tools: int
    seconds: float
    verdicts: list[Verdict]
    outdated: list[str] = []
    seed: int | None = None
    sdk: str = ""

    def counts(self) -> dict[str, int]:
        """Return how many verdicts there are of each outcome."""
        found = Counter(verdict.outcome for verdict in self.verdicts)
        return {outcome: found[outcome] for outcome in OUTCOMES}

    def failed(self, severity: str = "must") -> list[Verdict]:
        """Return what failed, and is of this *severity* or a graver one."""
        grave = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return [verdict for verdict in self.verdicts if is_bad(verdict) and verdict.severity in grave]

    def as_json(self) -> dict[str, Any]:
        """Return the report as `contract-report`, a published schema, describes it."""
        made: dict[str, Any] = msgspec.to_builtins(self)
        if self.seed is None:
            del made["seed"]
        if not self.sdk:
            del made["sdk"]
        return {**made, "counts": self.counts()}


def is_bad(verdict: Verdict) -> bool:
    """Whether the server does not do what the case expects, and nobody knew."""
    return verdict.outcome in ("fail", "warn")


def worst_first(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return *verdicts* with the failures first, graver ones before others."""
    order = ("fail", "warn", "known gap", "pass", "not applicable")
    return sorted(verdicts, key=lambda verdict: (order.index(verdict.outcome), SEVERITIES.index(verdict.severity)))
