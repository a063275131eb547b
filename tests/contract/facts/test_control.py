"""A bare server of the same SDK: a failure that it shares is a known gap."""

from __future__ import annotations

import pytest
from toolwire_check.facts.control import Control, mark_shared_gaps
from toolwire_check.playing.player import Limits
from toolwire_check.report import Verdict

CONTROL = Control(["python", "bare"], "MCPServer 2.3.0")


def verdict(case: str, outcome: str = "fail", **about: object) -> Verdict:
    return Verdict(case, "It does.", "https://example.com/", "must", outcome, revision="r", **about)  # type: ignore[arg-type]


def test_failure_of_the_bare_server_is_a_known_gap_that_names_it() -> None:
    (marked,) = mark_shared_gaps([verdict("ids/null")], CONTROL, [verdict("ids/null", "warn")])

    assert marked.outcome == "known gap"
    assert marked.reason == "a bare MCPServer 2.3.0 does the same"
    assert marked.sdk == "MCPServer 2.3.0"


@pytest.mark.parametrize(
    ("of_server", "of_control"),
    [
        (verdict("ids/null"), verdict("ids/null", "pass")),
        (verdict("ids/null"), verdict("ids/null", "not applicable")),
        (verdict("ids/null"), verdict("ids/large")),
        (verdict("ids/null", framing="lines"), verdict("ids/null", framing="headers")),
        (verdict("ids/null", after=["ids/large"]), verdict("ids/null")),
        (verdict("ids/null", "pass"), verdict("ids/null")),
    ],
)
def test_all_else_stays(of_server: Verdict, of_control: Verdict) -> None:
    assert mark_shared_gaps([of_server], CONTROL, [of_control]) == [of_server]


@pytest.mark.parametrize(
    ("seconds", "times"), [(0.0, 1.0), (0.05, 1.0), (0.1, 2.0), (0.15, 3.0), (9.0, 3.0)]
)
def test_limits_grow_with_the_time_of_the_simplest_answer_up_to_three_times(
    seconds: float, times: float
) -> None:
    limits = Limits(answer_seconds=10.0, opening_seconds=20.0)

    scaled = limits.scale(seconds)

    assert scaled.answer_seconds == pytest.approx(times * 10.0)
    assert scaled.exit_times == pytest.approx(times)
    assert scaled.extend_for_repeating().exit_times == pytest.approx(3 * times)
    assert scaled.opening_seconds == 20.0
