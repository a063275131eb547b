"""The report of a check: as JSON and JUnit XML, and with a baseline of known gaps."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from toolwire_check import BadBaseline, Gap, Report, Verdict, baseline
from toolwire_check.junit import as_junit
from toolwire_schemas.published import load_validator


def verdict(case: str, outcome: Any = "pass", severity: str = "must", **about: Any) -> Verdict:
    members = {"revision": "2025-11-25", "framing": "lines", **about}
    return Verdict(case, "It does.", "https://example.com/", severity, outcome, **members)


def report(*verdicts: Verdict, **about: Any) -> Report:
    members: dict[str, Any] = {
        "command": ["a", "b"],
        "server": "s 1",
        "revisions": [],
        "framings": ["lines"],
        "tools": 2,
    }
    members |= {"seconds": 1.5, "verdicts": list(verdicts)}
    return Report(**members | about)


ALL = report(
    verdict("a/passes"),
    verdict("a/fails", "fail", expected="one", came="\x1b[31mnone\x00", exchange=["-> {}"]),
    verdict("b/warns", "warn", "should", expected="x", came="y"),
    verdict("b/known", "known gap", reason="it is old"),
    verdict("b/other", "not applicable", reason="no tools", revision="", framing=""),
    outdated=["c/fixed"],
    seed=7,
)

# --- as JSON ---


def test_report_fits_its_published_schema() -> None:
    for one in (ALL, report(), report(seed=0)):
        whole = json.loads(json.dumps(one.as_json()))
        assert [
            error.message for error in load_validator("contract-report").iter_errors(whole)
        ] == []


def test_report_counts_every_outcome() -> None:
    assert ALL.count_outcomes() == {
        "pass": 1,
        "fail": 1,
        "warn": 1,
        "known gap": 1,
        "not applicable": 1,
    }


def test_failures_depend_on_the_least_severity_that_counts() -> None:
    bad = report(
        verdict("a", "fail"),
        verdict("b", "warn", "should"),
        verdict("c", "warn", "advice"),
        verdict("d"),
    )
    assert [one.case for one in bad.list_failures()] == ["a"]
    assert [one.case for one in bad.list_failures("should")] == ["a", "b"]
    assert [one.case for one in bad.list_failures("advice")] == ["a", "b", "c"]
    assert ALL.list_failures("advice") == [
        one for one in ALL.verdicts if one.case in ("a/fails", "b/warns")
    ]


# --- as JUnit's XML ---


def test_junit_has_a_test_for_each_verdict_and_counts_them() -> None:
    root = ET.fromstring(as_junit(ALL).encode())
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "1",
        "errors": "0",
        "skipped": "3",
    }
    assert [(test.get("classname"), test.get("name")) for test in suite] == [
        ("a", "passes [2025-11-25, lines]"),
        ("a", "fails [2025-11-25, lines]"),
        ("b", "warns [2025-11-25, lines]"),
        ("b", "known [2025-11-25, lines]"),
        ("b", "other"),
    ]
    assert [[part.tag for part in test] for test in suite] == [
        [],
        ["failure"],
        ["skipped"],
        ["skipped"],
        ["skipped"],
    ]


def test_junit_quotes_the_expectation_without_characters_that_xml_forbids() -> None:
    failure = ET.fromstring(as_junit(ALL).encode()).find(".//failure")
    assert failure is not None
    assert failure.get("message") == "expected one; came \ufffd[31mnone\ufffd"
    assert "-> {}" in str(failure.text)


# --- known gaps ---


def test_known_gap_is_no_failure_and_has_its_reason() -> None:
    verdicts, outdated = baseline.apply(
        [verdict("a/x", "fail"), verdict("a/y", "warn")], [Gap("a/*", "an old SDK")]
    )
    assert [(one.outcome, one.reason) for one in verdicts] == [("known gap", "an old SDK")] * 2
    assert outdated == []
    assert report(*verdicts).list_failures("advice") == []


def test_gap_may_be_limited_to_one_revision_or_framing() -> None:
    bad = [
        verdict("a", "fail"),
        verdict("a", "fail", framing="headers"),
        verdict("a", "fail", revision="2024-11-05"),
    ]
    verdicts, _ = baseline.apply(bad, [Gap("a", "old", revision="2025-11-25", framing="lines")])
    assert [one.outcome for one in verdicts] == ["known gap", "fail", "fail"]


def test_closed_gap_is_reported_unless_its_case_was_not_played() -> None:
    gaps = [Gap("a", "old"), Gap("b", "old", framing="lines"), Gap("c", "old")]
    _, outdated = baseline.apply([verdict("a"), verdict("b"), verdict("c", "not applicable")], gaps)
    assert outdated == ["a", "b lines"]


def test_new_baseline_has_every_gap_and_keeps_known_reasons() -> None:
    verdicts = [
        verdict("a", "known gap"),
        verdict("b", "fail"),
        verdict("b", "fail", framing="headers"),
        verdict("c"),
    ]
    text = baseline.write(verdicts, [Gap("a", "an old SDK"), Gap("c", "mended meanwhile")])
    assert baseline.read(text) == [Gap("a", "an old SDK"), Gap("b", "not looked into yet")]
    assert load_validator("contract-baseline").is_valid(json.loads(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "truncated"),
        ("[]", "Expected `object`"),
        ('{"gaps": [{"case": "a"}]}', "reason"),
        ('{"gaps": [{"case": "a", "reason": " "}]}', r"gaps\[0\] \(a\) has no reason"),
        ('{"gaps": [{"case": "a", "reason": "b", "why": "c"}]}', "why"),
    ],
)
def test_invalid_baseline_is_an_error_with_the_remedy(text: str, message: str) -> None:
    with pytest.raises(BadBaseline, match=message):
        baseline.read(text)
