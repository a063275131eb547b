"""The report of a check as HTML, a page, and Markdown for a pull request."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import msgspec
from toolwire_client.pages.markdown import as_code, as_html, fence, fitted, folded_part, table_of
from toolwire_client.pages.markup import (
    Html,
    code,
    counted,
    cut,
    duration,
    element,
    folded,
    pairs,
    size,
    table,
    together,
)
from toolwire_client.pages.page import page, section
from toolwire_schemas.cases.rules import rule, rule_url

from ..report import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..report import Outcome, Report, Verdict

    Again = Callable[[Verdict], str]
    """Returns the command that plays the case of a verdict again."""

_COLOURS: dict[Outcome, str] = {"pass": "good", "fail": "bad", "warn": "warn"}
_SPEAKERS = {"-> ": "sent", "<- ": "received"}
_MOST = 200  # findings, tools, reasons, areas
_MOST_WITH_EXCHANGES = 50
_MAX_LINES = 40
_MAX_CASES = 1000
_MAX_CHARS = 2000


def verdict_html(verdict: Verdict, *, where: str = "", again: str = "") -> Html:
    """Return one verdict; *where* are the revisions and framings it is for, *again* a command that
    repeats it.
    """
    source = element(
        "a", verdict.source.removeprefix("https://"), href=verdict.source, rel="noreferrer"
    )
    where = where or verdict.where
    return element(
        "article",
        element(
            "h3",
            _badge(verdict.outcome),
            " ",
            _rule(verdict.case),
            element("span", where, class_="where"),
        ),
        element("p", cut(verdict.behaviour, _MAX_CHARS)),
        pairs(
            ("expected", cut(verdict.expected, _MAX_CHARS)),
            (
                "came",
                verdict.came and element("span", cut(verdict.came, _MAX_CHARS), class_="text"),
            ),
            ("because", cut(verdict.reason, _MAX_CHARS)),
            ("source", [verdict.severity, ", ", verdict.before_source, source]),
            ("again", again and code(again, _MAX_CHARS)),
        ),
        exchange_html(
            verdict.exchange, open_=verdict.outcome == "fail" and len(verdict.exchange) < 10
        ),
        rule_html(verdict.case),
        class_="verdict",
    )


def _badge(outcome: Outcome) -> Html:
    return element("span", outcome, class_=f"badge {_COLOURS.get(outcome, '')}")


def _rule(case: str) -> Html:
    name = element("code", cut(case, 300))
    address = rule_url(case)
    return element("a", name, href=address, rel="noreferrer") if address else name


def rule_html(case: str) -> Html | None:
    """Return why the rule of a case matters, exchanges that pass and fail, and how to fix a
    server.
    """
    found = rule(case)
    if found is None:
        return None
    makers = ("with Toolwire", "mcp, Python", "TypeScript SDK", "without an SDK")
    fixes = zip(makers, msgspec.structs.astuple(found.fix), strict=True)
    return folded(
        "Why it matters, and how to fix it",
        element("p", _prose(found.why)),
        pairs(*((name, _prose(text)) for name, text in fixes)),
        exchange_html(found.passing, "An exchange that passes"),
        exchange_html(found.failing.exchange, "An exchange that fails"),
    )


def _prose(text: str) -> list[str]:
    """Return *text* with what is in backticks as code."""
    return [
        element("code", part) if place % 2 else part for place, part in enumerate(text.split("`"))
    ]


def exchange_html(lines: Sequence[str], title: str = "", *, open_: bool = False) -> Html | None:
    """Return an exchange, as `Verdict.exchange` has it."""
    items = [
        element("li", cut(line[3:], _MAX_CHARS), class_=_SPEAKERS.get(line[:3], "event"))
        for line in lines[:_MAX_LINES]
    ]
    if len(lines) > _MAX_LINES:
        items.append(element("li", f"{len(lines) - _MAX_LINES:,} more", class_="event"))
    title = title or counted(len(lines), "line") + " of the exchange"
    return folded(title, element("ol", items, class_="exchange"), open_=open_) if lines else None


def summary(report: Report) -> str:
    """Return the verdict in one sentence."""
    must, every = ({one.case for one in report.failed(severity)} for severity in ("must", "advice"))
    if not report.revisions:
        return "It cannot be talked to, so nothing else was tested."
    broken = [(len(must), "rule"), (len(every - must), "recommendation")]
    found = " and ".join(counted(number, what) for number, what in broken if number)
    gaps = len({one.case for one in report.verdicts if one.outcome == "known gap"})
    judged = f"It breaks {found}." if found else "It keeps every rule that applies to it."
    return judged + (f" {counted(gaps, 'known gap')} not counted." if gaps else "")


# --- HTML ---


def check_html(report: Report, *, again: Again | None = None) -> Html:
    """Return *report*: the summary, findings in detail, the cost of each tool, counts by area, and
    reasons.
    """
    findings = report.findings()
    shown = [
        verdict_html(
            first if number < _MOST_WITH_EXCHANGES else msgspec.structs.replace(first, exchange=[]),
            where="; ".join(one.where for one in (first, *others[:20])),
            again=again(first) if again else "",
        )
        for number, (first, *others) in enumerate(findings[:_MOST])
    ]
    if len(findings) > _MOST:
        shown.append(element("p", f"… {len(findings) - _MOST:,} more findings", class_="cut"))
    areas = table(("area", *OUTCOMES), _areas(report), caption="Verdicts by area", class_="numbers")
    passed = dict.fromkeys(one.case for one in report.verdicts if one.outcome == "pass")
    return together(
        _head(report),
        section("Findings", shown),
        section("Tools", _tools(report) if report.costs else None),
        section("Areas", element("div", areas, class_="wide")),
        section("Known gaps", _because(report, "known gap")),
        section(
            "Other cases",
            folded(
                f"{counted(len(passed), 'case')} passed",
                element(
                    "ul",
                    [element("li", _rule(case)) for case in list(passed)[:_MAX_CASES]],
                    class_="cases",
                ),
            ),
            folded(
                "Not applicable, and notes",
                _because(report, "not applicable"),
                _because(report, "pass"),
            ),
        ),
    )


def check_page(report: Report, *, again: Again | None = None) -> str:
    """Return `check_html` as a page."""
    return page(
        f"Contract report: {report.server or shlex.join(report.command)}",
        check_html(report, again=again),
    )


def _head(report: Report) -> Html:
    left, bars, numbers = 0.0, [], []
    for outcome, number in report.counts().items():
        width, colour = 100 * number / max(len(report.verdicts), 1), _COLOURS.get(outcome, "muted")
        bars.append(element("rect", x=f"{left:.3f}", width=f"{width:.3f}", height=1, class_=colour))
        shown = element("span", f"{number:,}", class_=f"number {colour if number else 'muted'}")
        numbers.append(element("li", shown, f" {outcome}"))
        left += width
    return element(
        "header",
        element("p", "Contract report", class_="eyebrow"),
        element("h1", cut(report.server or "A server without a name", 300)),
        element("p", summary(report), class_="lead"),
        element(
            "svg",
            bars,
            viewBox="0 0 100 1",
            preserveAspectRatio="none",
            class_="bar",
            aria_hidden="true",
        ),
        element("ul", numbers, class_="counts"),
        pairs(
            *(
                (name, code(value, 2000) if name == "command" else value)
                for name, value in _facts(report)
            )
        ),
    )


def _facts(report: Report) -> list[tuple[str, str]]:
    tokens = sum(one.tokens for one in report.costs)
    return [
        (
            "speaks",
            (
                f"MCP {', '.join(report.revisions)}; {' and '.join(report.framings)}"
                if report.revisions
                else ""
            ),
        ),
        ("made with", report.sdk),
        ("tools", counted(report.tools, "tool") + (f", about {tokens:,} tokens" if tokens else "")),
        ("took", duration(report.seconds)),
        ("command", shlex.join(report.command)),
        ("seed", "" if report.seed is None else str(report.seed)),
        (
            "closed",
            " ".join(
                f"The gap {gap} is closed: remove it from the baseline." for gap in report.outdated
            ),
        ),
    ]


def _areas(report: Report) -> list[list[str]]:
    return [
        [area, *(str(found[one] or "") for one in OUTCOMES)]
        for area, found in list(report.areas().items())[:_MOST]
    ]


_COST = ("tool", "tokens", "description", "calls", "median", "slowest", "result", "largest")
_COST_NOTE = (
    "Tokens are estimated, of the name, the description and the input schema. Times and sizes of"
    " results are of calls that succeeded and ran alone during the check."
)


def _costs(report: Report) -> Iterable[list[str]]:
    for one in report.costs[:_MOST]:
        called = [
            duration(one.seconds),
            duration(one.slowest_seconds),
            size(one.result_bytes),
            size(one.largest_result_bytes),
        ]
        yield [
            one.name[:200],
            f"{one.tokens:,}",
            size(one.bytes),
            *([str(one.calls), *called] if one.calls else [""] * 5),
        ]
    if len(report.costs) > _MOST:
        yield [f"{len(report.costs) - _MOST:,} more", *[""] * 7]


def _tools(report: Report) -> Html:
    costs = table(_COST, _costs(report), caption="The cost of each tool", class_="numbers")
    return together(
        element("div", costs, class_="wide"), element("p", _COST_NOTE, class_="caption")
    )


def _because(report: Report, outcome: Outcome) -> Iterable[Html]:
    """Yield the reasons for an outcome, each with its cases."""
    found = [
        (why, ", ".join(cases)) for (one, why), cases in report.reasons().items() if one == outcome
    ]
    if outcome == "known gap":
        found += [(why, counted(number, "finding")) for why, number in report.of_sdk().items()]
    for why, cases in found[:_MOST]:
        yield element(
            "p", cut(why, _MAX_CHARS), ": ", element("span", cut(cases, _MAX_CHARS), class_="muted")
        )


# --- Markdown ---


def check_markdown(report: Report, *, again: Again | None = None) -> str:
    """Return *report* in short, for a pull request: at most what GitHub takes as a comment."""
    findings = report.findings()
    rows = [
        [one.outcome, _linked(one), as_code(one.expected), as_code(one.came)]
        for one, *_ in findings[:_MOST]
    ]
    facts = "; ".join(
        f"{name} {as_code(value)}" for name, value in _facts(report) if value and name != "seed"
    )
    areas, costs = (
        [[as_code(name), *cells] for name, *cells in found]
        for found in (_areas(report), _costs(report))
    )
    counts = ", ".join(
        f"{number} {outcome}" for outcome, number in report.counts().items() if number
    )
    parts = [
        f"### Contract of {as_code(report.server or 'a server')}",
        f"**{summary(report)}** {counts}.",
        facts,
    ]
    parts += table_of(("", "case", "expected", "came"), rows, len(findings))
    parts.append(folded_part("Verdicts by area", *table_of(("area", *OUTCOMES), areas)))
    parts.append(folded_part("The cost of each tool", *table_of(_COST, costs)))
    for one, *_ in findings[:_MOST]:
        lines = [one.behaviour, *([f"again: {again(one)}"] if again else []), *one.exchange]
        parts.append(folded_part(f"{one.outcome}: {as_html(one.case)}", fence(lines)))
    return fitted(parts, len(findings[_MOST:]))


def _linked(verdict: Verdict) -> str:
    name = as_code(verdict.case)
    address = rule_url(verdict.case) if rule(verdict.case) else None
    return f"[{name}]({address})" if address else name
