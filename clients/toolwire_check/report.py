"""The report of a check: a verdict for each case in each revision and framing.

The members of `Verdict` and `Report` are those of the published schema `contract-report`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import msgspec
from toolwire_schemas.exact_tokens import ENCODING

Outcome = Literal["pass", "fail", "warn", "known gap", "not applicable"]
OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "warn", "known gap", "not applicable")

SEVERITIES = ("must", "should", "advice")


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The verdict on one case.

    `expected` and `came` are the two sides of a failure.
    """

    case: str
    behaviour: str
    source: str
    severity: str
    outcome: Outcome
    revision: str = ""
    """The protocol revision; empty where none was negotiated."""
    framing: str = ""
    reason: str = ""
    """Why the case is not applicable, or the gap known; or a note about a pass."""
    expected: str = ""
    came: str = ""
    exchange: list[str] = []
    """The messages that show a failure."""
    after: list[str] = []
    """The cases that must precede this one in a process, so that it fails."""
    ours: bool = False
    """Whether Toolwire demands more than the source."""
    sdk: str = ""
    """The SDK that causes the known gap."""
    seconds: float = 0.0

    @property
    def where(self) -> str:
        """The revision and the framing, in words."""
        return ", ".join(filter(None, (self.revision, self.framing)))

    @property
    def before_source(self) -> str:
        """The words to put before the source, if Toolwire demands more than it."""
        return "Toolwire demands more than " if self.ours else ""


class ToolCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of a tool for a model and for callers.

    `tokens` estimates its name, description and input schema, as a model receives them, and
    `exact_tokens` is tiktoken's count of them, 0 without tiktoken; `bytes` is its entry in
    `tools/list`. `seconds` (the median) and `slowest_seconds` are of successful
    `calls` that ran alone during the check, `result_bytes` (the median) and `largest_result_bytes`
    of their responses; all are 0 without such calls.
    """

    name: str
    tokens: int
    bytes: int
    exact_tokens: int = 0
    calls: int = 0
    seconds: float = 0.0
    slowest_seconds: float = 0.0
    result_bytes: int = 0
    largest_result_bytes: int = 0


class Report(msgspec.Struct, frozen=True):
    """The verdicts on one server, and its own description.

    `sdk` is its SDK, if recognized. `outdated` names the entries of the baseline whose gaps are
    closed. `seed` generates the same arguments again. `costs` has an entry for each tool.
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
    costs: list[ToolCost] = []

    def count_outcomes(self) -> dict[Outcome, int]:
        """Return the number of verdicts by outcome."""
        found = Counter(verdict.outcome for verdict in self.verdicts)
        return {outcome: found[outcome] for outcome in OUTCOMES}

    def list_failures(self, severity: str = "must") -> list[Verdict]:
        """Return the failures of this *severity* or a worse one, the worst first."""
        found = []
        for one in SEVERITIES[: SEVERITIES.index(severity) + 1]:
            for verdict in self.verdicts:
                if is_bad(verdict) and verdict.severity == one:
                    found.append(verdict)
        return found

    def list_findings(self) -> list[list[Verdict]]:
        """Return failures and warnings, the worst first; those that differ only in revision and
        framing together.
        """
        groups: dict[tuple[str, str, str], list[Verdict]] = {}
        for verdict in self.list_failures("advice"):
            key = (verdict.case, verdict.outcome, verdict.expected)
            groups.setdefault(key, []).append(verdict)
        return list(groups.values())

    def count_by_area(self) -> dict[str, Counter[Outcome]]:
        """Return the number of verdicts by area and outcome."""
        areas: dict[str, Counter[Outcome]] = {}
        for verdict in self.verdicts:
            area = verdict.case.partition("/")[0]
            areas.setdefault(area, Counter())[verdict.outcome] += 1
        return areas

    def collect_reasons(self) -> dict[tuple[Outcome, str], list[str]]:
        """Return the cases by outcome and reason, without those that the SDK causes."""
        # The cases are keys of a dictionary, since a report may have thousands for one reason.
        found: dict[tuple[Outcome, str], dict[str, None]] = {}
        for verdict in self.verdicts:
            if not verdict.reason or verdict.sdk:
                continue
            cases = found.setdefault((verdict.outcome, verdict.reason), {})
            cases[verdict.case] = None
        return {key: list(cases) for key, cases in found.items()}

    def count_sdk_findings(self) -> Counter[str]:
        """Return the number of findings that the SDK causes, by the reason."""
        return Counter(verdict.reason for verdict in self.verdicts if verdict.sdk)

    def describe_tokens(self) -> str:
        """Return the tokens of all tools in words; empty without tools."""
        tokens = sum(cost.tokens for cost in self.costs)
        exact = sum(cost.exact_tokens for cost in self.costs)
        if not tokens:
            return ""
        words = f"about {tokens:,} tokens"
        if exact:
            words += f", {exact:,} by tiktoken ({ENCODING})"
        return words

    def as_json(self) -> dict[str, Any]:
        """Return the report as `contract-report`, a published schema, describes it."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        document["counts"] = self.count_outcomes()
        if self.seed is None:
            del document["seed"]
        if not self.sdk:
            del document["sdk"]
        return document


def is_bad(verdict: Verdict) -> bool:
    """Whether *verdict* is a failure or a warning that is not a known gap."""
    return verdict.outcome in ("fail", "warn")
