"""The report of a check as a page and as Markdown: complete, of limited size, and only text of
others.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from support.parsed_html import Parsed, assert_inert, texts
from toolwire_check import Report, Verdict
from toolwire_check.pages.check_page import (
    write_report_html,
    write_report_markdown,
    write_report_page,
    write_verdict_html,
)
from toolwire_check.report import ToolCost
from toolwire_schemas import project_links
from toolwire_schemas.cases.rules import find_rule
from toolwire_schemas.output import make_printable


def verdict(case: str, outcome: Any = "pass", severity: str = "must", **about: Any) -> Verdict:
    about = {
        "revision": "2025-11-25",
        "framing": "lines",
        "expected": "one",
        "came": "two",
        **about,
    }
    return Verdict(case, "It does.", "https://example.com/", severity, outcome, **about)


def report(*verdicts: Verdict, **about: Any) -> Report:
    known: dict[str, Any] = {
        "command": ["a", "b"],
        "server": "library 1.2",
        "revisions": ["2025-11-25"],
        "tools": 2,
    }
    return Report(
        **known | {"framings": ["lines"], "seconds": 1.5, "verdicts": list(verdicts)} | about
    )


COST = ToolCost(
    name="search",
    tokens=1234,
    bytes=5000,
    calls=3,
    seconds=0.002,
    slowest_seconds=1.26,
    result_bytes=340,
)
WHOLE = report(
    verdict("ids/fraction", "warn", "should"),
    verdict("ids/null", "fail", came="nothing", exchange=['-> {"id":null}', "-- it ended"]),
    verdict("ids/null", "fail", came="nothing", revision="2026-07-28"),
    verdict("ids/zero"),
    verdict("tools/known", "known gap", reason="it is old"),
    verdict("tools/of-sdk", "known gap", reason="the SDK does it", sdk="an SDK"),
    verdict("progress/all", "not applicable", reason="no progress"),
    costs=[COST],
    sdk="an SDK",
    seed=7,
    outdated=["tools/closed"],
)


def test_stricter_rule_of_toolwire_is_marked_as_such() -> None:
    shown = {
        ours: Parsed(write_verdict_html(verdict("ids/zero", ours=ours))).text
        for ours in (True, False)
    }
    assert "must, Toolwire demands more than example.com/" in shown[True]
    assert "must, example.com/" in shown[False]


def test_page_has_each_failure_once_first_and_then_the_rest() -> None:
    text = Parsed(write_report_page(WHOLE, again=lambda one: f"check --replay {one.case}")).text
    order = [
        "It breaks 1 rule and 1 recommendation. 2 known gaps not counted.",
        "ids/null",
        "ids/fraction",
        "search",
        "2 ms",
        "1.3 s",
        "340 B",
    ]
    order += [
        "it is old",
        "the SDK does it",
        "1 case passed",
        "ids/zero",
        "no progress",
        "progress/all",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert text.count("2025-11-25, lines; 2026-07-28, lines") == 1
    for part in ("an SDK", "a b", "7", "tools/closed", '{"id":null}', "check --replay ids/null"):
        assert part in text


def test_finding_links_to_its_rule_and_its_source() -> None:
    links = [
        attributes["href"]
        for tag, attributes in Parsed(write_verdict_html(WHOLE.verdicts[0])).elements
        if tag == "a"
    ]
    rule = project_links.make_file_url("docs/contract/ids/fraction.md")
    assert links == [rule, "https://example.com/"]


def test_finding_contains_the_text_of_its_rule() -> None:
    found = find_rule("ids/fraction")
    assert found is not None
    text = Parsed(write_verdict_html(WHOLE.verdicts[0])).text
    for part in (
        found.why,
        found.fix.toolwire,
        found.fix.python,
        found.fix.typescript,
        found.fix.by_hand,
    ):
        assert part.replace("`", "") in text
    assert found.failing.exchange[0].removeprefix("-> ") in text


def test_generated_calls_have_the_rule_for_all_tools() -> None:
    html = write_verdict_html(verdict("fuzz/valid/a b", "fail"))
    address = project_links.make_file_url("docs/contract/calls/output-schema.md")
    assert f'href="{address}"' in html


def test_page_is_self_contained_and_runs_no_script() -> None:
    page = Parsed(write_report_page(WHOLE))
    assert_inert(page)
    (policy,) = [
        found["content"] for tag, found in page.elements if tag == "meta" and "http-equiv" in found
    ]
    assert str(policy).startswith("default-src 'none'; style-src 'sha256-")
    assert {"main", "header", "section", "h1", "h2", "h3", "table", "caption"} <= {*page.tags}
    assert all("scope" in attributes for tag, attributes in page.elements if tag == "th")


FIELDS = ("case", "behaviour", "source", "revision", "framing", "reason", "expected", "came")


def hostile(text: str) -> Report:
    """Return a report with *text* wherever a server or a file of a user may have written it."""
    about = dict.fromkeys(FIELDS, text)
    outcomes: list[Any] = ["fail", "warn", "pass", "known gap", "not applicable"]
    verdicts = [
        Verdict(severity="must", outcome=one, exchange=[text, f"-> {text}"], **about)
        for one in outcomes
    ]
    costs = [ToolCost(name=text, tokens=1, bytes=1)]
    return report(*verdicts, server=text, command=[text], outdated=[text], sdk=text, costs=costs)


@given(texts)
def test_any_text_in_any_place_of_a_report_is_text_only(text: str) -> None:
    page, usual = (
        Parsed(write_report_page(hostile(text), again=lambda _: text)),
        Parsed(write_report_page(hostile("x"))),
    )
    assert_inert(page)
    assert set(page.tags) <= {*usual.tags, "code"}
    assert make_printable(text) in page.text


@given(texts)
def test_any_text_in_any_place_of_a_report_is_code_in_markdown(text: str) -> None:
    made, usual = (
        render(write_report_markdown(hostile(one), again=lambda verdict: verdict.case))
        for one in (text, "x")
    )
    assert [tag for tag in made.tags if tag != "code"] == [
        tag for tag in usual.tags if tag != "code"
    ]
    assert {name for _, attributes in made.elements for name in attributes} <= {"class"}


def render(markdown: str) -> Parsed:
    """Return what a browser reads where HTML in Markdown stays HTML, as on GitHub."""
    return Parsed(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))


def test_page_of_ten_thousand_verdicts_has_a_limited_size() -> None:
    long = "x" * 100_000
    about = {"expected": long, "came": long, "exchange": [f"<- {long}"] * 300}
    many = report(*(verdict(f"area/{number}", "fail", **about) for number in range(10_000)))
    assert (
        len(write_report_html(many)) < 200 * 220 * 4200
    )  # findings, lines of each with their expectation, characters
    assert "9,800 more findings" in write_report_html(many)
    markdown = write_report_markdown(many)
    assert len(markdown) < 65_536
    assert "9,950 more rows" in markdown
    assert "more parts are too long for a comment" in markdown


@pytest.mark.parametrize("outcome", ["pass", "not applicable"])
def test_many_equal_outcomes_take_little_space(outcome: str) -> None:
    many = report(
        *(verdict(f"area/{number}", outcome, reason="so it is") for number in range(10_000))
    )
    assert len(write_report_html(many)) < 400_000


def test_page_reports_a_server_that_does_not_answer() -> None:
    silent = report(
        verdict("lifecycle/answers", "fail", came="it ended"), server="", revisions=[], framings=[]
    )
    assert "It cannot be talked to" in write_report_html(silent)
    assert "It cannot be talked to" in write_report_markdown(silent)


def test_page_of_a_server_without_failures_is_short() -> None:
    made = write_report_markdown(report(verdict("ids/zero")))
    assert made.startswith(
        "### Contract of `library 1.2`\n\n**It keeps every rule that applies to it.** 1 pass.\n"
    )


def test_exact_tokens_are_next_to_the_estimate() -> None:
    costs = [ToolCost(name="a", tokens=200, bytes=1, exact_tokens=187)]
    page = write_report_page(report(verdict("ids/zero"), costs=costs), again=lambda _: "")
    assert "about 200 tokens, 187 by tiktoken (o200k_base)" in page
    assert "<td>200</td><td>187</td>" in page


def test_a_bar_shows_the_tokens_of_each_tool_as_a_share_of_the_largest() -> None:
    costs = [
        ToolCost(name=name, tokens=tokens, bytes=1) for name, tokens in (("a", 200), ("b", 50))
    ]

    page = write_report_page(report(verdict("ids/zero"), costs=costs), again=lambda _: "")

    assert '<rect width="100.0" height="1" class="accent">' in page
    assert '<rect width="25.0" height="1" class="accent">' in page


def test_costs_that_no_tool_has_take_no_column() -> None:
    costs = [ToolCost(name="a", tokens=200, bytes=1)]

    page = write_report_page(report(verdict("ids/zero"), costs=costs), again=lambda _: "")

    heads = re.findall(r'<th scope="col">(\w+)</th>', page)
    assert heads[:3] == ["tool", "tokens", "description"]
    assert not {"tiktoken", "calls", "largest"}.intersection(heads)
