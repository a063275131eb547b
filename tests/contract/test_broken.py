"""Servers with one fault each: every contract case fails for one of them, as its rule shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from toolwire_schemas.cases import load_cases

sys.path.insert(0, str(Path(__file__).parent))
from broken import FAULTS
from broken.exchanges import comparable, failing, passing, play_fault, record_area

RECORD = (
    "what a rule shows is out of date; in tests/contract run: python -m broken.exchanges && python"
    " test_rules.py"
)


@pytest.mark.process
@pytest.mark.parametrize("name", FAULTS)
def test_server_with_one_fault_fails_its_cases_as_their_rules_show(name: str) -> None:
    found = failing(name)

    assert sorted(FAULTS[name].cases) == sorted(found)
    for case, failure in found.items():
        shown = record_area(case.partition("/")[0])[case]["failing"]
        if shown["server"] == name:
            assert comparable(failure) == comparable(shown), RECORD


@pytest.mark.process
@pytest.mark.parametrize("area", dict.fromkeys(case.area for case in load_cases()))
def test_passing_exchanges_are_those_of_the_rules(area: str) -> None:
    found = passing([case.id for case in load_cases() if case.area == area])

    assert comparable(found) == comparable(
        {case: each["passing"] for case, each in record_area(area).items()}
    ), RECORD


@pytest.mark.process
def test_server_without_a_fault_passes_every_case() -> None:
    # The cases with large messages take their time in two processes.
    everything = [case.id for case in load_cases() if case.area != "large"]
    verdicts = play_fault([sys.executable, "-m", "broken", "Faultless"], everything, "lines")

    assert {verdict.case for verdict in verdicts if verdict.outcome in ("fail", "warn")} == set()


def test_every_case_has_a_server_that_fails_it() -> None:
    assert {case.id for case in load_cases()} - {
        case for fault in FAULTS.values() for case in fault.cases
    } == set()
