"""The report of a check: a verdict for each case in each revision and framing. Also as JUnit
XML.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Literal

import msgspec

Outcome = Literal["pass", "fail", "warn", "known gap", "not applicable"]
OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "warn", "known gap", "not applicable")

SEVERITIES = ("must", "should", "advice")


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The verdict on one case.

    `expected` and `came` say what was wrong, `exchange` holds the messages that show it, and
    `after` the cases that must precede it; `ours` means that Toolwire demands more than the source;
    `reason` says why a case is not applicable, or a gap known, or is a note about a pass, and `sdk`
    names the SDK that causes the gap. `revision` is "" where none was negotiated.
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

    @property
    def where(self) -> str:
        """The revision and the framing, in words."""
        return ", ".join(filter(None, (self.revision, self.framing)))

    @property
    def before_source(self) -> str:
        """The words to put before the source: that Toolwire demands more, or none."""
        return "Toolwire demands more than " if self.ours else ""


class ToolCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of a tool for a model and for callers.

    `tokens` estimates its name, description and input schema, as a model receives them; `bytes` is
    its entry in `tools/list`. `seconds` (the median) and `slowest_seconds` are of successful
    `calls` that ran alone during the check, `result_bytes` (the median) and `largest_result_bytes`
    of their responses; all are 0 without such calls.
    """

    name: str
    tokens: int
    bytes: int
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

    def counts(self) -> dict[Outcome, int]:
        """Return the number of verdicts by outcome."""
        found = Counter(verdict.outcome for verdict in self.verdicts)
        return {outcome: found[outcome] for outcome in OUTCOMES}

    def failed(self, severity: str = "must") -> list[Verdict]:
        """Return the failures of this *severity* or a worse one, the worst first."""
        grave = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return [
            verdict
            for one in grave
            for verdict in self.verdicts
            if is_bad(verdict) and verdict.severity == one
        ]

    def findings(self) -> list[list[Verdict]]:
        """Return failures and warnings, the worst first; those that differ only in revision and
        framing together.
        """
        found: dict[tuple[str, str, str], list[Verdict]] = {}
        for verdict in self.failed("advice"):
            found.setdefault((verdict.case, verdict.outcome, verdict.expected), []).append(verdict)
        return list(found.values())

    def areas(self) -> dict[str, Counter[Outcome]]:
        """Return the number of verdicts by area and outcome."""
        found: dict[str, Counter[Outcome]] = {}
        for verdict in self.verdicts:
            found.setdefault(verdict.case.partition("/")[0], Counter())[verdict.outcome] += 1
        return found

    def reasons(self) -> dict[tuple[Outcome, str], list[str]]:
        """Return the cases by outcome and reason, without those that the SDK causes."""
        found: dict[tuple[Outcome, str], dict[str, None]] = {}
        for verdict in self.verdicts:
            if verdict.reason and not verdict.sdk:
                found.setdefault((verdict.outcome, verdict.reason), {})[verdict.case] = None
        return {key: list(cases) for key, cases in found.items()}

    def of_sdk(self) -> Counter[str]:
        """Return the number of findings that the SDK causes, by the reason."""
        return Counter(verdict.reason for verdict in self.verdicts if verdict.sdk)

    def as_json(self) -> dict[str, Any]:
        """Return the report as `contract-report`, a published schema, describes it."""
        made: dict[str, Any] = msgspec.to_builtins(self)
        if self.seed is None:
            del made["seed"]
        if not self.sdk:
            del made["sdk"]
        return {**made, "counts": self.counts()}


def is_bad(verdict: Verdict) -> bool:
    """Whether *verdict* is a failure or a warning that is not a known gap."""
    return verdict.outcome in ("fail", "warn")


# Characters that XML 1.0 cannot hold, not even escaped.
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: Report) -> str:
    """Return *report* as one test suite. Warnings and known gaps are skipped tests with
    messages.
    """
    from xml.etree import ElementTree as ET

    counts = report.counts()
    about = {
        "name": f"toolwire check: {report.server or ' '.join(report.command)}",
        "tests": str(len(report.verdicts)),
        "failures": str(counts["fail"]),
        "errors": "0",
        "skipped": str(counts["warn"] + counts["known gap"] + counts["not applicable"]),
        "time": f"{report.seconds:.3f}",
    }
    root = ET.Element("testsuites", about)
    suite = ET.SubElement(root, "testsuite", about)
    for verdict in report.verdicts:
        area, _, name = verdict.case.partition("/")
        name += f" [{verdict.where}]" if verdict.where else ""
        case = ET.SubElement(
            suite, "testcase", classname=area, name=name, time=f"{verdict.seconds:.3f}"
        )
        message = verdict.reason or f"expected {verdict.expected}; came {verdict.came}"
        if verdict.outcome == "fail":
            problem = ET.SubElement(case, "failure", message=message, type=verdict.severity)
        elif verdict.outcome != "pass":
            problem = ET.SubElement(case, "skipped", message=f"{verdict.outcome}: {message}")
        else:
            continue
        problem.text = "\n".join([verdict.behaviour, verdict.source, *verdict.exchange])
    ET.indent(root)
    text = '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
