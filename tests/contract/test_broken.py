"""Every contract case can fail: a server with the one fault it is about fails it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from toolwire_client.contract.cases.server_facts import CheckSettings
from toolwire_client.contract.check import check
from toolwire_schemas.cases import Framing, cases

sys.path.insert(0, str(Path(__file__).parent))
from broken import FAULTS
from broken.proxy import Headed

HERE = Path(__file__).parent


# What is judged over the whole run needs one in which everything happens once.
EVERYTHING = (
    "tools/list",
    "tools/list-modern",
    "modern/no-capabilities",
    "tools/unknown",
    "calls/result",
    "calls/result-modern",
    "progress/reported",
)


def played(name: str, wanted: tuple[str, ...], framing: Framing, eras: tuple[str, ...]) -> dict[str, list[str]]:
    """The outcomes of each of the *wanted* cases."""
    over_the_run = any(case.id in wanted and case.process == "run" for case in cases())
    report = check(
        [sys.executable, "-m", "broken", name],
        cases=[case for case in cases() if case.id in (wanted + EVERYTHING if over_the_run else wanted)],
        cwd=HERE,
        settings=CheckSettings(framings=(framing,), eras=eras, start_seconds=5.0),
        timeout_seconds=2.0,
    )
    outcomes: dict[str, list[str]] = {case: [] for case in wanted}
    for verdict in report.verdicts:
        if verdict.case in outcomes:
            outcomes[verdict.case].append(verdict.outcome)
    return outcomes


def eras_of(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The era that is enough for these cases, or both."""
    older = any(case.id in wanted and (case.revisions or case.era in ("legacy", "plain", "each")) for case in cases())
    return ("legacy", "modern") if older else ("modern",)


@pytest.mark.process
@pytest.mark.parametrize("name", FAULTS)
def test_a_server_with_one_fault_fails_the_cases_about_it(name: str) -> None:
    fault = FAULTS[name]
    framing: Framing = "headers" if issubclass(fault, Headed) else "lines"
    outcomes = played(name, fault.cases, framing, eras_of(fault.cases))

    assert {case: said for case, said in outcomes.items() if not {"fail", "warn"} & set(said)} == {}


@pytest.mark.process
def test_without_a_fault_nothing_fails() -> None:
    everything = tuple(case.id for case in cases() if case.area != "large")  # that takes its time in two processes
    outcomes = played("Faultless", everything, "lines", ("legacy", "modern"))

    assert {case for case, said in outcomes.items() if {"fail", "warn"} & set(said)} == set()


def test_every_case_is_failed_by_a_server() -> None:
    assert {case.id for case in cases()} - {case for fault in FAULTS.values() for case in fault.cases} == set()
